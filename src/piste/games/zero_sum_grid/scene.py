"""Zero-Sum Grid as a browser draws it: nine cells, and two ways to move each line."""

from __future__ import annotations

from piste.core.protocols import HIDDEN
from piste.core.scene import (
    FACT,
    GRID,
    Area,
    Card,
    Handle,
    number_card,
    other_seats,
    owner_label,
    turn_counter,
    with_minus_sign,
)
from piste.core.views import SeatView
from piste.games.zero_sum_grid import notation
from piste.games.zero_sum_grid.rules import HARVEST, View, winnable
from piste.games.zero_sum_grid.text import HOPELESS, closed_moves, line_name, moves

EMBLEM = Area(
    GRID, notation.TITLE, tuple(number_card(str(cell)) for cell in (1, 0, -1, 2, 1, 0, 0, -1, -2)), columns=3
)


def scene(view: SeatView, names: tuple[str, ...]) -> tuple[Area, ...]:
    position: View = view.position
    harvest = position.options.variant == HARVEST
    areas = [points(view, names, seat) for seat in other_seats(view.seat, len(names)) if harvest]
    if view.ending is None:
        areas.append(turn_counter(position.turns, position.options.turns))
    cells = tuple(number_card(str(cell)) for cell in position.cells)
    handles = tuple(handle(view, line) for line in range(6))
    areas.append(Area(GRID, "Grid", cells, note(view), columns=3, handles=handles))
    return (*areas, points(view, names, view.seat)) if harvest and view.seat >= 0 else tuple(areas)


def handle(view: SeatView, line: int) -> Handle:
    more, less = (move if move in view.actions else HIDDEN for move in (2 * line, 2 * line + 1))
    return Handle(line_name(line), line < 3, line % 3, more, less)


def note(view: SeatView) -> str:
    """Return why some moves are not open, or that none can win, where the text says so (R5, R6)."""
    position: View = view.position
    if position.options.variant == HARVEST:
        return with_minus_sign(" ".join(closed_moves(position))) if view.ending is None else ""
    started = moves(view.log) or view.ending is not None
    return HOPELESS if started and not winnable(position.cells) else ""


def points(view: SeatView, names: tuple[str, ...], seat: int) -> Area:
    return Area(FACT, owner_label(view, names, seat, "points"), (Card(str(view.position.points[seat])),), seat=seat)
