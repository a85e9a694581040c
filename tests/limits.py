"""How long tests wait, in one place: for a condition, never for a time to pass."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

PATIENCE_S = 600.0
"""How long a test waits for what must come. Only something broken takes so long, on the busiest machine too."""

PATIENCE_MS = PATIENCE_S * 1000
"""The same for a browser."""


PATIENT: dict[str, Any] = {"open_timeout": PATIENCE_S, "ping_interval": None}
"""The same for a client of websockets, which would else give up after a few seconds."""


def now() -> float:
    """Return the time, for figures that are shown: of tests of the usual size, none may depend on it."""
    return time.monotonic()


def wait_until(done: Callable[[], bool], explain: Callable[[], str] = lambda: "it never came") -> None:
    """Ask again and again, but not so often that nothing else can be done."""
    end = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < end, explain()
        time.sleep(0.02)


def random_moment(seconds: float) -> None:
    """Let some time pass, for tests that stop or kill something at a random moment: nothing else may depend on it."""
    time.sleep(seconds)


async def pause(seconds: float) -> None:
    """Let some time pass, for clients that wait before they try again: nothing else may depend on it."""
    await asyncio.sleep(seconds)


async def until(done: Callable[[], bool], explain: Callable[[], str] = lambda: "it never came") -> None:
    """Wait in a coroutine until something has become true, and let the others go on meanwhile."""
    began = time.monotonic()
    while not done():
        if time.monotonic() - began > PATIENCE_S:
            raise AssertionError(explain())
        await asyncio.sleep(0.005)
