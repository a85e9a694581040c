"""A game as the rest of the tree sees it, and the way to find one: a folder is enough to be found."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, cast

from piste.core.errors import (
    AmbiguousDecisionError,
    IllegalDecisionError,
    OptionError,
    UnknownNameError,
    UnreadableDecisionError,
)
from piste.core.protocols import RESIGNS, AnyRules
from piste.core.views import Ending, SeatView

if TYPE_CHECKING:
    from types import ModuleType

    from piste.core.lesson import LessonModule
    from piste.core.observation import ObservationSpec
    from piste.core.presentation import GameLog, GameText
    from piste.core.scene import SceneBuilder


ENTRY_POINTS = "piste.games"
REQUIRED_RULES = ("Options", "State", "View", "start", "to_act", "legal", "apply", "leave", "payoff", "look", "tell")
NOTATION_NAMES = (
    "TITLE", "LINE", "CREDIT", "SEATS", "KINDS", "REASONS", "OPTIONS", "LAID",
    "check", "name", "decisions", "spell", "why_not", "fields", "build", "lay",
)  # fmt: skip
TEXT_NAMES = ("HAND_OVER", "OWN_VOICE", "TIPS", "welcome", "lines", "ask", "picture", "farewell")
"""What a notation and a text say; those that say all of it are taken as they are."""

T = TypeVar("T")


class Each(NamedTuple):
    """What the players choose for themselves, no two the same."""

    thing: str  # what it is called
    names: tuple[str, ...]


class Option(NamedTuple):
    """One option of a game: the values it takes and how a person writes them."""

    name: str
    help: str
    low: int
    high: int
    names: Mapping[str, int] = {}
    read: Callable[[str], int] | None = None  # for values that are not written as a number
    write: Callable[[int], str] | None = None
    later: bool = False  # added to a game that had records: written only where it is changed, so that they stay true
    each: Each | None = None  # names with commas, in the order of seats, set it; who is not named gets what is left
    label: str = ""  # what people call it on a page: "Highest card"
    note: str = ""  # what a page says beside that; an option without a label shows its help there
    words: Mapping[int, str] = {}  # what people call values that the label and the number do not explain: "coin toss"


class Deal(NamedTuple):
    """Cards laid by hand: the state to begin from, and the outcomes to deal first."""

    state: Any
    kinds: frozenset[int]  # chance nodes of these kinds take the outcomes below, in order
    outcomes: tuple[int, ...]


class Notation(Protocol):
    """A game's `notation.py`, as a module: how options, decisions and positions are written, in plain Python."""

    TITLE: str
    LINE: str  # one line that says what the game is; `line(options)`, if there is one, goes before it
    CREDIT: str  # whose game it is, or ""
    SEATS: tuple[str, ...]  # what seats are called
    KINDS: tuple[str, ...]  # what the rules' kinds of events are called
    REASONS: Mapping[int, str]  # what the rules' reasons for an end are called
    OPTIONS: tuple[Option, ...]
    LAID: str  # what can be laid by hand: "deck", "grid"
    # Where no option says who takes the first turn, `STARTS` may name the seat that always does.

    def check(self, options: Any, /) -> str:
        """Return why these options cannot go together, or ""."""

    def name(self, options: Any, kind: int, action: int, /) -> str:
        """Return the name of an action of this kind, the same wherever it happens."""

    def decisions(self, view: Any, kind: int, /) -> Iterable[int]:
        """Return every decision of this kind that some position could offer; those a person means first."""

    def spell(self, view: Any, action: int, /) -> tuple[str, ...]:
        """Return how a decision may be written at this view; the first is its short name."""

    def why_not(self, view: Any, action: int, /) -> str:
        """Return why a decision that can be read is not open at this view."""

    def fields(self, s: Any, /) -> Mapping[str, str]:
        """Return a state as named fields of text without spaces; `build` is its inverse."""

    def build(self, options: Any, fields: Mapping[str, str], /) -> Any:
        """Return the state that the fields describe, or raise PositionError with the reason."""

    def lay(self, options: Any, text: str, /) -> Deal:
        """Return the deal that a person laid, or raise DealError with the reason."""


class Module(Generic[T]):
    """A module that a game's package may have, loaded when it is first used; None where the package has none.

    `default` names a module for games without a solver of their own: there `of(game)` returns what stands for theirs.
    """

    def __init__(self, name: str, default: str = "") -> None:
        self.name, self.default = name, default

    def __set_name__(self, _: type[Game], attribute: str) -> None:
        self.attribute = attribute

    def __get__(self, game: Game, _: type[Game]) -> T:
        module = _module(game.package, self.name)
        if module is None and self.default and not game.has_own_solver:
            module = importlib.import_module(self.default).of(game)
        vars(game)[self.attribute] = module  # which is found before this is asked again
        return cast("T", module)


class Game:
    """A game's package: rules and notation, and what else it has, which is loaded when it is first used.

    Notation and text have defaults for all that a game does not say. What else it lacks is None here, and whoever
    needs it does without or refuses. There is one value for each game: `find` returns it.
    """

    log: Module[GameLog | None] = Module("log")  # its events in a browser's short lines
    scene: Module[SceneBuilder | None] = Module("scene")  # how a browser draws it
    lesson: Module[LessonModule | None] = Module("lesson")  # a first game that teaches
    observation: Module[ObservationSpec | None] = Module("observation")  # what a learner sees, as numbers
    policies: Module[ModuleType | None] = Module("policies")  # simple play in bulk
    explain: Module[ModuleType | None] = Module("explain")  # why a decision is worth what it is worth
    # The size of a balance report, and what is proven.
    balance_config: Module[ModuleType | None] = Module("balance_config", "piste.solvers.balance_config")
    # How the play of each level is known, how long it thinks, and which libraries the solver needs.
    guarantees: Module[ModuleType | None] = Module("guarantees", "piste.solvers.guarantees")
    # `extras.solver_of` looks for its libraries first.
    solver: Module[ModuleType] = Module("solver.solver", "piste.solvers.solver")
    # Of the coach, if it is not the solver as it is.
    evaluator: Module[ModuleType | None] = Module("solver.evaluator", "piste.solvers.evaluator")

    def __init__(self, name: str, rules: AnyRules, notation: Notation, package: str) -> None:
        self.name, self.rules, self.notation, self.package = name, rules, notation, package

    def __repr__(self) -> str:
        return f"<Game {self.name}>"

    @cached_property
    def text(self) -> GameText:
        """What people read of the game: its own words, and the defaults for what it leaves out."""
        own = _module(self.package, "text")
        if own is not None and all(hasattr(own, name) for name in TEXT_NAMES):
            return cast("GameText", own)
        from piste.core.default_text import DefaultText

        return cast("GameText", DefaultText(self, own))

    def __reduce__(self) -> tuple[Any, ...]:
        return find, (self.name,)  # its modules stay where they are: another process finds its own

    @property
    def has_own_solver(self) -> bool:
        """Whether the package has a solver, and so needs none of those for any game; it is not loaded for that."""
        return _exists(self.package, "solver.solver")

    def levels(self, known: Iterable[str]) -> list[str]:
        """Return which of these levels the game has, its own or those for any game; none is loaded for that."""
        return [level for level in known if not self.has_own_solver or _exists(self.package, f"bots.{level}")]

    def level(self, level: str) -> Any:
        """Return the bot of a level."""
        if _exists(self.package, f"bots.{level}"):
            return importlib.import_module(f"{self.package}.bots.{level}")
        return importlib.import_module("piste.bots.any_game").of(self, level)

    @property
    def player_counts(self) -> range:
        """How many can play: what the option `players` allows, else one number."""
        always = self.rules.seats(self.rules.Options())
        chosen = (range(option.low, option.high + 1) for option in self.notation.OPTIONS if option.name == "players")
        return next(chosen, range(always, always + 1))

    def line(self, options: Any) -> str:
        """Return one line that says what the game is with these options."""
        of: Callable[[Any], str] | None = getattr(self.notation, "line", None)
        return self.notation.LINE if of is None else of(options)

    def tips(self, options: Any) -> tuple[str, ...]:
        """Return a reminder of the rules with these options."""
        of: Callable[[Any], tuple[str, ...]] | None = getattr(self.text, "tips", None)
        return self.text.TIPS if of is None else of(options)

    def changes(self, options: Any) -> list[str]:
        """Return a sentence for each option that is not as the rules page has it."""
        known = {option.name: option for option in self.notation.OPTIONS}
        default = self.rules.Options()
        return [
            f"{name} is {text} instead of {write_option(known[name], getattr(default, name))}: {known[name].help}."
            for name, text in self.option_texts(options, changed_only=True).items()
        ]

    def options(self, settings: Mapping[str, int | str] | None = None) -> Any:
        """Return the game's options with these values instead of the defaults, checked."""
        values: dict[str, int] = {}
        known = {option.name: option for option in self.notation.OPTIONS}
        for key, value in (settings or {}).items():
            if key not in known:
                raise OptionError(f"{self.notation.TITLE} has no option {quoted(key)}. It has: {', '.join(known)}.")
            values[key] = read_option(known[key], value)
        options = self.rules.Options(**values)
        complaint = self.notation.check(options)
        if complaint:
            raise OptionError(complaint)
        return options

    def option_texts(self, options: Any, *, changed_only: bool = False) -> dict[str, str]:
        """Return options as text, as `options` reads them."""
        default = self.rules.Options()
        return {
            option.name: write_option(option, getattr(options, option.name))
            for option in self.notation.OPTIONS
            if not (changed_only or option.later) or getattr(options, option.name) != getattr(default, option.name)
        }

    def option_labels(self, options: Any) -> list[str]:
        """Return the options that are not as the rules page has them, as people say it: Highest card: 7."""
        default = self.rules.Options()
        return [
            f"{option_label(option)}: {option_words(option, value)}"
            for option in self.notation.OPTIONS
            if (value := getattr(options, option.name)) != getattr(default, option.name)
        ]

    def seat_name(self, seat: int) -> str:
        return self.notation.SEATS[seat] if seat >= 0 else "watcher"

    def told(self, view: SeatView, action: int) -> str:
        """Return a decision with its card, or with its kind where the name does not say it: discard +3, keep 4."""
        own = getattr(self.explain, "told", None)
        if own is not None:
            return str(own(view, action))
        name = self.notation.spell(view.position, action)[0]
        return name if name.isalpha() else f"{self.kind_name(view.kind)} {name}"

    def kind_name(self, kind: int) -> str:
        return "resigns" if kind == RESIGNS else self.notation.KINDS[kind]

    def outcome_name(self, state: Any, outcome: int) -> str:
        return self.notation.name(state.options, self.rules.kind(state), outcome)

    def read_outcome(self, state: Any, text: str) -> int | None:
        """Return the possible outcome of that name, or None; case, spaces and a plus sign do not matter."""
        wanted = without_plus(text)
        for outcome in members(self.rules.outcomes(state)):
            if without_plus(self.outcome_name(state, outcome)) == wanted:
                return outcome
        return None

    def decision_names(self, state: Any) -> dict[str, int]:
        """Return the decisions open at a state by short name, in the order of their numbers."""
        return self.short_names(self.rules.look(state, self.rules.to_act(state)), self.rules.legal(state))

    def short_names(self, view: Any, legal: int) -> dict[str, int]:
        """Return these decisions of the seat whose view it is by short name, in the order of their numbers."""
        spell = self.notation.spell
        return {spell(view, action)[0]: action for action in actions_of(legal)}

    def read_decision(self, view: Any, kind: int, legal: int, text: str) -> int:
        """Return the decision that a person wrote, or raise and say why it cannot be taken."""
        for action in members(legal):
            if self.notation.spell(view, action)[0] == text:  # the usual case, from programs and records
                return action
        wanted = tidy(text)
        matches = [a for a in members(legal) if wanted in map(tidy, self.notation.spell(view, a))]
        if len(matches) == 1:
            return matches[0]
        names = [self.notation.spell(view, action)[0] for action in members(legal)]
        if matches:
            meant = listed([self.notation.spell(view, action)[0] for action in matches], "or")
            raise AmbiguousDecisionError(f"{quoted(text)} could be {meant}. Write which one.")
        for action in self.notation.decisions(view, kind):
            if wanted in map(tidy, self.notation.spell(view, action)):
                raise IllegalDecisionError(
                    f"{self.notation.why_not(view, action)} You can choose {listed(names, 'or')}."
                )
        raise UnreadableDecisionError(f"{quoted(text)} is not a decision here. You can choose {listed(names, 'or')}.")

    def ending(self, state: Any) -> Ending:
        payoffs = tuple(self.rules.payoff(state, seat) for seat in range(self.rules.seats(state.options)))
        best = max(payoffs)
        winner = payoffs.index(best) if best > 0 else None
        return Ending(winner, self.notation.REASONS[self.rules.reason(state)], payoffs)


def _module(package: str, name: str) -> ModuleType | None:
    return importlib.import_module(f"{package}.{name}") if _exists(package, name) else None


@cache
def _exists(package: str, name: str) -> bool:
    """Say whether a package has a module; a package between them is looked for first."""
    parent, _, _ = name.rpartition(".")
    return (not parent or _exists(package, parent)) and find_spec(f"{package}.{name}") is not None


def members(actions: int) -> list[int]:
    """Return the actions of a set, lowest first."""
    return list(actions_of(actions))


@lru_cache(maxsize=1 << 14)
def actions_of(actions: int) -> tuple[int, ...]:
    """Return the same as a tuple: sets of actions come again and again."""
    return tuple(action for action in range(actions.bit_length()) if actions >> action & 1)


@lru_cache(maxsize=4096)
def tidy(text: str) -> str:
    """Return text as it is compared: no case, no spaces, one kind of minus."""
    return "".join(text.split()).casefold().replace("−", "-").replace("–", "-")


def without_plus(text: str) -> str:
    """Return the name of a card or a number as it is compared: `+3` and `3` are the same in every game."""
    return tidy(text).removeprefix("+")


def quoted(text: object, most: int = 40) -> str:
    """Return a user's input for use in a sentence: short, on one line, printable."""
    line = str(text).encode("utf-8", "backslashreplace").decode()
    line = "".join(c if c.isprintable() else "?" for c in line)
    return f"'{line if len(line) <= most else line[: most - 1] + '…'}'"


def listed(words: list[str], last: str) -> str:
    """Return words as a list in a sentence: a, b or c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def counted(n: int, thing: str) -> str:
    """Return a number with its noun: 1 card, 2 cards."""
    return f"{n} {thing}{'' if n == 1 else 's'}"


def read_option(option: Option, value: int | str) -> int:
    """Return an option's value as a number, from a number or from what a person wrote."""
    what = f"The option '{option.name}' cannot be {quoted(value)}"
    number: int | None = None
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise OptionError(f"{what}: {allowed(option)}.")
    if isinstance(value, int):
        number = value
    elif tidy(value) in option.names:
        number = option.names[tidy(value)]
    elif option.read is not None:
        try:
            number = option.read(tidy(value))
        except ValueError as e:
            raise OptionError(f"{what}: {e}.") from None
    elif re.fullmatch(r"[+-]?[0-9]{1,18}", value.strip()):
        number = int(value)
    if number is None or not option.low <= number <= option.high:
        raise OptionError(f"{what}: {allowed(option)}.")
    return number


def allowed(option: Option) -> str:
    if option.names and len(option.names) == option.high - option.low + 1:
        return f"it is {listed(list(option.names), 'or')}"
    names = "".join(f"{name} or " for name in option.names)
    return f"it is {names}a whole number from {option.low} to {option.high}"


def write_option(option: Option, value: int) -> str:
    for name, number in option.names.items():
        if number == value:
            return name
    return option.write(value) if option.write is not None else str(value)


def option_label(option: Option) -> str:
    """Return what people call an option."""
    return option.label or option.name.replace("_", " ").capitalize()


def option_words(option: Option, value: int) -> str:
    """Return a value of an option as people say it; `write_option` says it as commands and records do."""
    return option.words.get(value) or write_option(option, value)


def names() -> tuple[str, ...]:
    """Return the names of the games: those of the tree first, then those that installed packages offer."""
    return (*_in_tree(), *sorted(set(_installed()) - set(_in_tree())))


@cache
def _in_tree() -> tuple[str, ...]:
    """Return one name for each folder of `piste.games`."""
    import piste.games

    rooms = (room for path in piste.games.__path__ for room in os.scandir(path))
    packages = (room.name for room in rooms if os.path.exists(os.path.join(room.path, "rules.py")))
    return tuple(sorted(name.replace("_", "-") for name in packages))


@cache
def _installed() -> dict[str, str]:
    """Return the packages that offer a game, by the game's name."""
    from importlib.metadata import entry_points

    return {tidy(entry.name).replace("_", "-"): entry.value for entry in entry_points(group=ENTRY_POINTS)}


@cache
def find(name: str) -> Game:
    """Return the game of that name: from the tree, else from an installed package that offers it."""
    folder = tidy(name).replace("_", "-")
    if folder in _in_tree():
        return _game(folder, f"piste.games.{folder.replace('-', '_')}") if folder == name else find(folder)
    if folder in _installed():
        return _game(folder, _installed()[folder]) if folder == name else find(folder)
    for known in _in_tree():
        if tidy(find(known).notation.TITLE).replace("-", "") == folder.replace("-", ""):
            return find(known)  # by its title: Duel is mccoy-duel
    from difflib import get_close_matches

    near = [known for known in names() if folder and folder in known] or get_close_matches(folder, names(), 1, 0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UnknownNameError(f"There is no game {quoted(name)}.{hint} The games are: {', '.join(names())}.")


def _game(name: str, package: str) -> Game:
    """Load a game; whatever its rules or its notation do not say gets its default."""
    from piste.core.default_rules import add_missing

    try:
        rules: Any = importlib.import_module(f"{package}.rules")
        own = _module(package, "notation")
    except Exception as e:  # a package of somebody else's may fail in any way while it is loaded
        raise UnknownNameError(f"The game {quoted(name)} cannot be loaded: {type(e).__name__}: {e}.") from e
    add_missing(rules)
    missing = [function for function in REQUIRED_RULES if not hasattr(rules, function)]
    if missing:
        raise UnknownNameError(f"The game {quoted(name)} cannot be played: {rules.__name__} has no {missing[0]}.")
    if own is not None and all(hasattr(own, part) for part in NOTATION_NAMES):
        return Game(name, rules, cast("Notation", own), package)
    from piste.core.default_notation import DefaultNotation

    return Game(name, rules, DefaultNotation(name, rules, own), package)
