"""Engines: the same results wherever work is done, whoever dies, and a sentence where it cannot go on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piste
from piste.analysis import engine as engines
from piste.analysis.engine import EngineError, WorkerVersionError, open_engine, version_stamp
from piste.cli.main import main
from piste.compiled import table_cache
from piste.core.errors import OptionError, PisteError
from piste.core.worker_process import WorkerDiedError
from tests import ROOT
from tests.analysis.dask_cluster import Cluster
from tests.analysis.engine_work import die, die_once, fail, lacking, square
from tests.limits import PATIENCE_S, wait_until

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by a signal")


TASKS = [(number,) for number in range(12)]
WANTED = [number * number for number in range(12)]


@pytest.mark.parametrize("processes", [1, 3])
def test_results_come_in_order_and_tasks_are_taken_when_needed(processes: int) -> None:
    taken: list[int] = []

    def tasks() -> Iterator[tuple[int]]:
        for number in range(12):
            taken.append(number)
            yield (number,)

    with open_engine(None, processes) as engine:
        for finished, _ in enumerate(engine.results(square, tasks())):
            assert len(taken) <= finished + engine.ahead()
        assert list(engine.in_order(square, tasks())) == WANTED


@POSIX
def test_work_of_a_process_that_died_is_given_to_another(tmp_path: Path) -> None:
    with open_engine(None, 2) as engine:
        tasks = ((str(tmp_path), number) for number in range(4))
        assert list(engine.in_order(die_once, tasks)) == WANTED[:4]


@POSIX
def test_work_that_kills_whoever_does_it_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "MAX_DEATHS", 3)
    with open_engine(None, 2) as engine, pytest.raises(WorkerDiedError, match="ended before its work was done"):
        list(engine.in_order(die, [()]))


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_comes_back_as_it_was(processes: int) -> None:
    with open_engine(None, processes) as engine, pytest.raises(PisteError, match=r"Three is refused\."):
        list(engine.in_order(fail, TASKS))


def test_engines_that_do_not_exist_are_refused() -> None:
    with pytest.raises(OptionError, match=r"There is no engine 'moon'\. There are: local, local-cluster"):
        open_engine("moon")


def test_the_version_is_that_of_the_sources_that_play() -> None:
    stamp = version_stamp()
    assert stamp.startswith(piste.__version__)
    code = "from piste.analysis.engine import version_stamp; print(version_stamp())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == stamp


def test_tables_are_packed_and_unpacked_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path / "here")
    table_cache.save("test table", "1", {"values": np.arange(1000)})
    assert ("test table", "1") in table_cache.loaded
    packed = table_cache.pack("test table", "1", 1 << 20)
    with pytest.raises(PisteError, match="too large to be sent"):
        table_cache.pack("test table", "1", 100)
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path / "there")
    assert engines.lacking_tables((("test table", "1"),)) == [("test table", "1")]
    table_cache.unpack("test table", "1", packed)
    table_cache.unpack("test table", "1", packed)
    found = table_cache.load("test table", "1")
    assert found is not None
    assert (found.read("values") == np.arange(1000)).all()
    assert engines.lacking_tables((("test table", "1"),)) == []
    table_cache.loaded.discard(("test table", "1"))


def test_a_worker_of_another_version_refuses_its_work() -> None:
    with pytest.raises(WorkerVersionError, match=r"A worker runs piste .*, and this is piste 9\.9\.9: they"):
        engines._in_cluster("9.9.9", square, (3,))
    assert engines._in_cluster(version_stamp(), square, (3,)) == 9


# A real scheduler and real workers


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.close()


@pytest.mark.slow
def test_a_scheduler_and_its_workers_do_the_same_work(cluster: Cluster) -> None:
    for number in range(2):
        cluster.start_worker(f"worker {number}")
    with open_engine(cluster.address) as engine:
        assert list(engine.in_order(square, TASKS)) == WANTED
        with pytest.raises(PisteError, match=r"Three is refused\."):
            list(engine.in_order(fail, TASKS))


@pytest.mark.slow
def test_a_worker_that_runs_another_piste_is_refused_before_anything_is_played(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(ROOT / "src" / "piste", other / "piste")
    with (other / "piste" / "bots" / "random.py").open("a") as file:
        file.write("# changed\n")
    cluster.start_worker("worker", PYTHONPATH=f"{other}{os.pathsep}{ROOT}")
    words = ["tournament", "prime-duel", "random", "steady", "--games", "4", "--engine", cluster.address]
    assert main([*words, "--results", str(tmp_path / "x.jsonl")]) == 1
    assert "they may not play alike. Install the same piste on all machines" in capsys.readouterr().err


@pytest.mark.slow
def test_where_nobody_answers_there_is_a_sentence(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "CONNECT_TIMEOUT_S", 1.0)
    with pytest.raises(EngineError, match=r"No worker is connected to the scheduler tcp://.* Start some: "):
        open_engine(cluster.address)
    cluster.kill("scheduler")
    with pytest.raises(EngineError, match="No scheduler answers at tcp://"):
        open_engine(cluster.address)


@pytest.mark.slow
def test_solved_tables_reach_a_worker_once(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker with a cache of its own, as on another machine; and one that joins later."""
    table = ("test table", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(table_cache, "loaded", {table, ("deleted since", "1")})
    table_cache.save(*table, {"values": np.arange(10)})
    cluster.start_worker("first", XDG_CACHE_HOME=str(tmp_path / "first"))
    packed: list[Any] = []
    honest = table_cache.pack

    def noted(*given: Any) -> bytes:
        packed.append(given)
        return honest(*given)

    monkeypatch.setattr(table_cache, "pack", noted)
    with open_engine(cluster.address) as engine:
        assert list(engine.in_order(lacking, [(table,)])) == [True]
        engine.send_tables()
        assert list(engine.in_order(lacking, [(table,)])) == [False]
        engine.send_tables()
        assert len(packed) == 1
        cluster.start_worker("second", XDG_CACHE_HOME=str(tmp_path / "second"))
        manifest = "piste/solved/*/manifest.json"
        wait_until(lambda: bool(list((tmp_path / "second").glob(manifest))))


@pytest.mark.slow
def test_every_command_gives_the_same_through_a_cluster(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    """simulate, match, balance and puzzles, each with a scheduler and without."""
    for number in range(2):
        cluster.start_worker(f"worker {number}")
    small = ("--set", "top=3", "--seed", "x", "--json")
    for words in (
        ("simulate", "positive-negative", "--games", "200000", *small),
        ("match", "positive-negative", "steady", "random", "--games", "40", *small),
        ("balance", "positive-negative", "--games", "6", *small),
        ("puzzle", "positive-negative", "--print", "--seed", "x", "--level", "easy"),
    ):
        said = []
        for engine in ((), ("--engine", cluster.address)):
            assert main([*words, *engine]) == 0
            said.append(without_times(capsys.readouterr().out))
        assert said[0] == said[1]


def without_times(text: str) -> Any:
    """Return a JSON document without what was measured by a clock; other text as it is."""

    def blind(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: blind(part) for key, part in value.items() if key not in ("cpu", "time")}
        return [blind(part) for part in value] if isinstance(value, list) else value

    return blind(json.loads(text)) if text.startswith("{") else text


def test_patience_is_longer_than_any_wait_of_an_engine() -> None:
    assert max(engines.CONNECT_TIMEOUT_S, engines.STOP_TIMEOUT_S) < PATIENCE_S


@POSIX
def test_work_that_dies_again_and_again_is_tried_again_while_other_work_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More deaths than one piece may have, with another piece finished in between."""
    monkeypatch.setattr(engines, "MAX_DEATHS", 2)
    task = engines._Task(Future(), square, (1,))
    task = task.died(finished=0)
    assert task.died(finished=0).deaths == 2
    assert task.died(finished=1).deaths == 1
    with open_engine(None, 1) as engine:
        engine.executor = engines.ProcessExecutor(1)
        tasks = ((str(tmp_path), number) for number in range(3))
        assert list(engine.in_order(die_once, tasks)) == WANTED[:3]
