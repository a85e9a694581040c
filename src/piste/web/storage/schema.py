"""The database: its tables, each a class of rows, and the changes that can be made to them.

Plain names, types that every database has. A change to a table needs a step in `migrations/versions`; a test
compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Annotated, NamedTuple

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, String, Text, and_, bindparam, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column

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


class KeyRow(Row):
    __tablename__ = "keys"

    name: Mapped[Name] = mapped_column(primary_key=True)
    value: Mapped[bytes] = mapped_column(sa.LargeBinary)


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


def last_lines(codes: list[str]) -> sa.Select[str, str]:
    """Return a query for the last line of the record of each room."""
    ends = select(LineRow.room, func.max(LineRow.n).label("n")).where(LineRow.room.in_(codes)).group_by(LineRow.room)
    end = ends.subquery()
    return select(LineRow.room, LineRow.text).join(end, and_(LineRow.room == end.c.room, LineRow.n == end.c.n))


Change = Callable[[sa.Connection], object]  # makes a change in the transaction of a connection


def put(row: Row) -> Change:
    """Update a row, or insert it. Only one thread writes, so nothing can happen between the two."""
    kind, values = type(row), {field.name: getattr(row, field.name) for field in fields(row)}
    key = {column.name: values[column.name] for column in sa.inspect(kind).primary_key}

    def change(connection: sa.Connection) -> None:
        if not connection.execute(sa.update(kind).filter_by(**key).values(**values)).rowcount:
            connection.execute(sa.insert(kind), values)

    return change


def delete(kind: type[Row], **key: object) -> Change:
    """Delete the row with this key and all that belongs to it; one that is gone already is no error."""
    return lambda connection: connection.execute(sa.delete(kind).filter_by(**key))


def update_room(code: str, **values: object) -> Change:
    def change(connection: sa.Connection) -> None:
        if not connection.execute(sa.update(RoomRow).filter_by(code=code).values(**values)).rowcount:
            raise StorageError("This table is gone.")

    return change


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


def delete_players(before: float) -> Change:
    """Delete players who have no game any more and have not been seen since."""
    at_no_table = PlayerRow.player.not_in(select(SitterRow.player))
    return lambda connection: connection.execute(sa.delete(PlayerRow).where(PlayerRow.seen < before, at_no_table))
