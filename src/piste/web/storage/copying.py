"""Copies of a whole database: from a SQLite file to a PostgreSQL, back, or into a file for safekeeping.

A copy is taken from one snapshot and compared with it, table by table, before it is there for anybody. Which
processes run and who is connected to them is not copied; neither is the queue of jobs, which fills itself.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection, Table, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from piste.core.errors import PisteError
from piste.web.storage import migrations
from piste.web.storage.database import Database, reason
from piste.web.storage.postgresql import MIGRATION_LOCK, PostgresDatabase
from piste.web.storage.schema import PresenceRow, ProcessRow, metadata
from piste.web.storage.sqlite import SqliteDatabase, lock
from piste.web.storage.storage import open_database

ROWS_AT_ONCE = 1000
OF_PROCESSES = (PresenceRow.__tablename__, ProcessRow.__tablename__)
COPIED = tuple(table for table in metadata.sorted_tables if table.name not in OF_PROCESSES)


class Digest(NamedTuple):
    """What a table holds: the number of its rows, and a sum of their digests, whatever their order."""

    rows: int = 0
    total: int = 0

    def add(self, row: tuple[Any, ...]) -> Digest:
        plain = tuple(bytes(value) if isinstance(value, memoryview) else value for value in row)
        digest = int.from_bytes(sha256(repr(plain).encode(errors="surrogateescape")).digest())
        return Digest(self.rows + 1, (self.total + digest) % (1 << 256))


def copy(source: Path | str, target: Path | str) -> dict[str, int]:
    """Copy a database into an empty one; return the number of rows of each table.

    A file that a server uses is refused: what it writes later would be missing in the copy.
    """
    with contextlib.ExitStack() as stack:
        if isinstance(source, Path):
            need_file(source)
            stack.callback(lock(source.resolve()).close)
        return _copy_into(stack.enter_context(_snapshot(source)), target)


def restore(backup: Path, target: Path | str) -> dict[str, int]:
    """Copy what a backup holds into an empty database."""
    need_file(backup)
    with _snapshot(backup) as snapshot:
        return _copy_into(snapshot, target)


def back_up(source: Path | str, file: Path) -> dict[str, int]:
    """Copy a database into a new file that only its owner can read, at any time; it is there when it is whole."""
    if file.exists():
        raise PisteError(f"There is a file {file} already. Name another one, or remove it first.")
    if not file.parent.is_dir():
        raise PisteError(f"The folder of {file} is not there. Make it first.")
    if isinstance(source, Path):
        need_file(source)
    with tempfile.TemporaryDirectory(prefix=".piste-", dir=file.parent) as folder:
        made = Path(folder) / "backup.db"
        if isinstance(source, Path):
            copy_file(source, made)  # as it is, whichever version wrote it
            with _snapshot(made) as copied:
                counts = {table.name: _digest(copied, table).rows for table in COPIED}
        else:
            with _snapshot(source) as snapshot:
                counts = _copy_into(snapshot, made)
        with made.open("rb") as written:
            os.fsync(written.fileno())
        try:
            os.link(made, file)  # unlike a move, this replaces nothing
        except FileExistsError:
            raise PisteError(f"There is a file {file} already. Name another one, or remove it first.") from None
        except OSError:  # a file system without links
            shutil.move(made, file)
    return counts


def need_file(path: Path) -> None:
    if not path.is_file():
        raise PisteError(f"There is no file {path}. Look at the name; `piste where` says where tables are kept.")


@contextlib.contextmanager
def _snapshot(source: Path | str) -> Iterator[Connection]:
    """Lend a connection that reads the whole database as it is now, in the shape of this version."""
    with contextlib.ExitStack() as stack:
        if isinstance(source, Path):
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="piste-"))
            database: Database = SqliteDatabase(copy_file(source, Path(folder) / "snapshot.db"))
            _, reader = database.open()  # an older copy is brought to this version; the source stays as it is
            stack.callback(database.close)
        else:
            database = PostgresDatabase(source)
            reader = database.engine(writes=False)
            stack.callback(reader.dispose)
        try:
            connection = stack.enter_context(reader.begin())
            if isinstance(database, PostgresDatabase):
                without_timeouts(connection)
            migrations.require_head(connection, str(database))
        except SQLAlchemyError as e:
            raise PisteError(f"The database {database} cannot be read ({reason(e)}).") from None
        yield connection


def copy_file(source: Path, target: Path) -> Path:
    """Copy a SQLite file, also while a server writes to it."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    uri = f"{source.resolve().as_uri()}?mode=ro"
    try:
        with (
            contextlib.closing(sqlite3.connect(uri, uri=True)) as old,
            contextlib.closing(sqlite3.connect(target)) as new,
        ):
            old.backup(new)
    except sqlite3.Error as e:
        raise PisteError(f"The file {source} cannot be read ({e}). Is it one of piste?") from None
    return target


def _copy_into(source: Connection, target: Path | str) -> dict[str, int]:
    database = open_database(target)
    writer, _ = database.open()
    try:
        with writer.begin() as connection:
            if isinstance(database, PostgresDatabase):
                without_timeouts(connection)
                # A server that starts now waits, and finds everything.
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
            _need_empty(connection, str(database))
            counts = {}
            for table in COPIED:
                read = _copy_table(source, connection, table)
                if _digest(connection, table) != read:
                    raise PisteError(f"The copy of {table.name!r} differs from what was read. Nothing was kept.")
                counts[table.name] = read.rows
        return counts
    except SQLAlchemyError as e:
        raise PisteError(f"The copy could not be written to {database} ({reason(e)}). Nothing was kept.") from None
    except UnicodeEncodeError:
        raise PisteError("Something that is kept is damaged: it is no text. Nothing was copied.") from None
    finally:
        database.close()


def _need_empty(connection: Connection, name: str) -> None:
    for table in metadata.sorted_tables:
        if connection.scalar(select(func.count()).select_from(table)):
            raise PisteError(
                f"{name} is not empty, and nothing in it is written over. Stop every server that uses it, and name a "
                "new file or a new database."
            )


def _copy_table(source: Connection, target: Connection, table: Table) -> Digest:
    found = Digest()
    for rows in _rows(source, table):
        target.execute(sa.insert(table), [row._asdict() for row in rows])
        for row in rows:
            found = found.add(tuple(row))
    return found


def _digest(connection: Connection, table: Table) -> Digest:
    found = Digest()
    for rows in _rows(connection, table):
        for row in rows:
            found = found.add(tuple(row))
    return found


def _rows(connection: Connection, table: Table) -> Iterator[Any]:
    """Yield the rows of a table, some at a time."""
    return connection.execute(select(table), execution_options={"yield_per": ROWS_AT_ONCE}).partitions()


def without_timeouts(connection: Connection) -> None:
    """Let this transaction on PostgreSQL take its time: it reads or writes everything."""
    for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
        connection.execute(text(f"SET LOCAL {name} = 0"))
