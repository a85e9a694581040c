"""Zero-Sum Grid as a browser draws it: nine cells, and two ways to move each line."""

from __future__ import annotations

from functools import lru_cache

from piste.core.game import counted
from piste.core.protocols import HIDDEN
from piste.core.scene import GRID, Area, Card, Handle, Score, Standing, number_card, turn_standing, with_minus_sign
from piste.core.views import SeatView
from piste.games.zero_sum_grid import notation
from piste.games.zero_sum_grid.rules import HARVEST, MOVE, View, on, winnable
from piste.games.zero_sum_grid.text import HOPELESS, closed_moves, line_name

PLACES = (0, 1, 2, 3, 4, 5, 6, 7, 8)

EMBLEM = Area(
    GRID, notation.TITLE, tuple(number_card(str(cell)) for cell in (1, 0, -1, 2, 1, 0, 0, -1, -2)), columns=3
)


def scene(view: SeatView, _names: tuple[str, ...]) -> tuple[Area, ...]:
    moved = last_line(view)
    cells = tuple([cell(value, at in moved) for at, value in enumerate(view.position.cells)])
    return (Area(GRID, "Grid", cells, note(view), columns=3, handles=handles(view.actions)),)


@lru_cache(maxsize=128)
def cell(value: int, moved: bool) -> Card:
    """Return a cell, with what a move of its line would make of it, and whether the last move changed it."""
    more, less = (with_minus_sign(str(value + change)) for change in (1, -1))
    return number_card(str(value))._replace(more=more, less=less, active=moved)


def last_line(view: SeatView) -> tuple[int, ...]:
    """Return the cells that the last move changed."""
    event = view.log[-1].event if view.log else None
    return on(PLACES, event.what >> 1) if event is not None and event.kind == MOVE else ()


@lru_cache(maxsize=256)  # most moves are open most of the time
def handles(actions: tuple[int, ...]) -> tuple[Handle, ...]:
    return tuple(handle(actions, line) for line in range(6))


def handle(actions: tuple[int, ...], line: int) -> Handle:
    more, less = (move if move in actions else HIDDEN for move in (2 * line, 2 * line + 1))
    return Handle(line_name(line), line < 3, line % 3, more, less)


def note(view: SeatView) -> str:
    """Return why some moves are not open, or that none can win, where the text says so (R5, R6)."""
    position: View = view.position
    if position.options.variant == HARVEST:
        return with_minus_sign(" ".join(closed_moves(position))) if view.ending is None else ""
    started = view.ending is not None or any(entry.event.kind == MOVE for entry in reversed(view.log))
    return HOPELESS if started and not winnable(position.cells) else ""


def question(_view: SeatView, _names: tuple[str, ...]) -> str:
    return "Choose a row or a column to move"


def choice_texts(view: SeatView) -> dict[int, tuple[str, str]]:
    """Return each move with how many cells become 0."""
    cells, texts = view.position.cells, {}
    for move in view.actions:
        line, change = move >> 1, -1 if move & 1 else 1
        zeros = sum(value + change == 0 for value in on(cells, line))
        what = f"{line_name(line)}: {'subtract' if move & 1 else 'add'} 1"
        texts[move] = what, f"{counted(zeros, 'cell')} {'becomes' if zeros == 1 else 'become'} 0" if zeros else ""
    return texts


def standing(view: SeatView, _names: tuple[str, ...]) -> Standing:
    position: View = view.position
    harvest = position.options.variant == HARVEST
    return turn_standing(view, tuple(Score(str(points)) for points in position.points) if harvest else ())
