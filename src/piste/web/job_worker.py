"""A process that takes jobs from the queue of a database and serves nothing: `piste worker`."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable
from typing import Any

from piste.web import logging as logs
from piste.web.metrics import Metrics
from piste.web.settings import Settings
from piste.web.storage.storage import Storage
from piste.web.tables.bot_runner import BotRunner
from piste.web.tables.bot_tasks import LocalExecutor, QueueExecutor
from piste.web.tables.registry import TableRegistry
from piste.web.workers.job_consumer import JobConsumer
from piste.web.workers.worker_pool import BotWorkers

UNLIMITED = 1 << 30  # what a network may have in the queue was limited when it was put there


def run_worker(settings: Settings, ready: Callable[[], None], bot_workers: BotWorkers | None = None) -> None:
    """Do jobs until SIGTERM or SIGINT."""
    with Storage(settings.db) as storage:
        asyncio.run(_run(storage, settings, ready, bot_workers or BotWorkers(settings.thinkers, UNLIMITED)))


async def _run(storage: Storage, settings: Settings, ready: Callable[[], None], bot_workers: BotWorkers) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.set_exception_handler(_log_unexpected)
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # not on this system
            loop.add_signal_handler(number, stop.set)
    metrics = Metrics()
    registry = TableRegistry(storage, settings, metrics, time.time, time.monotonic)
    here = LocalExecutor(registry, bot_workers, storage, metrics, time.monotonic)
    slow = QueueExecutor(registry, storage, UNLIMITED)
    bot_runner = BotRunner(registry, bot_workers, storage, here, slow, time.monotonic)
    consumer = JobConsumer(storage, registry, here, bot_runner, settings, settings.jobs.grace_s, keeps_rooms=False)
    consumer.start()
    preparing = asyncio.ensure_future(bot_workers.prepare_all()) if settings.prepare else None
    ready()
    await stop.wait()
    await consumer.stop()
    if preparing is not None:
        preparing.cancel()
        await asyncio.gather(preparing, return_exceptions=True)
    await bot_runner.close()


def _log_unexpected(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if error is not None:
        logs.error("unexpected", error)
