"""The parts of a table that every decision changes, as HTML. Each holds all that it is drawn from.

So equal parts look the same, and one that is equal to what a client shows need not be drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from piste.core import scene
from piste.core.scene import Area, RoundEnd, Standing
from piste.web.views.drawing import (
    NO_CHOICES,
    button_text,
    draw_area,
    draw_strip,
    safe,
    safe_minus,
)
from piste.web.views.view_models import Choice, Person

CACHED_AREAS = 128


class Strip(NamedTuple):
    """Everybody with their scores, whose turn it is, and the number of the turn or round."""

    people: tuple[Person, ...]
    standing: Standing
    ended: int  # the number of the round whose end is shown; 0 if none is

    def draw(self) -> str:
        return draw_strip(self.people, self.standing, self.ended)


class Status(NamedTuple):
    """Whose turn it is, and how far a bot is prepared that needs it."""

    status: str
    asked: bool  # the viewer is to decide
    preparing: int | None  # percent

    def draw(self) -> str:
        line = f'<p class="now{" yours" if self.asked else ""}">{safe(self.status)}</p>\n'
        if self.preparing is None:
            return line
        what = "Preparing the hint, first time only" if self.asked else "Preparing"
        return (
            f'{line}<p class="preparing"><label for="preparing">{what}: {self.preparing} %</label> '
            f'<progress id="preparing" max="100" value="{self.preparing}"></progress></p>\n'
        )


class ShownArea(NamedTuple):
    """An area with those of the open choices that are made there."""

    area: Area
    choices: tuple[Choice, ...] = ()

    def draw(self) -> str:
        return _draw_shown_area(self)


@lru_cache(CACHED_AREAS)  # most areas look the same to everybody at the table, and they are all told at once
def _draw_shown_area(shown: ShownArea) -> str:
    return draw_area(shown.area, {choice.action: choice for choice in shown.choices} or NO_CHOICES)


def shown_areas(areas: Iterable[Area], choices: Sequence[Choice]) -> tuple[ShownArea, ...]:
    if not choices:
        return tuple([ShownArea(area) for area in areas])
    made_there = ((area, scene.offered_decisions((area,))) for area in areas)
    return tuple(
        [ShownArea(area, tuple([one for one in choices if one.action in made])) for area, made in made_there]
    )


class Scene(NamedTuple):
    """What lies on the table besides the viewer's own hand."""

    game: str
    areas: tuple[ShownArea, ...]

    def draw(self) -> str:
        areas = "".join([one.draw() for one in self.areas])
        return f'<h2 class="sr">The table</h2>\n<div class="areas {self.game}">\n{areas}</div>\n'


class RoundCard(NamedTuple):
    """The end of a round, which covers the table until the viewer goes on."""

    code: str
    game: str
    end: RoundEnd

    def draw(self) -> str:
        end, number = self.end, self.end.number
        said = "".join([f"<p>{safe(line)}</p>" for line in end.lines])
        drawn = "".join([draw_area(area) for area in end.areas])
        return (
            f'<section class="round" id="round-end" data-round="{number}" data-line="{end.line}" tabindex="-1" '
            f'aria-labelledby="round-title">\n<h2 id="round-title">{safe(end.title)}</h2>\n{said}\n'
            f'<div class="areas {self.game}">\n{drawn}</div>\n<form method="get" action="/t/{self.code}">'
            f'<input type="hidden" name="seen" value="{number}">'
            '<button class="main" id="next-round">Next round</button></form>\n</section>\n'
        )


class CardNotes(NamedTuple):
    """What the cards with an ability do: the text of each, the word, and a sentence."""

    notes: tuple[tuple[str, str, str], ...]

    def draw(self) -> str:
        notes = [
            f"<dt>{safe_minus(text)} {safe(word)}</dt><dd>{safe_minus(note)}</dd>\n"
            for text, word, note in self.notes
        ]
        return (
            '<details class="notes" id="notes"><summary>What these cards do</summary><dl>\n'
            f"{''.join(notes)}</dl></details>\n"
        )


class Panel(NamedTuple):
    """Where a seat decides: its hand, the question, and a button for each decision."""

    code: str
    seat: int
    live: bool  # this seat plays, and the game is not over
    watching: bool
    number: int  # of the question
    question: str  # "" if nothing is asked
    lesson: str | None
    hint: str
    hint_offer: str  # what is said of the offer of a hint; "" if there is none
    own: tuple[ShownArea, ...]
    choices: tuple[Choice, ...]
    loose: tuple[Choice, ...]  # those that are not made by choosing a card or a line
    pick: str  # how a decision is made that is no button
    decide: str  # the address that takes decisions; "" for that of the table

    def draw(self) -> str:
        question, top, bottom = safe(self.question), "", ""
        if question:
            top = f'<h2 class="question" id="question">{question}</h2>\n{self._hint_form()}'
            slot = draw_slot(self.pick) if len(self.loose) < len(self.choices) else ""
            bottom = (
                f'<form id="decide" method="post" action="{safe(self.decide or f"/t/{self.code}/decide")}" '
                f'aria-labelledby="question">\n<input type="hidden" name="number" value="{self.number}">\n'
                f"{draw_loose(self.loose)}{slot}</form>\n"
            )
        elif self.watching:
            top = '<p class="quiet">You are watching. You see what everybody may see.</p>\n'
        hands = "".join([one.draw() for one in self.own])
        look = f"panel{' yours' if question else ''}{' live' if self.live else ''}"
        return (
            f'<div class="{look}" data-seat="{self.seat}" data-turn="{1 if question else 0}" '
            f'data-number="{self.number}" data-asks="{safe(typing_example(self.choices))}">\n'
            f"{draw_lesson(self.code, self.lesson)}{top}{hands}{self._advice()}{bottom}</div>\n"
        )

    def _hint_form(self) -> str:
        if not self.hint_offer or self.hint:
            return ""
        about = safe(self.hint_offer)
        return (
            f'<form class="ask-hint" method="post" action="/t/{self.code}/hint" data-do="hint"><button class="link" '
            f'id="do-hint" title="{about}">Hint<span class="sr">: {about}</span></button></form>\n'
        )

    def _advice(self) -> str:
        """Return the hint, and what the decision that it names means."""
        if not self.hint:
            return ""
        meant = "".join(
            f" <small>{safe_minus(one.label)}{f': {safe_minus(one.note)}' if one.note else ''}</small>"
            for one in self.choices
            if self.hint.endswith(f" {one.decision}.") and one.label.lower() != one.decision
        )
        return f'<p class="advice">{safe_minus(self.hint)}{meant}</p>\n'


def draw_lesson(code: str, note: str | None, *, over: bool = False) -> str:
    """Return the note of a first game that teaches, and the way out of it; "" at other tables."""
    if note is None:
        return ""
    text = f'<p id="lesson-note">{safe_minus(note)}</p>\n' if note else ""
    skip = '<button id="do-skip" class="link" aria-label="Skip to a real game">Skip</button>'
    button = '<button id="do-skip" class="main">Play a real game</button>' if over else skip
    return (
        '<div class="lesson">\n<p class="lesson-bar"><b>Practice game</b> with fixed cards</p>\n'
        f'{text}<form method="post" action="/t/{code}/skip">{button}</form>\n</div>\n'
    )


def draw_slot(pick: str) -> str:
    """Return the place where a chosen card, square or line is confirmed."""
    return (
        f'<div class="slot"><p class="pick-one small">{pick}</p>\n'
        '<button class="main confirm" id="confirm" type="button" hidden><b>Decide</b><small></small></button></div>\n'
    )


def draw_loose(choices: Sequence[Choice]) -> str:
    """Return the choices that are no card and no line as buttons, each with the key that takes it."""
    if not choices:
        return ""
    keys, buttons = shortcuts(choices), []
    for choice in choices:
        title, more = button_text(choice)
        note = f"<small>{safe(more)}</small>" if more else ""
        key = f'<kbd aria-hidden="true">{safe(keys[choice.action])}</kbd>' if keys[choice.action] else ""
        buttons.append(
            f'<button class="choice" id="d-{choice.action}" name="decision" value="{safe(choice.decision)}" '
            f'data-key="{safe(choice.key)}"><b>{safe_minus(title)}</b>{note}{key}</button>\n'
        )
    return f'<div class="loose k{len(choices)}">\n{"".join(buttons)}</div>\n'


def typing_example(choices: Sequence[Choice]) -> str:
    """Return what can be typed; of more than three decisions, one."""
    keys = [choice.key if len(choice.key) == 1 else choice.decision for choice in choices]
    return " or ".join(keys) if len(keys) < 4 else f"such as {keys[0]}"


def shortcuts(choices: Sequence[Choice]) -> dict[int, str]:
    """Return the key that takes each choice: the one it is offered under, else its letter if no other has it."""
    letters = [button_text(choice)[0][:1].upper() for choice in choices]
    return {
        choice.action: choice.key if len(choice.key) == 1 else letter if letters.count(letter) == 1 else ""
        for choice, letter in zip(choices, letters, strict=True)
    }
