"""Zero-Sum Grid in a browser's log: short lines, and how it ended."""

from __future__ import annotations

from piste.core.game import counted
from piste.core.presentation import EventContext, Passing
from piste.core.scene import with_minus_sign
from piste.core.views import Ending, SeatView
from piste.games.zero_sum_grid import text
from piste.games.zero_sum_grid.rules import (
    DEAL,
    GRID_IS_ZERO,
    HARVEST,
    MOVE,
    RESIGNED,
    TOSS,
    TURN_LIMIT,
    View,
    on,
    winnable,
)


def start(view: SeatView, names: tuple[str, ...]) -> list[str]:
    """Return what is different in harvest (R5)."""
    return [with_minus_sign(line) for line in text.welcome(view, names)]


def lines(moment: EventContext) -> list[str]:
    kind, seat, what, _ = moment.event
    after: View = moment.after
    if kind == TOSS:
        return [moment.goes_first(seat)]
    if kind == DEAL and after.phase != DEAL:
        return [Passing("The grid was dealt")]
    if kind != MOVE:
        return []  # a resignation is told with the result
    name = text.line_name(what >> 1).lower()
    line = f"{moment.subject(seat)} {'subtracted 1 from' if what & 1 else 'added 1 to'} {name}"
    if after.options.variant == HARVEST:
        return [f"{line}: {counted(on(after.cells, after.line).count(0), 'zero')} → {after.points[seat]}"]
    hopeless = text.moves(moment.log) == 1 and not winnable(after.cells)  # R6: between two turns
    return [line, text.HOPELESS.rstrip(".")] if hopeless else [line]


def final_score(view: SeatView) -> tuple[int, ...] | None:
    points: tuple[int, ...] = view.position.points
    return points if view.options.variant == HARVEST else None


def decisive(view: SeatView, names: tuple[str, ...], ending: Ending) -> str:
    position: View = view.position
    if position.reason == TURN_LIMIT:
        return f"Not all cells were 0 after {counted(position.turns, 'turn')}: a draw by turn limit."
    if position.reason == RESIGNED or ending.winner is None:
        return ""
    if position.reason == GRID_IS_ZERO:
        return f"{'You' if ending.winner == view.seat else names[ending.winner]} brought all nine cells to 0."
    over = position.turns >= position.options.turns
    why = f"After {counted(position.turns, 'turn')}" if over else "No move is open:"
    level = position.points[0] == position.points[1]
    return f"{why} {'a level score goes to the second player' if level else 'the higher score wins'}."
