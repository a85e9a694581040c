"""A second set of the five games' rules, written from the rule sheets and the rulings alone.

It is as plain as it can be: lists, dicts and loops, slow and easy to read. It shares no code with `piste`.
`tests/test_reference.py` plays both side by side; where they differ, one of them breaks the law.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import ClassVar

Given = dict[str, int | str]
"""Options as a person writes them."""

Expected = tuple[int | str, set[str] | dict[str, Fraction]]
"""Who acts (a seat, "chance" or "over"), and the names to choose from, or each outcome's probability."""


class Referee:
    """What all five referees have: who acts, what may happen, who won and why."""

    defaults: ClassVar[Given] = {}

    def __init__(self, options: Given) -> None:
        self.options: Given = {**self.defaults, **options}
        self.seats = 2
        self.stage = ""
        self.winner: int | None = None
        self.reason = ""

    def expects(self) -> Expected:
        raise NotImplementedError

    def do(self, name: str) -> None:
        raise NotImplementedError

    def resign(self, seat: int) -> None:
        """G3: between two, the other one wins."""
        self.end(1 - seat, "resigned")

    def end(self, winner: int | None, reason: str) -> None:
        self.stage = "over"
        self.winner = winner
        self.reason = reason

    def payoffs(self) -> tuple[int, ...]:
        """The winner gets 1 from each of the others; a draw pays nothing."""
        if self.winner is None:
            return (0,) * self.seats
        return tuple(self.seats - 1 if seat == self.winner else -1 for seat in range(self.seats))

    def number(self, option: str) -> int:
        return int(self.options[option])


def fair(names: Iterable[str]) -> dict[str, Fraction]:
    """Return the chance of each name when one thing is drawn blindly; a name may be there several times."""
    counts = Counter(names)
    return {name: Fraction(count, counts.total()) for name, count in counts.items()}
