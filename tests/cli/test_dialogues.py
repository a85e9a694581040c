"""The sheets' sample dialogues, line by line, through a real pseudo-terminal, with the cards laid as in the sheet."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal_user import clean, spawned

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals here")

SHEETS = Path(__file__).parent / "samples"


def sample(name: str) -> list[str]:
    """Return the blocks of a sample, as they stand on the sheet."""
    return (SHEETS / f"{name}.txt").read_text(encoding="utf-8").strip("\n").split("\n\n\n")


def dialogue(program: Any, answers: list[tuple[str, str]]) -> str:
    """Answer each question with what follows it, and return everything that was on the screen until then."""
    seen = ""
    for question, answer in answers:
        program.expect_exact(question)
        seen += program.before + question
        program.sendline(answer)
    return seen


def rest(program: Any) -> str:
    import pexpect

    program.expect(pexpect.EOF)
    return str(program.before)


def test_zero_sum_duel_to_its_win(tmp_path: Path) -> None:
    hot_seat = ("--seat", "you", "--seat", "you")
    program = spawned(tmp_path, "play", "zero-sum-duel", *hot_seat, "--first", "a", "--deck", "+3 -2 -5 +4 +2")
    answers = []
    for seat in "ABAB":
        answers += [(f"Player {seat}: press Enter when only you can see the screen.", "")]
        answers += [("End of turn. Press Enter to continue.", "")]
    seen = clean(dialogue(program, answers) + rest(program))
    for block in sample("zero-sum-duel"):
        assert block in seen
    assert seen.index("Player A's Turn") < seen.index("Player B's Turn") < seen.index("Congratulations!")


def test_positive_negative(tmp_path: Path) -> None:
    deck = "5 -3 7 -2 10 -5 4 -6 8 -1 6 -9 3 -7 2 -8 9 -4 1 -10"
    program = spawned(tmp_path, "play", "positive-negative", "--seat", "you", "--seat", "you", "--deck", deck)
    question = "Do you want to keep this card? (yes/no)"
    answers = []
    for player, word in zip("1212", ("yes", "no", "no", "no"), strict=True):
        answers += [(f"Player {player}: press Enter when only you can see the screen.", ""), (question, word)]
    seen = clean(dialogue(program, answers))
    program.expect_exact("Your new score is 11.")
    seen += clean(program.before + "Your new score is 11.")
    program.close(force=True)
    house = re.compile(r"^Player \d's score is -?\d+\.\n", re.MULTILINE)  # the other's score, a line of ours
    shown = re.sub(house, "", seen)
    for block in sample("positive-negative"):
        assert block in shown, shown


def test_zero_sum_grid(tmp_path: Path) -> None:
    grid = "2 -3 4 / -1 5 -2 / 3 -4 1"
    program = spawned(
        tmp_path, "play", "zero-sum-grid", "--seat", "you", "--seat", "you", "--first", "1", "--grid", grid
    )
    steps = [("Enter choice (R/C): ", "R"), ("Enter the line number (1-3): ", "2"), ("Enter choice (A/S): ", "A")]
    seen = dialogue(program, steps)
    program.expect_exact("Player 2's turn.")
    seen = clean(seen + program.before)
    program.close(force=True)
    (block,) = sample("zero-sum-grid")
    assert block in seen
    # R6: what is said about a grid that cannot be won stands after the block, before the next heading.
    assert "cannot" in seen[seen.index(block) + len(block) :]
    assert "cannot" not in seen[: seen.index(block)].replace("can", "", 0).split("Player 1's turn.")[-1]


def test_prime_duel(tmp_path: Path) -> None:
    program = spawned(
        tmp_path, "play", "prime-duel", "--seat", "you", "--seat", "you", "--first", "1", "--deck", "7 10 9 8 3 5"
    )
    question = "Do you want to keep this card? (yes/no): "
    seen = dialogue(program, [(question, word) for word in ("yes", "yes", "yes", "no", "yes")])
    program.expect_exact("No prime number. Turn ends.")
    seen = clean(seen + program.before + "No prime number. Turn ends.")
    program.close(force=True)
    for block in sample("prime-duel"):
        assert block in seen
