"""Tic-tac-toe as a browser draws it: a square that is open can be chosen."""

from __future__ import annotations

from piste.core.protocols import HIDDEN
from piste.core.scene import GRID, Area, Card
from piste.core.views import SeatView
from tic_tac_toe import notation
from tic_tac_toe.text import mark

EMBLEM = Area(GRID, notation.TITLE, tuple(Card(text) for text in "X.O.X.O.X".replace(".", " ")), columns=3)


def scene(view: SeatView, names: tuple[str, ...]) -> tuple[Area, ...]:  # noqa: ARG001
    size = view.options.size
    cards = []
    for square in range(size * size):
        text, name = mark(view.position, square).strip("."), notation.name(view.options, 0, square)
        tone = {"X": "a", "O": "b"}.get(text, "")
        decision = square if square in view.actions else HIDDEN
        cards.append(Card(text or " ", f"{name} {text or 'empty'}", tone, decision=decision))
    rows, columns = tuple(str(size - row) for row in range(size)), tuple("abcdefg"[:size])
    return (Area(GRID, "Board", tuple(cards), columns=size, row_names=rows, column_names=columns),)
