"""Killed at every prompt, a game is resumed and ends as the same game. Real processes in a real pseudo-terminal."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.cli.terminal_user import clean, spawned

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals here")

PROMPTS = [
    r"\(yes/no\):? ?",
    r"Enter choice \([^)]*\): ",
    r"which card\? ",
    r"Choose a card to discard: ",
    r"Press Enter to continue\.",
]
GAMES: list[tuple[str, list[str]]] = [
    ("positive-negative", ["--set", "top=4"]),
    ("prime-duel", ["--set", "target=30"]),
    ("zero-sum-grid", ["--set", "turns=8"]),
    ("zero-sum-duel", ["--set", "turns=16", "--first", "b"]),
    ("mccoy-duel", ["--set", "rounds=1"]),
]


def answer(seen: str) -> str:
    """Return what the typist types, from what stands on the screen alone."""
    if seen.endswith("to continue."):
        return ""
    if "R/C" in seen.rpartition("\n")[2]:
        return "R1+"
    if "discard: " in seen.rpartition("\n")[2]:
        return str(re.findall(r"Your hand: \[([^,\]]+)", seen)[-1])
    if seen.endswith("which card? "):
        return str(re.findall(r"You can \w+: (\S+)", seen)[-1])
    if "Enter choice (" in seen.rpartition("\n")[2]:
        return str(re.findall(r"Enter choice \((\w)", seen)[-1])
    return "yes"


def play_on(program: Any, most: int) -> tuple[int, bool]:
    """Answer up to `most` prompts; return how many there were and whether the game ended."""
    seen = ""
    for made in range(most):
        if program.expect([*PROMPTS, pexpect.EOF]) == len(PROMPTS):
            return made, True
        seen += clean(program.before + program.after)
        program.sendline(answer(seen))
    return most, False


def told(home: Path) -> list[dict[str, Any]]:
    """Return the steps of the one kept game, without what is different each time (salt, checks)."""
    (path,) = (home / "games").glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{k: v for k, v in line.items() if k not in ("check", "checksum")} for line in lines[1:]]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param(*row, id=row[0], marks=[] if row[0] == "positive-negative" else [pytest.mark.slow])
        for row in GAMES
    ],
)
def test_killed_at_every_prompt_it_ends_as_the_same_game(name: str, options: list[str], tmp_path: Path) -> None:
    begin = ["play", name, "--vs", "random", "--seed", "kills 2", *options]
    whole = tmp_path / "whole"
    prompts, ended = play_on(spawned(whole, *begin), 200)
    assert ended
    wanted = told(whole)
    assert "ending" in wanted[-1]
    assert prompts >= 4
    for made in range(prompts):
        home = tmp_path / f"killed at {made}"
        program = spawned(home, *begin)
        play_on(program, made)
        assert program.expect([*PROMPTS, pexpect.EOF]) < len(PROMPTS)
        program.kill(signal.SIGKILL)
        program.expect(pexpect.EOF)
        program.close(force=True)
        _, ended = play_on(spawned(home, "resume"), 200)
        assert ended
        assert told(home) == wanted


@pytest.mark.parametrize("leave", ["\x03", "\x04"], ids=["ctrl-c", "ctrl-d"])
def test_leaving_prints_the_one_command_that_goes_on(leave: str, tmp_path: Path) -> None:
    program = spawned(tmp_path, "play", "prime-duel", "--seed", "leaving", "--first", "1")
    program.expect(PROMPTS[0])
    program.send(leave)
    program.expect(r"To go on with it:\s+(.* resume \S+)")
    command = program.match[1]
    program.expect(pexpect.EOF)
    program.close()
    assert program.exitstatus == (130 if leave == "\x03" else 0)
    name = command.split()[-1]
    again = spawned(tmp_path, "resume", name)
    again.expect_exact("Going on with Prime Duel")
    again.expect(PROMPTS[0])
    again.close(force=True)


def test_a_line_that_a_crash_cut_off_is_left_out(tmp_path: Path) -> None:
    program = spawned(tmp_path, "play", "prime-duel", "--seed", "cut", "--first", "1")
    program.expect(PROMPTS[0])
    program.kill(signal.SIGKILL)
    program.close(force=True)
    (path,) = (tmp_path / "games").glob("*.jsonl")
    before = path.read_bytes()
    path.write_bytes(before + b'{"n": 2, "seat": "1", "dec')
    again = spawned(tmp_path, "resume")
    again.expect(PROMPTS[0])
    again.sendline("resign")
    again.expect_exact("Resign this game? (yes/no): ")
    again.sendline("yes")
    again.expect_exact("wins!")
    again.close(force=True)
    assert path.read_bytes().startswith(before)
    assert b'"dec\n' not in path.read_bytes()


def test_a_game_open_in_another_window_is_not_opened_twice(tmp_path: Path) -> None:
    program = spawned(tmp_path, "play", "prime-duel", "--first", "1")
    program.expect(PROMPTS[0])
    other = spawned(tmp_path, "resume")
    other.expect_exact("open in another window")
    program.close(force=True)
    other.close(force=True)
