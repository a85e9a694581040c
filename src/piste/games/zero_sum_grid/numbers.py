"""What a learner sees of Zero-Sum Grid, as numbers, and how large everything may get."""

from __future__ import annotations

from piste.core.layout import TURN, TURNS_DONE, amounts, one_of
from piste.games.zero_sum_grid.notation import KINDS
from piste.games.zero_sum_grid.rules import TURN_LIMIT, Options, State

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


LAYOUT = (
    one_of("phase", "what happens next", lambda v: v.phase, phases),
    TURN,
    amounts(
        "cells", "the grid, of the highest cell that is dealt", lambda v: v.cells, cells,
        lambda o: o.top, lambda o: o.top + o.turns, signed=True,  # a turn takes a cell one step further
    ),
    TURNS_DONE,
)  # fmt: skip
