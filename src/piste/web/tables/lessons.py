"""First games that teach, at a table like any other. What is taught is in each game's own `lesson.py`.

That a game is a lesson stands in the head of its record, so it is one after a restart, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from piste.core.dealer import ChanceSource
from piste.core.game import Game
from piste.core.lesson import Lesson, latest_note, lesson_head, lesson_of
from piste.core.record import Head
from piste.core.views import SeatView
from piste.web.tables.room import Room
from piste.web.tables.seats import PERSON, Seat

LESSON = "lesson"
"""What is asked for in place of a bot's level."""


def lesson_at(room: Room) -> Lesson | None:
    """Return the lesson that is played in a room, if it is one."""
    return None if room.head is None else lesson_of(room.head)


def new_room(code: str, game: Game, lesson: Lesson, player: str, name: str, now: float) -> Room:
    """Return a room in which the lesson has begun."""

    def opener(room: Room) -> tuple[Head, ChanceSource | None]:
        head = lesson_head(game, lesson, room.names())
        return head._replace(notes={**room.player_notes(), **head.notes}), None

    seats = [Seat()] * game.rules.seats(game.options(lesson.options))
    seats[lesson.seat] = Seat(PERSON, name, players=frozenset({player}))
    room = Room(code, game, lesson.options, seats, player, created=now, touched=now)
    room.fill(player, lesson.bot)
    room.deal(opener)
    return room


def lesson_note(lesson: Lesson, view: SeatView, deciders: Sequence[int]) -> str:
    """Return the note for the question that is open, or for the end; it follows from what the seat saw until then."""
    before = (view.at_step(step) for step, decider in enumerate(deciders) if decider == view.seat)
    return latest_note(lesson, (*before, view))
