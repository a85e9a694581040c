"""What a game's `rules.py` may leave out: each function here is taken where it has none of its own.

`add_missing` puts them into the game's own module, so that `outcomes` here means that game's `outcomes`; compiled
code is linked the same way.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from piste.core.bits import count, nth
from piste.core.protocols import CHANCE

if TYPE_CHECKING:

    def to_act(s: Any) -> int: ...


def seats(options: Any) -> int:  # noqa: ARG001
    """Seat two players."""
    return 2


def kind(s: Any) -> int:
    """Tell chance, 0, from a decision, 1."""
    return 0 if to_act(s) == CHANCE else 1


def outcomes(s: Any) -> int:  # noqa: ARG001
    """Leave nothing to chance."""
    return 0


def weight(s: Any, outcome: int) -> int:
    """Make all outcomes equally likely."""
    return (outcomes(s) >> outcome) & 1


def spread(s: Any) -> int:
    return count(outcomes(s))


def drawn(s: Any, at: int) -> int:
    return nth(outcomes(s), at)


def reason(s: Any) -> int:  # noqa: ARG001
    """Give no reason for an end."""
    return 0


FUNCTIONS = (seats, kind, outcomes, weight, spread, drawn, reason)
WEIGHTS = ("weight", "spread", "drawn")
"""These three say the same in three ways, so a game has all of them or none."""

ADDED = "__added__"
"""Where a module of rules notes which functions were added to it."""


def add_missing(rules: ModuleType) -> None:
    """Add what the rules leave out."""
    space = vars(rules)
    space.setdefault("VERSION", 1)
    added = [function for function in FUNCTIONS if function.__name__ not in space]
    for function in added:
        copy = FunctionType(function.__code__, space, function.__name__)
        copy.__module__, copy.__doc__ = rules.__name__, function.__doc__
        space[function.__name__] = copy
    if added:
        for name, value in (("CHANCE", CHANCE), ("count", count), ("nth", nth)):  # what they use
            space.setdefault(name, value)
        space[ADDED] = tuple(function.__name__ for function in added)
