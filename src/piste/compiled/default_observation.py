"""What a learner sees of a game that has no `observation.py`: its View, field by field, as annotations say.

A set and one of several become flags, an amount with a range its share of that, a seat is counted from the viewer. A
plain number x, whose bounds nobody knows, becomes x / (1 + |x|): between -1 and 1, and different for each x.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from types import ModuleType
from typing import Any, cast

from piste.compiled.codegen import module, number_paths
from piste.core.default_text import ViewField, view_fields
from piste.core.errors import OptionError
from piste.core.game import Game
from piste.core.observation import ObservationSpec, Part, amounts, flags, one_of
from piste.core.protocols import SEAT, OneOf, SetOf
from piste.core.survey import Survey, survey_of

MAX_ACTIONS = 62


class DefaultObservation:
    """What `observation.py` would say; what has to be counted is counted on the tree of the game, if it is small."""

    def __init__(self, game: Game) -> None:
        self._game = game
        texts = ["def cut(s):\n    return " + ("s.reason == TURN_LIMIT" if _limits(game) else "0")]
        fields = [(field, *one) for field in view_fields(game) for one in _readers(field)]
        texts += [f"def part_{i}(v):\n    return {read}" for i, (*_, read) in enumerate(fields)]
        made = vars(module(f"{game.package}_view", *texts))
        made.update({name: getattr(game.rules, name, 0) for name in ("TURN_LIMIT", "seats")})
        self.TEXT: str = made["TEXT"]
        self.cut: Callable[[Any], int] = made["cut"]
        self.LAYOUT: tuple[Part, ...] = tuple(
            self._part(field, name, made[f"part_{i}"]) for i, (field, name, _) in enumerate(fields)
        )
        own = game.observation
        if isinstance(own, ModuleType):
            self.TEXT += inspect.getsource(own)
            for key, value in vars(own).items():
                if not key.startswith("_"):
                    setattr(self, key, value)

    @cached_property
    def SHOWN(self) -> tuple[str, ...]:  # noqa: N802
        """All that is seen, where something is hidden: what a seat has seen belongs to what it knows."""
        names = [field.name for field in view_fields(self._game)]
        return tuple(names) if self._survey(self._game.rules.Options()).hides else ()

    def actions(self, options: Any) -> int:
        known = self._survey(options)
        return max(known.actions, 1) if known.complete else MAX_ACTIONS

    def chances(self, options: Any) -> int:
        known = self._survey(options)
        return max(known.chances, 1) if known.complete else MAX_ACTIONS

    def longest(self, options: Any) -> tuple[int, int]:
        known = self._survey(options)
        if not known.complete or not known.decisions:
            why = "is too large to be counted" if not known.complete else "can come to the same position again"
            raise OptionError(
                f"How long can a game of {self._game.notation.TITLE} be? It {why}: an observation.py with "
                "`longest(options)` says it."
            )
        return known.decisions, known.outcomes

    def payoffs(self, options: Any) -> tuple[int, int]:
        """Return the least and the most that a seat can get; of a large game, in a sample of it."""
        return self._survey(options).payoffs

    def _survey(self, options: Any) -> Survey:
        return survey_of(self._game.name, options)

    def _part(self, field: ViewField, name: str, read: Callable[[Any], Any]) -> Part:
        label = field.name.replace("_", " ")
        says = f"{label} {name}".strip()
        if isinstance(field.says, SetOf | OneOf):
            kind, form = field.says.kind, flags if isinstance(field.says, SetOf) else one_of
            return form(says, says, read, lambda options: self._names(options, kind))
        if field.says == SEAT:
            return one_of(says, f"{says}, counted from the viewer", read, self._seat_names)
        if isinstance(field.says, range):
            most = max(abs(field.says[0]), abs(field.says[-1]), 1)
            signed = field.says[0] < 0
            return amounts(says, f"{says}, of {most}", read, lambda _: ("",), lambda _: most, signed=signed)
        return amounts(says, f"{says}: x / (1 + |x|)", read, lambda _: ("",), lambda _: 1, signed=True)

    def _names(self, options: Any, kind: int) -> Sequence[str]:
        known = self._survey(options)
        size = max(known.actions, known.chances) if known.complete else MAX_ACTIONS - 1
        return [self._game.notation.name(options, kind, action) for action in range(size)]

    def _seat_names(self, options: Any) -> Sequence[str]:
        return ["own", *(f"next {i}" for i in range(1, self._game.rules.seats(options)))]


def _limits(game: Game) -> bool:
    return hasattr(game.rules, "TURN_LIMIT") and "reason" in game.rules.State._fields


def _readers(field: ViewField) -> list[tuple[str, str]]:
    """Return for each number of a field what tells it from the others, and how it is read."""
    paths = number_paths(field.shape, f"v.{field.name}")
    return [(str(i) if len(paths) > 1 else "", _read(field.says, path)) for i, path in enumerate(paths, 1)]


def _read(says: Any, path: str) -> str:
    if isinstance(says, SetOf | OneOf):
        return path
    if says == SEAT:
        return f"({path} - v.viewer) % seats(v.options) if {path} >= 0 and v.viewer >= 0 else {path}"
    return f"({path},)" if isinstance(says, range) else f"({path} / (1 + abs({path})),)"


@cache
def default_observation(game: Game) -> ObservationSpec:
    return cast("ObservationSpec", DefaultObservation(game))
