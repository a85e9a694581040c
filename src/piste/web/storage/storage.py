"""What the server keeps: rooms, seats and records, in one file that one process holds.

Everything is written by one thread. Whatever waits is written in one transaction, so that many decisions share the
one time the disk is waited for. A write is durable when its future is done, and not before.
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
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, Engine, and_, create_engine, event, func, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError, OperationalError, SQLAlchemyError

from piste.core.errors import PisteError
from piste.web.storage import schema
from piste.web.storage.schema import (
    AddLines,
    Change,
    DropPlayers,
    DropRoom,
    DropSitter,
    Listing,
    PutKey,
    PutPlayer,
    PutReview,
    PutRoom,
    PutSeat,
    PutSitter,
    RoomRow,
    SeatRow,
    SetEnded,
    SetListed,
    SetSuccessor,
    SetTouched,
    StorageError,
    StoredTable,
)

__all__ = [
    "AddLines",
    "Change",
    "DropPlayers",
    "DropRoom",
    "DropSitter",
    "Listing",
    "PutKey",
    "PutPlayer",
    "PutReview",
    "PutRoom",
    "PutSeat",
    "PutSitter",
    "RoomRow",
    "SeatRow",
    "SetEnded",
    "SetListed",
    "SetSuccessor",
    "SetTouched",
    "Storage",
    "StorageError",
    "StoredTable",
]

MOST = 512
"""No more calls than this share a transaction."""

FAR = 1e11
"""No time that was ever written is as large; in SQLite text is larger than any number."""

PATIENCE = 10.0
"""How many seconds a caller that waits here for a write gives it."""


class StorageGoneError(StorageError):
    """The file is no longer where it was."""


class _Call(NamedTuple):
    changes: tuple[Change, ...]
    done: Future[None]


class Storage:
    """One file of storage. `write` and the reads may be called from any thread."""

    def __init__(self, place: str | Path) -> None:
        """Name a file, or an address such as sqlite:////var/lib/piste/piste.db; nothing is opened yet."""
        self.path = _file_of(place)
        self._door = threading.Lock()  # for opening, closing and entering the queue
        self._alone = threading.Lock()  # for what reads, then writes
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Become the only process that uses the file, and bring it to the tables of today."""
        with self._door, contextlib.ExitStack() as undo:
            if self._thread is not None:
                raise PisteError("The storage is open already.")
            undo.callback(_lock(self.path).close)
            _private(self.path)
            self._writer = _engine(self.path, writes=True)
            undo.callback(self._writer.dispose)
            _prepare(self._writer, self.path)
            self._reader = _engine(self.path, writes=False)
            undo.callback(self._reader.dispose)
            self._file = _identity(self.path)
            self._release = undo.pop_all()
            # A daemon: a process that dies without closing must not hang on it.
            self._thread = threading.Thread(target=self._work, name="piste-writer", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Write what waits, then let go of the file; closing twice does no harm."""
        with self._door:
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

        Calls are carried out in the order in which they came. A future that fails holds a StorageError. It cannot be
        cancelled: whoever no longer waits for it has still written.
        """
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()
        with self._door:
            if self._thread is None:
                done.set_exception(StorageError("The storage is closed: nothing more can be kept."))
            else:
                self._calls.put(_Call(changes, done))
        return done

    def _work(self) -> None:
        while True:
            taken = [self._calls.get()]
            with contextlib.suppress(queue.Empty):
                while taken[-1] is not None and len(taken) < MOST:
                    taken.append(self._calls.get_nowait())
            batch = [call for call in taken if call is not None]
            if batch:
                self._carry_out(batch)
            if taken[-1] is None:
                return

    def _carry_out(self, batch: list[_Call]) -> None:
        """Write a batch in one transaction; if one call spoils it, find that one by halves, in the same order."""
        try:
            self._look_for_the_file()
            with self._writer.begin() as connection:
                for call in batch:
                    for change in call.changes:
                        schema.APPLY[type(change)](connection, change)
            self._look_for_the_file()
        except Exception as e:
            # A full disk is no call's fault, and trying each by itself would only take long.
            if len(batch) > 1 and not isinstance(e, OperationalError | StorageGoneError):
                half = len(batch) // 2
                self._carry_out(batch[:half])
                self._carry_out(batch[half:])
                return
            for call in batch:
                call.done.set_exception(_not_kept(e))
            return
        for call in batch:
            call.done.set_result(None)

    def _look_for_the_file(self) -> None:
        """Refuse to go on where the file is gone: what is written to one without a name is lost with the process."""
        if _identity(self.path) != self._file:
            raise StorageGoneError(
                "The file that holds the tables has been removed or replaced under the running server, so nothing "
                "can be kept. Put it back, or stop the server and start it again."
            )

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        """Lend a connection on which everything is of one moment."""
        if self._thread is None:
            raise PisteError("The storage is closed: nothing can be read.")
        try:
            with self._reader.begin() as connection:
                yield connection
        except (SQLAlchemyError, UnicodeError) as e:
            raise PisteError(f"What is kept cannot be read ({_reason(e)}). A backup may help.") from e

    def room(self, code: str) -> StoredTable | None:
        rooms, seats, sitters, lines = schema.rooms, schema.seats, schema.sitters, schema.lines
        with self._reading() as connection:
            row = connection.execute(select(rooms).where(rooms.c.code == code)).first()
            if row is None:
                return None
            _need_whole(row)
            found = connection.execute(select(seats).where(seats.c.room == code).order_by(seats.c.seat))
            sitting = select(sitters.c.seat, sitters.c.player).where(sitters.c.room == code)
            record = select(lines.c.text).where(lines.c.room == code).order_by(lines.c.n)
            kept = StoredTable(
                RoomRow(*row),
                tuple(SeatRow(*seat) for seat in found),
                tuple((s, p) for s, p in connection.execute(sitting.order_by(sitters.c.seat, sitters.c.player))),
                tuple(connection.scalars(record)),
            )
            for part in (*kept.seats, *kept.sitters, kept.lines):
                _need_whole(part)
            return kept

    def rooms_of(self, player: str, limit: int = 50) -> list[Listing]:
        """Return the rooms where a player has a seat, those that were played last first."""
        sitters = schema.sitters
        own = sitters.c.player == player
        return self._listings(schema.rooms.c.code.in_(select(sitters.c.room).where(own)), limit, player)

    def listed(self, limit: int = 50) -> list[Listing]:
        """Return the running rooms that anybody may find, those that were played last first."""
        rooms = schema.rooms
        return self._listings(and_(rooms.c.listed.is_(True), rooms.c.ended.is_(None)), limit, None)

    def _listings(self, which: Any, limit: int, player: str | None) -> list[Listing]:
        rooms, seats, sitters = schema.rooms, schema.seats, schema.sitters
        with self._reading() as connection:
            asked = select(rooms).where(which).order_by(rooms.c.touched.desc(), rooms.c.code).limit(limit)
            found = {row[0]: Listing(RoomRow(*map(_shown, row)), ()) for row in connection.execute(asked)}
            sitting = select(seats).where(seats.c.room.in_(list(found))).order_by(seats.c.room, seats.c.seat)
            for row in connection.execute(sitting):
                listing = found[row[0]]
                found[row[0]] = listing._replace(seats=(*listing.seats, SeatRow(*map(_shown, row))))
            mine = select(sitters.c.room, sitters.c.seat).where(sitters.c.player == player).order_by(sitters.c.seat)
            for code, seat in connection.execute(mine) if player is not None else ():
                if code in found:
                    found[code] = found[code]._replace(yours=(*found[code].yours, seat))
            over = [code for code, listing in found.items() if listing.room.ended is not None]
            for code, text in connection.execute(schema.last_lines(over)) if over else ():
                found[code] = found[code]._replace(last=_shown(text))
        return list(found.values())

    def player(self, player: str) -> str | None:
        """Return the name by which a player was last known."""
        players = schema.players
        name: str | None = _shown(self._one(select(players.c.name).where(players.c.player == player)))
        return name

    def review(self, code: str) -> str | None:
        reviews = schema.reviews
        text: str | None = self._one(select(reviews.c.text).where(reviews.c.room == code))
        return text

    def expired(self, before: float) -> list[tuple[str, float]]:
        """Return the rooms that nobody has touched since then, and when somebody last did; the oldest first."""
        rooms = schema.rooms
        asked = select(rooms.c.code, rooms.c.touched).where(rooms.c.touched < before).order_by(rooms.c.touched)
        with self._reading() as connection:
            return [(code, touched) for code, touched in connection.execute(asked)]

    def last_touched(self) -> float:
        """Return when a room was last touched; 0 if there is none."""
        found = self._one(select(func.max(schema.rooms.c.touched)).where(schema.rooms.c.touched < FAR))
        return float(found or 0.0)

    def size(self) -> int:
        """Return how many rooms are kept."""
        rows: int = self._one(select(func.count()).select_from(schema.rooms))
        return rows

    def secret(self, name: str) -> bytes:
        """Return 32 random bytes of that name: made once, then always the same."""
        with self._alone:
            kept = self.key(f"secret {name}")
            if kept is None:
                kept = secrets.token_bytes(32)
                self._wait(PutKey(f"secret {name}", kept))
            return kept

    def ready(self) -> None:
        """Write something small and read it again; raise a PisteError if that cannot be done."""
        with self._alone:
            token = secrets.token_bytes(8)
            self._wait(PutKey("ready", token))
            if self.key("ready") != token:
                raise PisteError("The storage does not give back what it was given.")

    def _wait(self, change: Change) -> None:
        try:
            self.write(change).result(PATIENCE)
        except TimeoutError:
            raise PisteError(f"The storage did not answer within {PATIENCE:g} seconds.") from None

    def key(self, name: str) -> bytes | None:
        value: bytes | None = self._one(select(schema.keys.c.value).where(schema.keys.c.name == name))
        return value

    def _one(self, query: Any) -> Any:
        with self._reading() as connection:
            return connection.scalar(query)


def _shown(value: Any) -> Any:
    """Return text with a mark where bytes are that are no text; anything else as it is."""
    return value.encode(errors="surrogateescape").decode(errors="replace") if isinstance(value, str) else value


def _need_whole(row: Iterable[Any]) -> None:
    """Refuse text that cannot be read for certain: of a game, nothing is guessed."""
    try:
        for value in row:
            if isinstance(value, str):
                value.encode()
    except UnicodeEncodeError:
        raise PisteError(
            "What is kept of this table is damaged: some of it is no text. Whoever runs the server may have a backup."
        ) from None


def _identity(path: Path) -> tuple[int, int] | None:
    """Return which file this is, whatever it is called; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _reason(error: Exception) -> str:
    """Say what the database says, where that holds nothing of what was written."""
    if isinstance(error, OperationalError) or type(error) is DatabaseError:
        return str(error.orig)
    return "it does not fit what is there" if isinstance(error, IntegrityError) else type(error).__name__


def _not_kept(error: Exception) -> StorageError:
    if isinstance(error, StorageError):
        return error
    made = StorageError(f"This could not be kept ({_reason(error)}).")
    made.__cause__ = error  # for whoever reads the logs
    return made


# From here on: what is true of SQLite only.


def _file_of(place: str | Path) -> Path:
    """Return the file that a path or an address names."""
    if isinstance(place, Path) or "://" not in place:
        return Path(place).resolve()  # one file has one lock, whatever links lead to it
    try:
        url = make_url(place)
    except (ArgumentError, ValueError):
        raise PisteError("The address of the storage cannot be read. Name a file, or sqlite:///FILE.") from None
    if url.get_backend_name() != "sqlite":
        raise PisteError(f"Storage in {url.get_backend_name()} is not offered yet. Name a file, or sqlite:///FILE.")
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise PisteError("The storage must be a file, or what is played would be lost. Name one: sqlite:///FILE.")
    return Path(url.database).resolve()


def _private(path: Path) -> None:
    """Make an empty file that only its owner can read: it will hold seeds and keys."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as e:
        raise PisteError(f"The storage cannot be made at {path}: {e.strerror or e}.") from None


def _lock(path: Path) -> sqlite3.Connection:
    """Hold the file against other processes for as long as this connection is open.

    A lock of the system, taken through SQLite so that it is the same everywhere: it goes with the process, however
    that ends. It lies beside the file, so that backups and readers of the file itself are not kept out.
    """
    if not path.parent.is_dir():
        raise PisteError(f"The storage {path} cannot be made: its folder is not there. Make the folder first.")
    beside = path.with_name(path.name + ".lock")
    _private(beside)
    lock = sqlite3.connect(beside, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        lock.execute("PRAGMA journal_mode=MEMORY")  # nothing is ever written, so no file for that
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as e:
        lock.close()
        if e.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
            raise PisteError(
                f"The storage {path} is in use by another server. Stop that one first, or name another file."
            ) from None
        raise PisteError(f"The storage cannot be locked with {beside} ({e}).") from None
    return lock


def _engine(path: Path, *, writes: bool) -> Engine:
    # Errors must not carry what was written: a record begins with its seed.
    engine = create_engine(
        URL.create("sqlite", database=str(path)), hide_parameters=True, pool_size=8, max_overflow=24
    )
    _sqlite_pragmas(engine, writes=writes)
    return engine


def _sqlite_pragmas(engine: Engine, *, writes: bool) -> None:
    """See to it that each connection waits for the disk, heeds foreign keys and begins transactions when told."""

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: object) -> None:
        connection.isolation_level = None  # or Python would begin transactions, and leave out those of migrations
        for pragma in ("synchronous=FULL", "foreign_keys=ON", "busy_timeout=5000"):
            connection.execute(f"PRAGMA {pragma}")
        if not writes:
            connection.execute("PRAGMA query_only=ON")
            # One text that is none must not keep a whole list from being read.
            connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")


def _prepare(engine: Engine, path: Path) -> None:
    """Look whether the file is ours and whole, and only then change it."""
    from piste.web.storage import migrations

    try:
        with engine.connect() as connection:
            found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
            if found != "ok":
                raise PisteError(f"The storage {path} is damaged. Put a backup in its place, or name another file.")
            migrations.check(connection)
        raw = engine.raw_connection()
        try:
            raw.cursor().execute("PRAGMA journal_mode=WAL")  # cannot be done within a transaction
        finally:
            raw.close()
        with engine.begin() as connection:
            migrations.upgrade(connection)
    except PisteError:
        raise
    except OperationalError as e:
        raise PisteError(f"The storage {path} cannot be opened ({_reason(e)}).") from None
    except Exception:  # of many kinds: what SQLite says of a damaged file is not always text
        raise PisteError(
            f"The storage {path} is no database, or is damaged. Put a backup in its place, or name another file."
        ) from None
