"""How a game is written that says nothing of it: each name below can be replaced by one of `notation.py`.

Names of actions, kinds and reasons may stand in `rules.py`, for a game that has no other file. Options and the ranges
of their values come from the annotations of `Options`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from piste.core.default_rules import ADDED
from piste.core.errors import DealError, PositionError
from piste.core.game import Deal, Option, quoted, tidy
from piste.core.position import Fields, number
from piste.core.protocols import AnyRules

MAX_ACTIONS = 62
MAX_NUMBER = 1 << 62
MAX_KINDS, MAX_REASONS = 16, 16
"""How many a game without names for them may have."""

NAMES = {
    "TITLE": str, "LINE": str, "CREDIT": str, "SEATS": tuple, "KINDS": tuple, "REASONS": Mapping, "ACTIONS": object,
}  # fmt: skip
"""What `rules.py` may say, too. A constant of another type is one of the rules, not a name."""


class DefaultNotation:
    """The notation of a game: its own where it has one, else what can be made of its rules."""

    CREDIT = ""
    LAID = "deck"
    ACTIONS: Any = ()  # names by number; or by kind, each with names by number

    def __init__(self, name: str, rules: AnyRules, own: ModuleType | None) -> None:
        self._game_name, self._rules = name, rules
        described = (getattr(rules, "__doc__", None) or "").strip().split("\n\n")[0]
        title, _, line = " ".join(described.split()).partition(": ")
        named = tidy(title).replace("-", "") == name.replace("-", "")
        self.TITLE = title if named else name.replace("-", " ").capitalize()
        self.LINE = (line[:1].upper() + line[1:] if named else " ".join(described.split())) or self.TITLE
        self.OPTIONS = tuple(_options(rules))
        seats = max((option.high for option in self.OPTIONS if option.name == "players"), default=0)
        self.SEATS = tuple(map(str, range(1, 1 + max(seats, rules.seats(rules.Options())))))
        self.KINDS, self.REASONS = _kinds(rules), _reasons(rules)
        for module, wanted in ((rules, NAMES), (own, None)):
            for key, value in {} if module is None else vars(module).items():
                if not key.startswith("_") and (wanted is None or isinstance(value, wanted.get(key, ()))):
                    setattr(self, key, value)

    def check(self, options: Any) -> str:  # noqa: ARG002
        return ""

    def names_of(self, kind: int) -> tuple[str, ...]:
        """Return the names of the actions of a kind, by number; none if they are written as numbers."""
        names = self.ACTIONS.get(kind, ()) if isinstance(self.ACTIONS, Mapping) else self.ACTIONS
        return tuple(names)

    def name(self, options: Any, kind: int, action: int) -> str:  # noqa: ARG002
        names = self.names_of(kind)
        return names[action] if action < len(names) else str(action)

    def decisions(self, view: Any, kind: int) -> Iterable[int]:  # noqa: ARG002
        return range(len(self.names_of(kind)) or MAX_ACTIONS)

    def spell(self, view: Any, action: int) -> tuple[str, ...]:
        """Return the name of a decision; all kinds of decisions are tried, since a view need not tell its kind."""
        told = getattr(view, "kind", getattr(view, "phase", None))
        kinds = range(len(self.KINDS)) if told is None else range(told, told + 1)
        named = [kind for kind in kinds if action < len(self.names_of(kind))]
        return (self.name(view.options, named[-1] if named else kinds[-1], action),)

    def why_not(self, view: Any, action: int) -> str:
        return f"{self.spell(view, action)[0].capitalize()} is not open to you now."

    def lay(self, options: Any, text: str) -> Deal:
        """Return a deal of the outcomes that a person named, in order, for every chance node."""
        known: dict[str, set[int]] = {}
        for kind in range(len(self.KINDS)):
            for action in range(MAX_ACTIONS):
                known.setdefault(tidy(self.name(options, kind, action)), set()).add(action)
        outcomes: list[int] = []
        for word in text.replace(",", " ").split():
            meant = known.get(tidy(word), set())
            if len(meant) != 1:
                why = "has two meanings" if meant else "is no outcome"
                raise DealError(f"This cannot be dealt: {quoted(word)} {why} in {self.TITLE}.")
            outcomes += meant
        return Deal(self._rules.start(options), frozenset(range(len(self.KINDS))), tuple(outcomes))

    def fields(self, s: Any) -> Mapping[str, str]:
        """Return each field of a state but its options: its numbers with commas."""
        names = [name for name in s._fields if name != "options"]
        return {name: ",".join(map(str, _numbers(getattr(s, name)))) for name in names}

    def build(self, options: Any, fields: Mapping[str, str]) -> Any:
        from piste.core.survey import fault, survey_of

        rules, given = self._rules, Fields(fields)
        values = {"options": options}
        for name, shape in get_type_hints(rules.State).items():
            if name != "options":
                texts = given.text(name).split(",")
                numbers = iter([number(f"field '{name}'", text, 1 - MAX_NUMBER, MAX_NUMBER - 1) for text in texts])
                values[name] = _shaped(shape, name, numbers)
                if next(numbers, None) is not None:
                    raise PositionError(f"The field '{name}' has too many numbers.")
        given.end()
        state = rules.State(**values)
        wrong = fault(rules, state)
        if wrong:
            raise PositionError(f"The rules cannot go on from this position: {wrong}")
        known = survey_of(self._game_name, options)
        if known.complete and not known.reaches(rules, state):
            raise PositionError("No game with these options comes to this position.")
        return state


def _kinds(rules: AnyRules) -> tuple[str, ...]:
    usual = "kind" in getattr(rules, ADDED, ())
    return ("chance", "decision") if usual else tuple(f"step{i}" for i in range(MAX_KINDS))


def _reasons(rules: AnyRules) -> Mapping[int, str]:
    if "reason" in getattr(rules, ADDED, ()):
        return {0: "the game is over"}
    known = {"RESIGNED": "resigned", "TURN_LIMIT": "turn limit"}
    named = {getattr(rules, key): text for key, text in known.items() if hasattr(rules, key)}
    return {0: "the game is over", **{i: f"reason {i}" for i in range(1, MAX_REASONS)}, **named}


def _options(rules: AnyRules) -> Iterator[Option]:
    """Yield the options with their ranges; one without a range can only be what it is."""
    defaults = rules.Options()
    for name, hint in get_type_hints(rules.Options, include_extras=True).items():
        value = getattr(defaults, name)
        extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        values = next((extra for extra in extras if isinstance(extra, range)), range(value, value + 1))
        text = next((extra for extra in extras if isinstance(extra, str)), name.replace("_", " "))
        yield Option(name, text, values[0], values[-1])


def _numbers(value: Any) -> list[int]:
    return [n for part in value for n in _numbers(part)] if isinstance(value, tuple) else [value]


def _shaped(shape: Any, name: str, numbers: Iterator[int]) -> Any:
    """Return the next numbers as a value of this type."""
    if get_origin(shape) is tuple:
        return tuple(_shaped(part, name, numbers) for part in get_args(shape))
    if hasattr(shape, "_fields"):
        hints = get_type_hints(shape)
        return shape(*(_shaped(hints[field], name, numbers) for field in shape._fields))
    found = next(numbers, None)
    if found is None:
        raise PositionError(f"The field '{name}' has too few numbers.")
    return found
