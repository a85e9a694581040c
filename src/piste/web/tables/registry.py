"""The rooms in memory: loaded from storage, locked, saved, and announced to those who subscribed.

Every change to a room is made under its lock, saved, and announced only then. If it cannot be saved, the room leaves
the memory and is loaded again, so that nobody ever sees what is not stored. Where other processes serve the same
tables, a room in memory is a copy of one stored version: whoever is lent it gets the latest one.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from weakref import WeakValueDictionary

from piste.core.errors import PisteError
from piste.core.game import quoted
from piste.core.protocols import SPECTATOR
from piste.web import logging as logs
from piste.web.metrics import Metrics
from piste.web.settings import Settings
from piste.web.storage import schema
from piste.web.storage.schema import ConflictError, PresenceRow, RoomRow
from piste.web.storage.storage import Presence, Storage
from piste.web.storage.writing import UncertainError, Writing
from piste.web.tables.notices import RoomNotice
from piste.web.tables.room import AWAY_AFTER_S, Room
from piste.web.tables.room_storage import played_game, presence_changes, restored, show_change, unsaved
from piste.web.tables.series import series_before
from piste.web.workers.worker_pool import WorkersBusyError

CODE_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyzA"  # 32 letters that are not easily confused
CODE_LETTERS = frozenset(CODE_ALPHABET)
CODE_LENGTH = 16
IDLE_TIMEOUT_S = 600.0  # a room that nobody subscribes to or asks for leaves the memory after this time
BOT_TAKEOVER_S = 5.0  # a bot that another process should let decide, and that has not after this time, decides here
ANNOUNCE_INTERVAL_S = 4.0  # a seat without a socket that asks again and again is told to other processes this often
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
    closing: bool = False  # the server stops: whoever comes now is sent to another process
    _reading: dict[str, list[Callable[[], None]]] = field(default_factory=dict)  # and what was told of them meanwhile
    # A lock lives as long as somebody holds it or waits for it, so there are never two for one room.
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def lock(self, code: str) -> asyncio.Lock:
        return self._locks.setdefault(code, asyncio.Lock())

    @asynccontextmanager
    async def room(self, code: str) -> AsyncIterator[Room]:
        """Lend a room to one caller at a time."""
        async with self.lock(code):
            yield await self.latest(code)

    async def latest(self, code: str) -> Room:
        """Return a room as it is now. The caller holds its lock."""
        room = self.rooms.get(code)
        if room is None:
            if len(code) != CODE_LENGTH or not CODE_LETTERS.issuperset(code):
                raise TableNotFoundError(f"There is no table {quoted(code)}. Ask whoever sent you the link.")
            with self._told_later(code):
                room = await self._storage.read(self._load, code)  # a long game takes a while to replay
                self.add(room)
        elif room.stale or room.notices:
            room = await self.catch_up(room)
        room.used = self._ticks()
        return room

    def room_at_rest(self, code: str) -> Room | None:
        """Return a room to look at, if nobody changes it now; else None: then it has to be waited for."""
        room, lock = self.rooms.get(code), self._locks.get(code)
        if room is None or room.stale or room.notices or (lock is not None and lock.locked()):
            return None
        room.used = self._ticks()
        return room

    async def catch_up(self, room: Room) -> Room:
        """Return a room as other processes have changed it. The caller holds its lock."""
        notices, room.notices = room.notices, []
        new = [notice for notice in notices if notice.version > room.stored_version]
        if not room.stale:
            # Where it cannot be followed, it must be read again; if that fails, too, then by whoever asks next.
            room.stale = not all(room.follow(notice) for notice in new)
            if new and not room.stale:
                self._expect_bots_elsewhere(room)
        if not room.stale:
            return room
        try:
            with self._told_later(room.code):
                fresh = await self._storage.read(self._load, room.code)
                fresh.take_over(room)
                self.rooms[room.code] = fresh
        except TableNotFoundError:
            self.remove(room.code)
            raise
        if fresh.stored_version > room.stored_version:
            self._expect_bots_elsewhere(fresh)
        else:
            fresh.bots_elsewhere = room.bots_elsewhere  # nobody else has changed it
        self.notify(room.code)
        return fresh

    @contextmanager
    def _told_later(self, code: str) -> Iterator[None]:
        """Keep what is told of a room while it is read, which may be too late for that, until it is in memory."""
        told = self._reading[code] = []
        try:
            yield
        finally:
            del self._reading[code]
            for tell in told:
                tell()

    def _later(self, code: str, tell: Callable[[], None]) -> bool:
        """Whether a room is being read, so that this is told afterwards."""
        if code in self._reading:
            self._reading[code].append(tell)
        return code in self._reading

    def _expect_bots_elsewhere(self, room: Room) -> None:
        """Leave it to the process that has changed a room to let its bots decide, for a while."""
        room.bots_elsewhere = self._ticks() + BOT_TAKEOVER_S if self._storage.shared else 0.0

    def holds(self, code: str) -> bool:
        """Whether a room is in memory, or on its way there."""
        return code in self.rooms or code in self._reading

    def tell(self, code: str, notice: RoomNotice) -> None:
        """Note what another process has changed, and wake those who subscribed."""
        if self._later(code, partial(self.tell, code, notice)):
            return
        room = self.rooms.get(code)
        if room is not None and notice.version > room.stored_version:
            room.notices.append(notice)
            self.notify(code)

    def read_again(self, code: str) -> None:
        """Have a room read again, and wake those who subscribed."""
        if self._later(code, partial(self.read_again, code)):
            return
        room = self.rooms.get(code)
        if room is not None:
            room.stale = True
            self.notify(code)

    async def compare_versions(self) -> None:
        """Find out what was changed, and who came and went, while no notice could arrive."""
        codes = list(self.rooms)
        for code in self._reading:  # perhaps as it was before notices could arrive
            self.read_again(code)
        versions = await self._storage.read(self._storage.versions, codes)
        presence = await self._storage.read(self._storage.presence, codes)
        for code in codes:
            room = self.rooms.get(code)
            if room is None or room.stored_version < 0:
                continue
            self._take_presence(room, presence[code])
            self.show(room)
            self._refresh_later(code)
        await asyncio.gather(*(self._compare_version(code, versions.get(code, math.inf)) for code in codes))

    async def _compare_version(self, code: str, stored: float) -> None:
        """Have a room read again if others have changed it: not for a change of ours that is just being stored."""
        if self._is_older(code, stored):
            async with self.lock(code):
                if self._is_older(code, stored):
                    self.read_again(code)

    def _is_older(self, code: str, version: float) -> bool:
        return code in self.rooms and 0 <= self.rooms[code].stored_version < version

    def _load(self, code: str) -> Room:
        """Read a room from storage. Runs in another thread, so it changes nothing here."""
        stored = self._storage.room(code)
        if stored is None:
            raise TableNotFoundError("There is no such table, or it has been closed. Open a new one?")
        try:
            room = restored(stored, self._ticks())
            self._load_rematches(room)
            if self._storage.shared:
                self._take_presence(room, self._storage.presence([code])[code])
                if self._storage.has_peers():
                    self._expect_bots_elsewhere(room)
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

    def _take_presence(self, room: Room, presence: list[Presence]) -> None:
        """Note who is connected to other processes, or was heard of there."""
        now, heard = self._ticks(), defaultdict[int, float](lambda: -math.inf)
        others = [one for one in presence if one.process != self._storage.process]
        for one in others:
            heard[one.seat] = max(heard[one.seat], now - one.age_s)
        if not room.used:  # it was just read, and nobody was heard of here
            room.seen |= heard
        else:
            room.seen |= {seat: max(when, room.seen.get(seat, when)) for seat, when in heard.items()}
        room.elsewhere = {(one.process, one.seat): one.sockets for one in others}

    async def refresh_presence(self, room: Room) -> None:
        """Read again who is connected to other processes, before something depends on it."""
        if self._storage.shared:
            with self._told_later(room.code):
                presence = await self._storage.read(self._storage.presence, [room.code])
                self._take_presence(room, presence[room.code])

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
            if now - room.used >= idle_s:
                self._release_unused(code)

    def _release_unused(self, code: str) -> None:
        lock = self._locks.get(code)
        if not (code in self.pinned or self.subscriptions.get(code) or (lock is not None and lock.locked())):
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
        cancelled = await self._write(room.code, *unsaved(room, self._storage.sender), *changes)
        room.written(room.stored_version + 1)
        room.bots_elsewhere = 0.0
        self._metrics.commits.observe(time.perf_counter() - began)
        self.notify(room.code)
        if cancelled is not None:
            raise cancelled

    async def _write(self, code: str, *changes: schema.Change) -> asyncio.CancelledError | None:
        """Store changes to a room, or say why not; return whether the caller was cancelled meanwhile."""
        written, cancelled = await self._storage.finish(*changes)
        error = written.exception()
        if error is None:
            return cancelled
        if isinstance(error, ConflictError):
            self.read_again(code)
            raise error
        self.remove(code)
        if not isinstance(error, PisteError):
            raise error
        logs.warning("not kept", room=logs.room_hash(code))
        if isinstance(error, UncertainError):
            if error.writing is not None:
                self._read_again_after(error.writing)
            raise error
        raise PisteError("This could not be kept, so it has not happened. Try again in a moment.") from error

    def _read_again_after(self, writing: Writing) -> None:
        """Have rooms read again when it is known whether a change to them was made."""
        loop = asyncio.get_running_loop()
        codes = {change.code for change in writing.changes if isinstance(change, schema.RoomUpdate | schema.NewRoom)}

        def known(_: object) -> None:
            with suppress(RuntimeError):  # the loop may be closed by then
                for code in codes:
                    loop.call_soon_threadsafe(self.read_again, code)

        writing.add_done_callback(known)

    async def delete(self, code: str, version: int | None = None) -> None:
        """Delete a room; one of a version only if it has not changed since."""
        gone = schema.delete(RoomRow, code=code) if version is None else schema.RoomDelete(code, version)
        told = [schema.notify(f"{self._storage.process} gone {code}")] if self._storage.shared else []
        cancelled = await self._write(code, gone, *told)
        self.remove(code)
        if cancelled is not None:
            raise cancelled

    def remove(self, code: str) -> None:
        """Remove a room from memory and disconnect its subscribers."""
        room = self.rooms.pop(code, None)
        for subscription in self.subscriptions.get(code, ()):
            subscription.close()
        if room is not None:
            for seat in [seat for seat, sockets in room.sockets.items() if sockets]:
                room.sockets[seat] = 0  # they may come back to another process
                self._announce(room, seat)

    # Subscribers, and who is at the table

    def notify(self, code: str) -> None:
        """Tell the subscribers of a room that it has changed."""
        for subscription in self.subscriptions.get(code, ()):
            subscription.changed.set()

    def show(self, room: Room) -> None:
        """Tell the subscribers of a change that is not stored."""
        room.version += 1
        self.notify(room.code)

    def show_here(self, code: str, **shown: object) -> None:
        """Show at a table what is not stored, such as how far a bot is prepared, to those who subscribed here."""
        if self._later(code, partial(self.show_here, code, **shown)):
            return
        room = self.rooms.get(code)
        if room is not None and room.take_shown(shown):
            self.show(room)

    def show_everywhere(self, code: str, **shown: object) -> None:
        """Show it to those, too, who subscribed at other processes."""
        self.show_here(code, **shown)
        if self._storage.shared:
            self._storage.write(show_change(self._storage.process, code, shown))

    def close_subscriptions(self) -> None:
        """Disconnect everybody, and whoever comes later: the server stops."""
        self.closing = True
        for subscriptions in self.subscriptions.values():
            for subscription in subscriptions:
                subscription.close()

    def subscribe(self, code: str, seat: int) -> Subscription:
        """Add a subscriber to a room."""
        subscription = Subscription()
        self.subscriptions[code].add(subscription)
        if self.closing:
            subscription.close()
            return subscription
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
        if room.over:  # most players go on to another game, and it is read again for those who come back
            self._release_unused(code)

    def change_seat(self, room: Room, old: int, new: int) -> None:
        """Note that a subscriber has another seat now; SPECTATOR is none."""
        if old != SPECTATOR:
            room.sockets[old] = max(0, room.sockets[old] - 1)
            if not room.sockets[old]:
                self._announce(room, old)
        if new != SPECTATOR:
            room.sockets[new] += 1
            room.seen[new] = self._ticks()
            if room.sockets[new] == 1:
                self._announce(room, new)

    def _announce(self, room: Room, seat: int) -> None:
        """Tell other processes how many sockets a seat has here; without one, that it was heard of."""
        if self._storage.shared:
            room.announced[seat] = self._ticks()
            self._storage.write(*presence_changes(self._storage.process, room.code, seat, room.sockets[seat]))

    def announce_all(self) -> None:
        """Tell other processes of every socket here, and that there are no others: the database may not know it."""
        own = self._storage.process
        here = [
            presence_changes(own, room.code, seat, sockets)
            for room in self.rooms.values()
            for seat, sockets in room.sockets.items()
            if sockets
        ]
        forget = schema.delete(PresenceRow, process=own), schema.notify(f"{own} left {own}")
        self._storage.write(*forget, *chain.from_iterable(here))

    def tell_presence(self, process: str, code: str, seat: int, sockets: int) -> None:
        """Note that a seat has so many sockets with another process."""
        if self._later(code, partial(self.tell_presence, process, code, seat, sockets)):
            return
        room = self.rooms.get(code)
        if room is None or not 0 <= seat < len(room.seats):
            return
        was_here = room.here(seat, self._ticks())
        room.elsewhere[process, seat] = sockets
        room.seen[seat] = self._ticks()
        if not was_here:
            self.show(room)
        if not sockets:
            self._refresh_later(code)

    def forget_process(self, process: str) -> None:
        """Note that another process is gone, and with it all its sockets."""
        for code in self._reading:
            self._later(code, partial(self.forget_process, process))
        for room in self.rooms.values():
            for key in [key for key in room.elsewhere if key[0] == process]:
                if room.elsewhere.pop(key):
                    room.seen[key[1]] = self._ticks()
                    self._refresh_later(room.code)

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
            if self._ticks() - room.announced.get(seat, -math.inf) >= ANNOUNCE_INTERVAL_S:
                self._announce(room, seat)

    def _refresh_later(self, code: str) -> None:
        """Show again who is away when that may have changed."""

        def refresh() -> None:
            room = self.rooms.get(code)
            if room is not None and not all(room.here(seat, self._ticks()) for seat in room.people):
                self.show(room)

        loop = asyncio.get_running_loop()
        for wait in (AWAY_AFTER_S, self._settings.patience):
            loop.call_later(wait + 0.1, refresh)
