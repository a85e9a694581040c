"""A database that an earlier version wrote (tests/golden/formats): every table is there, as it was."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests import ROOT
from tests.web.in_process_server import Device, InProcessServer

WRITTEN = ROOT / "tests" / "golden" / "formats" / "tables.sql"


async def test_the_tables_of_a_database_are_there(tmp_path: Path) -> None:
    path = tmp_path / "tables.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(WRITTEN.read_text(encoding="utf-8"))
        stored = connection.execute("SELECT room, text FROM lines ORDER BY room, n").fetchall()
    connection.close()
    async with InProcessServer(path) as server:
        visitor = Device(server)
        for code in {room for room, _ in stored}:
            assert (await visitor.get(f"/t/{code}")).status == 200
            table = server.room(code).table
            assert table is not None
            assert table.record().splitlines() == [text for room, text in stored if room == code]
