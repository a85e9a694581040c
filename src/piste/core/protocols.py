"""What a game's `rules.py` supplies, and the few words that all rules share.

Rules are pure functions on small immutable values, written in the part of Python that numba compiles
unchanged (docs/architecture.md lists what that means). They know nothing of seeds, names or screens.

A decision or a chance outcome is an *action*: a whole number from 0 to 61, so that a set of actions is
one whole number too (bit `a` set: action `a` is in the set).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

CHANCE = -1
"""`to_act` when the dealer is to act."""

OVER = -2
"""`to_act` when the game has ended."""

SPECTATOR = -1
"""The seat of somebody who only looks on: sees what every seat sees, and nothing more."""

HIDDEN = -1
"""Stands in an `Event` or a view for what this audience may not know, or what does not apply."""

RESIGNS = -1
"""The kind of the one event that no rule has: somebody left."""


class Event(NamedTuple):
    """What one audience is told of one action."""

    kind: int  # which sort of action: a number from the game's rules, or RESIGNS
    seat: int  # the seat that acts or is acted on; HIDDEN where no seat is concerned
    what: int  # the action itself, or HIDDEN
    also: int  # a second thing told with it (the card that was kept, who gets the gift), or HIDDEN


class Rules(Protocol):
    """A game's rules, as a module. Each function trusts its caller; `Table` and `Position` check.

    `State` holds everything, secrets included. `View` is what one seat sees now; it is a type of its
    own, built up from nothing, so that a forgotten field is missing rather than leaked.
    """

    VERSION: int
    Options: type[Any]
    State: type[Any]
    View: type[Any]

    def seats(self, options: Any, /) -> int:
        """Return how many seats a game with these options has."""

    def start(self, options: Any, /) -> Any:
        """Return the first state."""

    def to_act(self, s: Any, /) -> int:
        """Return the seat that decides, or CHANCE, or OVER."""

    def kind(self, s: Any, /) -> int:
        """Return the kind of the action to come; everybody may know it."""

    def legal(self, s: Any, /) -> int:
        """Return the set of decisions open to the seat to act; never empty at a decision."""

    def outcomes(self, s: Any, /) -> int:
        """Return the set of outcomes that chance may bring; never empty at a chance node."""

    def weight(self, s: Any, outcome: int, /) -> int:
        """Return how likely an outcome is, as a whole number; positive for each of `outcomes`."""

    def spread(self, s: Any, /) -> int:
        """Return the sum of the weights of all outcomes: how many equally likely cards, so to say, there are."""

    def drawn(self, s: Any, at: int, /) -> int:
        """Return the outcome that card number `at` below `spread` is; each has `weight` numbers, side by side."""

    def apply(self, s: Any, action: int, /) -> Any:
        """Return the state after a decision or an outcome."""

    def leave(self, s: Any, seat: int, /) -> Any:
        """Return the state after this seat resigned; asked only where a seat is to act (G3)."""

    def payoff(self, s: Any, seat: int, /) -> int:
        """Return what the seat has won or lost; 0 while the game goes on, and in a draw."""

    def reason(self, s: Any, /) -> int:
        """Return why the game ended, as a number that the game's words name."""

    def look(self, s: Any, seat: int, /) -> Any:
        """Return what a seat, or a SPECTATOR, sees now."""

    def tell(self, s: Any, action: int, seat: int, /) -> Event:
        """Return what a seat is told when `action` happens at `s`: the one place that decides it."""
