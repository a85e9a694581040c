"""Bad days: workers, schedulers and the tournament itself are killed, and the table is that of an undisturbed day."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from piste.analysis.arena import results as files
from piste.analysis.arena.report import report
from piste.analysis.arena.results import Results
from piste.analysis.arena.tournament import play_tournament
from piste.analysis.engine import EngineError, open_engine
from piste.cli.main import main
from tests import ROOT
from tests.analysis.arena.test_tournament import planned, played, timeless, told
from tests.analysis.dask_cluster import Cluster
from tests.limits import PATIENCE_S, wait_until

KILLS = int(os.environ.get("PISTE_WORKER_KILLS", "4"))
"""`make proof` has 30."""

PLAN = planned("prime-duel", "random", "novice", "steady", games=40 * KILLS)
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by a signal")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    for number in range(3):
        made.start_worker(f"worker {number}")
    yield made
    made.close()


@POSIX
@pytest.mark.slow
def test_workers_that_are_killed_again_and_again_change_nothing(cluster: Cluster, tmp_path: Path) -> None:
    chooser, killed = random.Random(1), 0
    due = sorted(chooser.sample(range(1, sum(PLAN.deals) - 5), KILLS))

    def kill_some(results: Results) -> None:
        nonlocal killed
        while killed < KILLS and len(results.deals) >= due[killed]:
            killed += 1
            cluster.kill(chooser.choice([name for name in cluster.processes if name != "scheduler"]))
            cluster.start_worker(f"another {killed}")

    results = files.create(PLAN, tmp_path / "x.jsonl")
    with open_engine(cluster.address) as engine:
        play_tournament(results, engine, tell=kill_some)
    results.close()
    assert killed == KILLS
    undisturbed = played(PLAN)
    assert timeless(files.read(tmp_path / "x.jsonl")) == timeless(undisturbed)
    assert told(report(results)) == told(report(undisturbed))


@POSIX
@pytest.mark.slow
def test_processes_of_this_machine_that_are_killed_change_nothing(tmp_path: Path) -> None:
    chooser, killed = random.Random(2), 0
    results = files.create(PLAN, tmp_path / "x.jsonl")
    with open_engine(None, 2) as engine:

        def kill_one(_: Results) -> None:
            nonlocal killed
            if killed < KILLS and chooser.random() < 0.3:
                busy = [worker._process for worker in engine.executor._busy]  # type: ignore[attr-defined]
                running = [process for process in busy if process is not None]
                if running:
                    killed += 1
                    os.kill(chooser.choice(running).pid, signal.SIGKILL)

        play_tournament(results, engine, tell=kill_one)
    results.close()
    assert killed
    assert timeless(files.read(tmp_path / "x.jsonl")) == timeless(played(PLAN))


@POSIX
@pytest.mark.slow
def test_a_scheduler_that_dies_ends_it_with_a_sentence_and_a_file_to_go_on_with(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.jsonl"
    honest = Results.add

    def killing(self: Results, found: object) -> None:
        honest(self, found)  # type: ignore[arg-type]
        if len(self.deals) > 5 and "scheduler" in cluster.processes:
            cluster.kill("scheduler")

    monkeypatch.setattr(Results, "add", killing)
    words = ["tournament", "prime-duel", "random", "novice", "steady", "--games", str(40 * KILLS)]
    assert main([*words, "--results", str(path), "--engine", cluster.address]) == 1
    said = capsys.readouterr().err
    assert f"The scheduler of {cluster.address} is gone" in said
    assert f"Go on with: piste tournament --resume {path}" in said
    results = files.read(path)
    assert 5 < len(results.deals) < sum(PLAN.deals)
    results.reopen()
    with open_engine() as engine:
        play_tournament(results, engine)
    results.close()
    assert timeless(files.read(path)) == timeless(played(PLAN))


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_tournament_that_is_killed_is_gone_on_with(how: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    words = ["tournament", "prime-duel", "random", "novice", "steady", "--games", "400", "--results", str(path)]
    command = [sys.executable, "-m", "piste", *words, "--processes", "2"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") > 20)
        process.send_signal(how)
        process.wait(PATIENCE_S)
    plan = planned("prime-duel", "random", "novice", "steady", games=400)
    results = files.read(path)
    assert results.plan == plan
    assert 10 < len(results.deals) < sum(plan.deals)
    results.reopen()
    with open_engine(None, 2) as engine:
        play_tournament(results, engine)
    results.close()
    assert timeless(files.read(path)) == timeless(played(plan))


def test_an_engine_that_fails_is_told_with_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, honest = tmp_path / "x.jsonl", Results.add

    def failing(self: Results, found: object) -> None:
        honest(self, found)  # type: ignore[arg-type]
        if len(self.deals) > 2:
            raise EngineError("The scheduler is gone.")

    monkeypatch.setattr(Results, "add", failing)
    words = ["tournament", "prime-duel", "random", "steady", "--processes", "1", "--set", "target=9"]
    assert main([*words, "--results", str(path)]) == 1
    said = capsys.readouterr().err
    assert "The scheduler is gone." in said
    assert f"What was played is kept. Go on with: piste tournament --resume {path}" in said
