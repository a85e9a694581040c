"""The database: its tables, their rows, and the changes that can be made to them.

Plain names, types that every database has. A change to a table needs a step in `migrations/versions`; a test
compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    String,
    Table,
    Text,
    and_,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from piste.core.errors import PisteError

# Constraints have names, so that a later step can name what it changes, on every database.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    }
)

rooms = Table(
    "rooms",
    metadata,
    Column("code", String(32), primary_key=True),
    Column("game", String(64), nullable=False),
    Column("options", Text, nullable=False),  # JSON
    Column("host", String(64), nullable=False),  # a player
    Column("listed", Boolean, nullable=False),
    Column("created", Double, nullable=False),  # times are seconds since 1970
    Column("touched", Double, nullable=False),
    Column("ended", Double, nullable=True),
    # These two are no foreign keys: either room may be gone, and nothing about the other changes by that.
    Column("previous", String(32), nullable=True),
    Column("successor", String(32), nullable=True),
    Index(None, "touched"),
    Index(None, "listed", "ended", "touched"),
)

seats = Table(
    "seats",
    metadata,
    Column("room", String(32), ForeignKey("rooms.code", ondelete="CASCADE"), primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),  # person, bot, open, kept
    Column("name", Text, nullable=False),
    Column("bot", String(64), nullable=False),
    Column("stand_in", String(64), nullable=False),
    Column("link", Integer, nullable=False, server_default="0"),  # the number of revoked private links
)

# No foreign key to players: a player may sit before a name is stored.
sitters = Table(
    "sitters",
    metadata,
    Column("room", String(32), primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("player", String(64), primary_key=True),
    ForeignKeyConstraint(["room", "seat"], ["seats.room", "seats.seat"], ondelete="CASCADE"),
    Index(None, "player"),
)

# The record of the game. Line 0 is its head and holds the seed.
lines = Table(
    "lines",
    metadata,
    Column("room", String(32), ForeignKey("rooms.code", ondelete="CASCADE"), primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
)

players = Table(
    "players",
    metadata,
    Column("player", String(64), primary_key=True),  # a digest of the cookie, never the cookie
    Column("name", Text, nullable=False),
    Column("seen", Double, nullable=False),
)

reviews = Table(
    "reviews",
    metadata,
    Column("room", String(32), ForeignKey("rooms.code", ondelete="CASCADE"), primary_key=True),
    Column("text", Text, nullable=False),
)

keys = Table(
    "keys",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", LargeBinary, nullable=False),
)


class StorageError(PisteError):
    """A change that was not written."""


class RoomRow(NamedTuple):
    """One table of players."""

    code: str
    game: str
    options: str  # JSON
    host: str  # the player who opened it
    listed: bool
    created: float
    touched: float
    ended: float | None = None
    previous: str | None = None  # the room that this is the rematch of; it may be gone
    successor: str | None = None


class SeatRow(NamedTuple):
    """One seat of a room."""

    room: str
    seat: int
    kind: str  # person, bot, open, kept
    name: str = ""
    bot: str = ""
    stand_in: str = ""  # the bot that plays for a person who is away
    link: int = 0  # the number of revoked private links


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


class PutRoom(NamedTuple):
    row: RoomRow


class PutSeat(NamedTuple):
    row: SeatRow


class PutSitter(NamedTuple):
    room: str
    seat: int
    player: str


class DropSitter(NamedTuple):
    room: str
    seat: int
    player: str


class AddLines(NamedTuple):
    """The next lines of a record; no line is overwritten or left out."""

    room: str
    first_n: int
    texts: Sequence[str]


class SetTouched(NamedTuple):
    room: str
    time: float


class SetEnded(NamedTuple):
    room: str
    time: float


class SetSuccessor(NamedTuple):
    room: str
    code: str


class SetListed(NamedTuple):
    room: str
    listed: bool


class PutPlayer(NamedTuple):
    player: str
    name: str
    seen: float


class DropPlayers(NamedTuple):
    """Delete players who have no game any more and have not been seen since."""

    before: float


class PutReview(NamedTuple):
    room: str
    text: str


class PutKey(NamedTuple):
    name: str
    value: bytes


class DropRoom(NamedTuple):
    """Delete a room and all that belongs to it; one that is gone already is no error."""

    code: str


Change = (
    PutRoom
    | PutSeat
    | PutSitter
    | DropSitter
    | DropPlayers
    | AddLines
    | SetTouched
    | SetEnded
    | SetSuccessor
    | SetListed
    | PutPlayer
    | PutReview
    | PutKey
    | DropRoom
)


def last_lines(codes: list[str]) -> Select[str, str]:
    """Return a query for the last line of the record of each room."""
    ends = select(lines.c.room, func.max(lines.c.n).label("n")).where(lines.c.room.in_(codes)).group_by(lines.c.room)
    end = ends.subquery()
    return select(lines.c.room, lines.c.text).join(end, and_(lines.c.room == end.c.room, lines.c.n == end.c.n))


def _own(table: Table) -> Any:
    """Match the one row whose primary key is given, as own_room, own_n and so on."""
    return and_(*(column == bindparam(f"own_{column.name}") for column in table.primary_key))


# Built once: building a statement takes longer than running it.
_COUNT = {table: select(func.count()).select_from(table).where(_own(table)) for table in metadata.sorted_tables}
_UPDATE = {table: update(table).where(_own(table)) for table in metadata.sorted_tables}
_DELETE = {table: delete(table).where(_own(table)) for table in metadata.sorted_tables}
_LAST = select(func.max(lines.c.n)).where(lines.c.room == bindparam("room"))


def _put(connection: Connection, table: Table, row: Any) -> None:
    """Update a row, or insert it. Only one thread writes, so nothing can happen between the two."""
    values = row._asdict()
    own = {f"own_{column.name}": values[column.name] for column in table.primary_key}
    rest = {name: value for name, value in values.items() if f"own_{name}" not in own}
    if not connection.scalar(_COUNT[table], own):
        connection.execute(insert(table), values)
    elif rest:
        connection.execute(_UPDATE[table], own | rest)


def _set(connection: Connection, code: str, **values: Any) -> None:
    if connection.execute(_UPDATE[rooms], {"own_code": code, **values}).rowcount == 0:
        raise StorageError("This table is gone.")


def _delete(connection: Connection, table: Table, row: Any) -> None:
    connection.execute(_DELETE[table], {f"own_{name}": value for name, value in row._asdict().items()})


def _drop_players(connection: Connection, change: DropPlayers) -> None:
    at_no_table = players.c.player.not_in(select(sitters.c.player))
    connection.execute(delete(players).where(players.c.seen < change.before, at_no_table))


def _add_lines(connection: Connection, change: AddLines) -> None:
    last = connection.scalar(_LAST, {"room": change.room})
    due = 0 if last is None else last + 1
    if change.first_n < due:
        raise StorageError(f"Line {change.first_n} of this record is kept already; it is not written over.")
    if change.first_n > due:
        raise StorageError(f"Line {change.first_n} of this record cannot be kept before line {due} is.")
    rows = [{"room": change.room, "n": n, "text": text} for n, text in enumerate(change.texts, due)]
    if rows:
        connection.execute(insert(lines), rows)


APPLY: dict[type, Callable[[Connection, Any], None]] = {
    PutRoom: lambda connection, change: _put(connection, rooms, change.row),
    PutSeat: lambda connection, change: _put(connection, seats, change.row),
    PutSitter: lambda connection, change: _put(connection, sitters, change),
    DropSitter: lambda connection, change: _delete(connection, sitters, change),
    DropPlayers: _drop_players,
    AddLines: _add_lines,
    SetTouched: lambda connection, change: _set(connection, change.room, touched=change.time),
    SetEnded: lambda connection, change: _set(connection, change.room, ended=change.time),
    SetSuccessor: lambda connection, change: _set(connection, change.room, successor=change.code),
    SetListed: lambda connection, change: _set(connection, change.room, listed=change.listed),
    PutPlayer: lambda connection, change: _put(connection, players, change),
    PutReview: lambda connection, change: _put(connection, reviews, change),
    PutKey: lambda connection, change: _put(connection, keys, change),
    DropRoom: lambda connection, change: _delete(connection, rooms, change),
}
