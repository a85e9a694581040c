"""Runs the tasks of study pages in worker processes, each once, and keeps the last results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, cast

from piste.web.middleware.fair_queue import NETWORK
from piste.web.middleware.rate_limits import Limits
from piste.web.workers.worker_pool import BotWorkers, WorkersBusyError, start_task

WAIT_S = 1.5  # a request waits this long for a result; after that its page asks again
MAX_RESULTS = 512
BUSY = "The server is busy with other puzzles and positions. Wait a moment, then load the page again."
T = TypeVar("T")


class Pending(NamedTuple):
    """How far a task is that is not done yet."""

    done: int = 0
    total: int = 1
    what: str = ""

    @property
    def fraction(self) -> float:
        """From 0 to 1."""
        return min(1.0, self.done / max(1, self.total))


@dataclass(eq=False)
class StudyRunner:
    """Does each task once, however many ask for it."""

    _bot_workers: BotWorkers
    _limits: Limits
    _results: dict[tuple[Any, ...], Any] = field(default_factory=dict)  # the oldest first
    _running: dict[tuple[Any, ...], asyncio.Task[Any]] = field(default_factory=dict)
    _pending: dict[tuple[Any, ...], Pending] = field(default_factory=dict)
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    async def ask(
        self, network: str, work: Callable[..., T], *args: Any, key: tuple[Any, ...] | None = None
    ) -> T | Pending:
        """Return the result of a task, or how far it is; begin it if nobody has asked for it lately.

        A task that fails raises its error to whoever asks next, and is begun again after that.
        """
        key = (work.__name__, *(args if key is None else key))
        if key in self._results:
            self._results[key] = self._results.pop(key)  # used last
            return cast("T", self._results[key])
        task = self._running.get(key)
        if task is None:
            self._limits.require("studies", network)
            task = self._begin(network, key, work, args)
        await asyncio.wait({task}, timeout=WAIT_S)
        if not task.done():
            return self._pending.get(key, Pending())
        self._running.pop(key, None)
        try:
            return cast("T", task.result())
        except WorkersBusyError:
            raise WorkersBusyError(BUSY) from None

    def ahead(self, network: str, work: Callable[..., Any], *args: Any) -> None:
        """Begin a task that will probably be asked for, if no other is being done."""
        key = (work.__name__, *args)
        if not self._tasks and key not in self._results and key not in self._running:
            self._begin(network, key, work, args)

    def _begin(
        self, network: str, key: tuple[Any, ...], work: Callable[..., T], args: tuple[Any, ...]
    ) -> asyncio.Task[T]:
        NETWORK.set(network)
        if len(self._running) > MAX_RESULTS:  # failures that nobody asked for again
            self._running = {key: task for key, task in self._running.items() if not task.done()}
        self._running[key] = task = start_task(self._tasks, self._run(key, work, args))
        return task

    async def _run(self, key: tuple[Any, ...], work: Callable[..., T], args: tuple[Any, ...]) -> T:
        def report(*step: Any) -> None:
            self._pending[key] = Pending(*step[:3])

        try:
            result = await self._bot_workers.study(work, *args, progress=report)
        finally:
            self._pending.pop(key, None)
        self._results[key] = result
        if len(self._results) > MAX_RESULTS:
            del self._results[next(iter(self._results))]
        self._running.pop(key, None)
        return result

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
