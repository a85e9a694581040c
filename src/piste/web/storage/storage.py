"""Storage of rooms, seats and records in one SQLite file that one process locks.

One thread does all writing. Everything that waits is written in one transaction, so that many decisions share one
wait for the disk. A write is durable when its future is done, and not before.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import URL, Connection, Engine, Select, and_, create_engine, event, func, select
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError, SQLAlchemyError

from piste.core.errors import PisteError
from piste.web.storage import schema
from piste.web.storage.schema import (
    Change,
    KeyRow,
    LineRow,
    Listing,
    PlayerRow,
    ReviewRow,
    RoomRow,
    SeatRow,
    SitterRow,
    StorageError,
    StoredTable,
    put,
)

MAX_CALLS_PER_TRANSACTION = 512
MAX_TIME = 1e11  # larger than any time that was ever written; in SQLite text is larger than any number
WRITE_TIMEOUT_S = 10.0
T = TypeVar("T")


class StorageGoneError(StorageError):
    """The file was removed or replaced."""


class _Call(NamedTuple):
    changes: tuple[Change, ...]
    done: Future[None]


class Storage:
    """The database file. `write` and all reads may be called from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()  # links to one file share its lock
        self._state_lock = threading.Lock()  # for opening, closing and the queue
        self._read_write_lock = threading.Lock()  # for a read that a write depends on
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Lock the file for this process and migrate it to the current schema."""
        with self._state_lock, contextlib.ExitStack() as undo:
            if self._thread is not None:
                raise PisteError("The storage is open already.")
            undo.callback(_lock(self.path).close)
            _create_private(self.path)
            self._writer = _engine(self.path, writes=True)
            undo.callback(self._writer.dispose)
            _prepare(self._writer, self.path)
            self._reader = _engine(self.path, writes=False)
            undo.callback(self._reader.dispose)
            self._file = _identity(self.path)
            self._release = undo.pop_all()
            # A daemon thread, so that a process that ends without closing does not hang.
            self._thread = threading.Thread(target=self._work, name="piste-writer", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Write what waits, then release the file; closing twice does no harm."""
        with self._state_lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._calls.put(None)
        if thread is not None:
            thread.join()
            self._release.close()

    def __enter__(self) -> Storage:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, *changes: Change) -> Future[None]:
        """Make all these changes or none; they are on the disk when the future is done.

        Calls are carried out in order. A future that fails holds a StorageError. It cannot be cancelled: the changes
        are written even if nobody waits for it.
        """
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()
        with self._state_lock:
            if self._thread is None:
                done.set_exception(StorageError("The storage is closed: nothing more can be kept."))
            else:
                self._calls.put(_Call(changes, done))
        return done

    def _work(self) -> None:
        while True:
            taken = [self._calls.get()]
            with contextlib.suppress(queue.Empty):
                while taken[-1] is not None and len(taken) < MAX_CALLS_PER_TRANSACTION:
                    taken.append(self._calls.get_nowait())
            batch = [call for call in taken if call is not None]
            if batch:
                self._write_batch(batch)
            if taken[-1] is None:
                return

    def _write_batch(self, batch: list[_Call]) -> None:
        """Write a batch in one transaction; if a call fails, bisect the batch, in the same order."""
        try:
            self._check_file()
            with self._writer.begin() as connection:
                for call in batch:
                    for change in call.changes:
                        change(connection)
            self._check_file()
        except Exception as e:
            # A full disk is not the fault of one call, and trying each call would only take long.
            if len(batch) > 1 and not isinstance(e, OperationalError | StorageGoneError):
                half = len(batch) // 2
                self._write_batch(batch[:half])
                self._write_batch(batch[half:])
                return
            error = e
            if not isinstance(e, StorageError):
                error = StorageError(f"This could not be kept ({_reason(e)}).")
                error.__cause__ = e  # for the log
            for call in batch:
                call.done.set_exception(error)
            return
        for call in batch:
            call.done.set_result(None)

    def _check_file(self) -> None:
        """Refuse to write when the file is gone: data in an unlinked file is lost with the process."""
        if _identity(self.path) != self._file:
            raise StorageGoneError(
                "The file that holds the tables has been removed or replaced under the running server, so nothing "
                "can be kept. Put it back, or stop the server and start it again."
            )

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        """Lend a connection that reads one snapshot."""
        if self._thread is None:
            raise PisteError("The storage is closed: nothing can be read.")
        try:
            with self._reader.begin() as connection:
                yield connection
        except (SQLAlchemyError, UnicodeError) as e:
            raise PisteError(f"What is kept cannot be read ({_reason(e)}). A backup may help.") from e

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

    def expired(self, before: float) -> list[tuple[str, float]]:
        """Return the rooms without a change since then and the time of their last change, oldest first."""
        asked = select(RoomRow.code, RoomRow.touched).where(RoomRow.touched < before).order_by(RoomRow.touched)
        with self._reading() as connection:
            return [(code, touched) for code, touched in connection.execute(asked)]

    def last_touched(self) -> float:
        """Return the time of the last change of any room; 0 without rooms."""
        return self._scalar(select(func.max(RoomRow.touched)).where(RoomRow.touched < MAX_TIME)) or 0.0

    def secret(self, name: str) -> bytes:
        """Return 32 random bytes of that name: generated once, then always the same."""
        with self._read_write_lock:
            secret = self.key(f"secret {name}")
            if secret is None:
                secret = secrets.token_bytes(32)
                self._wait(put(KeyRow(f"secret {name}", secret)))
            return secret

    def ready(self) -> None:
        """Write something small and read it again; raise a PisteError if that cannot be done."""
        with self._read_write_lock:
            token = secrets.token_bytes(8)
            self._wait(put(KeyRow("ready", token)))
            if self.key("ready") != token:
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


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _reason(error: Exception) -> str:
    """Return the database's message if it cannot hold what was written."""
    if isinstance(error, OperationalError) or type(error) is DatabaseError:
        return str(error.orig)
    return "it does not fit what is there" if isinstance(error, IntegrityError) else type(error).__name__


# From here on: SQLite only.


def _create_private(path: Path) -> None:
    """Create an empty file that only its owner can read: it will hold seeds and keys."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as e:
        raise PisteError(f"The storage cannot be made at {path}: {e.strerror or e}.") from None


def _lock(path: Path) -> sqlite3.Connection:
    """Lock the file against other processes while this connection is open.

    The lock is taken through SQLite so that it works the same on every system; the system releases it when the
    process ends. It is a separate file, so that backups and other readers of the database are not blocked.
    """
    if not path.parent.is_dir():
        raise PisteError(f"The storage {path} cannot be made: its folder is not there. Make the folder first.")
    lock_file = path.with_name(path.name + ".lock")
    _create_private(lock_file)
    lock = sqlite3.connect(lock_file, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        lock.execute("PRAGMA journal_mode=MEMORY")  # nothing is ever written, so no file for that
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as e:
        lock.close()
        if e.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
            raise PisteError(
                f"The storage {path} is in use by another server. Stop that one first, or name another file."
            ) from None
        raise PisteError(f"The storage cannot be locked with {lock_file} ({e}).") from None
    return lock


def _engine(path: Path, *, writes: bool) -> Engine:
    """Return an engine whose connections wait for the disk, check foreign keys and begin transactions explicitly."""
    # Errors must not carry what was written: a record begins with its seed.
    engine = create_engine(
        URL.create("sqlite", database=str(path)), hide_parameters=True, pool_size=8, max_overflow=24
    )

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: object) -> None:
        connection.isolation_level = None  # or Python would begin transactions, but not those of migrations
        for pragma in ("synchronous=FULL", "foreign_keys=ON", "busy_timeout=5000"):
            connection.execute(f"PRAGMA {pragma}")
        if not writes:
            connection.execute("PRAGMA query_only=ON")
            # One invalid text must not make a whole list unreadable.
            connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def _prepare(engine: Engine, path: Path) -> None:
    """Check that the file is a sound database of piste, and only then change it."""
    from piste.web.storage import migrations

    try:
        with engine.connect() as connection:
            if connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() != "ok":
                raise PisteError(f"The storage {path} is damaged. Put a backup in its place, or name another file.")
            migrations.check(connection)
        with contextlib.closing(engine.raw_connection()) as raw:
            raw.cursor().execute("PRAGMA journal_mode=WAL")  # cannot be done within a transaction
        with engine.begin() as connection:
            migrations.upgrade(connection)
    except PisteError:
        raise
    except OperationalError as e:
        raise PisteError(f"The storage {path} cannot be opened ({_reason(e)}).") from None
    except Exception:  # of many kinds: SQLite's message about a damaged file is not always text
        raise PisteError(
            f"The storage {path} is no database, or is damaged. Put a backup in its place, or name another file."
        ) from None
