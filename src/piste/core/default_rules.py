"""What a game's `rules.py` may leave out: each function here is taken where it has none of its own.

`add_missing` puts them into the game's own module, so that `outcomes` here means that game's `outcomes`; compiled
code is linked the same way.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from piste.core.bits import count, nth, won_or_lost
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


def kind_field(s: Any) -> int:
    """Return the field `kind`."""
    return int(s.kind)


def phase_field(s: Any) -> int:
    """Return the field `phase`."""
    return int(s.phase)


def reason_field(s: Any) -> int:
    """Return the field `reason`."""
    return int(s.reason)


def winner_field(s: Any, seat: int) -> int:
    """Pay 1 to the seat in the field `winner`, and let the other one pay it."""
    return won_or_lost(s.winner, seat)


ALWAYS = (seats, kind, outcomes, weight, spread, drawn, reason)
BY_FIELD = (
    ("kind", "kind", kind_field),
    ("kind", "phase", phase_field),
    ("reason", "reason", reason_field),
    ("payoff", "winner", winner_field),
)
"""A function, the field of a State that says what it returns, and the function that returns it."""

ADDED = "__added__"
"""Where a module of rules notes which functions were added to it: by the names that they have here."""


def add_missing(rules: ModuleType) -> None:
    """Add what the rules leave out."""
    space = vars(rules)
    space.setdefault("VERSION", 1)
    fields = getattr(space.get("State"), "_fields", ())
    named = [(name, function) for name, field, function in BY_FIELD if field in fields]
    added: list[str] = []
    for name, function in (*named, *((function.__name__, function) for function in ALWAYS)):
        if name not in space:
            copy = FunctionType(function.__code__, space, name)
            copy.__module__, copy.__doc__ = rules.__name__, function.__doc__
            space[name] = copy
            added.append(function.__name__)
    if added:
        for used in (count, nth, won_or_lost):
            space.setdefault(used.__name__, used)
        space.setdefault("CHANCE", CHANCE)
        space[ADDED] = tuple(added)
