"""What a position is worth to a seat, and how that is known.

How far an evaluation may be off, `within`, is in chances to win, with a draw as half a win: if it is 0.01, then
the true `win + draw / 2` lies within 0.01 of the one that is given, and the true `value`, which goes from -1 to 1,
within 0.02.

Where a game pays other amounts than for a win and for a loss, an evaluation has the expected payoff too. It is then
what decisions are compared by; `value` is that payoff as a part of the largest, and `within` half of what that may be
off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from piste.core.errors import IllegalDecisionError
from piste.core.game import find
from piste.core.json_document import document

if TYPE_CHECKING:
    from piste.core.information_set import InformationSet

VERSION = 1
"""Of the JSON document of an evaluation."""

PROVEN = "proven"  # by an argument that is written down
EXACT = "exact"  # computed, true up to the rounding of the machine's numbers
WITHIN = "within"  # computed, off by no more than a bound that was computed too
ESTIMATED = "estimated"  # sampled or modelled: the half-width of a 95 % interval stands beside it


class Basis(StrEnum):
    """How the play of a bot is known, in a word that stands wherever the bot is shown."""

    PROVEN = PROVEN
    EXACT = EXACT
    WITHIN = "within a bound"  # nobody gains more against it than a bound that was computed
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

    def document(self) -> dict[str, float]:
        return {"win": self.win, "draw": self.draw, "loss": self.loss, "value": self.value}


class Payoff(NamedTuple):
    """What a seat is to expect in a game that pays other amounts than for a win and for a loss."""

    mean: float
    largest: float  # the most that can be won or lost

    @property
    def value(self) -> float:
        """The same from -1 to 1, as `Chances.value`."""
        return self.mean / self.largest


class Choice(NamedTuple):
    """One decision, and how the game will end after it."""

    action: int
    chances: Chances
    mix: float  # how often the best play takes it
    name: str = ""  # in the notation; a solver leaves it to `described`
    payoff: Payoff | None = None  # where chances do not say all

    @property
    def value(self) -> float:
        """What the decision is worth, from -1 to 1: by the payoff where there is one, else by the chances."""
        return self.chances.value if self.payoff is None else self.payoff.value


class Evaluation(NamedTuple):
    """What a position is worth to a seat, and each of its decisions if it is to act."""

    seat: int
    chances: Chances
    choices: tuple[Choice, ...]
    known: str  # PROVEN, EXACT, WITHIN or ESTIMATED
    within: float  # in chances to win: the bound, or the half-width of the interval; 0.0 if proven or exact
    how: str  # one plain sentence
    facts: Mapping[str, int | None] = {}  # numbers that the game adds, by the name of their JSON field
    game: str = ""
    position: str = ""  # what was evaluated, in the notation
    payoff: Payoff | None = None  # where chances do not say all

    @property
    def value(self) -> float:
        """What the position is worth, from -1 to 1: by the payoff where there is one, else by the chances."""
        return self.chances.value if self.payoff is None else self.payoff.value

    @property
    def policy(self) -> dict[str, float]:
        """How often the best play takes each decision, by name; empty if the seat is not to act."""
        return {choice.name: choice.mix for choice in self.choices}

    @property
    def best(self) -> Choice:
        """The decision that is worth most; of equals the one that the best play takes most often."""
        if not self.choices:
            raise IllegalDecisionError("There is no best decision here: no seat is to act. See chances.")
        return max(self.choices, key=lambda choice: (choice.value, choice.mix))

    def document(self) -> dict[str, Any]:
        """Return the JSON document that `piste solve --json` prints."""
        fields = {
            "game": self.game,
            "position": self.position,
            "seat": find(self.game).seat_name(self.seat),
            "known": self.known,
            "within": self.within,
            "how": self.how,
            "chances": self.chances.document(),
            "decisions": [
                {"name": choice.name, "action": choice.action, "mix": choice.mix}
                | choice.chances.document()
                | _payoff_document(choice.payoff)
                for choice in self.choices
            ],
        } | _payoff_document(self.payoff)
        return document(fields | dict(self.facts), version=VERSION)


def _payoff_document(payoff: Payoff | None) -> dict[str, Any]:
    return {} if payoff is None else {"payoff": payoff.mean, "largest_payoff": payoff.largest}


def described(evaluation: Evaluation, asked: InformationSet) -> Evaluation:
    """Return what a solver says with the position it was asked about and the names of the decisions."""
    game, state = asked.base.game, next(iter(asked.belief.states))
    names: dict[int, str] = {}
    if game.rules.to_act(state) >= 0:
        names = {action: name for name, action in game.decision_names(state).items()}
    return evaluation._replace(
        choices=tuple(choice._replace(name=names[choice.action]) for choice in evaluation.choices),
        game=game.name,
        position=str(asked) if asked.events else str(asked.base),
    )


def quiet(done: int, whole: int, what: str) -> None:
    """Say nothing about progress."""
