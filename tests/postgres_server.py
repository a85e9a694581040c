"""A real PostgreSQL for tests: a throw-away cluster in a temporary folder, with a database for each test."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from piste.web.storage.storage import Storage
from tests import system_packages
from tests.limits import PATIENCE_S

SKIPPED = "no PostgreSQL here: tests of several server processes are skipped; apt install postgresql"
QUICK = ("fsync=off", "full_page_writes=off", "synchronous_commit=on", "shared_buffers=32MB", "max_connections=200")

WAIT = ("-w", "-t", str(int(PATIENCE_S)))


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs: Debian keeps them out of the path."""
    named = shutil.which("postgres")
    folders = [Path(named).parent] if named else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders and (folders[-1] / "initdb").exists() else None


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


class PostgresServer:
    """One cluster. It can be killed and started again; `settings` are those of postgresql.conf."""

    def __init__(
        self, bin_folder: Path, folder: Path, settings: tuple[str, ...] = QUICK, made_with: tuple[str, ...] = ()
    ) -> None:
        self._bin, self.folder, self._settings = bin_folder, folder, settings
        self.port = free_port()
        self._names = itertools.count()
        self._template = ""
        # PostgreSQL refuses to run as root.
        self._user = pwd.getpwnam("postgres").pw_uid if os.geteuid() == 0 else None
        if self._user is not None:
            os.chown(folder, self._user, -1)
        self._run(
            "initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "piste", "-E", "UTF8", "--no-sync", *made_with
        )
        self.start()

    def _run(self, program: str, *args: str) -> None:
        done = subprocess.run(
            [self._bin / program, *args],
            user=self._user,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        options = ("listen_addresses=127.0.0.1", f"port={self.port}", f"unix_socket_directories={self.folder}")
        flags = " ".join(f"-c {setting}" for setting in (*options, *self._settings))
        self._run(
            "pg_ctl", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), *WAIT, "-o", flags, "start"
        )

    def stop(self, mode: str = "immediate") -> None:
        """Stop it: `immediate` is as a crash."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, *WAIT, "stop")

    def down(self) -> bool:
        """Whether it does not run."""
        asked = [str(self._bin / "pg_ctl"), "-D", str(self.folder / "data"), "status"]
        done = subprocess.run(asked, user=self._user, cwd=self.folder, check=False, capture_output=True)
        return done.returncode != 0

    def url(self, name: str) -> str:
        return f"postgresql://piste@127.0.0.1:{self.port}/{name}"

    def database(self, template: str = "template1") -> str:
        """Make a new database and return its address."""
        name = f"piste_{os.getpid()}_{next(self._names)}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def migrated(self) -> str:
        """Make a new database that holds all tables already, and return its address: that is much quicker."""
        if not self._template:
            address = self.database()
            with Storage(address):
                self._template = name_of(address)
        return self.database(self._template)

    def drop(self, address: str) -> None:
        """Remove a database with whoever is connected to it."""
        self._execute(f"DROP DATABASE {name_of(address)} WITH (FORCE)")

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())


def name_of(address: str) -> str:
    return address.rpartition("/")[2]


@contextlib.contextmanager
def postgres_server(bin_folder: Path, settings: tuple[str, ...] = QUICK) -> Iterator[PostgresServer]:
    with tempfile.TemporaryDirectory(prefix="piste-pg-") as folder:
        server = PostgresServer(bin_folder, Path(folder), settings)
        try:
            yield server
        finally:
            server.stop()


def needed_programs(request: pytest.FixtureRequest) -> Path:
    """Return the folder of PostgreSQL's programs; without them, skip with a line that says so."""
    if programs() is None and system_packages.on_build_machine():
        system_packages.install("pg_ctlcluster", "postgresql")
    return programs() or system_packages.without(SKIPPED, request)


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """One PostgreSQL for all tests of a process."""
    with postgres_server(needed_programs(request)) as server:
        yield server
