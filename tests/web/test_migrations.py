"""A database is brought to the tables of today, and what is not ours is left alone."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine

from piste.core.errors import PisteError
from piste.web.storage import migrations, schema
from piste.web.storage.schema import RoomRow, put
from piste.web.storage.storage import Storage
from tests.web.failing_storage import room_count


def differences(path: Path) -> list[object]:
    """Return in what a database differs from the tables in the code."""
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        found = list(compare_metadata(MigrationContext.configure(connection), schema.metadata))
    engine.dispose()
    return found


def tables(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    return found


def run(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "piste.db"


def test_an_empty_database_gets_exactly_the_tables_in_the_code(path: Path) -> None:
    with Storage(path):
        pass
    assert differences(path) == []
    assert tables(path) == {*schema.metadata.tables, "alembic_version"}


def test_the_comparison_finds_a_missing_index_a_missing_column_and_a_foreign_key_that_does_not_cascade(
    path: Path,
) -> None:
    with Storage(path):
        pass
    run(
        path,
        "DROP INDEX ix_rooms_touched",
        "ALTER TABLE rooms DROP COLUMN successor",
        "DROP TABLE reviews",
        "CREATE TABLE reviews (room VARCHAR(32) NOT NULL PRIMARY KEY REFERENCES rooms (code), text TEXT NOT NULL)",
    )
    text = str(differences(path))
    assert "ix_rooms_touched" in text
    assert "successor" in text
    assert "fk_reviews_room" in text


def test_all_steps_can_be_taken_back_and_taken_again(path: Path) -> None:
    with Storage(path):
        pass
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        command.downgrade(migrations.config(connection), "base")
    assert tables(path) == {"alembic_version"}
    engine.dispose()
    with Storage(path) as storage:
        assert room_count(storage) == 0
    assert differences(path) == []


def test_opening_again_keeps_what_is_there(path: Path) -> None:
    row = RoomRow("ROOM", "prime-duel", "{}", "ann", False, 1.0, 2.0)
    with Storage(path) as storage:
        storage.write(put(row)).result()
    with Storage(path) as storage:
        kept = storage.room("ROOM")
    assert kept is not None
    assert kept.room == row


def test_a_database_of_a_newer_version_is_refused_and_not_touched(path: Path) -> None:
    with Storage(path):
        pass
    run(path, "UPDATE alembic_version SET version_num = '9999'")
    before = path.read_bytes()
    with pytest.raises(PisteError, match=r"newer version of piste\. Install that version"):
        Storage(path).open()
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused_and_not_touched(path: Path) -> None:
    run(path, "CREATE TABLE songs (title TEXT)")
    before = path.read_bytes()
    with pytest.raises(PisteError, match="belongs to another program"):
        Storage(path).open()
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"Dear Ann,\n", b"x" * 5000, b"SQLite format 3\0" + b"\xff" * 4080])
def test_a_file_that_is_no_database_gets_a_sentence_and_is_not_touched(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(PisteError, match=r"is no database, or is damaged\. Put a backup"):
        Storage(path).open()
    assert path.read_bytes() == content


def test_a_damaged_database_gets_a_sentence_and_is_not_touched(path: Path) -> None:
    with Storage(path):
        pass
    whole = path.read_bytes()
    page = int.from_bytes(whole[16:18], "big")
    path.write_bytes(whole[: 3 * page] + b"\xa5" * page + whole[4 * page :])
    before = path.read_bytes()
    with pytest.raises(PisteError, match="damaged"):
        Storage(path).open()
    assert path.read_bytes() == before


def test_a_refused_file_can_be_opened_once_it_is_put_right(path: Path) -> None:
    path.write_text("no database")
    with pytest.raises(PisteError):
        Storage(path).open()
    path.unlink()
    with Storage(path) as storage:
        assert room_count(storage) == 0


def test_steps_that_fail_leave_nothing_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade = migrations.upgrade

    def half(connection: Connection) -> None:
        upgrade(connection)
        raise PisteError("the last step fails")

    monkeypatch.setattr(migrations, "upgrade", half)
    with pytest.raises(PisteError, match="the last step fails"):
        Storage(path).open()
    assert tables(path) == set()
    monkeypatch.undo()
    with Storage(path) as storage:
        assert room_count(storage) == 0


def test_logging_is_left_as_it_is(path: Path) -> None:
    ours = logging.getLogger("piste.test")
    root = logging.getLogger()
    before = (list(root.handlers), root.level, ours.disabled, logging.getLogger("alembic").level)
    with Storage(path):
        pass
    assert (list(root.handlers), root.level, ours.disabled, logging.getLogger("alembic").level) == before


def test_a_folder_with_a_per_cent_sign_is_no_trap(tmp_path: Path) -> None:
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        made = migrations.config(connection)
    engine.dispose()
    assert made.get_main_option("script_location") == str(Path(migrations.__file__).parent)
    odd = tmp_path / "100%(here)s?#"
    odd.mkdir()
    with Storage(odd / "my piste.db") as storage:
        assert room_count(storage) == 0
    assert (odd / "my piste.db").exists()
