"""Zero-Sum Grid: add or subtract 1 in a row or a column; who leaves nothing but zeros wins.

Cells are numbered 0 to 8, row by row. A grid can be zeroed only if each row differs from each other row by
the same amount in all columns, so a winnable deal (R1) is made of the first column (three chance nodes) and
the top cells of the other two (two more): the rest follows. The weight of a cell is the number of winnable
grids that still fit, which makes every winnable grid equally likely without a list of them.

Harvest (R5) is another game on the same grid, for points, which somebody always wins.
"""

from __future__ import annotations

from typing import NamedTuple

from piste.core.bits import count, lowest, nth, signed_value, won_or_lost
from piste.core.protocols import CHANCE, HIDDEN, OVER, Event

VERSION = 1

# Phases; the first three are the kinds of events too.
DEAL, TOSS, MOVE, DONE = 0, 1, 2, 3

# How to deal.
WINNABLE, ANY = 0, 1

# Which game.
SHEET, HARVEST = 0, 1

# Reasons for an end; the last two are harvest's.
GRID_IS_ZERO, TURN_LIMIT, RESIGNED, HIGHER_SCORE, LEVEL_SCORE = 1, 2, 3, 4, 5

SHEET_TURNS, HARVEST_TURNS = 200, 16

# Which cell each step of a winnable deal fills: the first column, then the top row.
STEPS = (0, 3, 6, 1, 2)

ALL_MOVES = 0b111111111111  # line * 2, plus 1 to subtract; lines are rows 1-3, then columns 1-3

Cells = tuple[int, int, int, int, int, int, int, int, int]
Points = tuple[int, int]


class Chosen(NamedTuple):
    first: int = 0  # 0 tosses a coin (G1); 1 or 2 names who starts
    turns: int = SHEET_TURNS  # turn limit, 0 for none (R3)
    top: int = 5  # cells are dealt from -top to top, without 0; in harvest they stay there
    deal: int = WINNABLE
    variant: int = SHEET


class Options(Chosen):
    __slots__ = ()

    def __new__(
        cls, first: int = 0, turns: int = SHEET_TURNS, top: int = 5, deal: int = WINNABLE, variant: int = SHEET
    ) -> Options:
        """Return the options; what is usual in the sheet's game stands for what is usual in harvest (R5)."""
        usual = variant == HARVEST and turns == SHEET_TURNS
        return super().__new__(cls, first, HARVEST_TURNS if usual else turns, top, deal, variant)


class State(NamedTuple):
    options: Options
    phase: int
    seat: int  # whose turn it is
    cells: Cells
    dealt: int  # steps of the deal done; 9 when it is complete
    turns: int  # turns completed by both together (G5)
    winner: int
    reason: int
    points: Points = (0, 0)  # of each seat, in harvest
    line: int = HIDDEN  # the line that was moved last, in harvest


class View(NamedTuple):
    options: Options
    viewer: int
    phase: int
    seat: int
    cells: Cells
    dealt: int
    turns: int
    winner: int
    reason: int
    points: Points
    line: int


def seats(options: Options) -> int:
    return 2


def start(options: Options) -> State:
    nothing = (0, 0, 0, 0, 0, 0, 0, 0, 0)
    return State(options, DEAL, max(options.first - 1, 0), nothing, 0, 0, HIDDEN, 0, (0, 0), HIDDEN)


def winnable(cells: Cells) -> bool:
    """Say whether some sequence of moves leads to zeros: every 2 by 2 corner must balance."""
    a, b, c, d, e, f, g, h, i = cells
    return a + e == b + d and a + f == c + d and a + h == b + g and a + i == c + g


def to_act(s: State) -> int:
    if s.phase == MOVE:
        return s.seat
    return OVER if s.phase == DONE else CHANCE


def kind(s: State) -> int:
    return s.phase


def legal(s: State) -> int:
    if s.options.variant == SHEET:
        return ALL_MOVES
    return within(s) & ~(0b11 << (2 * s.line) if s.line >= 0 else 0)  # R5: not the line that was just moved


def within(s: State) -> int:
    """Return the moves after which every cell is still from -top to top (R5)."""
    top = s.options.top
    moves = 0
    for line in range(6):
        a, b, c = on(s.cells, line)
        moves |= (int(max(a, b, c) < top) | 2 * int(min(a, b, c) > -top)) << (2 * line)
    return moves


def on(cells: Cells, line: int) -> tuple[int, int, int]:
    """Return the three cells of a line. (Without computed places: those would make every state slower, compiled.)"""
    a, b, c, d, e, f, g, h, i = cells
    if line < 3:
        return (a, b, c) if line == 0 else (d, e, f) if line == 1 else (g, h, i)
    return (a, d, g) if line == 3 else (b, e, h) if line == 4 else (c, f, i)


def shifts(top: int, cell: int) -> int:
    """Return the set of amounts (numbered from 2 * top) that take `cell` to a value a deal may hold."""
    return (((1 << (2 * top + 1)) - 1) & ~(1 << top)) << (top - cell)


def outcomes(s: State) -> int:
    if s.phase == TOSS:
        return 0b11
    top = s.options.top
    if s.options.deal == ANY or s.dealt < 3:
        return (1 << (2 * top)) - 1  # any first column fits: the same column can stand beside it
    fits = beside(s) >> (top - s.cells[0])  # numbered by the new cell from -top on, 0 included
    below_zero = (1 << top) - 1
    return (fits & below_zero) | ((fits >> 1) & ((1 << (2 * top)) - 1) & ~below_zero)


def beside(s: State) -> int:
    """Return the set of amounts by which a column may differ from the first one."""
    top = s.options.top
    return shifts(top, s.cells[0]) & shifts(top, s.cells[3]) & shifts(top, s.cells[6])


def even(s: State) -> bool:
    """Say whether all outcomes are equally likely."""
    return s.phase == TOSS or s.options.deal == ANY or s.dealt >= 3


def weight(s: State, outcome: int) -> int:
    """Return how many winnable grids have this cell and those dealt so far (R1)."""
    if even(s):
        return (outcomes(s) >> outcome) & 1
    top = s.options.top
    column = shifts(top, signed_value(top, outcome))
    if s.dealt >= 1:
        column &= shifts(top, s.cells[0])
    if s.dealt == 2:
        return count(column & shifts(top, s.cells[3])) ** 2  # two more columns, each in so many ways
    total = 0
    for i in range(2 * top):
        two = column & shifts(top, signed_value(top, i))
        if s.dealt == 1:
            total += count(two) ** 2
        else:
            for j in range(2 * top):
                total += count(two & shifts(top, signed_value(top, j))) ** 2
    return total


def spread(s: State) -> int:
    left = outcomes(s)
    if even(s):
        return count(left)
    total = 0
    while left:
        total += weight(s, lowest(left))
        left &= left - 1
    return total


def drawn(s: State, at: int) -> int:
    left = outcomes(s)
    if even(s):
        return nth(left, at)
    at -= weight(s, lowest(left))
    while at >= 0:
        left &= left - 1
        at -= weight(s, lowest(left))
    return lowest(left)


def with_cell(c: Cells, at: int, new: int) -> Cells:
    return (
        new if at == 0 else c[0],
        new if at == 1 else c[1],
        new if at == 2 else c[2],
        new if at == 3 else c[3],
        new if at == 4 else c[4],
        new if at == 5 else c[5],
        new if at == 6 else c[6],
        new if at == 7 else c[7],
        new if at == 8 else c[8],
    )


def apply(s: State, action: int) -> State:
    if s.options.variant == HARVEST:
        return settled(gathered(s, action) if s.phase == MOVE else dealt(s, action))
    return moved(s, action) if s.phase == MOVE else dealt(s, action)


def dealt(s: State, action: int) -> State:
    """Return the state after a toss or a step of the deal."""
    if s.phase == TOSS:
        return State(s.options, MOVE, action, s.cells, s.dealt, s.turns, HIDDEN, 0, (0, 0), HIDDEN)
    new = signed_value(s.options.top, action)
    steps = s.dealt + 1
    if s.options.deal == ANY:
        cells = with_cell(s.cells, s.dealt, new)
    else:
        cells = with_cell(s.cells, STEPS[s.dealt], new)
        if steps == 5:
            a, b, c, d, g = cells[0], cells[1], cells[2], cells[3], cells[6]
            cells = (a, b, c, d, b + d - a, c + d - a, g, b + g - a, c + g - a)
            steps = 9
    phase = DEAL
    if steps == 9:
        phase = TOSS if s.options.first == 0 else MOVE
    return State(s.options, phase, s.seat, cells, steps, s.turns, HIDDEN, 0, (0, 0), HIDDEN)


def shifted(cells: Cells, action: int) -> Cells:
    """Return the grid after a move."""
    line = action >> 1
    by = 1 - 2 * (action & 1)
    r1, r2, r3 = by * int(line == 0), by * int(line == 1), by * int(line == 2)
    c1, c2, c3 = by * int(line == 3), by * int(line == 4), by * int(line == 5)
    a, b, c, d, e, f, g, h, i = cells
    return (
        a + r1 + c1,
        b + r1 + c2,
        c + r1 + c3,
        d + r2 + c1,
        e + r2 + c2,
        f + r2 + c3,
        g + r3 + c1,
        h + r3 + c2,
        i + r3 + c3,
    )


def moved(s: State, action: int) -> State:
    cells = shifted(s.cells, action)
    turns = s.turns + 1
    if cells == (0, 0, 0, 0, 0, 0, 0, 0, 0):
        return State(s.options, DONE, s.seat, cells, s.dealt, turns, s.seat, GRID_IS_ZERO, (0, 0), HIDDEN)
    if turns == s.options.turns:
        return State(s.options, DONE, s.seat, cells, s.dealt, turns, HIDDEN, TURN_LIMIT, (0, 0), HIDDEN)
    return State(s.options, MOVE, 1 - s.seat, cells, s.dealt, turns, HIDDEN, 0, (0, 0), HIDDEN)


def gathered(s: State, action: int) -> State:
    """Return the state after a move of harvest, with the points it makes (R5)."""
    cells, line = shifted(s.cells, action), action >> 1
    a, b, c = on(cells, line)
    zeros = int(a == 0) + int(b == 0) + int(c == 0)
    points = (s.points[0] + zeros * (1 - s.seat), s.points[1] + zeros * s.seat)
    return State(s.options, MOVE, 1 - s.seat, cells, s.dealt, s.turns + 1, HIDDEN, 0, points, line)


def settled(s: State) -> State:
    """End a game of harvest in which no turn or no move is left (R5); other states stay as they are."""
    if s.phase != MOVE or (s.turns < s.options.turns and legal(s) != 0):
        return s
    starter = s.seat ^ (s.turns & 1)
    lead = (s.points[0] - s.points[1]) * (1 - 2 * starter)
    winner = starter if lead > 0 else 1 - starter  # level goes to the second player
    reason = LEVEL_SCORE if lead == 0 else HIGHER_SCORE
    return State(s.options, DONE, s.seat, s.cells, s.dealt, s.turns, winner, reason, s.points, s.line)


def leave(s: State, seat: int) -> State:
    return State(s.options, DONE, s.seat, s.cells, s.dealt, s.turns, 1 - seat, RESIGNED, s.points, s.line)


def payoff(s: State, seat: int) -> int:
    return won_or_lost(s.winner, seat)


def reason(s: State) -> int:
    return s.reason


def look(s: State, seat: int) -> View:
    return View(s.options, seat, s.phase, s.seat, s.cells, s.dealt, s.turns, s.winner, s.reason, s.points, s.line)


def tell(s: State, action: int, seat: int) -> Event:
    if s.phase == DEAL:
        return Event(DEAL, HIDDEN, action, HIDDEN)
    if s.phase == TOSS:
        return Event(TOSS, action, action, HIDDEN)
    return Event(MOVE, s.seat, action, HIDDEN)
