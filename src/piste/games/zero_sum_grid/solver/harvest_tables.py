"""Harvest (R5) by backward induction: the best margin of the player to move, for every grid and number of turns left.

It also depends on the line just moved. What was scored before is only added, so who wins follows for every score.

A grid whose cells are a number of the row plus a number of the column (one that can be zeroed) is the same game when
its rows or columns change places. So only grids with both in order are worked out: 3 003 with cells from -5 to 5. Of
equal rows one stands for all: adding to the last of them, or subtracting from the first, keeps the order. If the line
just moved has an equal, that it may not be moved means nothing, since its equal may.

Other grids keep what tells them apart from these, whatever is played: such a family is worked out by itself, with all
numbers that can be added to its rows and columns.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from piste.core.protocols import HIDDEN
from piste.games.zero_sum_grid import rules
from piste.games.zero_sum_grid.notation import MOST_TURNS
from piste.games.zero_sum_grid.rules import Cells, Options, State

Array = Any

ANY_LINE = 6
"""Stands for the line just moved where every line may be moved: at the start, or if it has an equal."""

MAX_FAMILY_SIZE = 600_000
"""Families with more grids are not worked out; none with cells up to 8 is larger."""

NO_MOVE = -1000


class Moves(NamedTuple):
    """For each of the twelve moves and each grid what comes of it; where it is not open, the gain is NO_MOVE."""

    gain: Array  # zeros in the line that it moves
    after: Array  # number of the grid after it
    line: Array  # the line that may not be moved then, or ANY_LINE


class Table(NamedTuple):
    """The grids as sorted keys, and what they are worth to the player to move: by turns left, grid and line."""

    keys: Array
    values: Array


# Grids are held as three numbers of the rows and three of the columns; that of the first column is always 0.


def key(rows: Array, columns: Array, top: int) -> Array:
    """Return one number for each grid; a move beyond -top to top has one, too."""
    base, number = 8 * top + 1, 0
    for part in (rows[0], rows[1], rows[2], columns[1], columns[2]):
        number = number * base + (part + 4 * top)
    return number


def own_lines_first(move: int, rows: Array, columns: Array) -> tuple[Array, Array]:
    """Return the numbers of a move's own kind of lines first."""
    return (rows, columns) if move < 6 else (columns, rows)


def after_move(move: int, rows: Array, columns: Array) -> tuple[Array, Array]:
    """Return the numbers after a move, with 0 for the first column again."""
    at, by = (move >> 1) % 3, 1 - 2 * (move & 1)
    change = np.array([by * (i == at) for i in range(3)])[:, None]
    rows, columns = (rows + change, columns) if move < 6 else (rows, columns + change)
    return rows + columns[0], columns - columns[0]


def ordered_grids(top: int) -> tuple[Array, Array]:
    """Return all grids that can be zeroed, with cells from -top to top and rows and columns in order."""
    pairs = np.array([(a, b) for b in range(2 * top + 1) for a in range(b + 1)])
    one, two = (part.reshape(-1) for part in np.indices((len(pairs), len(pairs))))
    room = 2 * top + 1 - pairs[one, 1] - pairs[two, 1]
    one, two, room = one[room > 0], two[room > 0], room[room > 0]
    low = np.arange(room.sum()) - np.repeat(np.cumsum(room) - room, room) - top
    above, beside = np.repeat(pairs[one], room, 0).T, np.repeat(pairs[two], room, 0).T
    rows = np.stack((low, low + above[0], low + above[1]))
    return rows, np.stack((np.zeros_like(low), beside[0], beside[1]))


def ordered_moves(top: int, keys: Array, rows: Array, columns: Array) -> Moves:
    """Return the moves of grids in order."""
    moves = Moves(*(np.empty((12, len(keys)), kind) for kind in (np.int16, np.int32, np.int8)))
    for move in range(12):
        own, other = own_lines_first(move, rows, columns)
        at, up = (move >> 1) % 3, move & 1 == 0
        if up:
            fits = (own[at] + other[2] < top) & (at == 2 or own[at] < own[min(at + 1, 2)])
        else:
            fits = (own[at] + other[0] > -top) & (at == 0 or own[at] > own[max(at - 1, 0)])
        after_rows, after_columns = after_move(move, rows, columns)
        own, other = own_lines_first(move, after_rows, after_columns)
        alone = (at == 2 or own[at] < own[min(at + 1, 2)]) & (at == 0 or own[at] > own[max(at - 1, 0)])
        _set_move(moves, move, fits, (own[at] + other == 0).sum(0), keys, key(after_rows, after_columns, top))
        moves.line[move] = np.where(alone, move >> 1, ANY_LINE)
    return moves


def family(cells: Cells) -> tuple[int, ...]:
    """Return what no move changes: how far the four cells off the first row and column are from fitting in."""
    return tuple(cells[3 * i + j] - cells[3 * i] - cells[j] + cells[0] for i in (1, 2) for j in (1, 2))


def base_grid(invariants: tuple[int, ...]) -> Array:
    """Return a family's grid with zeros in the first row and column."""
    a, b, c, d = invariants
    return np.array([[0, 0, 0], [0, a, b], [0, c, d]])


def family_size(invariants: tuple[int, ...], top: int) -> int:
    """Return how many grids of a family have cells from -top to top."""
    return int(_row_ranges(invariants, top)[1].prod(0).sum())


def _row_ranges(invariants: tuple[int, ...], top: int) -> tuple[Array, Array, Array]:
    """Return for all numbers of the columns the lowest number of each row, how many there are, and the columns."""
    second, third = (part.reshape(-1) for part in np.indices((4 * top + 1, 4 * top + 1)) - 2 * top)
    columns = np.stack((np.zeros_like(second), second, third))
    whole = base_grid(invariants)[:, :, None] + columns[None]
    low, high = -top - whole.min(1), top - whole.max(1)
    return low, np.maximum(high - low + 1, 0), columns


def family_grids(invariants: tuple[int, ...], top: int) -> tuple[Array, Array]:
    """Return all grids of a family with cells from -top to top."""
    low, room, columns = _row_ranges(invariants, top)
    grids = room.prod(0)
    at = np.arange(grids.sum()) - np.repeat(np.cumsum(grids) - grids, grids)
    low, room, columns = (np.repeat(part, grids, 1) for part in (low, room, columns))
    rows = np.stack((at // (room[1] * room[2]), at // room[2] % room[1], at % room[2])) + low
    return rows, columns


def family_moves(invariants: tuple[int, ...], top: int, keys: Array, rows: Array, columns: Array) -> Moves:
    """Return the moves of a family's grids."""
    moves = Moves(*(np.empty((12, len(keys)), kind) for kind in (np.int16, np.int32, np.int8)))
    for move in range(12):
        after_rows, after_columns = after_move(move, rows, columns)
        at = (move >> 1) % 3
        own, other = own_lines_first(move, after_rows, after_columns)
        base = base_grid(invariants)[at] if move < 6 else base_grid(invariants)[:, at]
        line = own[at] + other + base[:, None]
        fits = (np.abs(line) <= top).all(0)
        _set_move(moves, move, fits, (line == 0).sum(0), keys, key(after_rows, after_columns, top))
        moves.line[move] = move >> 1
    return moves


def _set_move(moves: Moves, move: int, fits: Array, zeros: Array, keys: Array, after: Array) -> None:
    moves.gain[move] = np.where(fits, zeros, NO_MOVE)
    moves.after[move] = np.where(fits, np.minimum(np.searchsorted(keys, after), len(keys) - 1), 0)


def backward_induction(moves: Moves, turns: int) -> Array:
    """Return what every grid is worth to the player to move, by turns left, grid and line just moved."""
    values = np.zeros((turns + 1, moves.gain.shape[1], 7), np.int8)
    for left in range(1, turns + 1):
        each = moves.gain - values[left - 1][moves.after, moves.line]
        by_line = np.maximum(each[0::2], each[1::2])
        for line in range(7):
            best = np.delete(by_line, line, 0).max(0) if line < 6 else by_line.max(0)
            values[left, :, line] = np.where(best > NO_MOVE // 2, best, 0)  # no move is left: nothing more is scored
    return values


def _sort_by_key(rows: Array, columns: Array, top: int) -> tuple[Array, Array, Array]:
    keys = key(rows, columns, top)
    order = np.argsort(keys)
    return keys[order], rows[:, order], columns[:, order]


@lru_cache(maxsize=2)
def ordered_table(top: int, turns: int) -> Table:
    """Return all grids that can be zeroed, worked out."""
    keys, rows, columns = _sort_by_key(*ordered_grids(top), top)
    return Table(keys, backward_induction(ordered_moves(top, keys, rows, columns), turns))


@lru_cache(maxsize=2)
def family_table(invariants: tuple[int, ...], top: int, turns: int) -> Table:
    """Return all grids of a family, worked out."""
    keys, rows, columns = _sort_by_key(*family_grids(invariants, top), top)
    return Table(keys, backward_induction(family_moves(invariants, top, keys, rows, columns), turns))


def solvable(s: State) -> bool:
    """Say whether a grid belongs to what can be worked out."""
    return rules.winnable(s.cells) or family_size(family(s.cells), s.options.top) <= MAX_FAMILY_SIZE


def margin(s: State, turns: int = MOST_TURNS) -> int:
    """Return how many points the player to move will have more than the other if both play well.

    At the end, or after `turns`, with both playing as if that were the end.
    """
    so_far = s.points[s.seat] - s.points[1 - s.seat]
    if s.phase == rules.DONE:
        return so_far
    options, cells = s.options, s.cells
    rows, columns = [cells[0], cells[3], cells[6]], [0, cells[1] - cells[0], cells[2] - cells[0]]
    if rules.winnable(cells):
        table = ordered_table(options.top, options.turns)
        line = ordered_line(s.line, rows, columns)
        rows, columns = sorted(rows), sorted(columns)
        rows, columns = [row + columns[0] for row in rows], [column - columns[0] for column in columns]
    else:
        table = family_table(family(cells), options.top, options.turns)
        line = ANY_LINE if s.line == HIDDEN else s.line
    grid = np.searchsorted(table.keys, key(rows, columns, options.top))
    return so_far + int(table.values[min(options.turns - s.turns, turns), grid, line])


def ordered_line(line: int, rows: list[int], columns: list[int]) -> int:
    """Return which line of the ordered grid a line is, or ANY_LINE if it has an equal."""
    if line == HIDDEN:
        return ANY_LINE
    own = rows if line < 3 else columns
    number = own[line % 3]
    return ANY_LINE if own.count(number) > 1 else 3 * (line // 3) + sum(other < number for other in own)


class Tally(NamedTuple):
    """How many deals end how with perfect play."""

    first: int  # won by the first player
    level: int  # won by the second player with as many points
    second: int  # won by the second player with more points
    margins: dict[int, int]  # by how many points the first player has more

    @property
    def deals(self) -> int:
        return self.first + self.level + self.second


def tally(options: Options) -> Tally:
    """Count all deals that can be zeroed by what perfect play comes to."""
    top = options.top
    table = ordered_table(top, options.turns)
    _, rows, columns = _sort_by_key(*ordered_grids(top), top)
    dealt = np.all(rows[:, None] + columns[None] != 0, axis=(0, 1))
    ways = np.array([0, 1, 3, 6])  # to order three numbers, by how many of them differ
    deals = (ways[_different(rows)] * ways[_different(columns)])[dealt]
    values = table.values[options.turns, dealt, ANY_LINE]
    margins = {int(by): int(deals[values == by].sum()) for by in np.unique(values)}
    first, second = (sum(n for by, n in margins.items() if by * sign > 0) for sign in (1, -1))
    return Tally(first, margins.get(0, 0), second, margins)


def _different(three: Array) -> Array:
    return 1 + (three[1] != three[0]) + (three[2] != three[1])
