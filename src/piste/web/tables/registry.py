"""The rooms of one server: read when wanted, lent to one at a time, written before anybody is told, and forgotten.

Every change to a room happens under that room's lock, is written, and is told only then. If it cannot be written, the
room is forgotten and read again from what is kept, so that nobody ever sees what is not.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from piste.core.errors import PisteError
from piste.core.game import quoted
from piste.core.protocols import SPECTATOR
from piste.web import logging as logs
from piste.web.metrics import Metrics
from piste.web.network import Root
from piste.web.settings import Settings
from piste.web.storage.storage import AddLines, Change, DropRoom, SetEnded, SetTouched, Storage, StoredTable
from piste.web.tables.room import BOT, GRACE, PERSON, RESERVED, Room, Seat
from piste.web.views.view_models import RenderContext, TableViewModel, Viewer, steps, view_model, viewer_of
from piste.web.workers.worker_pool import WorkersBusyError

LETTERS = "23456789abcdefghjkmnpqrstuvwxyzA"  # 32 of them; none is easily taken for another
CODE = 16
IDLE = 600.0
"""Seconds after which a room that nobody looks at leaves the memory."""

MINUTE = 60.0


class TableNotFoundError(PisteError):
    """A code that no room has."""


class ActionResult(NamedTuple):
    """What came of a request."""

    said: str = ""
    go: str = ""  # an address to go to


MOST_ANSWERS = 8192
"""So many answers are remembered; those of long ago nobody asks for."""


class Answers:
    """The last answers, for a client that asks again, by another line, because it did not hear one."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, str], dict[str, Any]] = {}

    def find(self, code: str, player: str, request: str) -> dict[str, Any] | None:
        return self._kept.get((code, player, request))

    def keep(self, code: str, player: str, request: str, answer: dict[str, Any]) -> None:
        if player and request:
            self._kept[code, player, request] = answer
        if len(self._kept) > MOST_ANSWERS:
            del self._kept[next(iter(self._kept))]


class Subscription:
    """Somebody who wants to know when a room has changed."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.closing = False  # the server stops, or the room is gone

    def wake(self) -> None:
        self.news.set()


class TableRegistry:
    """Every room that is in use, and those who listen."""

    def __init__(
        self,
        storage: Storage,
        settings: Settings,
        metrics: Metrics,
        clock: Callable[[], float],
        ticks: Callable[[], float],
    ) -> None:
        self.storage = storage
        self.settings = settings
        self.metrics = metrics
        self.clock = clock  # of the wall: for what is written down
        self.ticks = ticks  # cannot be set: for who is here and how long somebody is away
        self.rooms: dict[str, Room] = {}
        self.ears: dict[str, set[Subscription]] = {}
        self.answers = Answers()
        # A lock lives as long as somebody holds it or waits for it, so there are never two for one room.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._key = storage.secret("seat links")

    def woken(self, room: Room) -> None:
        """Called when a room has come to the memory; whoever lets bots play begins there."""

    def in_use(self, code: str) -> bool:
        """Whether a room must stay in the memory although nobody listens."""
        lock = self._locks.get(code)
        return lock is not None and lock.locked()

    def lock(self, code: str) -> asyncio.Lock:
        found = self._locks.get(code)
        if found is None:
            found = self._locks[code] = asyncio.Lock()
        return found

    @asynccontextmanager
    async def room(self, code: str) -> AsyncIterator[Room]:
        """Lend a room to one at a time."""
        if len(code) != CODE or not set(code) <= set(LETTERS):
            raise TableNotFoundError(f"There is no table {quoted(code)}. Ask whoever sent you the link.")
        async with self.lock(code):
            room = self.rooms.get(code)
            if room is None:
                room = await asyncio.to_thread(self._read, code)  # a long game takes a while to be played again
                self.hold(room)
                self.woken(room)
            room.used = self.ticks()
            yield room

    def _read(self, code: str) -> Room:
        """Read a room from what is kept. Called in a thread of its own: it changes nothing here."""
        kept = self.storage.room(code)
        if kept is None:
            raise TableNotFoundError("There is no such table, or it has been closed. Open a new one?")
        try:
            return self._restored(kept)
        except PisteError:
            raise
        except Exception as e:
            mark = logs.error("table cannot be read", e, room=logs.room_hash(code))
            raise PisteError(
                f"What is kept of this table is damaged, and it was noted as {mark}. Whoever runs the server may "
                "have a backup; other tables are not affected."
            ) from e

    def _restored(self, kept: StoredTable) -> Room:
        row, now = kept.room, self.ticks()
        sitting: dict[int, set[str]] = {}
        for seat, player in kept.sitters:
            sitting.setdefault(seat, set()).add(player)
        seats = [
            Seat(s.kind, s.name, s.bot, s.stand_in, link=s.link)._replace(
                players=frozenset(() if s.kind == BOT else sitting.get(s.seat, ()))
            )
            for s in kept.seats
        ]
        room = Room(
            row.code, row.game, json.loads(row.options), seats,
            host=row.host, now=row.created, listed=row.listed,
            previous=row.previous or "", successor=row.successor or "",
        )  # fmt: skip
        room.touched = row.touched
        room.seen = dict.fromkeys(room.people, now)  # nobody could be heard of while the server was away
        if kept.lines:
            room.restore(kept.lines)
        return room

    def hold(self, room: Room) -> None:
        if len(self.rooms) >= self.settings.max_rooms:
            self.let_idle_go(0.0)
        if len(self.rooms) >= self.settings.max_rooms:
            raise WorkersBusyError("Every table here is taken just now. Try again in a few minutes.")
        self.rooms[room.code] = room
        self.metrics.rooms_live(len(self.rooms))

    def let_idle_go(self, idle: float = IDLE) -> None:
        """Forget rooms that nobody looks at; all of them is kept."""
        now = self.ticks()
        for code, room in list(self.rooms.items()):
            if not self.in_use(code) and not self.ears.get(code) and now - room.used >= idle:
                self._forget(code)
        self.metrics.rooms_live(len(self.rooms))

    def _forget(self, code: str) -> None:
        self.rooms.pop(code, None)
        if not self.ears.get(code):
            self.ears.pop(code, None)

    async def keep(self, room: Room, *changes: Change) -> None:
        """Write what has changed; nobody is told before that is done."""
        began = time.perf_counter()
        first, lines = room.unwritten()
        now = self.clock()
        more: list[Change] = [AddLines(room.code, first, lines)] if lines else []
        if now - room.stored >= MINUTE or now < room.stored:  # to the minute is enough for lists and for old age
            more += [SetTouched(room.code, now)]
            room.stored = now
        if room.over and lines:
            more += [SetEnded(room.code, now)]
        writing = asyncio.wrap_future(self.storage.write(*changes, *more))
        gone: asyncio.CancelledError | None = None
        while not writing.done():
            # Whoever asked may go away while it is written; it is written all the same, and the others are told.
            try:
                await asyncio.wait({writing})
            except asyncio.CancelledError as e:
                gone = e
        failed = writing.exception()
        if failed is not None:
            self._forget(room.code)
            for ear in self.ears.get(room.code, ()):
                ear.closing = True
            self.wake(room.code)
            if not isinstance(failed, PisteError):
                raise failed
            logs.warning("not kept", room=logs.room_hash(room.code))
            raise PisteError("This could not be kept, so it has not happened. Try again in a moment.") from failed
        room.written()
        room.touched = now
        self.metrics.committed(time.perf_counter() - began)
        if gone is not None:
            self.wake(room.code)
            raise gone

    # Telling

    def wake(self, code: str) -> None:
        for ear in self.ears.get(code, ()):
            ear.wake()

    def listen(self, code: str, seat: int) -> Subscription:
        """Begin to hear of a room."""
        ear = Subscription()
        self.ears.setdefault(code, set()).add(ear)
        room = self.rooms.get(code)
        if room is not None and seat != SPECTATOR:
            was = room.here(seat, self.ticks())
            room.sockets[seat] = room.sockets.get(seat, 0) + 1
            room.seen[seat] = self.ticks()
            if not was:
                room.version += 1
                self.wake(code)
        return ear

    def unlisten(self, code: str, seat: int, ear: Subscription) -> None:
        """Hear no more of it; after a while others are told that somebody is away."""
        ears = self.ears.get(code, set())
        ears.discard(ear)
        if not ears:
            self.ears.pop(code, None)
        room = self.rooms.get(code)
        if room is None or seat == SPECTATOR or ear.closing:
            return  # a room that was read again has not counted it
        room.sockets[seat] = max(0, room.sockets.get(seat, 0) - 1)
        room.seen[seat] = self.ticks()
        self._look_later(code)

    def moved(self, room: Room, old: int, new: int) -> None:
        """Note that somebody who listens has another seat now than when they began."""
        if old != SPECTATOR:
            room.sockets[old] = max(0, room.sockets.get(old, 0) - 1)
        if new != SPECTATOR:
            room.sockets[new] = room.sockets.get(new, 0) + 1
            room.seen[new] = self.ticks()

    def seen(self, room: Room, seat: int) -> None:
        """Note that a seat was heard of, by whatever way."""
        if seat == SPECTATOR:
            return
        was = room.here(seat, self.ticks())
        room.seen[seat] = self.ticks()
        if not was:
            room.version += 1
            self.wake(room.code)
        if not room.sockets.get(seat):
            self._look_later(room.code)

    def _look_later(self, code: str) -> None:
        """Show again who is away when that may have changed."""

        def look() -> None:
            room = self.rooms.get(code)
            if room is not None and not all(room.here(seat, self.ticks()) for seat in room.people):
                room.version += 1
                self.wake(code)

        loop = asyncio.get_running_loop()
        for wait in (GRACE, self.settings.patience):
            loop.call_later(wait + 0.1, look)

    def view_model(self, room: Room, player: str, root: Root) -> TableViewModel:
        """Return what somebody is shown of a room; the caller holds the room."""
        viewer = viewer_of(room, player)
        return view_model(room, viewer, self._render_context(room, viewer, root))

    def steps(self, room: Room, player: str, latest: TableViewModel, since: int) -> tuple[TableViewModel, ...]:
        """Return what somebody had before them between an event and the latest; the caller holds the room."""
        return steps(room, viewer_of(room, player), latest, since)

    def _render_context(self, room: Room, viewer: Viewer, root: Root) -> RenderContext:
        own = viewer.seat != SPECTATOR
        link = f"{root.text}/s/{room.code}/{viewer.seat}/{self.seat_token(room, viewer.seat)}" if own else ""
        return RenderContext(self.ticks(), self.settings.patience, root, link)

    def seat_token(self, room: Room, seat: int) -> str:
        """Return what proves that somebody was given the private link of a seat."""
        revoked = room.seats[seat].link
        # The first link is the one that was given before links could be revoked.
        named = f"{room.code}/{seat}" + (f"/{revoked}" if revoked else "")
        digest = blake2b(named.encode(), key=self._key, digest_size=24).digest()
        return base64.urlsafe_b64encode(digest).decode()

    def check_link(self, room: Room, seat: int, token: str) -> None:
        """Refuse a private link that is not one."""
        right = 0 <= seat < len(room.seats) and hmac.compare_digest(
            token.encode(), self.seat_token(room, seat).encode()
        )
        if not right or room.seats[seat].kind not in (PERSON, RESERVED):
            raise TableNotFoundError("This private link does not fit any seat. Copy it again on the other device.")

    async def drop(self, code: str) -> None:
        await asyncio.wrap_future(self.storage.write(DropRoom(code)))
        for ear in self.ears.get(code, ()):
            ear.closing = True
        self.wake(code)
        self._forget(code)
