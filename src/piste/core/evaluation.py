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


class Unit(NamedTuple):
    """How people are told a value: as a chance to win, or as an expected payoff where a game pays other amounts.

    Values are parts of a win from 0 to 1, as the coach computes them; 1 stands for the largest payoff, 0 for as large
    a loss.
    """

    largest: float | None = None  # payoff; None for chances

    @classmethod
    def of(cls, payoff: Payoff | None) -> Unit:
        return cls(None if payoff is None else payoff.largest)

    @property
    def name(self) -> str:
        return "chance to win" if self.largest is None else "expected payoff"

    @property
    def of_name(self) -> str:
        """What a loss is a loss of, after its number."""
        return "points of winning chance" if self.largest is None else "of expected payoff"

    def value(self, part: float) -> str:
        """Return a value: 54.3 %, or +0.33."""
        return f"{100 * part:.1f} %" if self.largest is None else f"{(2 * part - 1) * self.largest:+.2f}"

    def amount(self, part: float) -> str:
        """Return a difference of two values: 4.2, in points, or 0.33."""
        return f"{100 * part:.1f}" if self.largest is None else f"{2 * part * self.largest:.2f}"

    def signed(self, part: float) -> str:
        """Return the same with its sign."""
        if self.largest is None:
            return f"{100 * part:+.1f}"
        return f"{round(2 * part * self.largest, 2) + 0.0:+.2f}"  # never -0.00

    def bound(self, within: float) -> str:
        """Return by how much a value may be off, with what that is: 0.12 points, or 0.0003 of the payoff."""
        if self.largest is None:
            return f"{decimal(100 * within)} points"
        return decimal(2 * within * self.largest)

    def shows(self, part: float) -> bool:
        """Say whether a difference is large enough to be seen in what is shown."""
        return 100 * part >= 0.05 if self.largest is None else 2 * part * self.largest >= 0.005


def decimal(number: float) -> str:
    """Return a number with two digits that count, never with a power of ten: 0.000046."""
    text, _, exponent = f"{number:.2g}".partition("e")
    if not exponent:
        return text
    return f"{number:.{1 - int(exponent)}f}".rstrip("0") if number < 1 else f"{number:.0f}"


IN_CHANCES = Unit()


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
