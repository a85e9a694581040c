"""Work that takes long: done in another process, waited for within a bound, and waited for again when asked again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic
from typing import Any, Generic, TypeVar

from piste.core.errors import PisteError
from piste.core.worker_process import Worker, WorkerDiedError

T = TypeVar("T")

WAIT_S = 45.0
"""How long one call waits: many clients give up after 60 seconds."""

REPORT_INTERVAL_S = 1.0
"""Seconds between two messages about the progress of a call."""

MAX_WAITING = 32
"""How much work may wait at a time; more is refused."""

MAX_DONE = 64
"""How many finished results are kept for whoever asks again."""

Report = Callable[[float, float, str], Awaitable[None]]
"""Is told how many seconds a call has waited, how many it waits at most, and what for."""


class Job(Generic[T]):
    """One piece of work."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.future: Future[T] | None = None
        self._progress: tuple[int, int, str] = (0, 0, "")

    def report(self, done: int, total: int, phase: str = "", *_: object) -> None:
        self._progress = (done, total, phase)

    @property
    def state(self) -> str:
        """How far it is, in a few words."""
        done, total, phase = self._progress
        part = f", {100 * done // total} %" if total > 1 else ""
        return f"{self.label}{f': {phase}' if phase else ''}{part}"


class Jobs:
    """All work of one server: quick work in a thread, everything that compiles or solves in a worker process."""

    def __init__(self) -> None:
        self.wait_s = WAIT_S
        self._worker = Worker()
        self._thread = ThreadPoolExecutor(1, "piste-bot")
        self._jobs: dict[Hashable, Job[Any]] = {}

    def close(self) -> None:
        self._worker.kill()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def job(self, key: Hashable, label: str, work: Callable[..., T], *arguments: Any, quick: bool = False) -> Job[T]:
        """Return the work of this key, begun now if it has not been begun before."""
        job: Job[T] | None = self._jobs.get(key)
        if job is not None:
            return job
        waiting = [other for other in self._jobs.values() if other.future is not None and not other.future.done()]
        if len(waiting) >= MAX_WAITING:
            raise PisteError("Too much is being computed here already. Try it again in a minute.")
        job = Job(label)
        if quick:
            job.future = self._thread.submit(work, *arguments)
        else:
            job.future = self._worker.submit(work, *arguments, progress=job.report)
        self._jobs[key] = job
        for old in [key for key, other in self._jobs.items() if other.future is not None and other.future.done()]:
            if len(self._jobs) <= MAX_DONE:
                break
            del self._jobs[old]
        return job

    def forget(self, key: Hashable) -> None:
        self._jobs.pop(key, None)

    async def finished(self, key: Hashable, report: Report, seconds: float | None = None) -> bool:
        """Wait for the work of a key, and say whether it is done; tell meanwhile how far it is."""
        seconds = self.wait_s if seconds is None else seconds
        job = self._jobs[key]
        assert job.future is not None
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def wake(_: Future[Any]) -> None:
            with contextlib.suppress(RuntimeError):  # the server has stopped meanwhile
                loop.call_soon_threadsafe(done.set)

        job.future.add_done_callback(wake)
        began = monotonic()
        while not job.future.done():
            left = seconds - (monotonic() - began)
            if left <= 0:
                return False
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, REPORT_INTERVAL_S)):
                    await done.wait()
            if not job.future.done():
                await report(round(monotonic() - began, 1), seconds, job.state)
        return True

    def result(self, key: Hashable) -> Any:
        """Return what came of work that is done; what failed can be begun again."""
        future = self._jobs[key].future
        assert future is not None
        try:
            return future.result()
        except WorkerDiedError:
            self.forget(key)
            raise PisteError(
                "The process that worked on this ended early, perhaps because memory ran out. Try it again."
            ) from None
        except BaseException:
            self.forget(key)
            raise
