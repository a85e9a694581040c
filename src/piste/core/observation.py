"""How what a seat sees becomes numbers: what a game's `observation.py` declares its layout with.

A layout is a list of named parts, one after the other. Each part reads something from a View and writes it in one of
four forms: a set, one of several, small counts, amounts. What it reads with, and the functions at the end of this
file, are in the part of Python that numba compiles; `compiled/codegen.py` writes one `encode` from the list, and the
same one serves a game at a table and thousands of games in arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

FLAGS, ONE_OF, COUNTS, AMOUNTS = "flags", "one of", "counts", "amounts"

Read = Callable[[Any], Any]  # from a View; in the compiled part of Python
Names = Callable[[Any], Sequence[str]]  # from the options
Amount = Callable[[Any], int]  # from the options


class Part(NamedTuple):
    """Some neighbouring numbers of a layout."""

    name: str
    says: str  # what it is, for the page
    form: str
    read: Read
    names: Names  # what each of its numbers stands for
    unit: Amount = lambda _: 1  # what counts and amounts are divided by
    most: Amount | None = None  # the largest amount there can be, if it is more than the unit
    signed: bool = False  # whether amounts may be below 0


class ObservationSpec(Protocol):
    """A game's `observation.py`, as a module: what a learner sees of the game, and how large everything may get."""

    LAYOUT: tuple[Part, ...]
    SHOWN: tuple[str, ...]
    """The fields of a View that are empty until secrets are shown (G9, D15); none where nothing is ever secret."""

    def actions(self, options: Any, /) -> int:
        """Return how many decisions there are: each is below this."""

    def chances(self, options: Any, /) -> int:
        """Return how many chance outcomes there are: each is below this."""

    def longest(self, options: Any, /) -> tuple[int, int]:
        """Return how many decisions and outcomes a game has at most; where it could go on, with a turn limit."""

    def cut(self, s: Any, /) -> int:
        """Return 1 if the game ended for having lasted long enough, which is no result of play; else 0. Compiled."""


def flags(name: str, says: str, read: Read, names: Names) -> Part:
    """Return a part for a set: 1 for each member, 0 for what is not in it."""
    return Part(name, says, FLAGS, read, names)


def one_of(name: str, says: str, read: Read, names: Names) -> Part:
    """Return a part for one of several: 1 in its place, 0 elsewhere; all 0 if it is hidden or there is none."""
    return Part(name, says, ONE_OF, read, names)


def counts(name: str, says: str, read: Read, names: Names, unit: Amount) -> Part:
    """Return a part for small counts that are packed into one number."""
    return Part(name, says, COUNTS, read, names, unit)


def amounts(
    name: str, says: str, read: Read, names: Names, unit: Amount, most: Amount | None = None, *, signed: bool = False
) -> Part:
    """Return a part for some numbers, read as a tuple."""
    return Part(name, says, AMOUNTS, read, names, unit, most, signed)


def alone(_: Any) -> tuple[str]:
    """Return the names of a part that is a single number."""
    return ("",)


def own_first(_: Any) -> tuple[str, str]:
    """Return the names of two players as one of them sees them."""
    return ("own", "the other's")


# Parts that games between two share.
TURN = one_of("turn", "whose turn it is", lambda v: v.seat ^ v.viewer, own_first)
TURNS_DONE = amounts(
    "turns",
    "turns done, of the turn limit; 0 without one",
    lambda v: (v.turns if v.options.turns else 0,),
    alone,
    lambda options: max(1, options.turns),
)


class Index(NamedTuple):
    """One number of a layout."""

    part: Part
    name: str
    low: float
    high: float


def indices(layout: tuple[Part, ...], options: Any) -> list[Index]:
    """Return every number of a layout in its order, with its bounds."""
    numbers: list[Index] = []
    for part in layout:
        high = 1.0 if part.most is None else part.most(options) / part.unit(options)
        numbers += [Index(part, name, -high if part.signed else 0.0, high) for name in part.names(options)]
    return numbers


def put_flags(lines: Any, row: int, at: int, size: int, bits: int) -> None:
    """Write a set."""
    for i in range(size):
        lines[row, at + i] = (bits >> i) & 1


def put_one_of(lines: Any, row: int, at: int, size: int, which: int) -> None:
    """Write one of several."""
    put_flags(lines, row, at, size, only(which))


def only(which: int) -> int:
    """Return the set of one number; none if it is hidden."""
    return 1 << which if which >= 0 else 0


def put_counts(lines: Any, row: int, at: int, size: int, share: float, lanes: int) -> None:
    """Write small counts."""
    for i in range(size):
        lines[row, at + i] = ((lanes >> (4 * i)) & 15) * share


def put_amounts(lines: Any, row: int, at: int, size: int, share: float, several: Any) -> None:
    """Write the first `size` amounts."""
    for i in range(size):
        lines[row, at + i] = several[i] * share
