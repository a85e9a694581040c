"""`piste admin`: copies that are whole, backups at any time, and what running servers hear of."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from piste.cli.main import main
from piste.core.errors import PisteError
from piste.web.storage import copying
from piste.web.storage.copying import COPIED, back_up, copy, restore
from piste.web.storage.schema import KeyRow, LineRow, PlayerRow, ProcessRow, RoomRow, metadata, put
from piste.web.storage.storage import Storage
from tests.limits import until
from tests.postgres_server import PostgresServer
from tests.web.in_process_server import Device, InProcessServer, table_for
from tests.web.test_golden_database import WRITTEN
from tests.web.test_several_processes import at, two_servers


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tables.db"


async def fill(db: Path | str) -> None:
    """Play a little: a finished game, a running one and a table that waits."""
    async with InProcessServer(db) as house:
        over, people = await table_for(house, "prime-duel")
        assert (await people[0].do(over, "resign"))["ok"]
        running, players = await table_for(house, "positive-negative")
        seat = house.room(running).to_act
        assert seat is not None
        assert (await players[seat].decide(running, "keep", 0))["ok"]
        await Device(house, house.tokens.token()).opens("prime-duel", name="Zoë")


def contents(db: Path | str) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows that a copy must hold."""
    with Storage(db) as storage, storage._reading() as connection:
        return {
            table.name: sorted(
                (
                    tuple(bytes(v) if isinstance(v, memoryview) else v for v in row)
                    for row in connection.execute(table.select())
                ),
                key=repr,
            )
            for table in COPIED
        }


def run(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(["admin", *words])
    told = capsys.readouterr()
    text = told.out + told.err
    assert "Traceback" not in text
    assert not any(word in text for word in ("quite-a-secret", '"seed"'))
    return code, " ".join(text.split())


# Copies


def test_a_file_goes_to_postgresql_and_back_row_by_row(
    postgres: PostgresServer, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(fill(file))
    before, address, back = contents(file), postgres.database(), tmp_path / "back.db"
    code, text = run("copy", str(file), address, capsys=capsys)
    assert code == 0, text
    assert "3 in rooms" in text
    assert contents(address) == before
    with Storage(address) as storage:
        storage.write(put(ProcessRow("gone", 1.0))).result()
    assert main(["admin", "copy", address, str(back)]) == 0
    assert contents(back) == before
    with sqlite3.connect(back) as connection:
        assert connection.execute("SELECT count(*) FROM processes").fetchone() == (0,)
    connection.close()
    assert len(before["rooms"]) == 3
    assert all(before[name] for name in ("seats", "sitters", "lines", "players", "keys"))


def test_games_go_on_where_they_were_copied_to(postgres: PostgresServer, file: Path) -> None:
    async def play() -> None:
        async with InProcessServer(file) as house:
            code, people = await table_for(house, "positive-negative")
            tokens = [person.token for person in people]
        address = postgres.database()
        copy(file, address)
        async with InProcessServer(address) as house:
            people = [Device(house, token) for token in tokens]
            await people[0].page(code)
            seat = house.room(code).to_act
            assert seat is not None
            assert (await people[seat].decide(code, "keep", 0))["ok"]

    asyncio.run(play())


def test_a_copy_that_differs_is_not_kept(
    postgres: PostgresServer, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(fill(file))
    address, digest = postgres.database(), copying._digest

    def one_row_less(connection: Any, table: Any) -> Any:
        if table.name == "lines":
            connection.execute(table.delete().where(table.c.n == 1))
        return digest(connection, table)

    monkeypatch.setattr(copying, "_digest", one_row_less)
    with pytest.raises(PisteError, match="'lines' differs"):
        copy(file, address)
    assert not any(contents(address).values())


def test_nothing_is_written_over(postgres: PostgresServer, file: Path, tmp_path: Path) -> None:
    asyncio.run(fill(file))
    full = postgres.database()
    with Storage(full) as storage:
        storage.write(put(PlayerRow("ann", "Ann", 1.0))).result()
    for target in (full, file):
        before = contents(target)
        with pytest.raises(PisteError, match="is not empty"):
            restore(file, target)
        assert contents(target) == before
    made = tmp_path / "backup.db"
    back_up(file, made)
    with pytest.raises(PisteError, match="already"):
        back_up(file, made)


def test_a_file_that_a_server_uses_is_not_copied_but_backed_up(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(fill(file))
    before = contents(file)
    with Storage(file):
        code, text = run("copy", str(file), str(tmp_path / "copy.db"), capsys=capsys)
        assert code == 1
        assert "in use by another server" in text
        code, text = run("stats", str(file), capsys=capsys)
        assert "used by 1 server now" in text
        code, text = run("backup", str(file), str(tmp_path / "backup.db"), capsys=capsys)
        assert code == 0, text
    assert contents(tmp_path / "backup.db") == before
    assert not list(tmp_path.glob(".piste-*"))


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such modes on Windows")
def test_a_backup_is_private_and_restores_either_way(postgres: PostgresServer, file: Path, tmp_path: Path) -> None:
    asyncio.run(fill(file))
    address, made, again = postgres.database(), tmp_path / "backup.db", tmp_path / "again.db"
    restore(file, address)
    back_up(address, made)
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    restore(made, again)
    assert contents(again) == contents(file) == contents(address)
    elsewhere = postgres.database()
    restore(made, elsewhere)
    assert contents(elsewhere) == contents(file)


def test_a_backup_of_a_busy_database_is_one_snapshot(postgres: PostgresServer, tmp_path: Path) -> None:
    """Rooms and players are written in pairs; a backup that is made meanwhile holds both of a pair or none."""
    address = postgres.database()
    with Storage(address) as storage:
        writing = [
            storage.write(
                put(RoomRow(f"R{n}", "prime-duel", "{}", "ann", False, 1.0, 2.0)), put(PlayerRow(f"R{n}", "Ann", 1.0))
            )
            for n in range(3000)
        ]
        writing[0].result()
        counts = back_up(address, tmp_path / "backup.db")
        for call in writing:
            call.result()
    assert 0 < counts["rooms"] == counts["players"]


def test_an_older_backup_is_brought_to_this_version_and_stays_as_it_is(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    old = tmp_path / "old.db"
    with sqlite3.connect(old) as connection:
        connection.executescript(WRITTEN.read_text(encoding="utf-8"))
    connection.close()
    before = old.read_bytes()
    counts = restore(old, postgres.database())
    assert counts["rooms"] > 0
    assert old.read_bytes() == before


# What running servers hear of


async def test_a_table_that_is_closed_is_gone_at_every_server(
    postgres: PostgresServer, capsys: pytest.CaptureFixture[str]
) -> None:
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "prime-duel")
        socket = await at(second, people[0]).connect(code)
        address = str(first.settings.db)
        done, text = await asyncio.to_thread(lambda: run("close", address, code, capsys=capsys))
        assert done == 2
        assert "say --yes" in text
        link = f"https://cards.example/t/{code}"
        done, text = await asyncio.to_thread(lambda: run("close", address, link, "--yes", capsys=capsys))
        assert done == 0, text
        assert "Closed a table of prime-duel, running, 2 people" in text
        await until(lambda: socket.closed is not None)
        for server in (first, second):
            await until(lambda server=server: code not in server.service.registry.rooms)  # type: ignore[misc]
            assert (await at(server, people[0]).get(f"/t/{code}")).status == 404
        done, text = await asyncio.to_thread(lambda: run("close", address, code, "--yes", capsys=capsys))
        assert done == 1
        assert "no table with this code" in text


async def test_a_new_key_makes_old_links_worthless_at_every_server(
    postgres: PostgresServer, capsys: pytest.CaptureFixture[str]
) -> None:
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "prime-duel")
        await at(second, people[0]).page(code)
        servers = (first.service, second.service)

        def link(server: Any) -> str:
            return str(server._seat_token(server.registry.rooms[code], 0))

        old = link(first.service)
        assert old == link(second.service)
        other = Device(second, second.tokens.token())
        assert (await other.get(f"/s/{code}/0/{old}")).status == 200
        done, text = await asyncio.to_thread(
            lambda: run("rotate-key", str(first.settings.db), "--yes", capsys=capsys)
        )
        assert done == 0, text
        await until(lambda: all(link(server) != old for server in servers))
        assert link(first.service) == link(second.service)
        for server in (first, second):
            person = Device(server, server.tokens.token())
            assert (await person.get(f"/s/{code}/0/{old}")).status == 404
            assert (await person.get(f"/s/{code}/0/{link(first.service)}")).status == 200


async def test_a_new_key_is_found_after_the_notice_was_missed(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, _):
        old = first.service._link_key
        with Storage(str(first.settings.db)) as storage:
            storage.write(put(KeyRow("secret seat links", bytes(32)))).result()
        assert first.service._link_key == old
        import psycopg

        with psycopg.connect(str(first.settings.db), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND query LIKE 'LISTEN%'"
            )
        await until(lambda: first.service._link_key == bytes(32))


@pytest.mark.parametrize("shared", [False, True])
def test_old_tables_are_deleted_and_others_stay(
    postgres: PostgresServer, file: Path, shared: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    db = postgres.database() if shared else file
    with Storage(db) as storage:
        for name, touched in (("OLD", 1000.0), ("NEW", 4e9)):
            storage.write(
                put(RoomRow(name, "prime-duel", "{}", "ann", False, 1.0, touched)), put(LineRow(name, 0, "{}"))
            ).result()
    code, text = run("expire", str(db), capsys=capsys)
    assert (code, "--days 90" in text) == (2, True)
    code, text = run("expire", str(db), "--days", "90", capsys=capsys)
    assert code == 2
    assert "This deletes 1 table" in text
    code, text = run("expire", str(db), "--days", "90", "--yes", capsys=capsys)
    assert code == 0
    assert "Deleted 1 table without" in text
    assert [row[0] for row in contents(db)["rooms"]] == ["NEW"]
    code, text = run("expire", str(db), "--days", "90", "--yes", capsys=capsys)
    assert "There is no table" in text


# The database that PISTE_DB names


def test_every_command_but_copy_uses_the_database_of_the_variable(
    postgres: PostgresServer,
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asyncio.run(fill(file))
    source, address, made = file.rename(tmp_path / "from.db"), postgres.database(), tmp_path / "backup.db"
    monkeypatch.setenv("PISTE_DB", address.replace("piste@", "piste:s3cret@"))

    def done(*words: str) -> str:
        code, text = run(*words, capsys=capsys)
        assert code == 0, text
        assert "s3cret" not in text
        return text

    done("migrate")
    done("restore", str(source))
    assert contents(address) == contents(source)
    assert "3 tables" in done("stats")
    done("backup", str(made))
    assert contents(made) == contents(source)
    code = contents(address)["rooms"][0][0]
    refused, text = run("close", code, capsys=capsys)
    assert refused == 2
    assert f"The database is {address.replace('piste@', 'piste:***@')}." in text
    done("close", code, "--yes")
    assert len(contents(address)["rooms"]) == 2
    done("rotate-key", "--yes")
    done("expire", "--days", "90", "--yes")
    refused, text = run("copy", str(source), capsys=capsys)
    assert refused == 2
    assert "piste admin copy FROM TO" in text


def test_what_is_typed_wins_over_the_variable(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(fill(file))
    monkeypatch.setenv("PISTE_DB", "mysql://x/y")
    code, text = run("stats", str(file), capsys=capsys)
    assert code == 0, text
    code, text = run("stats", capsys=capsys)
    assert code == 2
    assert "PISTE_DB takes a file, or the address" in text


# Numbers and refusals


@pytest.mark.parametrize("shared", [False, True])
def test_numbers_are_told_and_no_secret(
    postgres: PostgresServer, file: Path, shared: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    db = postgres.database() if shared else file
    asyncio.run(fill(db))
    code, text = run("stats", str(db), capsys=capsys)
    assert code == 0
    assert "3 tables: 1 waiting for players, 1 running, 1 finished" in text
    assert main(["admin", "stats", str(db), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["tables"], found["waiting"], found["running"], found["finished"]) == (3, 1, 1, 1)
    assert found["bytes"] > 0
    assert found["servers"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["stats"], "It is written so: piste admin stats DB. Without DB, PISTE_DB must name the database."),
        (["restore", "a.db"], "It is written so: piste admin restore FILE DB."),
        (["copy", "a.db"], "It is written so: piste admin copy FROM TO"),
        (["copy", "a.db", "a.db"], "Both are the same"),
        (["copy", "a.db", "b.db"], "There is no file"),
        (["backup", "a.db", "postgresql://x/y"], "FILE is a file"),
        (["backup", "a.db", "b.db"], "There is no file"),
        (["restore", "a.db", "b.db"], "There is no file"),
        (["stats", "a.db"], "There is no file"),
        (["close", "a.db", "code"], "There is no file"),
        (["rotate-key", "a.db"], "There is no file"),
        (["expire", "a.db", "--days", "0"], "1 to"),
        (["migrate", "mysql://x/y"], "DB takes a file, or the address"),
        (["stats", "postgresql://piste:s3cret@127.0.0.1:9/x"], "cannot be read"),
        (["paint", "a.db"], "it is one of"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PISTE_DB", raising=False)
    with contextlib.suppress(SystemExit):  # by which a parser refuses
        assert main(["admin", *words]) in (1, 2)
    text = " ".join(capsys.readouterr().err.split())
    assert said in text
    assert "s3cret" not in text
    assert not list(tmp_path.iterdir())


def test_what_is_no_database_of_piste_is_left_alone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("Dear Ann,\n" * 100)
    before = file.read_bytes()
    for words in (["stats", str(file)], ["backup", str(file), f"{file}.bak"], ["rotate-key", str(file), "--yes"]):
        code, text = run(*words, capsys=capsys)
        assert code == 1, text
    assert file.read_bytes() == before


def test_every_table_is_copied_or_named_as_not_copied() -> None:
    left = {table.name for table in metadata.sorted_tables} - {table.name for table in COPIED}
    assert left == {"processes", "presence"}
