"""What whoever runs a server does to its database: count, close a table, rotate the key, delete old tables.

Running servers on a PostgreSQL hear of every change. A SQLite file can be changed while no server uses it.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, exists, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from piste.core.errors import PisteError
from piste.web.storage import migrations, schema
from piste.web.storage.copying import need_file
from piste.web.storage.database import reason
from piste.web.storage.postgresql import PostgresDatabase
from piste.web.storage.schema import KeyRow, LineRow, PlayerRow, ProcessRow, ReviewRow, RoomRow
from piste.web.storage.sqlite import is_locked, reading_engine
from piste.web.storage.storage import Storage

DELETED_AT_ONCE = 100


class Statistics(NamedTuple):
    """What a database holds, in numbers."""

    tables: int
    waiting: int  # for players
    running: int
    finished: int
    players: int  # who gave a name
    reviews: int
    bytes: int
    servers: int  # processes that use it now
    schema: str


def statistics(db: Path | str) -> Statistics:
    """Return what a database holds, also while servers use it; nothing is changed."""
    with _reading(db) as connection:
        migrations.check(connection)
        dealt = exists().where(LineRow.room == RoomRow.code)
        unfinished = RoomRow.ended.is_(None)
        return Statistics(
            _count(connection, RoomRow),
            _count(connection, RoomRow, unfinished, ~dealt),
            _count(connection, RoomRow, unfinished, dealt),
            _count(connection, RoomRow, ~unfinished),
            _count(connection, PlayerRow),
            _count(connection, ReviewRow),
            _size(connection, db),
            int(is_locked(db)) if isinstance(db, Path) else _count(connection, ProcessRow),
            str(connection.scalar(text("SELECT version_num FROM alembic_version"))),
        )


def _count(connection: Connection, kind: type[schema.Row], *which: sa.ColumnElement[bool]) -> int:
    return connection.scalar(select(func.count()).select_from(kind).where(*which)) or 0


def _size(connection: Connection, db: Path | str) -> int:
    if isinstance(db, Path):
        files = (db, db.with_name(f"{db.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())
    return connection.scalar(text("SELECT pg_database_size(current_database())")) or 0


@contextlib.contextmanager
def _reading(db: Path | str) -> Iterator[Connection]:
    if isinstance(db, Path):
        need_file(db)
    engine: Engine = reading_engine(db) if isinstance(db, Path) else PostgresDatabase(db).engine(writes=False)
    try:
        with engine.begin() as connection:
            yield connection
    except SQLAlchemyError as e:
        name = str(db) if isinstance(db, Path) else str(PostgresDatabase(db))
        raise PisteError(f"The database {name} cannot be read ({reason(e)}).") from None
    finally:
        engine.dispose()


class TableSummary(NamedTuple):
    """What may be told of a table before it is closed: no card, no name."""

    game: str
    state: str
    people: int
    lines: int  # of its record


def summary(storage: Storage, code: str) -> TableSummary:
    """Return what may be told of a table; a PisteError says that there is none."""
    stored = storage.room(code)
    if stored is None:
        raise PisteError("There is no table with this code. It stands at the end of the table's address, after /t/.")
    state = "finished" if stored.room.ended is not None else "running" if stored.lines else "waiting for players"
    people = sum(seat.kind == "person" for seat in stored.seats)
    return TableSummary(stored.room.game, state, people, len(stored.lines))


def close_table(storage: Storage, code: str) -> None:
    """Delete a table with its record; whoever is there is told that it is gone."""
    _write(storage, schema.delete(RoomRow, code=code), *_told(storage, f"gone {code}"))


def rotate_key(storage: Storage) -> None:
    """Replace the key of private seat links, so that those given out before are worthless."""
    new = KeyRow(schema.secret_name(schema.SEAT_LINKS), secrets.token_bytes(32))
    _write(storage, schema.put(new), *_told(storage, "key"))


def old_tables(storage: Storage, before: float) -> list[str]:
    return [code for code, _touched, _version in storage.expired(before)]


def expire(storage: Storage, codes: list[str], before: float) -> None:
    """Delete these tables, and players without a table who have not been seen since."""
    for at in range(0, len(codes), DELETED_AT_ONCE):
        some = codes[at : at + DELETED_AT_ONCE]
        told = [change for code in some for change in _told(storage, f"gone {code}")]
        _write(storage, partial(_delete_unused, some, before), *told)
    _write(storage, schema.delete_players(before))


def _delete_unused(codes: list[str], before: float, connection: Connection) -> None:
    """Delete tables; one that was used meanwhile stays."""
    connection.execute(sa.delete(RoomRow).where(RoomRow.code.in_(codes), RoomRow.touched < before))


def _told(storage: Storage, notice: str) -> list[schema.Change]:
    """Return the change that tells running servers, where there may be any."""
    return [schema.notify(f"{storage.process} {notice}")] if storage.shared else []


def _write(storage: Storage, *changes: schema.Change) -> None:
    storage.write(*changes).result()
