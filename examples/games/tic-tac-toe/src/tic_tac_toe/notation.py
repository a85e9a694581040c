"""Tic-tac-toe: what its squares and endings are called."""

from __future__ import annotations

from tic_tac_toe import rules
from tic_tac_toe.rules import Options

TITLE = "Tic-tac-toe"
SEATS = ("X", "O")
KINDS = ("place",)
REASONS = {rules.LINE: "a line", rules.FULL: "the board is full", rules.RESIGNED: "resigned"}
STARTS = 0


def name(options: Options, kind: int, action: int) -> str:  # noqa: ARG001
    """Return a square as chess does: its column from the left by a letter, its row from the bottom by a number."""
    row, column = divmod(action, options.size)
    return f"{'abcdefghijklmnopqrstu'[column]}{options.size - row}"
