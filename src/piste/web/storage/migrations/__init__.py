"""Brings a database to the tables of today, step by step."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

from piste.core.errors import PisteError


def config(connection: Connection) -> Config:
    """Return what alembic needs to know, without a file of settings."""
    made = Config()
    # A per cent sign in the path would be read as the beginning of a reference.
    made.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    made.attributes["connection"] = connection
    return made


def _steps() -> ScriptDirectory:
    return ScriptDirectory(str(Path(__file__).parent))


def check(connection: Connection) -> None:
    """Refuse a database of a newer version or of another program; change nothing."""
    tables = set(inspect(connection).get_table_names())
    heads = set(MigrationContext.configure(connection).get_current_heads())
    if tables - {"alembic_version"} and not heads:
        raise PisteError("The database belongs to another program. Name another file, or one that is not there yet.")
    if heads - {step.revision for step in _steps().walk_revisions()}:
        raise PisteError(
            "The database was written by a newer version of piste. Install that version, or name another file."
        )


def upgrade(connection: Connection) -> None:
    """Take the steps that are missing, in the transaction of the connection."""
    command.upgrade(config(connection), "head")


def require_head(connection: Connection, name: str) -> None:
    """Refuse a database that is not in the shape of this version; change nothing."""
    check(connection)
    if set(MigrationContext.configure(connection).get_current_heads()) != set(_steps().get_heads()):
        raise PisteError(f"{name} was not written by this version of piste. Bring it up to date: piste admin migrate")
