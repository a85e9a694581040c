"""The parts of a table's page, and which of them a client has to be sent again.

A part holds all that it is drawn from. What a client shows is remembered as parts, not as HTML: a part that is equal
to the one before is neither drawn nor sent, and of what lies on the table only the areas that differ are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from piste import bots
from piste.core import scene
from piste.core.game import find
from piste.core.protocols import HIDDEN, SPECTATOR
from piste.core.scene import Area
from piste.web.views.table_parts import CardNotes, Panel, RoundCard, Scene, ShownArea, Status, Strip, shown_areas
from piste.web.views.view_models import OVER, PLAYING, WAITING, TableViewModel

# The parts that are drawn from templates, since they seldom change, and the fields of the view model that each uses.
TEMPLATE_FIELDS: Mapping[str, tuple[str, ...]] = {
    "result": (
        "code", "stage", "result", "explanation", "won", "lesson", "series", "again", "successor", "rematch_call",
        "seat",
    ),
    "waiting": ("code", "title", "line", "door", "people", "invite", "only_here"),
    "sit": ("code",),
    "offers": (
        "code", "game", "options", "seat", "stage", "offers", "invite", "only_here", "seat_link", "successor",
        "rematch_call",
    ),
    "fair": ("stage", "commitment", "seed", "salt", "again"),
}  # fmt: skip
TEMPLATE_VALUES = {template: attrgetter(*fields) for template, fields in TEMPLATE_FIELDS.items() if len(fields) > 1}


class TemplatePart(NamedTuple):
    """A part that is drawn from a template."""

    template: str
    values: tuple[Any, ...]  # of the fields that it uses
    name: str = ""  # of a visitor who can sit down
    made: int = 0  # how many solutions and books there are: they change what is said of bots

    def context(self) -> dict[str, Any]:
        """Return the variables of the template."""
        model = TableViewModel(**dict(zip(TEMPLATE_FIELDS[self.template], self.values, strict=True)))
        return {
            "model": model,
            **{stage: model.stage == stage for stage in (WAITING, PLAYING, OVER)},
            "seated": model.seat != SPECTATOR,
            "name": self.name,
        }


class NoPart(NamedTuple):
    """A part with nothing in it now."""

    def draw(self) -> str:
        return ""


Part = Strip | Status | RoundCard | Scene | Panel | CardNotes | TemplatePart | NoPart


def from_template(template: str, model: TableViewModel) -> TemplatePart:
    return TemplatePart(template, TEMPLATE_VALUES[template](model))


def people_part(model: TableViewModel, _name: str) -> Part:
    return Strip(model.people, model.standing, 0 if model.round_end is None else model.round_end.number)


def status_part(model: TableViewModel, _name: str) -> Part:
    if model.stage == OVER:
        return from_template("result", model)
    return Status(model.status, bool(model.question), model.preparing)


def round_part(model: TableViewModel, _name: str) -> Part:
    return NoPart() if model.round_end is None else RoundCard(model.code, model.game, model.round_end)


def scene_part(model: TableViewModel, _name: str) -> Part:
    if model.stage == WAITING:
        return from_template("waiting", model)
    common = [area for area in model.areas if not is_own(area, model.seat)]
    return Scene(model.game, shown_areas(common, model.choices))


def choices_part(model: TableViewModel, name: str) -> Part:
    if model.door and model.stage == WAITING:
        return TemplatePart("sit", (model.code,), name)
    choices = model.choices
    made_there = scene.offered_decisions(model.areas) if choices else ()
    own = [area for area in model.areas if is_own(area, model.seat)]
    playing, seated = model.stage == PLAYING, model.seat != SPECTATOR
    return Panel(
        model.code, model.seat, playing and seated, playing and not seated, model.number, model.question,
        None if model.stage == OVER else model.lesson, model.hint,
        next((offer.help for offer in model.offers if offer.do == "hint"), "") if model.question else "",
        shown_areas(own, choices), choices, tuple([one for one in choices if one.action not in made_there]),
        pick_text(model.areas) if choices else "", model.decide,
    )  # fmt: skip


def pick_text(areas: Sequence[Area]) -> str:
    """Return how a decision is made that is no button, by where it is made."""
    if any(area.handles for area in areas):
        return "Choose + or − beside a row or below a column."
    on_grid = any(card.decision != HIDDEN for area in areas if area.kind == scene.GRID for card in area.cards)
    return f"Choose a {'square' if on_grid else 'card'}, then confirm it here."


def notes_part(model: TableViewModel, _name: str) -> Part:
    notes = card_notes(model.areas)
    return CardNotes(notes) if notes else NoPart()


def offers_part(model: TableViewModel, _name: str) -> Part:
    # Offers before and after a game say how the play of bots is known, which may change while a server runs.
    made = bots.made(find(model.game)) if model.game and model.stage != PLAYING else 0
    return TemplatePart("offers", TEMPLATE_VALUES["offers"](model), made=made)


def fair_part(model: TableViewModel, _name: str) -> Part:
    return from_template("fair", model) if model.commitment else NoPart()


PARTS: Mapping[str, Callable[[TableViewModel, str], Part]] = {
    "people": people_part,
    "status": status_part,
    "round": round_part,
    "scene": scene_part,
    "choices": choices_part,
    "notes": notes_part,
    "offers": offers_part,
    "fair": fair_part,
}
"""How each part is made of a view model, and of the name of a visitor who could sit down."""

STEP_PARTS = ("people", "status", "round", "scene", "choices")
"""The parts that show an event on the way to the latest one."""


def is_own(area: Area, seat: int) -> bool:
    """Say whether an area is the hand of the viewer, which is drawn nearest to them."""
    return area.seat == seat != SPECTATOR and area.kind == scene.HAND


def card_notes(areas: Sequence[Area]) -> tuple[tuple[str, str, str], ...]:
    """Return what the cards with an ability do, each once: its text, the word, and a sentence."""
    able = [card for area in areas for card in area.cards if card.word]
    return tuple(sorted({card.text: (card.text, card.word, card.note) for card in able}.values()))


@dataclass(eq=False)
class ShownTable:
    """What one client shows of a table."""

    _draw: Callable[[Part], str]
    _by_area: bool = False  # whether the client can put single areas in place
    _parts: dict[str, Part] = field(default_factory=dict)

    def update(self, model: TableViewModel, only: Sequence[str] = tuple(PARTS)) -> dict[str, Any]:
        """Return what makes the client show this: `parts` that differ, and `areas` if they alone differ of the scene.

        Areas are listed in order: the number of one that the client has and that stays as it is, or the HTML of a new
        one. Numbers only grow, so what stays need not be moved.
        """
        changed: dict[str, str] = {}
        changes: dict[str, Any] = {"parts": changed}
        for name in only:
            before, part = self._parts.get(name), PARTS[name](model, "")
            if self._by_area and isinstance(before, Scene) and isinstance(part, Scene):
                areas = changed_areas(before.areas, part.areas)  # which compares them, so that is not done twice
                if areas != [*range(len(before.areas))]:
                    self._parts[name], changes["areas"] = part, areas
            elif part != before:
                self._parts[name], changed[name] = part, self._draw(part)
        return changes


def changed_areas(before: Sequence[ShownArea], after: Sequence[ShownArea]) -> list[int | str]:
    """Return the areas, each as the number of an equal one before, or as HTML."""
    areas: list[int | str] = []
    kept = 0
    for area in after:
        at = next((i for i in range(kept, len(before)) if before[i] == area), -1)
        areas.append(area.draw() if at < 0 else at)
        kept = max(kept, at + 1)
    return areas
