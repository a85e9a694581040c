"""The database: its tables, each a class of rows, and the changes that can be made to them.

Plain names, types that every database has. A change to a table needs a step in `migrations/versions`; a test
compares the two.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, String, Text, and_, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column
from sqlalchemy.sql.compiler import SQLCompiler

from piste.core.errors import PisteError

Code = Annotated[str, mapped_column(String(32))]  # of a room
Name = Annotated[str, mapped_column(String(64))]  # of a game or a bot, or the digest of a player's cookie
LongText = Annotated[str, mapped_column(Text)]
Time = Annotated[float, mapped_column(sa.Double)]  # seconds since 1970
RoomKey = Annotated[str, mapped_column(String(32), ForeignKey("rooms.code", ondelete="CASCADE"), primary_key=True)]
Number = Annotated[int, mapped_column(primary_key=True, autoincrement=False)]


class Row(MappedAsDataclass, DeclarativeBase):
    """A row of any table."""

    # Constraints have names, so that a later step can name what it changes, on every database.
    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        }
    )


metadata = Row.metadata


class RoomRow(Row):
    """One table of players."""

    __tablename__ = "rooms"
    __table_args__ = (Index(None, "touched"), Index(None, "listed", "ended", "touched"))

    code: Mapped[Code] = mapped_column(primary_key=True)
    game: Mapped[Name]
    options: Mapped[LongText]  # JSON
    host: Mapped[Name]  # the player who opened it
    listed: Mapped[bool]
    created: Mapped[Time]
    touched: Mapped[Time]
    ended: Mapped[Time | None] = mapped_column(default=None)
    # These two are no foreign keys: either room may be gone, and nothing about the other changes by that.
    previous: Mapped[Code | None] = mapped_column(default=None)  # the room that this is the rematch of
    successor: Mapped[Code | None] = mapped_column(default=None)
    version: Mapped[int] = mapped_column(default=0, server_default="0")  # counts the changes since it was opened


class SeatRow(Row):
    """One seat of a room."""

    __tablename__ = "seats"

    room: Mapped[RoomKey]
    seat: Mapped[Number]
    kind: Mapped[str] = mapped_column(String(16))  # person, bot, open, kept
    name: Mapped[LongText] = mapped_column(default="")
    bot: Mapped[Name] = mapped_column(default="")
    stand_in: Mapped[Name] = mapped_column(default="")  # the bot that plays for a person who is away
    link: Mapped[int] = mapped_column(default=0, server_default="0")  # the number of revoked private links
    program: Mapped[bool] = mapped_column(default=False, server_default=sa.false())  # whether a program has it


class SitterRow(Row):
    """A device of a seat's player. No foreign key to players: a player may sit before a name is stored."""

    __tablename__ = "sitters"
    __table_args__ = (
        sa.ForeignKeyConstraint(["room", "seat"], ["seats.room", "seats.seat"], ondelete="CASCADE"),
        Index(None, "player"),
    )

    room: Mapped[Code] = mapped_column(primary_key=True)
    seat: Mapped[Number]
    player: Mapped[Name] = mapped_column(primary_key=True)


class LineRow(Row):
    """One line of a game's record. Line 0 is its head and holds the seed."""

    __tablename__ = "lines"

    room: Mapped[RoomKey]
    n: Mapped[Number]
    text: Mapped[LongText]


class PlayerRow(Row):
    __tablename__ = "players"

    player: Mapped[Name] = mapped_column(primary_key=True)  # a digest of the cookie, never the cookie
    name: Mapped[LongText]
    seen: Mapped[Time]


class ReviewRow(Row):
    __tablename__ = "reviews"

    room: Mapped[RoomKey]
    text: Mapped[LongText]


class PartialReviewRow(Row):
    """A review that is being made, or was given up before its end: another process can show it and go on with it."""

    __tablename__ = "partial_reviews"

    room: Mapped[RoomKey]
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int] = mapped_column(default=1)
    text: Mapped[LongText] = mapped_column(default="")  # JSON; "" before the first decision is judged
    evaluations: Mapped[LongText] = mapped_column(default="")  # JSON: from which it goes on
    failed: Mapped[LongText] = mapped_column(default="")  # why it was given up; "" while it is being made


class KeyRow(Row):
    __tablename__ = "keys"

    name: Mapped[Name] = mapped_column(primary_key=True)
    value: Mapped[bytes] = mapped_column(sa.LargeBinary)


class ProcessRow(Row):
    """A server process that is running. Only a database that several processes share has any."""

    __tablename__ = "processes"

    id: Mapped[Code] = mapped_column(primary_key=True)
    renewed: Mapped[Time]  # by the clock of the database


class PresenceRow(Row):
    """A seat whose player is connected to a process, or was lately."""

    __tablename__ = "presence"
    __table_args__ = (Index(None, "room"),)

    process: Mapped[str] = mapped_column(String(32), ForeignKey("processes.id", ondelete="CASCADE"), primary_key=True)
    room: Mapped[Code] = mapped_column(
        primary_key=True
    )  # no foreign key: a room that is gone has no presence to ask for
    seat: Mapped[Number]
    sockets: Mapped[int]
    seen: Mapped[Time]  # by the clock of the database


class StorageError(PisteError):
    """A change that was not written."""


class RefusedChangeError(StorageError):
    """A change that could not be made as things are, and has written nothing."""


class ConflictError(RefusedChangeError):
    """A room has a newer version than the one that a change was made to."""

    def __init__(self) -> None:
        super().__init__("This table has changed meanwhile. Look again.")


class StorageAwayError(StorageError):
    """The database cannot be reached, or does not answer."""

    def __init__(self) -> None:
        super().__init__("The database does not answer just now. Nothing is lost: try again in a moment.")


class StoredTable(NamedTuple):
    """All that is stored of one room."""

    room: RoomRow
    seats: tuple[SeatRow, ...]
    sitters: tuple[tuple[int, str], ...]  # seat and player
    lines: tuple[str, ...]


class Listing(NamedTuple):
    """A room in a list."""

    room: RoomRow
    seats: tuple[SeatRow, ...]
    yours: tuple[int, ...] = ()  # the seats of the player who asked
    last: str = ""  # of a game that is over, the last line of its record: how it ended


def last_lines(codes: list[str]) -> sa.Select[str, str]:
    """Return a query for the last line of the record of each room."""
    ends = select(LineRow.room, func.max(LineRow.n).label("n")).where(LineRow.room.in_(codes)).group_by(LineRow.room)
    end = ends.subquery()
    return select(LineRow.room, LineRow.text).join(end, and_(LineRow.room == end.c.room, LineRow.n == end.c.n))


Change = Callable[[sa.Connection], object]
"""Makes a change in the transaction of a connection; one to a room returns the number of that, if it has one."""


def put(row: Row) -> Change:
    """Update a row, or insert it."""
    return lambda connection: _execute(connection, _upsert(type(row), connection.dialect), row)


@lru_cache
def _upsert(kind: type[Row], dialect: sa.Dialect) -> SQLCompiler:
    insert: Any = (postgresql if dialect.name == "postgresql" else sqlite).insert(kind)
    key = [column.name for column in sa.inspect(kind).primary_key]
    others = {field.name: insert.excluded[field.name] for field in fields(kind) if field.name not in key}
    upsert: sa.Insert = (
        insert.on_conflict_do_update(index_elements=key, set_=others)
        if others
        else insert.on_conflict_do_nothing(index_elements=key)
    )
    return upsert.compile(dialect=dialect)


@lru_cache
def _insert(kind: type[Row], dialect: sa.Dialect) -> SQLCompiler:
    return sa.insert(kind).compile(dialect=dialect)


def _execute(connection: sa.Connection, statement: SQLCompiler, row: Row) -> None:
    """Run a statement with the values of a row by the driver: SQLAlchemy would take longer than the database."""
    values = {name: getattr(row, name) for name in statement.params}
    given = tuple([values[name] for name in statement.positiontup]) if statement.positiontup else values
    connection.exec_driver_sql(statement.string, given)


def put_if_absent(row: Row) -> Change:
    """Insert a row, unless there is one with its key."""
    kind, values = type(row), {field.name: getattr(row, field.name) for field in fields(row)}

    def change(connection: sa.Connection) -> None:
        insert = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(kind)
        connection.execute(insert.on_conflict_do_nothing(), values)

    return change


def delete(kind: type[Row], **key: object) -> Change:
    """Delete the row with this key and all that belongs to it; one that is gone already is no error."""
    return lambda connection: connection.execute(sa.delete(kind).filter_by(**key))


@dataclass(frozen=True)
class RoomUpdate:
    """The next version of a room: other values of its row and the next lines of its record.

    It must be the first change of a transaction. Where the room has another version than the change was made to,
    nothing is written, and a ConflictError is raised.
    """

    code: str
    version: int  # that the change was made to
    values: Mapping[str, Any] = field(default_factory=dict)
    first_n: int = 0  # the number of the first line
    lines: Sequence[str] = ()
    notice: str = ""  # for the other processes; "" for none

    def __call__(self, connection: sa.Connection) -> int | None:
        if connection.dialect.name == "postgresql":
            return self._in_one_statement(connection)
        sets = "".join([f", {name} = ?" for name in self.values])
        update = f"UPDATE rooms SET version = version + 1{sets} WHERE code = ? AND version = ?"
        lines = [(self.code, n, text) for n, text in enumerate(self.lines, self.first_n)]
        try:  # by the driver: for every decision, SQLAlchemy would take several times as long as SQLite
            cursor = connection.connection.cursor()
            cursor.execute(update, (*self.values.values(), self.code, self.version))
            if cursor.rowcount != 1:
                raise ConflictError
            if lines:
                cursor.executemany("INSERT INTO lines (room, n, text) VALUES (?, ?, ?)", lines)
        except sqlite3.Error as e:
            raise DBAPIError.instance(None, None, e, sqlite3.Error) from e
        return None

    def _in_one_statement(self, connection: sa.Connection) -> int:
        """Write all of it and notify the other processes, in one round trip to the database."""
        sets = "".join(f", {name} = %s" for name in self.values)
        statement = (
            f"WITH moved AS (UPDATE rooms SET version = version + 1{sets} WHERE code = %s AND version = %s "
            "RETURNING code), added AS (INSERT INTO lines (room, n, text) SELECT moved.code, %s + l.at - 1, l.text "
            "FROM moved, unnest(%s::text[]) WITH ORDINALITY AS l(text, at)) "
            f"SELECT txid_current(){', pg_notify(%s, %s)' if self.notice else ''} FROM moved"
        )
        values = (*self.values.values(), self.code, self.version, self.first_n, list(self.lines))
        told = (CHANNEL, self.notice) if self.notice else ()
        written = connection.exec_driver_sql(statement, (*values, *told)).first()
        if written is None:
            raise ConflictError
        return int(written[0])


@dataclass(frozen=True)
class NewRoom:
    """A room that was not there before. It must be the first change of a transaction."""

    row: RoomRow

    def __call__(self, connection: sa.Connection) -> int | None:
        _execute(connection, _insert(RoomRow, connection.dialect), self.row)
        return connection.scalar(_TRANSACTION) if connection.dialect.name == "postgresql" else None

    @property
    def code(self) -> str:
        return self.row.code


@dataclass(frozen=True)
class RoomDelete:
    """The end of a room and of all that belongs to it. It must be the first change of a transaction.

    Where the room has another version than the one that was to be deleted, a ConflictError is raised.
    """

    code: str
    version: int

    def __call__(self, connection: sa.Connection) -> int | None:
        which = sa.delete(RoomRow).where(RoomRow.code == self.code, RoomRow.version == self.version)
        if connection.execute(which).rowcount != 1:
            raise ConflictError
        return connection.scalar(_TRANSACTION) if connection.dialect.name == "postgresql" else None


_TRANSACTION = select(func.txid_current())


SEAT_LINKS = "seat links"
"""The secret by which the private links of seats are made."""


def secret_name(name: str) -> str:
    """Return the name of the row that holds a secret."""
    return f"secret {name}"


CHANNEL = "piste"
"""The channel of PostgreSQL on which processes tell each other what has changed."""


def notify(notice: str) -> Change:
    """Tell the other processes something, once the transaction is committed."""
    return lambda connection: connection.exec_driver_sql("SELECT pg_notify(%s, %s)", (CHANNEL, notice))


# These two are built once, as every decision runs them: building a statement takes longer than running it.
_LAST_LINE = select(func.max(LineRow.n)).where(LineRow.room == bindparam("room"))
_INSERT_LINES = sa.insert(LineRow)


def add_lines(room: str, first_n: int, texts: Sequence[str]) -> Change:
    """Add the next lines of a record; no line is overwritten or left out."""

    def change(connection: sa.Connection) -> None:
        last = connection.scalar(_LAST_LINE, {"room": room})
        due = 0 if last is None else last + 1
        if first_n < due:
            raise StorageError(f"Line {first_n} of this record is kept already; it is not written over.")
        if first_n > due:
            raise StorageError(f"Line {first_n} of this record cannot be kept before line {due} is.")
        rows = [{"room": room, "n": n, "text": text} for n, text in enumerate(texts, due)]
        if rows:
            connection.execute(_INSERT_LINES, rows)

    return change


def put_presence(process: str, room: str, seat: int, sockets: int) -> Change:
    """Note how many sockets a seat has with a process; of a process that is not there, nothing."""

    def change(connection: sa.Connection) -> None:
        values = {"process": process, "room": room, "seat": seat, "sockets": sockets}
        connection.execute(_PUT_PRESENCE, values)

    return change


_PUT_PRESENCE = sa.text(
    "INSERT INTO presence (process, room, seat, sockets, seen) "
    "SELECT id, :room, :seat, :sockets, extract(epoch FROM clock_timestamp()) FROM processes WHERE id = :process "
    "ON CONFLICT (process, room, seat) DO UPDATE SET sockets = excluded.sockets, seen = excluded.seen"
)


def renew_process(process: str, timeout_s: float) -> Change:
    """Note that a process is running, and forget those that have not said so for some time, with their sockets."""

    def change(connection: sa.Connection) -> None:
        inserted = connection.scalar(_RENEW_PROCESS, {"process": process})
        dead = connection.scalars(_DEAD_PROCESSES, {"timeout": timeout_s}).all()
        for other in dead:
            notify(f"{process} left {other}")(connection)
        notify(f"{process} {'began' if inserted else 'beat'}")(connection)

    return change


_DEAD_PROCESSES = sa.text(
    "DELETE FROM processes WHERE id IN (SELECT id FROM processes WHERE "
    "renewed < extract(epoch FROM clock_timestamp()) - :timeout FOR UPDATE SKIP LOCKED) RETURNING id"
)  # one that is locked is perhaps alive, and nobody waits for it
_RENEW_PROCESS = sa.text(
    "INSERT INTO processes (id, renewed) VALUES (:process, extract(epoch FROM clock_timestamp())) "
    "ON CONFLICT (id) DO UPDATE SET renewed = excluded.renewed RETURNING xmax = 0"
)


def end_process(process: str) -> Change:
    """Note that a process stops, and with it all its sockets."""

    def change(connection: sa.Connection) -> None:
        delete(ProcessRow, id=process)(connection)
        notify(f"{process} left {process}")(connection)

    return change


def delete_players(before: float) -> Change:
    """Delete players who have no game any more and have not been seen since."""
    at_no_table = PlayerRow.player.not_in(select(SitterRow.player))
    return lambda connection: connection.execute(sa.delete(PlayerRow).where(PlayerRow.seen < before, at_no_table))
