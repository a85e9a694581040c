"""The rematch of a game: the same people, everybody one seat on, and against bots perhaps another level."""

from __future__ import annotations

from piste import bots
from piste.core.errors import IllegalDecisionError
from piste.web.tables.levels import check_level
from piste.web.tables.room import Room
from piste.web.tables.seats import BOT, OPEN, Seat


def rematch(room: Room, code: str, player: str, seat: int, level: str, now: float) -> Room:
    """Return the room of the rematch that a seat asks for, with bots of this level, or the same ones for ""."""
    seats = room.rematch_seats(seat)
    if level and not room.against_bots(seat):
        raise IllegalDecisionError("People play here, so there is no level to choose. Ask for a rematch without one.")
    changed = [i for i, one in enumerate(seats) if one.kind == BOT and level not in ("", one.bot)]
    for i in changed:
        seats[i] = Seat(BOT, bot=level)
    options = room.game.options(room.options)
    for bot in sorted({one.bot for one in seats if one.bot}):
        check_level(bot, room.game, options)
    # Somebody else may take an open seat: that is no game between the same players.
    same = all(one.kind != OPEN for one in seats)
    previous = room.code if same else None
    following = Room(code, room.game, room.options, seats, player, now, now, room.listed, previous=previous)
    for i in changed:
        name = following.free_name(bots.shown(room.game, level, options).capitalize())
        following.place(i, seats[i]._replace(name=name))
    if same and not changed:
        following.series = room.series_now().one_seat_on()
    return following
