"""Bots, hints, reviews and studies in worker processes, so that computing does not block the server.

A worker gets a seat's view and a random stream of its own, and nothing else of the game; a review gets the record of
a finished game. The tables that strong bots need are computed once, in a separate process.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar

from piste import bots
from piste.bots import tasks
from piste.core.dealer import Dealer
from piste.core.errors import PisteError
from piste.core.evaluation import Progress, quiet
from piste.core.game import find, names
from piste.core.record import Head
from piste.core.views import SeatView
from piste.core.worker_process import Worker, WorkerDiedError, WorkerMemoryError
from piste.web import logging as logs
from piste.web.middleware.fair_queue import NETWORK, FairQueue

if TYPE_CHECKING:
    from piste.analysis.coach.timeline import Evaluations

# A decision or a review is given up after this time. Preparation does not count.
DECISION_TIMEOUT_S, REVIEW_TIMEOUT_S = 60.0, 300.0
DECISION_SHARE_S, REVIEW_SHARE_S = 20.0, 60.0  # the same while another network waits for a worker
# Preparation is given up after this time: with a game's default options, and with others.
PREPARE_DEFAULT_TIMEOUT_S, PREPARE_TIMEOUT_S = 1800.0, 240.0
INSTANT_LEVELS = ("random", "novice", "steady")  # levels that answer at once, whatever the options
WORKER_MEMORY_BYTES, PREPARATION_MEMORY_BYTES = 1 << 30, 2 << 30  # a worker that needs more memory is stopped
REVIEW_UPDATE_INTERVAL_S = 0.5  # time between two updates of a partial review
FAILURES: dict[type[Exception], str] = {
    WorkerDiedError: "stopped in the middle of a thought",
    WorkerMemoryError: "needed more memory than there is for one",
    TimeoutError: "took too long and was stopped",
}
RETRY_ADVICE = "The game is kept: reload the page to let it try again."
REVIEW_ADVICE = "What it has judged is kept, and it can go on from there."
STUDY_ADVICE = "Try again later; `piste solve` and `piste puzzle` work without a limit on your own computer."
READY = (1, 1, "")  # the progress that is reported when preparation is over
T = TypeVar("T")

Need = tuple[str, str, Any]  # a game, a level and options
Report = Callable[..., None] | None
"""Receives progress as `Progress` does; that of a review, now and then also the partial review as JSON and its new
evaluations."""


class WorkersBusyError(PisteError):
    """Too many tasks wait already."""


class WorkerFailureError(PisteError):
    """A task failed, and not because of what was asked."""


class WorkerTimeoutError(WorkerFailureError):
    """A task took too long, or its process died."""


class PreparationTimeoutError(WorkerTimeoutError):
    """A bot could not be prepared in time."""


def start_task(tasks: set[asyncio.Task[Any]], work: Coroutine[None, None, T]) -> asyncio.Task[T]:
    """Start a task that is a member of a set until it is done."""
    task = asyncio.ensure_future(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())  # perhaps nobody awaits it
    return task


def seed_of_bots(head: Head | None) -> str:
    """Return the seed of the bots: it depends on the game's seed and reveals nothing of it."""
    seed = None if head is None else head.seed
    text = seed if isinstance(seed, bytes) else repr(seed).encode()
    return blake2b(text, digest_size=32, person=b"piste bots").hexdigest()


class BotWorkers:
    """Worker processes for decisions and for reviews, and for a while those that prepare bots.

    Progress is reported while a bot is prepared, and once it is ready.
    """

    size = 1  # of worker processes for slow decisions; 0 where these and reviews are left to other processes

    def __init__(self, size: int, max_per_network: int) -> None:
        self.size = size
        decision: Any = {"timeout_s": DECISION_TIMEOUT_S, "share_s": DECISION_SHARE_S}
        # The server has priority over bots, and running games over reviews.
        self._decisions = WorkerPool(size, max_per_network, nice=2, **decision)
        # Bots that answer at once do not wait behind those that search.
        self._instant = WorkerPool(1, max_per_network, nice=1, **decision)
        self._reviews = WorkerPool(
            min(1, size), max_per_network, nice=10, timeout_s=REVIEW_TIMEOUT_S, share_s=REVIEW_SHARE_S,
            who="The coach", advice=REVIEW_ADVICE,
        )  # fmt: skip
        # Puzzles and positions wait for each other, and neither a game nor a review waits for them.
        self._studies = WorkerPool(
            1, max_per_network, nice=12, timeout_s=REVIEW_TIMEOUT_S, share_s=REVIEW_SHARE_S,
            who="The coach", advice=STUDY_ADVICE,
        )  # fmt: skip
        self._preparations = PreparationTracker()
        self._closed = False
        self._tasks: set[asyncio.Task[Any]] = set()

    async def choose(
        self, game: str, level: str, view: SeatView, seed: str, stream: str, progress: Progress = quiet
    ) -> int:
        """Return a bot's decision."""
        return await self._run(
            self._instant if level in INSTANT_LEVELS else self._decisions,
            tasks.choose, game, level, view, Dealer(seed).stream(stream),
            need=(game, level, view.options), progress=progress,
        )  # fmt: skip

    async def hint(
        self, game: str, view: SeatView, seed: str, stream: str, progress: Progress = quiet
    ) -> tuple[str, int]:
        """Return the strongest bot's name and its decision."""
        level = bots.best(find(game), view.options, bots.MAX_DECISION_S).name
        return level, await self.choose(game, level, view, seed, stream, progress)

    async def review(self, record: str, evaluations: Evaluations, progress: Callable[..., None]) -> str:
        """Return the coach's review of a finished game as JSON; it goes on from the evaluations of an earlier try."""
        return await self._run(self._reviews, _review, record, evaluations, progress=progress)

    async def study(self, work: Callable[..., T], *args: Any, progress: Progress = quiet) -> T:
        """Return the result of a task of `piste.web.study.tasks`."""
        return await self._run(self._studies, work, *args, progress=progress)

    async def prepare(self, game: str, level: str, options: Any, progress: Progress = quiet) -> None:
        """Compute what a bot needs before its first decision, unless that is done."""
        if bots.asks_solver(level, find(game)):
            await self._preparations.ensure((game, level, options), progress)

    async def prepare_all(self) -> None:
        """Compute what the strongest bot of each game needs with default options, one after the other."""
        for name in names():
            game = find(name)
            try:
                level = bots.best(game).name
                if bots.asks_solver(level, game):
                    await self._preparations.ensure((name, level, game.options()), background=True)
            except Exception as e:  # a player who needs it is told why
                logs.error("not prepared", e)

    async def _run(
        self, pool: WorkerPool, work: Callable[..., T], *args: Any, need: Need | None = None, progress: Report = None
    ) -> T:
        """Run a task in a worker; it is finished even if the caller is cancelled, since its worker is busy.

        The progress is that of the preparation, if the task needs one, and else that of the task.
        """
        running = self._run_task(pool, partial(work, *args), need, progress)
        return await asyncio.shield(start_task(self._tasks, running))

    async def _run_task(self, pool: WorkerPool, work: Callable[..., T], need: Need | None, progress: Report) -> T:
        try:
            if need is not None:
                await self.prepare(*need, progress or quiet)
            for last_try in (False, True):
                async with pool.worker() as worker:
                    if self._closed:
                        raise PisteError("The server stops. The game is kept: come back in a moment.")
                    try:
                        if need is not None and bots.asks_solver(need[1], find(need[0])):
                            # The worker loads it from the cache; only without a cache it is computed again.
                            load, report = partial(tasks.prepare, *need), progress or quiet
                            await _within(PREPARE_DEFAULT_TIMEOUT_S, worker, load, report)
                            report(*READY)
                        return await _within(pool.timeout_s, worker, work, None if need else progress, pool)
                    except tuple(FAILURES) as e:
                        if last_try or self._closed or not isinstance(e, WorkerDiedError):
                            raise WorkerTimeoutError(f"{pool.who} {FAILURES[type(e)]}. {pool.advice}") from None
            raise AssertionError("the second try returns or raises")
        except (PisteError, asyncio.CancelledError):
            raise
        except Exception as e:
            logs.error("a bot failed", e)
            raise WorkerFailureError(f"{pool.who} failed at this. {pool.advice}") from e

    def close(self) -> None:
        self._closed = True
        for part in (self._decisions, self._instant, self._reviews, self._studies, self._preparations):
            part.close()


class WorkerPool:
    """Workers of one kind. Each has one task at a time, so that the time of a task begins when it runs."""

    def __init__(
        self, size: int, max_per_network: int, *, nice: int, timeout_s: float, share_s: float,
        who: str = "A bot", advice: str = RETRY_ADVICE,
    ) -> None:  # fmt: skip
        self.timeout_s = timeout_s
        self.share_s = share_s
        self.who, self.advice = who, advice  # what a failure is said of, and what can be done then
        self.queue = FairQueue(size)
        self._max_per_network = max_per_network
        self._workers = [Worker(nice=nice, memory=WORKER_MEMORY_BYTES) for _ in range(size)]
        self._idle = list(self._workers)

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[Worker]:
        """Lend a worker when one is free and it is this network's turn."""
        network = NETWORK.get()
        if self.queue.count(network) >= self._max_per_network:
            raise WorkersBusyError("The bots here are very busy. Wait a moment; the game is kept.")
        async with self.queue.slot(network):
            worker = self._idle.pop()
            try:
                yield worker
            finally:
                self._idle.append(worker)

    def close(self) -> None:
        for worker in self._workers:
            worker.kill()


class PreparationTracker:
    """What strong bots need before their first decision: computed once, cached on disk, loaded by every worker."""

    def __init__(self) -> None:
        self._done: set[Need] = set()
        self._running: dict[Need, asyncio.Task[None]] = {}
        self._latest: dict[Need, tuple[int, int, str]] = {}
        self._listeners: dict[Need, list[Progress]] = {}
        # One process for each: in the background, for default options, and for others.
        nice = {"background": 15, "default": 5, "custom": 5}
        self._workers = {kind: Worker(nice=nice[kind], memory=PREPARATION_MEMORY_BYTES) for kind in nice}
        self._queues = {kind: FairQueue(1) for kind in nice}

    async def ensure(self, need: Need, progress: Progress = quiet, *, background: bool = False) -> None:
        """Wait until it is there; everybody who waits for the same gets the same progress."""
        if need in self._done:
            return
        if need not in self._running:
            self._running[need] = asyncio.ensure_future(self._prepare(need, background=background))
            self._running[need].add_done_callback(lambda done: done.cancelled() or done.exception())
        listeners = self._listeners.setdefault(need, [])
        listeners.append(progress)
        progress(*self._latest.get(need, (0, 1, "")))
        try:
            await asyncio.shield(self._running[need])
        finally:
            listeners.remove(progress)

    async def _prepare(self, need: Need, *, background: bool) -> None:
        game, _, options = need
        default = options == find(game).options()
        kind = "background" if background else "default" if default else "custom"
        timeout_s = PREPARE_DEFAULT_TIMEOUT_S if default else PREPARE_TIMEOUT_S
        try:
            async with self._queues[kind].slot(NETWORK.get()):
                try:
                    compute = partial(tasks.prepare, *need)
                    await _within(timeout_s, self._workers[kind], compute, lambda *step: self._report(need, step))
                finally:
                    self._workers[kind].kill()
            self._done.add(need)
        except tuple(FAILURES) as e:
            late = isinstance(e, TimeoutError)
            why = "A bot could not be made ready in time." if late else "A bot stopped while it was made ready."
            raise PreparationTimeoutError(f"{why} {RETRY_ADVICE}") from None
        finally:
            self._running.pop(need, None)
            self._latest.pop(need, None)
            self._listeners.pop(need, None)

    def _report(self, need: Need, step: tuple[int, int, str]) -> None:
        self._latest[need] = step
        for listener in self._listeners.get(need, ()):
            listener(*step)

    def close(self) -> None:
        for worker in self._workers.values():
            worker.kill()


async def _within(
    timeout_s: float, worker: Worker, work: Callable[..., T], progress: Report, pool: WorkerPool | None = None
) -> T:
    """Return a task's result; stop its worker after the timeout, or after its pool's share while others wait."""
    loop = asyncio.get_running_loop()
    began = loop.time()

    def report(*step: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the server has stopped
            loop.call_soon_threadsafe(progress or quiet, *step)

    result = asyncio.wrap_future(worker.submit(work, progress=None if progress is None else report))
    result.add_done_callback(lambda done: done.cancelled() or done.exception())  # perhaps nobody awaits it
    try:
        while True:
            left = max(0.0, began + timeout_s - loop.time())
            await asyncio.wait({result}, timeout=left if pool is None else min(1.0, left))
            spent = loop.time() - began
            if result.done():
                return result.result()
            to_others = pool is not None and spent >= pool.share_s and pool.queue.others_wait(NETWORK.get())
            if spent >= timeout_s or to_others:
                raise TimeoutError
    except (TimeoutError, WorkerMemoryError):
        worker.kill()
        raise


# In the worker


def _review(text: str, evaluations: Evaluations, progress: Callable[..., None]) -> str:
    import json
    from time import monotonic

    from piste.analysis.coach.attribution import Attribution, Decision
    from piste.analysis.coach.review import certainty, document, empty_review, review
    from piste.core.record import Record

    record = Record.parse(text)
    empty, _ = empty_review(record)
    seats = tuple(range(len(empty.names)))
    judged: list[Decision] = []
    step, reported, sent = (0, 1, ""), 0.0, len(evaluations)

    def note(done: int, total: int, what: str) -> None:
        nonlocal step
        step = done, total, what
        progress(*step)

    def report(decision: Decision, chances: tuple[tuple[float, ...], ...]) -> None:
        nonlocal reported, sent
        judged.append(decision)
        if monotonic() - reported >= REVIEW_UPDATE_INTERVAL_S:  # hundreds of decisions may be judged in a second
            reported = monotonic()
            partial_review = empty._replace(attribution=Attribution(tuple(judged), chances, (), (), 0.0))
            news = dict(list(evaluations.items())[sent:])
            sent += len(news)
            progress(*step, json.dumps(document(partial_review, seats)), news)

    result = review(record, progress=note, tell=report, evaluations=evaluations)
    return json.dumps({**document(result, seats), "certainty": certainty(result)})
