"""How a room is stored: the changes that bring a database up to it, and the room that is read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from piste.core.game import Game, find
from piste.core.views import Ending
from piste.web.storage import schema
from piste.web.storage.schema import RoomRow, SeatRow, SitterRow
from piste.web.tables.room import Room
from piste.web.tables.seats import BOT, Seat
from piste.web.tables.series import PlayedGame

MAX_NOTICE_BYTES = 7900  # PostgreSQL takes less than 8000
FOLLOWED_FIELDS = frozenset(("touched", "ended", "listed"))  # that a notice can change without reading the room again


def restored(stored: schema.StoredTable, now: float) -> Room:
    row = stored.room
    seats = [
        Seat(
            seat.kind, seat.name, seat.bot, seat.stand_in, link=seat.link, program=seat.program,
            players=frozenset(player for at, player in stored.sitters if at == seat.seat and seat.kind != BOT),
        )
        for seat in stored.seats
    ]  # fmt: skip
    room = Room(
        row.code, find(row.game), json.loads(row.options), seats, row.host, row.created, row.touched, row.listed,
        row.ended, row.previous, row.successor,
    )  # fmt: skip
    room.seen = dict.fromkeys(room.people, now)  # nobody could connect while the server was down
    if stored.lines:
        room.restore(stored.lines)
    room.written(row.version)
    return room


def played_game(game: Game, seats: tuple[schema.SeatRow, ...], head: str, last: str) -> PlayedGame:
    """Return a stored game as far as a running score needs it; what cannot be read does not count."""
    try:
        first, line = json.loads(head), json.loads(last)
        winner = line["winner"]
        ending = Ending(None if winner is None else game.notation.SEATS.index(winner), str(line["ending"]), ())
        return PlayedGame(tuple(seat.bot for seat in seats), first["counts"] is True, ending)
    except (ValueError, KeyError, TypeError):
        return PlayedGame(tuple(seat.bot for seat in seats), counts=False, ending=None)


def unsaved(room: Room, process: str) -> Iterator[schema.Change]:
    """Yield the changes by which storage comes to hold a room as it is now, the one that may conflict first.

    Other processes are told of them by the one of that name; "" where there can be none.
    """
    fields, lines = room.changing_fields(), room.unwritten()
    new = room.stored_version < 0
    if new:
        yield schema.NewRoom(
            RoomRow(
                code=room.code, game=room.game.name, options=json.dumps(room.options), host=room.host,
                created=room.created, previous=room.previous, **fields,
            )
        )  # fmt: skip
    else:
        yield room_update(room, fields, lines, process)
    for at, (seat, stored) in enumerate(zip_longest(room.seats, room.stored_seats)):
        if seat == stored:
            continue
        columns = (seat.kind, seat.name, seat.bot, seat.stand_in, seat.link, seat.program)
        yield schema.put(SeatRow(room.code, at, *columns))
        before = frozenset() if stored is None else stored.players
        for player in sorted(before - seat.players):
            yield schema.delete(SitterRow, room=room.code, seat=at, player=player)
        for player in sorted(seat.players - before):
            yield schema.put(SitterRow(room.code, at, player))
    if new and lines:
        yield schema.add_lines(room.code, 0, lines)


def room_update(room: Room, fields: Mapping[str, Any], lines: Sequence[str], process: str) -> schema.RoomUpdate:
    """Return the next version of a room, with the notice for other processes."""
    values = {name: value for name, value in fields.items() if value != room.stored_fields[name]}
    notice = f"{process} room {room.code} {room.stored_version + 1} " if process else ""
    # Whoever cannot follow reads the room again: where seats have changed, or the game has just begun.
    if notice and tuple(room.seats) == room.stored_seats and room.stored_lines and values.keys() <= FOLLOWED_FIELDS:
        told = [values, lines, room.telling] if room.telling else [values, lines]
        details = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
        notice += details if len(notice) + len(details.encode()) <= MAX_NOTICE_BYTES else ""
    return schema.RoomUpdate(room.code, room.stored_version, values, room.stored_lines, lines, notice)


def presence_changes(process: str, code: str, seat: int, sockets: int) -> tuple[schema.Change, ...]:
    return (
        schema.put_presence(process, code, seat, sockets),
        schema.notify(f"{process} here {code} {seat} {sockets}"),
    )


def show_change(process: str, code: str, shown: Mapping[str, Any]) -> schema.Change:
    """Return the notice of what is shown at a table and not stored; a sentence that does not fit is shortened."""
    space = MAX_NOTICE_BYTES // 8  # a letter is at most 6 bytes of JSON, and one of them is long at most
    short = {name: value[:space] if isinstance(value, str) else value for name, value in shown.items()}
    return schema.notify(f"{process} show {code} {json.dumps(short, separators=(',', ':'))}")
