"""A database in one file that one process locks."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import OperationalError

from piste.core.errors import PisteError
from piste.web.storage import migrations
from piste.web.storage.database import StorageGoneError, reason


class SqliteDatabase:
    """A file of SQLite."""

    shared = False

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()  # links to one file share its lock

    def __str__(self) -> str:
        return str(self.path)

    def open(self) -> tuple[Engine, Engine]:
        """Lock the file for this process and migrate it."""
        with contextlib.ExitStack() as undo:
            undo.callback(lock(self.path).close)
            _create_private(self.path)
            writer = _engine(self.path, writes=True)
            undo.callback(writer.dispose)
            _prepare(writer, self.path)
            reader = _engine(self.path, writes=False)
            undo.callback(reader.dispose)
            self._file = _identity(self.path)
            self._release = undo.pop_all()
        return writer, reader

    def close(self) -> None:
        self._release.close()

    def check(self) -> None:
        """Refuse to write when the file is gone: data in an unlinked file is lost with the process."""
        if _identity(self.path) != self._file:
            raise StorageGoneError(
                "The file that holds the tables has been removed or replaced under the running server, so nothing "
                "can be kept. Put it back, or stop the server and start it again."
            )

    def committed(self, _transaction: int) -> bool | None:
        """A file has no connection that can be lost."""
        return None


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _create_private(path: Path) -> None:
    """Create an empty file that only its owner can read: it will hold seeds and keys."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as e:
        raise PisteError(f"The storage cannot be made at {path}: {e.strerror or e}.") from None


def lock(path: Path) -> sqlite3.Connection:
    """Lock the file against other processes while this connection is open.

    The lock is taken through SQLite so that it works the same on every system; the system releases it when the
    process ends. It is a separate file, so that backups and other readers of the database are not blocked.
    """
    if not path.parent.is_dir():
        raise PisteError(f"The storage {path} cannot be made: its folder is not there. Make the folder first.")
    lock_file = path.with_name(path.name + ".lock")
    _create_private(lock_file)
    held = sqlite3.connect(lock_file, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        held.execute("PRAGMA journal_mode=MEMORY")  # nothing is ever written, so no file for that
        held.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as e:
        held.close()
        if e.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
            raise PisteError(
                f"The storage {path} is in use by another server. Stop that one first, or name another file."
            ) from None
        raise PisteError(f"The storage cannot be locked with {lock_file} ({e}).") from None
    return held


def is_locked(path: Path) -> bool:
    """Whether a server uses a file now."""
    if not path.with_name(path.name + ".lock").exists():
        return False
    try:
        lock(path.resolve()).close()
    except PisteError:
        return True
    return False


def reading_engine(path: Path) -> Engine:
    """Return an engine that only reads a file, also while a server uses it."""
    return _engine(path, writes=False)


def _engine(path: Path, *, writes: bool) -> Engine:
    """Return an engine whose connections wait for the disk, check foreign keys and begin transactions explicitly."""
    # Errors must not carry what was written: a record begins with its seed.
    # Every transaction ends with a commit or a rollback: there is nothing to reset after it.
    engine = create_engine(
        URL.create("sqlite", database=str(path)), hide_parameters=True, pool_size=8, max_overflow=24,
        pool_reset_on_return=None,
    )  # fmt: skip

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
        connection.connection.cursor().execute("BEGIN")

    return engine


def _prepare(engine: Engine, path: Path) -> None:
    """Check that the file is a sound database of piste, and only then change it."""
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
        raise PisteError(f"The storage {path} cannot be opened ({reason(e)}).") from None
    except Exception:  # of many kinds: SQLite's message about a damaged file is not always text
        raise PisteError(
            f"The storage {path} is no database, or is damaged. Put a backup in its place, or name another file."
        ) from None
