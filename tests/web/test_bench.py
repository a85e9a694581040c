"""`piste bench --serve` at its smallest: what it reports fits together. How fast it is depends on the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from piste.core.game import names


def bench(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", "piste", "bench", "--serve", *words],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.mark.slow
def test_a_small_measurement_reports_both_servers_and_their_ratio(folder: Path) -> None:
    done = bench("--games", "4", "--seconds", "2", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["games"], found["seconds"], found["kinds"]) == (4, 2, list(names()))
    for server in (found["server"], found["echo"]):
        late = server["latency"]
        assert 0 < late["median"] <= late["p99"] <= late["longest"]
        assert 1 <= server["decisions"] <= 4  # one each, if no game was over by then
        assert server["bytes"] > 500
        assert server["cpu"] >= 0
    assert found["echo"]["decisions"] == 4
    assert found["ratio"]["median"] == found["server"]["latency"]["median"] / found["echo"]["latency"]["median"]
    assert not list(folder.iterdir())


@pytest.mark.slow
def test_one_game_alone_is_told_in_words(folder: Path) -> None:
    done = bench("positive-negative", "--games", "1", "--seconds", "1", folder=folder)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0].startswith("1 game at once, two people each, a decision every 2 s, for 1 s")
    assert [line.partition(":")[0] for line in said[1:] if ":" in line] == [
        "piste",
        "bare server",
        "piste to the bare server",
    ]


@pytest.mark.parametrize(("words", "said"), [(("--games", "0"), "games"), (("--seconds", "x"), "seconds")])
def test_what_cannot_be_measured_gets_a_sentence(words: tuple[str, str], said: str, folder: Path) -> None:
    done = bench(*words, folder=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
