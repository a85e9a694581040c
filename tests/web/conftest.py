"""Tests of the server may be coroutines; a house among their arguments is opened for them."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from pathlib import Path

import pytest

from tests.web.in_process_server import InProcessServer


@pytest.fixture
def house(tmp_path: Path) -> InProcessServer:
    return InProcessServer(tmp_path / "tables.db")


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
