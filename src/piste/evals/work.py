"""Work that takes long, in processes of its own: while solvers compute, no model's answer is kept waiting."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from piste import bots
from piste.bots import tasks
from piste.core.dealer import RandomStream
from piste.core.game import find
from piste.core.views import SeatView
from piste.core.worker_process import Worker

R = TypeVar("R")

_workers: list[Worker] = []
"""Processes that have nothing to do. They end with this one."""

_limiters: dict[object, anyio.CapacityLimiter] = {}


async def run_elsewhere(work: Callable[..., R], *args: object) -> R:
    """Have a function of a module called in another process, no more of them at once than there are cores."""
    async with _limiter():
        worker = _workers.pop() if _workers else Worker()
        try:
            result = await anyio.to_thread.run_sync(worker.submit(work, *args).result, abandon_on_cancel=True)
        except BaseException:
            worker.kill()  # it may still be at work on what nobody waits for
            raise
        _workers.append(worker)
        return result


def _limiter() -> anyio.CapacityLimiter:
    """Return the limiter of this event loop: it cannot be shared between two."""
    key = anyio.lowlevel.current_token()
    if key not in _limiters:
        _limiters.clear()
        _limiters[key] = anyio.CapacityLimiter(os.cpu_count() or 1)
    return _limiters[key]


async def decide(game: str, level: str, view: SeatView, stream: RandomStream) -> int:
    """Return a bot's decision; one that asks a solver is computed elsewhere."""
    if bots.asks_solver(level, find(game)):
        return await run_elsewhere(tasks.choose, game, level, view, stream)
    return tasks.choose(game, level, view, stream)
