"""Tests of the server may be coroutines; a house among their arguments is opened for them."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.limits import PATIENCE_S
from tests.postgres_server import PostgresServer, postgres
from tests.web.in_process_server import InProcessServer

__all__ = ["db", "house", "postgres"]

ON_BOTH = {
    "test_api_events",
    "test_api_secrecy",
    "test_api_site",
    "test_durability",
    "test_forged",
    "test_home",
    "test_progress",
    "test_storage",
    "test_table_service",
    "test_web_secrecy",
    "test_websocket",
}
"""Files whose tests run on SQLite and on PostgreSQL.

A test that asks for a `path` is about the file itself.
"""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    name = metafunc.module.__name__.rpartition(".")[2]
    if "db" in metafunc.fixturenames and "path" not in metafunc.fixturenames and name in ON_BOTH:
        both = ["sqlite", pytest.param("postgresql", marks=pytest.mark.database)]
        metafunc.parametrize("db", both, indirect=True)


@pytest.fixture
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    """Where tables are kept: a file, and for the tests that run on both, a PostgreSQL."""
    if getattr(request, "param", "sqlite") == "sqlite":
        yield tmp_path / "tables.db"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    address = server.migrated()
    yield address
    server.drop(address)


@pytest.fixture(autouse=True)
def patient_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server in a test wait for its database for as long as a test waits: a busy machine may take seconds."""
    monkeypatch.setattr("piste.web.storage.storage.READ_TIMEOUT_S", PATIENCE_S)


@pytest.fixture
def house(db: Path | str) -> InProcessServer:
    return InProcessServer(db)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine, in a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

    async def told() -> None:
        async with contextlib.AsyncExitStack() as open_now:
            for one in given.values():
                if isinstance(one, InProcessServer):
                    await open_now.enter_async_context(one)
            await pyfuncitem.obj(**given)

    asyncio.run(told())
    return True
