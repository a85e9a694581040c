"""What a game's `rules.py` supplies, and the few words that all rules share.

Rules are pure functions on small immutable values, written in the part of Python that numba compiles
unchanged (docs/architecture.md lists what that means). They know nothing of seeds, names or screens.

A decision or a chance outcome is an *action*: a whole number from 0 to 61, so that a set of actions is
one whole number too (bit `a` set: action `a` is in the set).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

# Rules are compiled, so these are whole numbers. Those that can stand in place of a seat differ from each other.

CHANCE = -1
"""`to_act` when the dealer is to act."""

OVER = -2
"""`to_act` when the game has ended."""

SPECTATOR = -3
"""In place of a seat, for `look` and `tell`: what every seat may know, and nothing more."""

HIDDEN = -1
"""Stands in an `Event` or a view for what this audience may not know, or what does not apply."""

ABSENT = -2
"""Stands in a field of a View that is a `OneOf` if there is none, which this audience may know: no card was dealt."""

RESIGNS = -1
"""The kind of the one event that no rule has: a seat resigned."""


class Event(NamedTuple):
    """What one audience is told of one action."""

    kind: int  # which sort of action: a number from the game's rules, or RESIGNS
    seat: int  # the seat that acts or is acted on; HIDDEN where no seat is concerned
    what: int  # the action itself, or HIDDEN
    also: int  # a second thing told with it (the card that was kept, who gets the gift), or HIDDEN


class SetOf(NamedTuple):
    """In `Annotated[int, SetOf(DEAL)]`, a field of a View: a set of actions of this kind, such as a hand of cards."""

    kind: int


class OneOf(NamedTuple):
    """In `Annotated[int, OneOf(DEAL)]`, a field of a View: one action of this kind, such as a card, HIDDEN or
    ABSENT."""

    kind: int


SEAT = "seat"
"""In `Annotated[int, SEAT]`, a field of a View: a seat, or HIDDEN.

A `range` there is the values that a field or an option may have. Who draws a view or makes numbers of it for a
learner reads these; rules do not. On a tuple they are said of each of its numbers.
"""


OptionsT = TypeVar("OptionsT")
StateT = TypeVar("StateT")
ViewT = TypeVar("ViewT")


class Rules(Protocol[OptionsT, StateT, ViewT]):
    """A game's rules, as a module. Each function trusts its caller; `Table` and `Position` check.

    `State` holds everything, secrets included. `View` is what one seat sees now; it is a type of its
    own, built up from nothing, so that a forgotten field is missing rather than leaked.
    """

    VERSION: int
    Options: type[OptionsT]
    State: type[StateT]
    View: type[ViewT]

    def seats(self, options: OptionsT, /) -> int:
        """Return how many seats a game with these options has."""

    def start(self, options: OptionsT, /) -> StateT:
        """Return the first state."""

    def to_act(self, s: StateT, /) -> int:
        """Return the seat that decides, or CHANCE, or OVER."""

    def kind(self, s: StateT, /) -> int:
        """Return the kind of the action to come; all seats may know it."""

    def legal(self, s: StateT, /) -> int:
        """Return the set of decisions open to the seat to act; never empty at a decision."""

    def outcomes(self, s: StateT, /) -> int:
        """Return the set of outcomes that chance may bring; never empty at a chance node."""

    def weight(self, s: StateT, outcome: int, /) -> int:
        """Return how likely an outcome is, as a whole number; positive for each of `outcomes`."""

    def spread(self, s: StateT, /) -> int:
        """Return the sum of the weights of all outcomes: the number of equally likely cards."""

    def drawn(self, s: StateT, at: int, /) -> int:
        """Return the outcome that card number `at` below `spread` is; each has `weight` numbers, side by side."""

    def apply(self, s: StateT, action: int, /) -> StateT:
        """Return the state after a decision or an outcome."""

    def leave(self, s: StateT, seat: int, /) -> StateT:
        """Return the state after this seat resigned; asked only where a seat is to act (G3)."""

    def payoff(self, s: StateT, seat: int, /) -> int:
        """Return what the seat has won or lost; 0 while the game goes on, and in a draw."""

    def reason(self, s: StateT, /) -> int:
        """Return why the game ended, as a number that the game's notation names."""

    def look(self, s: StateT, seat: int, /) -> ViewT:
        """Return what a seat, or SPECTATOR, sees now."""

    def tell(self, s: StateT, action: int, seat: int, /) -> Event:
        """Return what a seat is told when `action` happens at `s`: the one place that decides it."""


AnyRules: TypeAlias = Rules[Any, Any, Any]
"""The rules of some game: where games are not told apart, options, states and views are opaque values."""
