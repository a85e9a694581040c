"""A database of PostgreSQL, which any number of processes share."""

from __future__ import annotations

import contextlib
import time

from sqlalchemy import URL, Engine, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError

from piste.core.errors import OptionError, PisteError
from piste.core.extras import POSTGRES, need
from piste.web.storage import jobs, migrations
from piste.web.storage.database import reason

CONNECT_TIMEOUT_S = 5
STATEMENT_TIMEOUT_MS, LOCK_TIMEOUT_MS, IDLE_TIMEOUT_MS = 10_000, 2_000, 10_000
# A machine that has gone without a word: its connections end after some seconds, not after a quarter of an hour.
DEAD_PEER_SETTINGS = {
    "keepalives_idle": "5", "keepalives_interval": "2", "keepalives_count": "3", "tcp_user_timeout": "10000",
}  # fmt: skip
COMMIT_QUESTIONS, COMMIT_QUESTION_INTERVAL_S = 20, 0.05
READERS, MAX_READERS = 4, 8
POOL_TIMEOUT_S = 5.0
MIGRATION_LOCK = 0x7069737465  # "piste"; of those that an application may use for what it likes
NOT_ALLOWED = "42501"  # of PostgreSQL: this user has no right to do that
SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")


def read_address(address: str, where: str = "--db") -> URL:
    """Return the address of a database, or refuse it; `where` says what asked for it."""
    try:
        url = make_url(address)
    except ArgumentError:
        url = None
    if url is None or url.drivername not in SCHEMES or not url.database:
        # The address may hold a password, so it is not repeated.
        raise OptionError(
            f"{where} takes a file, or the address of a database of PostgreSQL, such as "
            "postgresql://piste@localhost/piste; this is neither."
        )
    return url.set(drivername="postgresql+psycopg")


class PostgresDatabase:
    """A database of PostgreSQL."""

    shared = True

    def __init__(self, address: str) -> None:
        need(POSTGRES)
        self.url = read_address(address)

    def __str__(self) -> str:
        return self.url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)

    @property
    def conninfo(self) -> str:
        """The address with all settings, as libpq reads it."""
        url = self.url.set(drivername="postgresql").update_query_dict(
            {"connect_timeout": str(CONNECT_TIMEOUT_S), "application_name": "piste", **DEAD_PEER_SETTINGS}
        )
        return url.render_as_string(hide_password=False)

    def engine(self, *, writes: bool) -> Engine:
        """Return an engine whose statements do not wait for ever."""
        timeouts = {
            "statement_timeout": STATEMENT_TIMEOUT_MS,
            "lock_timeout": LOCK_TIMEOUT_MS,
            "idle_in_transaction_session_timeout": IDLE_TIMEOUT_MS,
        }
        options = " ".join(f"-c {name}={value}" for name, value in timeouts.items())
        given = self.url.query.get("options", "")
        return create_engine(
            self.url,
            hide_parameters=True,  # errors must not carry what was written: a record begins with its seed
            pool_size=1 if writes else READERS,
            max_overflow=0 if writes else MAX_READERS - READERS,
            pool_timeout=POOL_TIMEOUT_S,
            pool_pre_ping=not writes,  # a write is tried again instead
            isolation_level="READ COMMITTED"
            if writes
            else "REPEATABLE READ",  # a room is read as it was at one moment
            connect_args={
                "connect_timeout": CONNECT_TIMEOUT_S,
                "application_name": "piste",
                "options": f"{given} {options}".strip(),
                "prepare_threshold": 2,
                **DEAD_PEER_SETTINGS,
            },
            execution_options={} if writes else {"postgresql_readonly": True},
        )

    def open(self) -> tuple[Engine, Engine]:
        self._writer, self._reader = self.engine(writes=True), self.engine(writes=False)
        try:
            with self._writer.begin() as connection:
                # Processes that start together migrate one after the other, however long the first one takes.
                connection.execute(text("SET LOCAL lock_timeout = 0"))
                connection.execute(text("SET LOCAL statement_timeout = 0"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
                migrations.check(connection)
                migrations.upgrade(connection)
                jobs.upgrade(connection)
        except OperationalError as e:
            self.close()
            raise PisteError(f"The database {self} cannot be opened ({reason(e)}).") from None
        except SQLAlchemyError as e:
            self.close()
            if getattr(getattr(e, "orig", None), "sqlstate", None) == NOT_ALLOWED:
                raise PisteError(
                    f"The tables in the database {self} are not those of this version of piste, and this user may "
                    "not change them. Let their owner do it: piste admin migrate postgresql://OWNER@..."
                ) from None
            raise PisteError(f"The tables cannot be made in the database {self} ({reason(e)}).") from None
        except PisteError:
            self.close()
            raise
        return self._writer, self._reader

    def close(self) -> None:
        self._writer.dispose()
        self._reader.dispose()

    def check(self) -> None:
        """A connection that is lost says so by itself."""

    def committed(self, transaction: int) -> bool | None:
        status = None
        with contextlib.suppress(SQLAlchemyError):
            for _ in range(COMMIT_QUESTIONS):
                with self._writer.begin() as connection:
                    status = connection.scalar(text("SELECT txid_status(:n)"), {"n": transaction})
                if status != "in progress":
                    break
                time.sleep(COMMIT_QUESTION_INTERVAL_S)  # its end is not noticed at once
        return {"committed": True, "aborted": False}.get(status or "")
