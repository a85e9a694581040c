"""Positions for people who study games: walk the tree, print a position in one line, read it back.

A position holds everything, secrets included. It is for analysis; a live game keeps its own inside its table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from piste.core.errors import IllegalDecisionError, OptionError, PositionError, UnknownNameError
from piste.core.game import Game, actions_of, find, listed, quoted
from piste.core.protocols import CHANCE, HIDDEN, OVER, SPECTATOR
from piste.core.views import Ending

if TYPE_CHECKING:
    from fractions import Fraction

MAX_LENGTH = 4000
"""No position takes more characters than this."""


class GameState(NamedTuple):
    """A game and one of its states."""

    game: Game
    state: Any


class Position(GameState):
    """A game and one of its states, as a value: a step leads to another one."""

    # Worked out when it is first asked for.
    _actor: int | None = None
    _open: int = 0
    _names: dict[str, int] | None = None
    _shares: dict[str, Fraction] | None = None

    @classmethod
    def start(cls, name: str, options: Mapping[str, int | str] | None = None) -> Position:
        game = find(name)
        return _start(game, game.options(options))

    @classmethod
    def parse(cls, text: str) -> Position:
        """Read a position back from its text, or raise PositionError and say what breaks the rules."""
        game, options, fields = split(text)
        return cls(game, game.notation.build(options, fields))

    def __str__(self) -> str:
        fields = self.game.notation.fields(self.state)
        head = head_text(self.game, self.state.options)
        return " ".join([head, *(f"{key}={value}" for key, value in fields.items())])

    @property
    def to_act(self) -> int | None:
        """The seat that is to decide, CHANCE, or None when the game is over."""
        actor = self._who_acts() if self._actor is None else self._actor
        return None if actor == OVER else actor

    def _who_acts(self) -> int:
        """Return who is to act, and keep it with what is open: decisions, or outcomes."""
        rules, state = self.game.rules, self.state
        self._actor = actor = rules.to_act(state)
        if actor != OVER:
            self._open = (rules.outcomes if actor == CHANCE else rules.legal)(state)
        return actor

    def _by_name(self) -> dict[str, int]:
        """Return what is open by name, and keep it."""
        if self._names is None:
            game, state = self.game, self.state
            actor = self._who_acts() if self._actor is None else self._actor
            if actor == OVER:
                self._names = {}
            elif actor == CHANCE:
                name = outcome_namer(game, state.options, game.rules.kind(state))
                self._names = {name(outcome): outcome for outcome in actions_of(self._open)}
            else:
                self._names = game.short_names(game.rules.look(state, actor), self._open)
        return self._names

    def legal_actions(self) -> tuple[int, ...]:
        """Return the numbers of the decisions or, at chance, of the outcomes that may come next, lowest first."""
        if self._actor is None:
            self._who_acts()
        return actions_of(self._open)

    def child(self, action: int) -> Position:
        """Return the position after a decision or an outcome, by its number."""
        if self._actor is None:
            self._who_acts()
        try:
            is_open = 0 <= action < 62 and self._open >> action & 1
        except TypeError:  # no whole number
            is_open = False
        if not is_open:
            open_actions = [f"{number} ({name})" for name, number in self._by_name().items()]
            choices = f"You can choose {listed(open_actions, 'or')}." if open_actions else "The game is over."
            raise IllegalDecisionError(f"There is no action number {action} here. {choices}")
        return Position(self.game, self.game.rules.apply(self.state, action))

    def decisions(self) -> dict[str, int]:
        """Return the decisions of the seat to act, by name; none if no seat is."""
        return {} if self.to_act == CHANCE else dict(self._by_name())

    def outcomes(self) -> dict[str, Fraction]:
        """Return what chance may bring, by name, with exact probabilities; none if no chance is due."""
        if self.to_act != CHANCE:
            return {}
        if self._shares is None:
            rules, state, names = self.game.rules, self.state, self._by_name()
            total = rules.spread(state)
            if total == len(names):  # one card of each
                return dict.fromkeys(names, share(1, total))
            self._shares = {name: share(rules.weight(state, action), total) for name, action in names.items()}
        return dict(self._shares)

    def after(self, name: str) -> Position:
        """Return the position after a decision or an outcome, by name."""
        if not isinstance(name, str):
            raise IllegalDecisionError(
                f"A step is written by its name, as text: after('{name}'), not after({name}); child takes a number."
            )
        action = self._by_name().get(name)
        if action is None:
            action = self._read(name)
        return Position(self.game, self.game.rules.apply(self.state, action))

    def _read(self, text: str) -> int:
        """Return the decision or outcome that a person wrote in another way, or raise and say why it cannot be."""
        rules, state, actor = self.game.rules, self.state, self.to_act
        if actor is None:
            raise IllegalDecisionError(f"{quoted(text)} cannot happen: the game is over.")
        if actor != CHANCE:
            return self.game.read_decision(rules.look(state, actor), rules.kind(state), self._open, text)
        outcome = self.game.read_outcome(state, text)
        if outcome is None:
            names = ", ".join(self._by_name())
            raise IllegalDecisionError(f"{quoted(text)} is not an outcome here. There are: {names}.")
        return outcome

    def resign(self, seat: int) -> Position:
        """Return the position after a seat resigned."""
        if self.to_act in (CHANCE, None):
            raise IllegalDecisionError(
                "A seat can resign where some seat is to act, not while chance acts or after the end."
            )
        if not 0 <= seat < self.game.rules.seats(self.state.options):
            raise IllegalDecisionError(f"There is no seat {seat} here.")
        left = self.game.rules.leave(self.state, seat)
        if left == self.state:
            raise IllegalDecisionError(f"Player {self.game.seat_name(seat)} has left already.")
        return Position(self.game, left)

    def payoffs(self) -> tuple[int, ...]:
        """Return what each seat has won or lost: all 0 while the game goes on."""
        rules = self.game.rules
        return tuple(rules.payoff(self.state, seat) for seat in range(rules.seats(self.state.options)))

    def ending(self) -> Ending | None:
        return self.game.ending(self.state) if self.to_act is None else None

    def seen_by(self, seat: int) -> Any:
        """Return what a seat, or a spectator, sees of this position."""
        if seat != SPECTATOR and not 0 <= seat < self.game.rules.seats(self.state.options):
            raise IllegalDecisionError(f"There is no seat {seat} here.")
        return self.game.rules.look(self.state, seat)


@lru_cache(maxsize=256)
def _start(game: Game, options: Any) -> Position:
    return Position(game, game.rules.start(options))


@lru_cache(maxsize=256)
def outcome_namer(game: Game, options: Any, kind: int) -> Callable[[int], str]:
    """Return a function that names outcomes of this kind, and remembers what it has named."""
    return cache(partial(game.notation.name, options, kind))


@lru_cache(maxsize=4096)
def share(part: int, whole: int) -> Fraction:
    from fractions import Fraction

    return Fraction(part, whole)


def head_text(game: Game, options: Any) -> str:
    """Return the first word of a position: the game, and the options that are not the sheet's."""
    changed = game.option_texts(options, changed_only=True)
    inside = ",".join(f"{key}={value}" for key, value in changed.items())
    return f"{game.name}{{{inside}}}" if inside else game.name


def split(text: str) -> tuple[Game, Any, dict[str, str]]:
    """Take a position's text apart: game, options, fields."""
    if len(text) > MAX_LENGTH:
        raise PositionError(f"A position has at most {MAX_LENGTH} characters; this text has {len(text)}.")
    words = text.split()
    if not words:
        raise PositionError("A position begins with the name of a game; this text is empty.")
    name, brace, inside = words[0].partition("{")
    if brace and not inside.endswith("}"):
        raise PositionError(f"The options in {quoted(words[0])} have no closing brace.")
    try:
        game = find(name)
        options = game.options(_pairs(inside[:-1].split(","), "option") if inside[:-1] else {})
    except (UnknownNameError, OptionError) as e:
        raise PositionError(str(e)) from None
    return game, options, _pairs(words[1:], "field")


def _pairs(parts: list[str], what: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not key or not equals or not value:
            raise PositionError(f"{quoted(part)} is not written as {what}=value.")
        if key in pairs:
            raise PositionError(f"The {what} {quoted(key)} is given twice.")
        pairs[key] = value
    return pairs


class Fields:
    """The fields of a position's text, taken one by one, with a sentence for each that is wrong."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._left = dict(fields)

    def text(self, key: str, default: str | None = None) -> str:
        text = self._left.pop(key, default)
        if text is None:
            raise PositionError(f"The field '{key}' is missing.")
        return text

    def number(self, key: str, low: int, high: int, default: int | None = None) -> int:
        return number(f"field '{key}'", self.text(key, None if default is None else str(default)), low, high)

    def choice(self, key: str, names: tuple[str, ...], default: str | None = None) -> int:
        """Return which of the names the field holds."""
        text = self.text(key, default)
        if text not in names:
            raise PositionError(f"The field '{key}' cannot be {quoted(text)}: it is one of {', '.join(names)}.")
        return names.index(text)

    def words(self, key: str, separator: str = ",") -> list[str]:
        """Return the words of a list; `-` is the empty list."""
        text = self.text(key, "-")
        return [] if text == "-" else text.split(separator)

    def ending(self, seats: tuple[str, ...], reasons: Mapping[int, str]) -> tuple[int, int]:
        """Return the winner, or HIDDEN, and the reason of a finished game between two."""
        winner = self.choice("winner", (*seats, "none"))
        written = {reason: text.replace(" ", "-") for reason, text in reasons.items()}
        chosen = self.choice("reason", tuple(written.values()))
        return (HIDDEN if winner == len(seats) else winner), list(written)[chosen]

    def end(self) -> None:
        """Refuse whatever was not taken."""
        if self._left:
            raise PositionError(f"The field {quoted(next(iter(self._left)))} does not belong here.")


def ending_fields(s: Any, seats: tuple[str, ...], reasons: Mapping[int, str]) -> dict[str, str]:
    """Return how a finished game between two is written; `Fields.ending` reads it back."""
    winner = "none" if s.winner == HIDDEN else seats[s.winner]
    return {"winner": winner, "reason": reasons[s.reason].replace(" ", "-")}


def broken_limit(s: Any, over: bool, by_limit: bool) -> str:
    """Return what is wrong with a turn limit or with who resigned, or "": where nobody has won otherwise."""
    if over and by_limit:
        at_limit = s.turns == s.options.turns > 0 and s.winner == HIDDEN
        return "" if at_limit else "A draw by turn limit needs as many turns as the limit, and has no winner."
    if over and s.winner == HIDDEN:
        return "Who resigns loses: there must be a winner."
    if s.options.turns and s.turns >= s.options.turns:
        return f"The turn limit of {s.options.turns} is reached: the game is over."
    return ""


def number(what: str, text: str, low: int, high: int) -> int:
    """Return a whole number written in plain digits, or say what it should have been."""
    if text.isascii() and text.removeprefix("-").isdigit() and len(text) < 21 and low <= int(text) <= high:
        return int(text)
    raise PositionError(f"The {what} cannot be {quoted(text)}: it is a whole number from {low} to {high}.")
