"""A PostgreSQL whose disk is full: sentences, nothing acknowledged is lost, and it goes on when there is space."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.limits import PATIENCE_S, pause
from tests.postgres_server import QUICK, PostgresServer, needed_programs
from tests.system_packages import without
from tests.web.in_process_server import Device, InProcessServer, finish, one_decision, table_for

DISK_MIB = 96
ASK_AGAIN_S = 0.1
SMALL = (*QUICK, "max_wal_size=4MB", "min_wal_size=2MB", "autovacuum=off")
NO_DISK = "no small disk can be mounted here: the test of a full disk is skipped; run it as root"


@pytest.fixture
def small_disk(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """A PostgreSQL on a disk of its own, in memory."""
    programs = needed_programs(request)
    with tempfile.TemporaryDirectory(prefix="piste-disk-") as folder:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", folder],
            capture_output=True,
            check=False,
            timeout=PATIENCE_S,
        )
        if mounted.returncode:
            without(NO_DISK, request)
        try:
            server = PostgresServer(programs, Path(folder), SMALL, ("--wal-segsize=1",))
            try:
                yield server
            finally:
                fill(Path(folder), free=True)
                server.stop()
        finally:
            subprocess.run(["umount", folder], check=True, timeout=PATIENCE_S)


def fill(folder: Path, *, free: bool = False) -> None:
    """Leave nothing of a disk for others; or give it back."""
    ballast = folder / "ballast"
    if free:
        ballast.unlink(missing_ok=True)
        return
    with ballast.open("wb", buffering=0) as file:
        size = 1 << 20
        while size >= 512:
            try:
                os.write(file.fileno(), bytes(size))
            except OSError:
                size //= 2


@pytest.mark.slow
async def test_a_full_disk_is_said_and_nothing_that_was_acknowledged_is_lost(small_disk: PostgresServer) -> None:
    async with InProcessServer(small_disk.database()) as house:
        code, people = await table_for(house, "prime-duel")
        await one_decision(house, code, people)
        fill(small_disk.folder)
        taken, answer = [code], {}
        host = Device(house, house.tokens.token())
        for _ in range(5000):  # what was set aside before is used up at some time
            got = await host.post("/new", {"game": "mccoy-duel", "versus": "steady"}, accept="application/json")
            answer = got.json
            if not answer["ok"]:
                break
            taken.append(str(answer["go"]).rpartition("/")[2])
        assert not answer["ok"]
        assert "could not be kept, so it has not happened" in answer["said"] or "not known yet" in answer["said"]
        assert (await host.get("/healthz")).status == 200
        fill(small_disk.folder, free=True)
        if small_disk.down():  # without space for its journal it stops; whoever runs it starts it again
            small_disk.start()
        while (await host.get("/readyz")).status != 200:
            await pause(ASK_AGAIN_S)
        for kept in taken:
            assert house.storage.room(kept) is not None
        assert (await people[0].get(f"/t/{code}")).status == 200
        await finish(house, code, people)
