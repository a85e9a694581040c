"""The rooms in memory: loaded from storage, locked, saved, and announced to those who subscribed.

Every change to a room is made under its lock, saved, and announced only then. If it cannot be saved, the room leaves
the memory and is loaded again, so that nobody ever sees what is not stored.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from weakref import WeakValueDictionary

from piste.core.errors import PisteError
from piste.core.game import Game, find, quoted
from piste.core.protocols import SPECTATOR
from piste.core.views import Ending
from piste.web import logging as logs
from piste.web.metrics import Metrics
from piste.web.settings import Settings
from piste.web.storage import schema
from piste.web.storage.schema import RoomRow, SeatRow, SitterRow
from piste.web.storage.storage import Storage
from piste.web.tables.room import AWAY_AFTER_S, BOT, Room, Seat
from piste.web.tables.series import PlayedGame, series_before
from piste.web.workers.worker_pool import WorkersBusyError

CODE_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyzA"  # 32 letters that are not easily confused
CODE_LENGTH = 16
IDLE_TIMEOUT_S = 600.0  # a room that nobody subscribes to or asks for leaves the memory after this time
TOUCH_INTERVAL_S = 60.0
"""The time of the last change is stored this often: enough for lists and for deleting old tables."""


class TableNotFoundError(PisteError):
    """No room has this code."""


@dataclass(eq=False)
class Subscription:
    """Wakes one client when a room has changed."""

    changed: asyncio.Event = field(default_factory=asyncio.Event)
    closing: bool = False  # the server stops, or the room is gone

    def close(self) -> None:
        self.closing = True
        self.changed.set()


@dataclass(eq=False)
class TableRegistry:
    """Every room in memory, and its subscribers."""

    _storage: Storage
    _settings: Settings
    _metrics: Metrics
    _clock: Callable[[], float]  # wall time, for what is stored
    _ticks: Callable[[], float]  # monotonic, for who is here and who is away
    rooms: dict[str, Room] = field(default_factory=dict)
    pinned: set[str] = field(default_factory=set)  # stay in memory without a subscriber: a bot decides there
    subscriptions: dict[str, set[Subscription]] = field(default_factory=lambda: defaultdict(set))
    # A lock lives as long as somebody holds it or waits for it, so there are never two for one room.
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def lock(self, code: str) -> asyncio.Lock:
        return self._locks.setdefault(code, asyncio.Lock())

    @asynccontextmanager
    async def room(self, code: str) -> AsyncIterator[Room]:
        """Lend a room to one caller at a time."""
        if len(code) != CODE_LENGTH or not set(code) <= set(CODE_ALPHABET):
            raise TableNotFoundError(f"There is no table {quoted(code)}. Ask whoever sent you the link.")
        async with self.lock(code):
            room = self.rooms.get(code)
            if room is None:
                room = await asyncio.to_thread(self._load, code)  # a long game takes a while to replay
                self.add(room)
            room.used = self._ticks()
            yield room

    def _load(self, code: str) -> Room:
        """Read a room from storage. Runs in another thread, so it changes nothing here."""
        stored = self._storage.room(code)
        if stored is None:
            raise TableNotFoundError("There is no such table, or it has been closed. Open a new one?")
        try:
            room = restored(stored, self._ticks())
            self._load_rematches(room)
            return room
        except PisteError:
            raise
        except Exception as e:
            error_id = logs.error("table cannot be read", e, room=logs.room_hash(code))
            raise PisteError(
                f"What is kept of this table is damaged, and it was noted as {error_id}. Whoever runs the server may "
                "have a backup; other tables are not affected."
            ) from e

    def _load_rematches(self, room: Room) -> None:
        """Read the score over the games that a room is a rematch of, and who asked for its own rematch."""
        if room.previous:
            played = (played_game(room.game, *stored) for stored in self._storage.earlier_games(room.previous))
            room.series = series_before(tuple(seat.bot for seat in room.seats), played)
        if room.successor:
            host = self._storage.host(room.successor)
            room.rematch_by = SPECTATOR if host is None else room.seat_of(host)
            room.successor = None if host is None else room.successor  # a rematch that was closed

    def add(self, room: Room) -> None:
        if len(self.rooms) >= self._settings.max_rooms:
            self.release_idle(0.0)
        if len(self.rooms) >= self._settings.max_rooms:
            raise WorkersBusyError("Every table here is taken just now. Try again in a few minutes.")
        self.rooms[room.code] = room
        self._metrics.rooms.set(len(self.rooms))

    def release_idle(self, idle_s: float = IDLE_TIMEOUT_S) -> None:
        """Remove rooms that nobody uses from memory; all of them are stored."""
        now = self._ticks()
        for code, room in list(self.rooms.items()):
            lock = self._locks.get(code)
            in_use = code in self.pinned or self.subscriptions.get(code) or (lock is not None and lock.locked())
            if not in_use and now - room.used >= idle_s:
                self.rooms.pop(code, None)
        self._metrics.rooms.set(len(self.rooms))

    async def save(self, room: Room, *changes: schema.Change) -> None:
        """Store what has changed, then tell the subscribers; nobody is told before that is done."""
        began = time.perf_counter()
        now = self._clock()
        if now - room.touched >= TOUCH_INTERVAL_S or now < room.touched:
            room.touched = now
        if room.over and room.ended is None:
            room.ended = now
        writing = asyncio.wrap_future(self._storage.write(*unsaved(room), *changes))
        cancelled: asyncio.CancelledError | None = None
        while not writing.done():
            # The client may disconnect while it is written; it is written all the same, and the others are told.
            try:
                await asyncio.wait({writing})
            except asyncio.CancelledError as e:
                cancelled = e
        error = writing.exception()
        if error is not None:
            self._remove(room.code)
            if not isinstance(error, PisteError):
                raise error
            logs.warning("not kept", room=logs.room_hash(room.code))
            raise PisteError("This could not be kept, so it has not happened. Try again in a moment.") from error
        room.written()
        self._metrics.commits.observe(time.perf_counter() - began)
        self.notify(room.code)
        if cancelled is not None:
            raise cancelled

    async def delete(self, code: str) -> None:
        await asyncio.wrap_future(self._storage.write(schema.delete(RoomRow, code=code)))
        self._remove(code)

    def _remove(self, code: str) -> None:
        """Remove a room from memory and disconnect its subscribers."""
        self.rooms.pop(code, None)
        for subscription in self.subscriptions.get(code, ()):
            subscription.close()

    # Subscribers, and who is at the table

    def notify(self, code: str) -> None:
        """Tell the subscribers of a room that it has changed."""
        for subscription in self.subscriptions.get(code, ()):
            subscription.changed.set()

    def show(self, room: Room) -> None:
        """Tell the subscribers of a change that is not stored."""
        room.version += 1
        self.notify(room.code)

    def close_subscriptions(self) -> None:
        """Disconnect everybody: the server stops."""
        for subscriptions in self.subscriptions.values():
            for subscription in subscriptions:
                subscription.close()

    def subscribe(self, code: str, seat: int) -> Subscription:
        """Add a subscriber to a room."""
        subscription = Subscription()
        self.subscriptions[code].add(subscription)
        room = self.rooms.get(code)
        if room is not None:
            self.change_seat(room, SPECTATOR, seat)
        return subscription

    def unsubscribe(self, code: str, seat: int, subscription: Subscription) -> None:
        """Remove a subscriber; after a while the others are shown that this player is away."""
        self.subscriptions[code].discard(subscription)
        if not self.subscriptions[code]:
            del self.subscriptions[code]
        room = self.rooms.get(code)
        if room is None or seat == SPECTATOR or subscription.closing:
            return  # a room that was loaded again has not counted it
        self.change_seat(room, seat, SPECTATOR)
        room.seen[seat] = self._ticks()
        self._refresh_later(code)

    def change_seat(self, room: Room, old: int, new: int) -> None:
        """Note that a subscriber has another seat now; SPECTATOR is none."""
        if old != SPECTATOR:
            room.sockets[old] = max(0, room.sockets[old] - 1)
        if new != SPECTATOR:
            room.sockets[new] += 1
            room.seen[new] = self._ticks()

    def mark_seen(self, room: Room, seat: int) -> None:
        """Note that the player of a seat has sent something."""
        if seat == SPECTATOR:
            return
        was_here = room.here(seat, self._ticks())
        room.seen[seat] = self._ticks()
        if not was_here:
            self.show(room)
        if not room.sockets[seat]:
            self._refresh_later(room.code)

    def _refresh_later(self, code: str) -> None:
        """Show again who is away when that may have changed."""

        def refresh() -> None:
            room = self.rooms.get(code)
            if room is not None and not all(room.here(seat, self._ticks()) for seat in room.people):
                self.show(room)

        loop = asyncio.get_running_loop()
        for wait in (AWAY_AFTER_S, self._settings.patience):
            loop.call_later(wait + 0.1, refresh)


def restored(stored: schema.StoredTable, now: float) -> Room:
    row = stored.room
    seats = [
        Seat(
            seat.kind, seat.name, seat.bot, seat.stand_in, link=seat.link,
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
    room.written()
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


def unsaved(room: Room) -> Iterator[schema.Change]:
    """Yield the changes by which storage comes to hold a room as it is now."""
    fields = room.changing_fields()
    if not room.stored_fields:
        yield schema.put(
            RoomRow(
                code=room.code, game=room.game.name, options=json.dumps(room.options), host=room.host,
                created=room.created, previous=room.previous, **fields,
            )
        )  # fmt: skip
    elif fields != room.stored_fields:
        yield schema.update_room(room.code, **fields)
    for at, (seat, stored) in enumerate(zip_longest(room.seats, room.stored_seats)):
        if seat == stored:
            continue
        yield schema.put(SeatRow(room.code, at, seat.kind, seat.name, seat.bot, seat.stand_in, seat.link))
        before = frozenset() if stored is None else stored.players
        for player in sorted(before - seat.players):
            yield schema.delete(SitterRow, room=room.code, seat=at, player=player)
        for player in sorted(seat.players - before):
            yield schema.put(SitterRow(room.code, at, player))
    if lines := room.unwritten():
        yield schema.add_lines(room.code, room.stored_lines, lines)
