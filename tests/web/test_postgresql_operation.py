"""A PostgreSQL that goes and comes back, servers that start together, roles with few rights, and TLS."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from piste.cli.main import main
from piste.core.errors import PisteError
from piste.web.storage.schema import metadata
from piste.web.storage.storage import Storage
from tests import ROOT
from tests.limits import PATIENCE_S
from tests.postgres_server import PostgresServer, needed_programs, postgres_server
from tests.web.in_process_server import Device, Got, InProcessServer, table_for

OPENS = "import sys; from piste.web.storage.storage import Storage\nwith Storage(sys.argv[1]): print('open')"


@pytest.fixture
def own_postgres(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """A PostgreSQL that a test may stop."""
    with postgres_server(needed_programs(request)) as server:
        yield server


async def test_while_the_database_is_away_people_read_a_sentence_and_then_go_on(own_postgres: PostgresServer) -> None:
    async with InProcessServer(own_postgres.database()) as house:
        code, people = await table_for(house, "positive-negative")
        seat = house.room(code).to_act
        assert seat is not None
        assert (await people[0].get("/readyz")).status == 200
        await asyncio.to_thread(own_postgres.stop)
        ready = await people[0].get("/readyz")
        assert ready.status == 503
        assert "just now. Nothing is lost" in ready.text
        assert str(own_postgres.port) not in ready.text
        assert (await people[0].get("/healthz")).status == 200  # the process is well: to restart it helps nobody
        page = await people[0].get("/games")  # a table may still be in memory
        assert page.status == 503
        assert "Nothing is lost" in page.text
        refused = await people[seat].decide(code, "keep", 0)
        assert not refused["ok"]
        await asyncio.to_thread(own_postgres.start)

        answers: list[Got] = []

        async def ask() -> None:
            while not answers or answers[-1].status != 200:
                answers.append(await people[0].get("/readyz"))
                await asyncio.sleep(0)

        await asyncio.wait_for(ask(), PATIENCE_S)
        assert (await people[seat].decide(code, "keep", 0))["ok"]
        stored = house.storage.room(code)
        assert stored is not None
        assert sum('"seat"' in line for line in stored.lines) == 1


def test_processes_that_start_together_migrate_once(postgres: PostgresServer) -> None:
    address = postgres.database()
    command = [sys.executable, "-c", OPENS, address]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    ended = [process.communicate(timeout=PATIENCE_S) for process in started]
    assert [out for out, _ in ended] == ["open\n"] * 4, ended
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)


def test_statements_of_the_version_before_still_work(postgres: PostgresServer) -> None:
    """A server of the version before knows no versions of rooms: it writes rooms and lines without them."""
    address = postgres.database()
    with Storage(address) as storage:
        with psycopg.connect(address) as connection:
            connection.execute(
                "INSERT INTO rooms (code, game, options, host, listed, created, touched) "
                "VALUES ('ROOM', 'prime-duel', '{}', 'ann', false, 1, 2)"
            )
            connection.execute(
                "INSERT INTO seats (room, seat, kind, name, bot, stand_in) VALUES ('ROOM', 0, 'open', '', '', '')"
            )
            connection.execute("INSERT INTO lines (room, n, text) VALUES ('ROOM', 0, '{}')")
        stored = storage.room("ROOM")
        assert stored is not None
        assert (stored.room.version, stored.seats[0].link, stored.lines) == (0, 0, ("{}",))


# Roles


def grants() -> list[str]:
    """Return the statements of docs/hosting.md that make the roles."""
    page = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```sql\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [statement.strip() for statement in block.split(";") if statement.strip()]


async def test_a_server_needs_no_more_than_to_read_and_write_rows(postgres: PostgresServer) -> None:
    name = postgres.database().rpartition("/")[2]
    for statement in grants():
        where = postgres.url("postgres" if statement.startswith("CREATE") else name)
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute(statement.replace("DATABASE piste", f"DATABASE {name}").encode())
    owner, server = (postgres.url(name).replace("piste@", f"{role}@") for role in ("piste_owner", "piste_server"))
    with pytest.raises(PisteError, match="piste admin migrate"):
        Storage(server).open()
    assert main(["admin", "migrate", owner]) == 0
    async with InProcessServer(server) as house:
        code, people = await table_for(house, "positive-negative")
        seat = house.room(code).to_act
        assert seat is not None
        assert (await people[seat].decide(code, "keep", 0))["ok"]
        assert (await people[0].get("/readyz")).status == 200
    for statement in (
        "DROP TABLE rooms",
        "CREATE TABLE mine (x int)",
        "TRUNCATE rooms",
        "ALTER TABLE rooms ADD y int",
    ):
        with psycopg.connect(server) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.encode())
    assert {*metadata.tables} <= tables_of(owner)


def tables_of(address: str) -> set[str]:
    with psycopg.connect(address) as connection:
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return {row[0] for row in rows}


# TLS


async def test_a_server_speaks_tls_and_refuses_a_stranger(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with postgres_server(needed_programs(request)) as server:
        address = server.database()
        certificate, key = server.folder / "server.crt", server.folder / "server.key"
        make_certificate(certificate, key)
        owner = (server.folder / "data").stat()
        os.chown(key, owner.st_uid, owner.st_gid)
        server.stop("fast")
        server._settings += ("ssl=on", f"ssl_cert_file={certificate}", f"ssl_key_file={key}")
        server.start()
        async with InProcessServer(f"{address}?sslmode=verify-full&sslrootcert={certificate}") as house:
            with psycopg.connect(address) as connection:
                used = connection.execute(
                    "SELECT bool_and(ssl), count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                ).fetchone()
            assert used is not None
            assert used[0] is True
            assert used[1] >= 2  # the writer and the listener
            assert (await Device(house).get("/readyz")).status == 200
        other = tmp_path / "other.crt"
        make_certificate(other, tmp_path / "other.key")
        with pytest.raises(PisteError, match="cannot be opened"):
            Storage(f"{address}?sslmode=verify-full&sslrootcert={other}").open()


CERTIFICATE = ("-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1")
ALSO_CALLED = ("-addext", "subjectAltName=IP:127.0.0.1")


def make_certificate(certificate: Path, key: Path) -> None:
    subprocess.run(
        ["openssl", "req", *CERTIFICATE, *ALSO_CALLED, "-out", str(certificate), "-keyout", str(key)],
        check=True,
        capture_output=True,
    )
