"""The database: its tables, each a class of rows, and the changes that can be made to them.

Plain names, types that every database has. A change to a table needs a step in `migrations/versions`; a test
compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

from sqlalchemy import (
    Connection,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    Select,
    String,
    Text,
    and_,
    bindparam,
    func,
    select,
)
from sqlalchemy import delete as delete_from
from sqlalchemy import insert as insert_into
from sqlalchemy import update as update_of
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column

from piste.core.errors import PisteError

Code = Annotated[str, mapped_column(String(32))]  # of a room
Name = Annotated[str, mapped_column(String(64))]  # of a game or a bot, or the digest of a player's cookie
LongText = Annotated[str, mapped_column(Text)]
Time = Annotated[float, mapped_column(Double)]  # seconds since 1970
RoomKey = Annotated[str, mapped_column(String(32), ForeignKey("rooms.code", ondelete="CASCADE"), primary_key=True)]
Number = Annotated[int, mapped_column(primary_key=True, autoincrement=False)]


class Row(MappedAsDataclass, DeclarativeBase):
    """A row of any table."""

    # Constraints have names, so that a later step can name what it changes, on every database.
    metadata = MetaData(
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


class SitterRow(Row):
    """A device of a seat's player. No foreign key to players: a player may sit before a name is stored."""

    __tablename__ = "sitters"
    __table_args__ = (
        ForeignKeyConstraint(["room", "seat"], ["seats.room", "seats.seat"], ondelete="CASCADE"),
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


class KeyRow(Row):
    __tablename__ = "keys"

    name: Mapped[Name] = mapped_column(primary_key=True)
    value: Mapped[bytes] = mapped_column(LargeBinary)


class StorageError(PisteError):
    """A change that was not written."""


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


def last_lines(codes: list[str]) -> Select[str, str]:
    """Return a query for the last line of the record of each room."""
    ends = select(LineRow.room, func.max(LineRow.n).label("n")).where(LineRow.room.in_(codes)).group_by(LineRow.room)
    end = ends.subquery()
    return select(LineRow.room, LineRow.text).join(end, and_(LineRow.room == end.c.room, LineRow.n == end.c.n))


# Statements are built once: building one takes longer than running it.
_KEYS = {
    table: {column.name: f"own_{column.name}" for column in table.primary_key} for table in metadata.sorted_tables
}
_OWN = {table: and_(*(table.c[name] == bindparam(own) for name, own in key.items())) for table, key in _KEYS.items()}
_COUNT = {table: select(func.count()).select_from(table).where(own) for table, own in _OWN.items()}
_INSERT = {table: insert_into(table) for table in _OWN}
_UPDATE = {table: update_of(table).where(own) for table, own in _OWN.items()}
_DELETE = {table: delete_from(table).where(own) for table, own in _OWN.items()}
_LAST = select(func.max(LineRow.n)).where(LineRow.room == bindparam("room"))

Change = Callable[[Connection], object]
"""Makes a change in the transaction of a connection."""


def put(row: Row) -> Change:
    """Update a row, or insert it. Only one thread writes, so nothing can happen between the two."""
    table = metadata.tables[row.__tablename__]
    values = {name: getattr(row, name) for name in table.c.keys()}  # noqa: SIM118 (no dictionary)
    own = {given: values[name] for name, given in _KEYS[table].items()}
    rest = {name: value for name, value in values.items() if name not in _KEYS[table]}

    def change(connection: Connection) -> None:
        if not connection.scalar(_COUNT[table], own):
            connection.execute(_INSERT[table], values)
        elif rest:
            connection.execute(_UPDATE[table], own | rest)

    return change


def delete(kind: type[Row], **key: object) -> Change:
    """Delete the row with this primary key and all that belongs to it; one that is gone already is no error."""
    statement = _DELETE[metadata.tables[kind.__tablename__]]
    own = {f"own_{name}": value for name, value in key.items()}
    return lambda connection: connection.execute(statement, own)


def update_room(code: str, **values: object) -> Change:
    def change(connection: Connection) -> None:
        if connection.execute(_UPDATE[metadata.tables["rooms"]], {"own_code": code, **values}).rowcount == 0:
            raise StorageError("This table is gone.")

    return change


def add_lines(room: str, first_n: int, texts: Sequence[str]) -> Change:
    """Add the next lines of a record; no line is overwritten or left out."""

    def change(connection: Connection) -> None:
        last = connection.scalar(_LAST, {"room": room})
        due = 0 if last is None else last + 1
        if first_n < due:
            raise StorageError(f"Line {first_n} of this record is kept already; it is not written over.")
        if first_n > due:
            raise StorageError(f"Line {first_n} of this record cannot be kept before line {due} is.")
        rows = [{"room": room, "n": n, "text": text} for n, text in enumerate(texts, due)]
        if rows:
            connection.execute(_INSERT[metadata.tables["lines"]], rows)

    return change


def delete_players(before: float) -> Change:
    """Delete players who have no game any more and have not been seen since."""
    at_no_table = PlayerRow.player.not_in(select(SitterRow.player))
    return lambda connection: connection.execute(delete_from(PlayerRow).where(PlayerRow.seen < before, at_no_table))
