"""A first game that teaches: a deal laid by hand, an opponent, and short notes. A game's `lesson.py` has one.

The person decides freely. A note belongs to a situation and not to a step, so that notes fit whatever was decided.
They are made from the seat's own view and log, so that none can tell what is hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from piste.core.game import Game
from piste.core.record import Head
from piste.core.replay import new_head
from piste.core.scene import Area
from piste.core.views import SeatView

LessonNote = Callable[[SeatView], str]
"""Returns what a note says where its situation is there, else ""."""

MARK = "lesson"
"""The note in the head of a record that says that the game is a lesson."""


class Lesson(NamedTuple):
    """A laid deal with notes for the seat that learns."""

    options: Mapping[str, str]
    laid: str  # in the game's notation
    seed: str  # of the bot, and of what is dealt after the laid cards
    notes: tuple[LessonNote, ...]  # the first that fits and has not been shown goes first
    suggested: tuple[str, ...]  # the decisions that the notes lead to, to the end of the game
    seat: int = 0  # who learns
    bot: str = "novice"  # who plays the other seats


class Picture(NamedTuple):
    """One of the pictures by which a rules page shows a game on one screen."""

    title: str
    areas: tuple[Area, ...]
    text: str


class LessonModule(Protocol):
    """A game's `lesson.py`, as a module: how the game is taught."""

    LESSON: Lesson
    PICTURES: tuple[Picture, ...]  # the rules in short, in the order in which they are read


def lesson_head(game: Game, lesson: Lesson, seats: tuple[str, ...]) -> Head:
    """Return the head of a lesson's game: its deal is laid and its seed is named, so it does not count (G8)."""
    head = new_head(game, lesson.options, seed=lesson.seed, seats=seats, laid=lesson.laid)
    return head._replace(notes={MARK: "yes"})


def lesson_of(head: Head) -> Lesson | None:
    """Return the lesson of a game, if it is one."""
    return head.game.lesson.LESSON if MARK in head.notes and head.game.lesson is not None else None


def latest_note(lesson: Lesson, moments: Iterable[SeatView]) -> str:
    """Return the note for the last of these moments, "" if none fits.

    A moment is where the seat was asked, or the end of the game. Each has one note at most, and no note comes twice.
    """
    left, text = list(lesson.notes), ""
    for view in moments:
        text = ""
        for note in left:
            text = note(view)
            if text:
                left.remove(note)
                break
    return text
