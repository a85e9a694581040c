"""What people read of a game that says nothing of it: each name below can be replaced by one of `text.py`.

A position is shown as its View: a row for each field, written as the field's annotation says.
"""

from __future__ import annotations

from functools import cache, cached_property
from types import ModuleType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from piste.core.game import Game, listed, members
from piste.core.presentation import NONE, UNKNOWN, CardRow, EventContext, Key, Prompt, Row
from piste.core.protocols import ABSENT, HIDDEN, RESIGNS, SEAT, OneOf, SetOf
from piste.core.views import Ending, SeatView

SAID_ELSEWHERE = ("options", "viewer", "phase", "kind", "winner", "reason")
"""Fields of a View that the question or the result tells."""

MAX_LISTED = 12
"""A question with more answers does not list them; a wrong answer does."""


class ViewField(NamedTuple):
    """A field of a View and what its annotation says of it."""

    name: str
    shape: Any  # int, or a tuple of them
    says: Any  # a SetOf, a OneOf, SEAT or a range; None without an annotation


@cache
def view_fields(game: Game) -> tuple[ViewField, ...]:
    """Return the fields that show the position, in their order."""
    found = []
    for name, hint in get_type_hints(game.rules.View, include_extras=True).items():
        shape, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if name not in SAID_ELSEWHERE:
            found.append(ViewField(name, shape, extras[0] if extras else SEAT if name == "seat" else None))
    return tuple(found)


class DefaultText:
    """The text of a game: its own where it has one, else what can be made of its views and its notation."""

    OWN_VOICE = False

    def __init__(self, game: Game, own: ModuleType | None) -> None:
        self._game = game
        self.TIPS = (game.notation.LINE,)
        for key, value in {} if own is None else vars(own).items():
            if not key.startswith("_"):
                setattr(self, key, value)

    @cached_property
    def HAND_OVER(self) -> bool:  # noqa: N802
        """Whether seats are shown different things."""
        from piste.core.survey import survey_of

        return survey_of(self._game.name, self._game.rules.Options()).hides

    def welcome(self, view: SeatView, names: tuple[str, ...]) -> list[str]:  # noqa: ARG002
        return [f"Welcome to {self._game.notation.TITLE}!", self._game.line(view.options)]

    def lines(self, moment: EventContext) -> list[str]:
        kind, seat, what, _ = moment.event
        who = moment.subject(seat) if seat >= 0 else ""
        if kind == RESIGNS:
            return [f"{who} resigned."]
        happens = self._game.kind_name(kind).replace("_", " ")
        name = "hidden" if what == HIDDEN else self._game.notation.name(moment.after.options, kind, what)
        return [f"{who}, {happens}: {name}." if who else f"{happens.capitalize()}: {name}."]

    def ask(self, view: SeatView, names: tuple[str, ...]) -> Prompt:
        keys = tuple(Key(name, name, action) for name, action in zip(view.decisions, view.actions, strict=True))
        what = self._game.kind_name(view.kind).replace("_", " ")
        choices = f": {listed(list(view.decisions), 'or')}" if len(keys) <= MAX_LISTED else ""
        above = ("", *map(str, self.picture(view, names)))
        return Prompt(f"{what.capitalize()}{choices}", keys, "? ", above)

    def picture(self, view: SeatView, names: tuple[str, ...]) -> list[Row]:
        rows = []
        for field in view_fields(self._game):
            value = getattr(view.position, field.name)
            label = field.name.replace("_", " ").capitalize()
            row = CardRow if isinstance(field.says, SetOf | OneOf) else Row
            if field.name == "seat":
                if view.ending is None and 0 <= value < len(names):
                    rows.append(Row("Turn", (names[value],)))
            elif isinstance(value, tuple) and len(value) == len(names):
                owners = ["Your" if seat == view.seat else f"{name}'s" for seat, name in enumerate(names)]
                parts = [self._cells(view, field.says, part, names) for part in value]
                cells = zip(owners, parts, strict=True)
                rows += [row(f"{owner} {label.lower()}", shown) for owner, shown in cells]
            else:
                values = value if isinstance(value, tuple) else (value,)
                shown = [cell for part in values for cell in self._cells(view, field.says, part, names)]
                rows.append(row(label, tuple(shown)))
        return rows

    def _cells(self, view: SeatView, says: Any, value: Any, names: tuple[str, ...]) -> tuple[str, ...]:
        name = self._game.notation.name
        if isinstance(says, SetOf):
            return tuple(name(view.options, says.kind, action) for action in members(value)) or (NONE,)
        if isinstance(says, OneOf):
            absent = NONE if value == ABSENT else UNKNOWN
            return (name(view.options, says.kind, value) if value >= 0 else absent,)
        if says == SEAT:
            return (names[value] if 0 <= value < len(names) else NONE,)
        return (str(value),)

    def farewell(self, view: SeatView, names: tuple[str, ...], ending: Ending) -> list[str]:
        won = "It's a draw" if ending.winner is None else f"{names[ending.winner]} wins"
        text = ["", *map(str, self.picture(view, names)), f"{won}: {ending.reason}."]
        if any(abs(paid) > 1 for paid in ending.payoffs) or len(names) > 2:
            text += [f"{name}: {paid:+d}" for name, paid in zip(names, ending.payoffs, strict=True)]
        return text
