"""What a storage needs of a database, and which of its errors are whose fault."""

from __future__ import annotations

from typing import Protocol

from sqlalchemy import Engine
from sqlalchemy.exc import DatabaseError, DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from piste.web.storage.schema import StorageError

# Of PostgreSQL:
RETRYABLE_STATES = ("40001", "40P01")  # could not be serialised, or a deadlock
LOCKED_STATE = "55P03"  # a row is locked by another transaction


class StorageGoneError(StorageError):
    """The file was removed or replaced."""


class Database(Protocol):
    """Where the tables are kept."""

    shared: bool  # whether other processes may change what is kept

    def open(self) -> tuple[Engine, Engine]:
        """Bring the database to the current schema, and return engines that write and that read."""

    def check(self) -> None:
        """Raise a StorageGoneError if what is written now would be lost."""

    def committed(self, transaction: int) -> bool | None:
        """Whether a transaction was committed whose connection was lost; None if that cannot be said."""

    def close(self) -> None:
        """Release it."""

    def __str__(self) -> str:
        """Return where it is, without a password."""


def reason(error: Exception) -> str:
    """Return the database's message if it cannot hold what was written."""
    if isinstance(error, OperationalError) or type(error) is DatabaseError:
        return str(error.orig).partition("\n")[0].strip()
    return "it does not fit what is there" if isinstance(error, IntegrityError) else type(error).__name__


def connection_lost(error: Exception) -> bool:
    return isinstance(error, DBAPIError) and error.connection_invalidated


def away(error: Exception) -> bool:
    """Whether an error says that a PostgreSQL cannot be reached, or that it stops or starts."""
    if isinstance(error, PoolTimeoutError):  # no connection became free, or none could be opened
        return True
    if not isinstance(error, OperationalError | InterfaceError) or not hasattr(error.orig, "sqlstate"):
        return False
    state = _state(error)
    return state is None or state.startswith(("08", "57P"))


def retryable(error: Exception) -> bool:
    """Whether a transaction may succeed if it is tried again at once: its connection was lost, or it met another."""
    return connection_lost(error) or _state(error) in RETRYABLE_STATES


def locked(error: Exception) -> bool:
    """Whether another transaction held a row for too long."""
    return _state(error) == LOCKED_STATE


def affects_all(error: Exception) -> bool:
    """Whether every transaction would fail as this one did, such as on a full disk."""
    return isinstance(error, StorageGoneError) or (isinstance(error, OperationalError) and not locked(error))


def _state(error: Exception) -> str | None:
    return getattr(error.orig, "sqlstate", None) if isinstance(error, DBAPIError) else None
