"""Matches that do not come to their end: a bot that fails, a bot that hangs, Ctrl-C."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from piste.analysis.arena.match import ladder, play, with_turn_limit
from piste.cli.main import main
from piste.core.errors import PisteError
from piste.core.game import find
from tests.limits import PATIENCE_S, wait_until

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="the command line is quoted for a POSIX shell")
LEVELS = ["random", "novice", "steady"]


def program(tmp_path: Path, text: str) -> str:
    path = tmp_path / "bot.py"
    path.write_text(text, encoding="utf-8")
    return f"cmd:{shlex.join([sys.executable, str(path)])}"


@POSIX
def test_a_bad_program_in_many_processes_gets_one_sentence(tmp_path: Path) -> None:
    spec = program(tmp_path, "import sys\nsys.stdin.readline()\nsys.exit(3)\n")
    words = ["match", "positive-negative", spec, "random", "--games", "40", "--processes", "4"]
    done = subprocess.run(
        [sys.executable, "-m", "piste", *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )  # returns when nobody is left who holds these pipes
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "ended with exit code 3" in done.stderr


@POSIX
def test_a_process_that_is_killed_ends_the_match_with_a_sentence(tmp_path: Path) -> None:
    spec = program(tmp_path, "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n")
    game = find("positive-negative")
    with pytest.raises(PisteError, match="ended before its deals were done"):
        play(game, game.options(), (spec, "random"), 8, processes=2)


@POSIX
@pytest.mark.slow  # it has its ten seconds for an answer
def test_a_program_that_hangs_is_not_left_behind(tmp_path: Path) -> None:
    """The first one to come fails at once; the others say who they are, and then nothing any more."""
    text = f"""\
import os, signal, sys, time
place = {str(tmp_path)!r}
try:
    os.mkdir(place + "/taken")
except OSError:
    open(place + "/" + str(os.getpid()), "w").close()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
while not [name for name in os.listdir(place) if name.isdigit()]:
    time.sleep(0.01)
sys.exit(3)
"""
    game = find("positive-negative")
    with pytest.raises(PisteError, match="ended with exit code 3"):
        play(game, game.options(), (program(tmp_path, text), "random"), 8, processes=2)
    hung = [int(name) for name in os.listdir(tmp_path) if name.isdigit()]
    assert hung
    for pid in hung:
        wait_until(lambda pid=pid: not runs(pid), lambda pid=pid: f"{pid} still runs")  # type: ignore[misc]


def runs(pid: int) -> bool:
    """Say whether a process is there and is not just waiting for somebody to note its end."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # no such folder on this system, or the process went in between
        return not Path("/proc/self").exists()


# Ctrl-C


class Pressed:
    """A bar that is stopped in the second match."""

    def __init__(self, what: str) -> None: ...
    def __enter__(self) -> Pressed:
        return self

    def __exit__(self, *_: object) -> None: ...
    def __call__(self, done: int, whole: int, what: str = "") -> None:  # noqa: ARG002
        if what.startswith("2/3") and done == 2:
            raise KeyboardInterrupt


def test_a_ladder_that_is_stopped_says_what_is_finished_and_what_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("piste.bots.playable", lambda *_: (LEVELS, []))
    monkeypatch.setattr("piste.cli.commands.match.ProgressBar", Pressed)
    words = ("match", "prime-duel", "--all", "--set", "target=9", "--games", "4", "--processes", "1")
    assert main(words) == 130
    out = capsys.readouterr().out
    assert out.splitlines()[:4] == [
        "Stopped after 1 of 3 matches.",
        "Finished: random against novice.",
        "Begun: random against steady, 2 of 4 games.",
        "Not begun: novice against steady.",
    ]
    assert main((*words, "--json")) == 130
    found = json.loads(capsys.readouterr().out)
    assert [row["games"] for row in found["matches"]] == [4, 2]
    assert found["unfinished"] == [["random", "steady"], ["novice", "steady"]]


def test_ctrl_c_that_comes_out_of_compiled_code_keeps_what_is_done() -> None:
    game = find("prime-duel")

    def wrapped(done: int, whole: int, what: str) -> None:  # noqa: ARG001
        if done == 2:
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    results = ladder(game, with_turn_limit(game, {"target": 9}), LEVELS, 6, progress=wrapped)
    assert [(result.games, result.stopped) for result in results] == [(2, True)]

    def broken(*_: object) -> None:
        raise SystemError("something else")

    with pytest.raises(SystemError, match="something else"):
        ladder(game, with_turn_limit(game, {"target": 9}), LEVELS, 6, progress=broken)
