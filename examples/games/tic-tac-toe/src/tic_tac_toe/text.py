"""Tic-tac-toe: its board."""

from __future__ import annotations

from piste.core.presentation import Row
from piste.core.views import SeatView
from tic_tac_toe import notation
from tic_tac_toe.rules import View

TIPS = ("Mark a square in turn.", "Three in a line win.", "A full board is a draw.")
HAND_OVER = False


def mark(view: View, square: int) -> str:
    """Return what stands on a square."""
    return next((notation.SEATS[seat] for seat in (0, 1) if view.marks[seat] >> square & 1), ".")


def board(view: View) -> list[Row]:
    size = view.options.size
    rows = [Row(str(size - row), tuple(mark(view, size * row + i) for i in range(size))) for row in range(size)]
    return [*rows, Row(" ", tuple("abcdefg"[:size]))]


def picture(view: SeatView, names: tuple[str, ...]) -> list[Row]:  # noqa: ARG001
    return board(view.position)
