"""Storage of rooms, seats and records: in one SQLite file that one process locks, or in PostgreSQL for several.

One thread of a process does all its writing. Everything that waits is written in one transaction, so that many
decisions share one wait for the disk. A write is durable when its future is done, and not before.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import queue
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Select, and_, func, select
from sqlalchemy.exc import SQLAlchemyError

from piste.core.errors import PisteError
from piste.web.storage import schema
from piste.web.storage.database import Database, affects_all, away, connection_lost, locked, reason, retryable
from piste.web.storage.jobs import JobCount, job_counts, job_takers
from piste.web.storage.schema import (
    Change,
    KeyRow,
    LineRow,
    Listing,
    PartialReviewRow,
    PlayerRow,
    PresenceRow,
    ProcessRow,
    RefusedChangeError,
    ReviewRow,
    RoomDelete,
    RoomRow,
    RoomUpdate,
    SeatRow,
    SitterRow,
    StorageAwayError,
    StorageError,
    StoredTable,
    put,
    put_if_absent,
)
from piste.web.storage.writing import UncertainError, Writing

MAX_CALLS_PER_TRANSACTION = 512
# Where many tables are changed, a transaction waits until the one before is this old, and takes along what has come
# by then: one more call in it costs much less than one more transaction, and what follows is done in one go, too.
# After a wait that brought nothing, so many calls do not wait.
TRANSACTION_INTERVAL_S = 0.05
CALLS_WITHOUT_WAIT = 8
MAX_TIME = 1e11  # larger than any time that was ever written; in SQLite text is larger than any number
WRITE_TIMEOUT_S = READ_TIMEOUT_S = 10.0
MAX_TRIES = 3  # of a transaction that failed for a reason that may be gone
MAX_READERS = 8  # reads at once; further ones wait for one of them
T = TypeVar("T")


class Presence(NamedTuple):
    """The sockets of a seat with a process, and how long ago that was noted."""

    process: str
    seat: int
    sockets: int
    age_s: float


class Storage:
    """The database. `write` and all reads may be called from any thread."""

    def __init__(self, db: Path | str) -> None:
        self.database = open_database(db)
        self.process = secrets.token_hex(8)  # the name by which other processes know this one
        self._state_lock = threading.Lock()  # for opening, closing and the queue
        self._read_write_lock = threading.Lock()  # for a read that a write depends on
        self._calls: queue.SimpleQueue[Writing | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._reads: set[Future[Any]] = set()  # that are being made

    @property
    def shared(self) -> bool:
        """Whether other processes may change what is stored."""
        return self.database.shared

    @property
    def sender(self) -> str:
        """The name by which this process tells others what it has changed; "" where there can be no others."""
        return self.process if self.shared else ""

    def open(self) -> None:
        """Open the database and migrate it to the current schema; a file is locked for this process."""
        with self._state_lock, contextlib.ExitStack() as undo:
            if self._thread is not None:
                raise PisteError("The storage is open already.")
            self._writer, self._reader = self.database.open()
            undo.callback(self.database.close)
            self._readers = ThreadPoolExecutor(MAX_READERS, "piste-reader")
            undo.callback(self._readers.shutdown, wait=False)
            self._release = undo.pop_all()
            # A daemon thread, so that a process that ends without closing does not hang.
            self._thread = threading.Thread(target=self._work, name="piste-writer", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Write what waits, then release the database; closing twice does no harm."""
        with self._state_lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._calls.put(None)
        if thread is not None:
            thread.join(None if not self.shared else WRITE_TIMEOUT_S)  # a network may never answer
            wait(list(self._reads), READ_TIMEOUT_S)
            self._release.close()

    def __enter__(self) -> Storage:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, *changes: Change) -> Writing:
        """Make all these changes or none; they are on the disk when the future is done.

        Calls for one room are carried out in order. A future that fails holds a StorageError. It cannot be cancelled:
        the changes are written even if nobody waits for it.
        """
        call = Writing(changes)
        with self._state_lock:
            if self._thread is None:
                call.set_exception(StorageError("The storage is closed: nothing more can be kept."))
            else:
                self._calls.put(call)
        return call

    async def finish(self, *changes: Change) -> tuple[Future[None], asyncio.CancelledError | None]:
        """Write changes and wait for it. Return what came of it, and whether the caller was cancelled meanwhile.

        What is written is written even if nobody waits for it any more. Where a network may fall silent, there is an
        end to waiting, and then it is uncertain whether they were made.
        """
        call, cancelled = self.write(*changes), None
        loop = asyncio.get_running_loop()
        deadline = loop.time() + WRITE_TIMEOUT_S if self.shared else math.inf
        while True:
            try:
                done = await call.wait(deadline)
                break
            except asyncio.CancelledError as e:
                cancelled = e
        if done:
            return call, cancelled
        failed: Future[None] = Future()
        failed.set_exception(StorageAwayError() if call.give_up() else UncertainError(call))
        return failed, cancelled

    async def read(self, query: Callable[..., T], *args: Any) -> T:
        """Return what a query of this storage returns, run in another thread."""
        asked = self._readers.submit(query, *args)
        self._reads.add(asked)
        asked.add_done_callback(self._reads.discard)
        running = asyncio.wrap_future(asked)
        # Not wait_for, which may lose a cancellation that comes with the result.
        await asyncio.wait({running}, timeout=READ_TIMEOUT_S)
        if running.done():
            return running.result()
        running.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody awaits it any more
        running.cancel()  # if it has not begun: what many have asked for is not all asked later
        raise StorageAwayError

    def _work(self) -> None:
        began, at_once = -math.inf, 0
        while True:
            taken = [self._calls.get()]
            waits = not at_once and taken[0] is not None
            if waits:
                sleep(max(0.0, began + TRANSACTION_INTERVAL_S - monotonic()))
            began = monotonic()
            with contextlib.suppress(queue.Empty):
                while taken[-1] is not None and len(taken) < MAX_CALLS_PER_TRANSACTION:
                    taken.append(self._calls.get_nowait())
            at_once = CALLS_WITHOUT_WAIT if waits and len(taken) == 1 else max(0, at_once - 1)
            batch = [call for call in taken if call is not None and call.take()]
            if batch:
                # In the same order in every process, or two of them could wait for each other.
                self._write_batch(sorted(batch, key=_room_of))
            if taken[-1] is None:
                return

    def _write_batch(self, batch: list[Writing], tries: int = MAX_TRIES) -> None:
        """Write a batch in one transaction; if a call fails, bisect the batch, in the same order."""
        refused: dict[int, RefusedChangeError] = {}
        transaction: int | None = None
        ended = False
        try:
            self.database.check()
            with self._writer.begin() as connection:
                for at, call in enumerate(batch):
                    try:
                        made = call.changes[0](connection) if call.changes else None
                    except RefusedChangeError as e:  # it has changed nothing, so the other calls are not affected
                        refused[at] = e
                        continue
                    transaction = made if isinstance(made, int) else transaction
                    for change in call.changes[1:]:
                        change(connection)
                ended = True
            self.database.check()
        except Exception as e:
            committed: bool | None = False
            if ended and transaction is not None and connection_lost(e):
                committed = self.database.committed(transaction)
            if committed is False:
                return self._not_written(batch, tries, e)
            if committed is None:
                for call in batch:
                    call.set_exception(UncertainError())
                return None
        for at, call in enumerate(batch):
            if at in refused:
                call.set_exception(refused[at])
            else:
                call.set_result(None)
        return None

    def _not_written(self, batch: list[Writing], tries: int, error: Exception) -> None:
        """Try a batch again if that may help; else say that it failed."""
        if tries > 1 and retryable(error):
            return self._write_batch(batch, tries - 1)
        # A full disk is not the fault of one call, and trying each call would only take long.
        if len(batch) > 1 and not affects_all(error):
            size = (
                1 if locked(error) else (len(batch) + 1) // 2
            )  # one that waits for a lock makes no other wait again
            for at in range(0, len(batch), size):
                self._write_batch(batch[at : at + size])
            return None
        if not isinstance(error, StorageError):
            kept = f"This could not be kept ({reason(error)})."
            failed = StorageAwayError() if away(error) else StorageError(kept)
            failed.__cause__ = error  # for the log
            error = failed
        for call in batch:
            call.set_exception(error)
        return None

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        """Lend a connection that reads one snapshot."""
        if self._thread is None:
            raise PisteError("The storage is closed: nothing can be read.")
        try:
            with self._reader.begin() as connection:
                yield connection
        except (SQLAlchemyError, UnicodeError) as e:
            if away(e):
                raise StorageAwayError from e
            raise PisteError(f"What is kept cannot be read ({reason(e)}). A backup may help.") from e

    def room(self, code: str) -> StoredTable | None:
        with self._reading() as connection:
            row = connection.execute(select(RoomRow.__table__).where(RoomRow.code == code)).first()
            if row is None:
                return None
            seated = select(SeatRow.__table__).where(SeatRow.room == code).order_by(SeatRow.seat)
            seats = connection.execute(seated).all()
            sitting = select(SitterRow.seat, SitterRow.player).where(SitterRow.room == code)
            sitters = connection.execute(sitting.order_by(SitterRow.seat, SitterRow.player)).all()
            record = select(LineRow.text).where(LineRow.room == code).order_by(LineRow.n)
            lines = tuple(connection.scalars(record))
            for part in (row, *seats, *sitters, lines):
                _check_text(part)
            seat_rows = tuple(SeatRow(*seat) for seat in seats)
            return StoredTable(RoomRow(*row), seat_rows, tuple((seat, player) for seat, player in sitters), lines)

    def versions(self, codes: list[str]) -> dict[str, int]:
        """Return the versions of these rooms, as far as they are there."""
        asked = select(RoomRow.code, RoomRow.version).where(RoomRow.code.in_(codes))
        with self._reading() as connection:
            return {row.code: row.version for row in connection.execute(asked)}

    def presence(self, codes: list[str]) -> dict[str, list[Presence]]:
        """Return who is connected to which process, or was, by room."""
        age = func.extract("epoch", func.clock_timestamp()) - PresenceRow.seen
        asked = select(PresenceRow.room, PresenceRow.process, PresenceRow.seat, PresenceRow.sockets, age)
        found: dict[str, list[Presence]] = {code: [] for code in codes}
        with self._reading() as connection:
            for code, process, seat, sockets, seconds in connection.execute(asked.where(PresenceRow.room.in_(codes))):
                found[code].append(Presence(process, seat, sockets, float(seconds)))
        return found

    def has_peers(self) -> bool:
        """Whether there are other processes."""
        return bool(self._scalar(select(func.count()).where(ProcessRow.id != self.process)))

    def host(self, code: str) -> str | None:
        """Return the player who opened a room; None if there is no such room."""
        return self._scalar(select(RoomRow.host).where(RoomRow.code == code))

    def earlier_games(self, code: str, limit: int = 100) -> Iterator[tuple[tuple[SeatRow, ...], str, str]]:
        """Yield a game and those it is the rematch of, the latest first: its seats, first line and last line."""
        next_code: str | None = code
        while next_code and limit:
            limit -= 1
            with self._reading() as connection:
                seated = select(SeatRow.__table__).where(SeatRow.room == next_code).order_by(SeatRow.seat)
                seats = tuple(SeatRow(*map(_printable, seat)) for seat in connection.execute(seated))
                lines = select(LineRow.text).where(LineRow.room == next_code)
                head = connection.scalar(lines.where(LineRow.n == 0))
                last = connection.scalar(lines.order_by(LineRow.n.desc()).limit(1))
                next_code = connection.scalar(select(RoomRow.previous).where(RoomRow.code == next_code))
            if head is None or last is None:
                return
            yield seats, head, last

    def rooms_of(self, player: str, limit: int = 50) -> list[Listing]:
        """Return the rooms where a player has a seat, most recent first."""
        own = select(SitterRow.room).where(SitterRow.player == player)
        return self._listings(RoomRow.code.in_(own), limit, player)

    def listed(self, limit: int = 50) -> list[Listing]:
        """Return the public running rooms, most recent first."""
        return self._listings(and_(RoomRow.listed.is_(True), RoomRow.ended.is_(None)), limit, None)

    def _listings(self, which: Any, limit: int, player: str | None) -> list[Listing]:
        with self._reading() as connection:
            asked = select(RoomRow.__table__).where(which).order_by(RoomRow.touched.desc(), RoomRow.code).limit(limit)
            listings = {row[0]: Listing(RoomRow(*map(_printable, row)), ()) for row in connection.execute(asked)}
            sitting = select(SeatRow.__table__).where(SeatRow.room.in_(list(listings))).order_by(SeatRow.seat)
            for row in connection.execute(sitting):
                listing = listings[row[0]]
                listings[row[0]] = listing._replace(seats=(*listing.seats, SeatRow(*map(_printable, row))))
            mine = select(SitterRow.room, SitterRow.seat).where(SitterRow.player == player).order_by(SitterRow.seat)
            for code, seat in connection.execute(mine) if player is not None else ():
                if code in listings:
                    listings[code] = listings[code]._replace(yours=(*listings[code].yours, seat))
            over = [code for code, listing in listings.items() if listing.room.ended is not None]
            for code, text in connection.execute(schema.last_lines(over)) if over else ():
                listings[code] = listings[code]._replace(last=_printable(text))
        return list(listings.values())

    def player(self, player: str) -> str | None:
        """Return the last name of a player."""
        name = self._scalar(select(PlayerRow.name).where(PlayerRow.player == player))
        return None if name is None else str(_printable(name))

    def review(self, code: str) -> str | None:
        return self._scalar(select(ReviewRow.text).where(ReviewRow.room == code))

    def partial_review(self, code: str) -> PartialReviewRow | None:
        """Return a review as far as it goes, if one is being made or was given up."""
        with self._reading() as connection:
            row = connection.execute(select(PartialReviewRow.__table__).where(PartialReviewRow.room == code)).first()
        return None if row is None else PartialReviewRow(*row)

    def jobs(self) -> tuple[list[JobCount], int]:
        """Return the jobs in the queue, and how many take jobs from it."""
        with self._reading() as connection:
            return job_counts(connection), job_takers(connection)

    def reviews(self, codes: list[str]) -> dict[str, str]:
        """Return the reviews of these rooms, as far as there are any."""
        asked = select(ReviewRow.room, ReviewRow.text).where(ReviewRow.room.in_(codes))
        with self._reading() as connection:
            return {row.room: row.text for row in connection.execute(asked)}

    def heads(self, codes: list[str]) -> dict[str, str]:
        """Return the first lines of these rooms' records, which say how their games began."""
        asked = select(LineRow.room, LineRow.text).where(LineRow.room.in_(codes), LineRow.n == 0)
        with self._reading() as connection:
            return {row.room: _printable(row.text) for row in connection.execute(asked)}

    def expired(self, before: float) -> list[tuple[str, float, int]]:
        """Return the rooms without a change since then, the time of it and their version, oldest first."""
        asked = select(RoomRow.code, RoomRow.touched, RoomRow.version)
        asked = asked.where(RoomRow.touched < before).order_by(RoomRow.touched)
        with self._reading() as connection:
            return [(code, touched, version) for code, touched, version in connection.execute(asked)]

    def last_touched(self) -> float:
        """Return the time of the last change of any room; 0 without rooms."""
        return self._scalar(select(func.max(RoomRow.touched)).where(RoomRow.touched < MAX_TIME)) or 0.0

    def secret(self, name: str) -> bytes:
        """Return 32 random bytes of that name: generated once, then always the same."""
        key = schema.secret_name(name)
        if self.key(key) is None:
            self._wait(put_if_absent(KeyRow(key, secrets.token_bytes(32))))  # another may be quicker
        secret = self.key(key)
        assert secret is not None
        return secret

    def ready(self) -> None:
        """Write something small and read it again; raise a PisteError if that cannot be done."""
        with self._read_write_lock:
            token = secrets.token_bytes(8)
            # Each process writes a row of its own, or one that is stuck would hold up the others.
            name = f"ready {self.process}" if self.shared else "ready"
            self._wait(put(KeyRow(name, token)))
            kept = self.key(name)
            if self.shared:
                self.write(schema.delete(KeyRow, name=name))
            if kept != token:
                raise PisteError("The storage does not give back what it was given.")

    def _wait(self, change: Change) -> None:
        try:
            self.write(change).result(WRITE_TIMEOUT_S)
        except TimeoutError:
            raise PisteError(f"The storage did not answer within {WRITE_TIMEOUT_S:g} seconds.") from None

    def key(self, name: str) -> bytes | None:
        return self._scalar(select(KeyRow.value).where(KeyRow.name == name))

    def _scalar(self, query: Select[T]) -> T | None:
        with self._reading() as connection:
            return connection.scalar(query)


def open_database(db: Path | str) -> Database:
    """Return the database at an address of PostgreSQL or in a file."""
    if isinstance(db, Path):
        from piste.web.storage.sqlite import SqliteDatabase

        return SqliteDatabase(db)
    from piste.web.storage.postgresql import PostgresDatabase

    return PostgresDatabase(db)


def _room_of(call: Writing) -> str:
    """Return the room that a call changes; "" if it changes none."""
    first = call.changes[0] if call.changes else None
    return first.code if isinstance(first, RoomUpdate | RoomDelete) else ""


def _printable(value: Any) -> Any:
    """Return text with invalid bytes replaced; anything else unchanged."""
    return value.encode(errors="surrogateescape").decode(errors="replace") if isinstance(value, str) else value


def _check_text(row: Iterable[Any]) -> None:
    """Refuse text with invalid bytes: nothing of a game is guessed."""
    try:
        for value in row:
            if isinstance(value, str):
                value.encode()
    except UnicodeEncodeError:
        raise PisteError(
            "What is kept of this table is damaged: some of it is no text. Whoever runs the server may have a backup."
        ) from None
