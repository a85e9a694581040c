"""Zero-Sum Grid's observations as numbers, and the bounds of everything in them."""

from __future__ import annotations

from piste.core.bits import from2
from piste.core.observation import TURN, TURNS_DONE, amounts, one_of, own_first
from piste.games.zero_sum_grid.notation import KINDS
from piste.games.zero_sum_grid.notation import LINES as LINE_NAMES
from piste.games.zero_sum_grid.rules import HARVEST, TURN_LIMIT, Options, State

SHOWN = ()  # everything is open


def actions(options: Options) -> int:
    return 12  # three rows and three columns, each up or down


def chances(options: Options) -> int:
    return 2 * options.top


def longest(options: Options) -> tuple[int, int]:
    return options.turns, 10  # nine cells at most, and the toss


def cut(s: State) -> int:
    return int(s.reason == TURN_LIMIT)


def phases(_: Options) -> tuple[str, ...]:
    return (*KINDS, "over")


def cells(_: Options) -> list[str]:
    return [f"row {i // 3 + 1}, column {i % 3 + 1}" for i in range(9)]


def largest(options: Options) -> int:
    """Return how large a cell may get: a turn takes it one step further, but not in harvest."""
    return options.top if options.variant == HARVEST else options.top + options.turns


# The sheet's game has no points: there these parts have no numbers at all.


def players(options: Options) -> tuple[str, ...]:
    return own_first(options) if options.variant == HARVEST else ()


def lines(options: Options) -> tuple[str, ...]:
    return LINE_NAMES if options.variant == HARVEST else ()


LAYOUT = (
    one_of("phase", "what happens next", lambda v: v.phase, phases),
    TURN,
    amounts(
        "cells", "the grid, of the highest cell that is dealt", lambda v: v.cells, cells,
        lambda o: o.top, largest, signed=True,
    ),
    TURNS_DONE,
    amounts(
        "points", "points in harvest, of three for each of a player's turns", lambda v: from2(v.points, v.viewer),
        players, lambda o: max(1, 3 * ((o.turns + 1) // 2)),
    ),
    one_of("moved", "the line that was moved last in harvest, and may not be moved now", lambda v: v.line, lines),
)  # fmt: skip
