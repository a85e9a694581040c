"""Tic-tac-toe: mark a square in turn; whoever fills a row, a column or a diagonal wins.

Squares are numbered row by row from the top left corner, 0 first.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from piste.core.bits import of2, set2
from piste.core.protocols import HIDDEN, OVER, SEAT, Event, SetOf

VERSION = 1

# The only kind of event.
MARK = 0

# Reasons for an end.
LINE, FULL, RESIGNED = 1, 2, 3


class Options(NamedTuple):
    size: Annotated[int, range(2, 8), "squares in a row, and rows"] = 3


class State(NamedTuple):
    options: Options
    seat: int  # whose turn it is
    marks: tuple[int, int]  # the squares that each has marked
    winner: int
    reason: int


class View(NamedTuple):
    options: Options
    viewer: int
    seat: Annotated[int, SEAT]
    marks: Annotated[tuple[int, int], SetOf(MARK)]
    winner: int
    reason: int


def every_square(options: Options) -> int:
    return (1 << (options.size * options.size)) - 1


def start(options: Options) -> State:
    return State(options, 0, (0, 0), HIDDEN, 0)


def to_act(s: State) -> int:
    return OVER if s.reason else s.seat


def kind(s: State) -> int:
    return MARK


def legal(s: State) -> int:
    return every_square(s.options) & ~(s.marks[0] | s.marks[1])


def has_line(size: int, marks: int) -> bool:
    row = (1 << size) - 1
    column = falling = rising = 0
    for i in range(size):
        column |= 1 << (i * size)
        falling |= 1 << (i * size + i)
        rising |= 1 << (i * size + size - 1 - i)
    if marks & falling == falling or marks & rising == rising:
        return True
    for i in range(size):
        if marks & (row << (i * size)) == row << (i * size) or marks & (column << i) == column << i:
            return True
    return False


def apply(s: State, action: int) -> State:
    own = of2(s.marks, s.seat) | 1 << action
    marks = set2(s.marks, s.seat, own)
    if has_line(s.options.size, own):
        return State(s.options, 1 - s.seat, marks, s.seat, LINE)
    full = (marks[0] | marks[1]) == every_square(s.options)
    return State(s.options, 1 - s.seat, marks, HIDDEN, FULL if full else 0)


def leave(s: State, seat: int) -> State:
    return State(s.options, s.seat, s.marks, 1 - seat, RESIGNED)


def look(s: State, seat: int) -> View:
    return View(s.options, seat, s.seat, s.marks, s.winner, s.reason)


def tell(s: State, action: int, seat: int) -> Event:
    return Event(MARK, s.seat, action, HIDDEN)
