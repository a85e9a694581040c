"""A run that is killed in the middle goes on to the very same result, and Inspect's viewer can read its log."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries

from piste.evals.report import document, make_report
from tests.evals.chat_server import ChatServer, Hangs, Says, obeys
from tests.evals.running import LOCAL, only_run, run
from tests.limits import PATIENCE_S, wait_until

TASK: dict[str, Any] = {"game": "positive-negative", "options": "top=3", "deals": 3, "twice": 50, "rules": "short"}


def inspect(*words: str) -> list[str]:
    return [sys.executable, "-m", "inspect_ai", *words, "--display", "none", "--log-buffer", "1"]


def started(server: ChatServer, folder: Path) -> subprocess.Popen[bytes]:
    chosen = [word for name, value in TASK.items() for word in ("-T", f"{name}={value}")]
    words = inspect("eval", "piste/games", "--model", LOCAL, *chosen, "--max-samples", "1", "--log-dir", str(folder))
    return subprocess.Popen(words, env={**os.environ, "LOCAL_BASE_URL": server.base_url})


def samples(folder: Path) -> int:
    """Return how many samples have been written to the only log there."""
    logs = list_eval_logs(str(folder))
    try:
        return len(read_eval_log_sample_summaries(logs[0])) if logs else 0
    except (OSError, ValueError, KeyError):
        return 0  # it is just being written


def without_logs(folder: Path) -> dict[str, Any]:
    """Return the report without what tells two runs apart: where logs are, and what was asked twice."""
    found = document(make_report([str(folder)]))
    for one in found["runs"]:
        del one["log"]
        del one["tokens"]  # what the killed process had asked was paid for, and is asked again
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed as on POSIX")
def test_a_run_that_is_killed_is_gone_on_with_to_the_identical_result(tmp_path: Path) -> None:
    from inspect_ai.event import ModelEvent

    from piste.evals.games_task import games

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with ChatServer() as server:
        run(games(**TASK), whole, server=server)
        requests = len(server.prompts)
    middle = threading.Event()

    def stops(number: int, prompt: str) -> Says | Hangs:
        if number < requests // 2:
            return obeys(number, prompt)
        middle.set()
        return Hangs()

    with ChatServer(stops) as server:
        process = started(server, killed)
        assert middle.wait(PATIENCE_S), "it never came to the middle"
        wait_until(lambda: samples(killed) > 0, lambda: "no sample was written")
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE_S)
    (log,) = list_eval_logs(str(killed))
    before = read_eval_log(log)
    assert before.status == "started"
    assert 0 < len(before.samples or []) < 6
    with ChatServer() as server:
        words = inspect("eval-retry", log.name, "--log-dir", str(killed))
        environment = {**os.environ, "LOCAL_BASE_URL": server.base_url}
        subprocess.run(words, env=environment, check=True, timeout=PATIENCE_S)
        assert len(server.prompts) < requests  # finished games were not played again
    assert without_logs(killed) == without_logs(whole)
    assert only_run(killed).documents == only_run(whole).documents
    model_events = [
        event for sample in read_eval_log(only_run(whole).log).samples or [] for event in sample.events
        if isinstance(event, ModelEvent)
    ]  # fmt: skip
    assert len(model_events) == requests


def test_the_reader_of_the_viewer_opens_a_log(tmp_path: Path) -> None:
    """The pages of `inspect view` read a log's header and each sample through these functions."""
    from inspect_ai.log import read_eval_log_sample

    from piste.evals.games_task import games

    log = run(games(**TASK), tmp_path, "piste/steady")
    header = read_eval_log(log.location, header_only=True)
    assert header.eval.task == "piste/games"
    assert header.results is not None
    names = {metric for score in header.results.scores for metric in score.metrics}
    assert {"points", "points_low", "points_high", "loss", "best", "accuracy", "faults", "forfeits"} <= names
    summaries = read_eval_log_sample_summaries(log.location)
    assert len(summaries) == 6
    for summary in summaries:
        sample = read_eval_log_sample(log.location, summary.id)
        assert sample.scores is not None
        assert sample.scores["grade"].explanation
        assert any(event.event == "model" for event in sample.events)
