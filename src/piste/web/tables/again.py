"""Going back in a finished game against bots: the same deal, played again from a decision of one's own.

Such a game does not count (G8): who plays it knows what the cards were. Its head says so, and from where it goes on.
"""

from __future__ import annotations

from piste.core.errors import IllegalDecisionError
from piste.core.marks import Note
from piste.core.protocols import SPECTATOR
from piste.core.replay import seated
from piste.web.tables.room import Room

AGAIN = "again"  # the note in the head of such a game


def own_decisions(room: Room, seat: int) -> list[int]:
    """Return the numbers of a seat's decisions, without its resignation."""
    answers = room.transcript.answers if room.transcript else []
    return [i for i, answer in enumerate(answers) if answer.seat == seat and answer.name != "resigns"]


def decision_after(room: Room, seat: int, step: int) -> int | None:
    """Return the number of the decision that a seat took after so many steps; None if it took none there."""
    deciders = room.transcript.deciders if room.transcript else []
    if seat == SPECTATOR or not 0 <= step < len(deciders) or deciders[step] != seat:
        return None
    number = sum(decider != SPECTATOR for decider in deciders[:step])
    return number if number in own_decisions(room, seat) else None


def can_try_again(room: Room, seat: int) -> bool:
    """Whether this seat may go back in the game: a finished one, against bots only."""
    return room.over and seat != SPECTATOR and room.against_bots(seat) and bool(own_decisions(room, seat))


def try_again(room: Room, code: str, player: str, seat: int, number: int | None, now: float) -> Room:
    """Return a new room with the same deal, played up to a decision of this seat."""
    if not room.over or room.head is None or room.transcript is None:
        raise IllegalDecisionError("The game is not over. You can go back in it when it is.")
    if seat == SPECTATOR or not room.against_bots(seat):
        raise IllegalDecisionError("Only against bots can you go back. Have a rematch instead.")
    own = own_decisions(room, seat)
    if number not in own:
        raise IllegalDecisionError("That is no decision of yours in this game. Choose one in its replay.")
    seats = [one._replace(stand_in="", link=0) for one in room.seats]
    again = Room(code, room.game, room.options, seats, player, now, now)
    since = f"from your decision {own.index(number) + 1} on"
    notes = again.player_notes() | {AGAIN: since}
    head = room.head._replace(seats=again.names(), named=True, notes=notes)
    table, recorder = seated(head)
    for answer in room.transcript.answers[:number]:
        if answer.name == "resigns":
            table.resign(answer.seat)
        else:
            table.decide(answer.seat, answer.name)
    recorder.mark(Note(f"The same deal, {since}. This game does not count."))
    again.begin(head, table, recorder)
    return again


def played_again(room: Room) -> str:
    """Return from where on a game is played again, in words; "" for a game of its own."""
    return "" if room.head is None else room.head.notes.get(AGAIN, "")
