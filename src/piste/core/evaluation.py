"""What a position is worth to a seat, and how that is known.

How far an evaluation may be off, `within`, is in chances to win, with a draw as half a win: if it is 0.01, then
the true `win + draw / 2` lies within 0.01 of the one that is given, and the true `value`, which goes from -1 to 1,
within 0.02.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

PROVEN = "proven"  # by an argument that is written down
EXACT = "exact"  # computed, true up to the rounding of the machine's numbers
WITHIN = "within"  # computed, off by no more than a bound that was computed too
ESTIMATED = "estimated"  # sampled or modelled: the half-width of a 95 % interval stands beside it


class Basis(StrEnum):
    """How the play of a bot is known, in a word that stands wherever the bot is shown."""

    PROVEN = PROVEN
    EXACT = EXACT
    PARTLY = "partly solved"  # some decisions are read from a solution, the others from an estimate
    SEARCHED = "searched"  # by looking ahead or by sampled play, as far as time allows
    ESTIMATED = ESTIMATED  # the best decision of a model or of a sample
    THUMB = "rule of thumb"
    RANDOM = "random"


Progress = Callable[[int, int, str], None]
"""Told how much of how much is done, and of what; it may raise KeyboardInterrupt."""


class Chances(NamedTuple):
    """How a game will end for a seat."""

    win: float
    draw: float
    loss: float

    @property
    def value(self) -> float:
        """What is to be expected when a win pays 1 and a loss -1."""
        return self.win - self.loss


class Choice(NamedTuple):
    """One decision, and how the game will end after it."""

    action: int
    chances: Chances
    mix: float  # how often the best play takes it


class Evaluation(NamedTuple):
    """What a position is worth to a seat, and each of its decisions if it is to act."""

    seat: int
    chances: Chances
    choices: tuple[Choice, ...]
    known: str  # PROVEN, EXACT, WITHIN or ESTIMATED
    within: float  # in chances to win: the bound, or the half-width of the interval; 0.0 if proven or exact
    how: str  # one plain sentence

    @property
    def best(self) -> Choice:
        """The decision that is worth most; of equals the one that the best play takes most often."""
        return max(self.choices, key=lambda choice: (choice.chances.value, choice.mix))


def quiet(done: int, whole: int, what: str) -> None:
    """Say nothing about progress."""
