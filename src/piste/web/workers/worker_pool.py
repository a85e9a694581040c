"""Bots, hints and reviews, in processes of their own: thinking must not hold up the table.

A thinker is given a seat's view and a stream of its own, and nothing else of the game; a reviewer is given the record
of a game that is over. What strong bots need first is made once, in a process apart: preparing is not thinking.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import Any, Protocol, TypeVar

from piste import bots
from piste.bots import tasks
from piste.core.dealer import Dealer
from piste.core.errors import PisteError
from piste.core.evaluation import Progress, quiet
from piste.core.game import find, names
from piste.core.views import SeatView
from piste.core.worker_process import Worker, WorkerDiedError, WorkerMemoryError
from piste.web import logging as logs
from piste.web.middleware.fair_queue import NETWORK, FairQueue

LONGEST = {False: 60.0, True: 300.0}
"""Seconds after which a thought, or a review, is given up. Preparing does not count."""

SHARE = {False: 20.0, True: 60.0}
"""Seconds after which a thought, or a review, is given up while another network waits for its turn."""

INSTANT_LEVELS = ("random", "novice", "steady")
"""Levels that answer at once, whatever the options."""

MEMORY = 1 << 30
PREPARING_MEMORY = 2 << 30
"""Bytes that a worker may take; one that needs more is given up."""

PREPARING = {False: 240.0, True: 1800.0}
"""Seconds after which preparing is given up: with options of somebody's own, and with those of the sheet."""

OFTEN = 0.5
"""Seconds between two tellings of what a review has found so far."""

AGAIN = "The game is kept: reload the page to let it try again."
READY = (1, 1, "")
"""What is told when preparing is over."""

T = TypeVar("T")

Need = tuple[str, str, Any]
"""A game, a level and options."""


class WorkersBusyError(PisteError):
    """Too many wait already."""


class WorkerTimeoutError(PisteError):
    """A thought that took too long, or whose process died."""


class PreparationTimeoutError(WorkerTimeoutError):
    """A bot that could not be made ready in time."""


class ReviewProgress(Protocol):
    """Is told how far a review is, and now and then the review as far as it goes, as JSON."""

    def __call__(self, done: int, whole: int, what: str, found: str = "", /) -> None: ...


def ignore_progress(done: int, whole: int, what: str, found: str = "", /) -> None:
    """Do nothing about how far a review is."""


class BotExecutor(Protocol):
    """Whoever thinks for a service. Progress is told while something is prepared, then once that all is ready."""

    async def choose(
        self, game: str, level: str, view: SeatView, seed: str, stream: str, progress: Progress = quiet
    ) -> int: ...
    async def hint(
        self, game: str, view: SeatView, seed: str, stream: str, progress: Progress = quiet
    ) -> tuple[str, int]: ...
    async def review(self, record: str, progress: ReviewProgress = ignore_progress) -> str: ...
    async def prepare(self, game: str, level: str, options: Any, /, progress: Progress = quiet) -> None: ...
    async def prepare_all(self) -> None: ...
    def close(self) -> None: ...


def seed_of_bots(seed: str | bytes | None) -> str:
    """Return what bots draw from: it depends on the game's seed and tells nothing of it."""
    text = seed if isinstance(seed, bytes) else repr(seed).encode()
    return blake2b(text, digest_size=32, person=b"piste bots").hexdigest()


class BotWorkers:
    """Worker processes: some that think, one that reviews, and for a while those that prepare."""

    def __init__(self, thinkers: int, most: int) -> None:
        # Who plays comes before who thinks, and who plays on before who looks back.
        self._pools = {False: WorkerPool(thinkers, most, nice=2), True: WorkerPool(1, most, nice=10)}
        # Bots that answer at once do not wait behind those that search.
        self._quick = WorkerPool(1, most, nice=1)
        self._preparations = PreparationTracker()
        self._closed = False
        self._tasks: set[asyncio.Task[Any]] = set()

    async def choose(
        self, game: str, level: str, view: SeatView, seed: str, stream: str, progress: Progress = quiet
    ) -> int:
        """Return a bot's decision."""
        need = (game, level, view.options)
        drawn = Dealer(seed).stream(stream)
        return await self._run(
            False, tasks.choose, game, level, view, drawn,
            need=need, progress=progress, quick=level in INSTANT_LEVELS,
        )  # fmt: skip

    async def hint(
        self, game: str, view: SeatView, seed: str, stream: str, progress: Progress = quiet
    ) -> tuple[str, int]:
        """Return the strongest bot's name and its decision."""
        level = bots.best(find(game), view.options, bots.BEARABLE).name
        return level, await self.choose(game, level, view, seed, stream, progress)

    async def review(self, record: str, progress: ReviewProgress = ignore_progress) -> str:
        """Return the coach's review of a finished game as JSON; how far it is, and what is judged, is told too."""
        return await self._run(True, _review, record, progress=progress, telling=True)

    async def prepare(self, game: str, level: str, options: Any, progress: Progress = quiet) -> None:
        """Make what a bot needs before its first decision, if nobody has done so yet."""
        if bots.asks_solver(level, find(game)):
            await self._preparations.made((game, level, options), progress)

    async def prepare_all(self) -> None:
        """Make what the strongest bot of each game needs with the sheet's options, one after the other."""
        for name in names():
            game = find(name)
            try:
                level = bots.best(game).name
                if bots.asks_solver(level, game):
                    await self._preparations.made((name, level, game.options()), background=True)
            except Exception as e:  # whoever needs it is told why
                logs.error("not prepared", e)

    async def _run(
        self,
        slow: bool,
        work: Callable[..., T],
        *given: Any,
        need: Need | None = None,
        progress: Progress = quiet,
        telling: bool = False,
        quick: bool = False,
    ) -> T:
        """Have something worked out; if whoever asked goes away, it is finished all the same: its worker is busy."""
        pool = self._quick if quick else self._pools[slow]
        task = asyncio.ensure_future(self._worked(pool, slow, work, given, need, progress, telling))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # perhaps nobody else asks
        return await asyncio.shield(task)

    async def _worked(
        self,
        pool: WorkerPool,
        slow: bool,
        work: Callable[..., T],
        given: tuple[Any, ...],
        need: Need | None,
        progress: Progress,
        telling: bool,
    ) -> T:
        try:
            if need is not None:
                await self.prepare(*need, progress)
            for last in (False, True):
                async with pool.worker() as worker:
                    if self._closed:
                        raise PisteError("The server stops. The game is kept: come back in a moment.")
                    try:
                        if need is not None and bots.asks_solver(need[1], find(need[0])):
                            # Here it is read from the cache; only where there is none it takes as long again.
                            await _within(PREPARING[True], worker, tasks.prepare, need, progress)
                            progress(*READY)
                        return await _within(
                            LONGEST[slow], worker, work, given, progress if telling else None,
                            share=SHARE[slow], others=pool.others_wait,
                        )  # fmt: skip
                    except WorkerDiedError:
                        if last or self._closed:
                            raise WorkerTimeoutError(f"A bot stopped in the middle of a thought. {AGAIN}") from None
                    except WorkerMemoryError:
                        worker.kill()
                        raise WorkerTimeoutError(f"A bot needed more memory than there is for one. {AGAIN}") from None
                    except TimeoutError:
                        raise WorkerTimeoutError(f"A bot took too long and was stopped. {AGAIN}") from None
            raise AssertionError("the second time returns or raises")
        except (PisteError, asyncio.CancelledError):
            raise
        except Exception as e:
            logs.error("a bot failed", e)
            raise PisteError(f"A bot failed at this. {AGAIN}") from e

    def close(self) -> None:
        self._closed = True
        for pool in (*self._pools.values(), self._quick):
            pool.close()
        self._preparations.close()


class WorkerPool:
    """Workers of one kind. Each has one piece of work at a time, so that its time begins when its work does."""

    def __init__(self, size: int, most: int, *, nice: int) -> None:
        self._most = most  # that may wait, of one network
        self._workers = [Worker(nice=nice, memory=MEMORY) for _ in range(size)]
        self._idle = list(self._workers)
        self._turns = FairQueue(size)
        self._working: Counter[str] = Counter()  # by network: that wait for a worker, or for their work to be done

    @property
    def all_busy(self) -> bool:
        return self._turns.locked

    @property
    def waiting(self) -> int:
        """How many wait for a worker, or for their work to be done."""
        return self._working.total()

    def others_wait(self) -> bool:
        """Whether another network waits than the one that this is worked out for."""
        return self._turns.others_wait(NETWORK.get())

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[Worker]:
        """Lend a worker, as soon as one is free and it is this network's turn."""
        network = NETWORK.get()
        if self._working[network] >= self._most:
            raise WorkersBusyError("The bots here are very busy. Wait a moment; the game is kept.")
        self._working[network] += 1
        try:
            async with self._turns.slot(network):
                worker = self._idle.pop()
                try:
                    yield worker
                finally:
                    self._idle.append(worker)
        finally:
            self._working[network] -= 1
            if not self._working[network]:
                del self._working[network]

    def close(self) -> None:
        for worker in self._workers:
            worker.kill()


class PreparationTracker:
    """What strong bots need before their first decision: made once, kept in the cache, read by every worker."""

    def __init__(self) -> None:
        self._made: set[Need] = set()
        self._making: dict[Need, asyncio.Task[None]] = {}
        self._latest: dict[Need, tuple[int, int, str]] = {}
        self._told: dict[Need, list[Progress]] = {}
        # In the background, wanted with the sheet's options, and wanted with others: one process for each.
        self._lanes = {lane: FairQueue(1) for lane in ("background", "usual", "own")}
        self._workers: set[Worker] = set()

    async def made(self, need: Need, progress: Progress = quiet, *, background: bool = False) -> None:
        """Return when it is there; whoever else waits for the same is told the same."""
        if need in self._made:
            return
        if need not in self._making:
            self._making[need] = asyncio.ensure_future(self._make(need, background=background))
            self._making[need].add_done_callback(lambda done: done.cancelled() or done.exception())
        listening = self._told.setdefault(need, [])
        listening.append(progress)
        progress(*self._latest.get(need, (0, 1, "")))
        try:
            await asyncio.shield(self._making[need])
        finally:
            listening.remove(progress)

    async def _make(self, need: Need, *, background: bool) -> None:
        game, _, options = need
        usual = options == find(game).options()
        lane = "background" if background else "usual" if usual else "own"
        try:
            async with self._lanes[lane].slot(NETWORK.get()):
                worker = Worker(nice=15 if background else 5, memory=PREPARING_MEMORY)
                self._workers.add(worker)
                try:
                    await _within(PREPARING[usual], worker, tasks.prepare, need, lambda *how: self._tell(need, how))
                finally:
                    self._workers.discard(worker)
                    worker.kill()
            self._made.add(need)
        except TimeoutError:
            raise PreparationTimeoutError(f"A bot could not be made ready in time. {AGAIN}") from None
        except (WorkerDiedError, WorkerMemoryError):
            raise PreparationTimeoutError(f"A bot stopped while it was made ready. {AGAIN}") from None
        finally:
            self._making.pop(need, None)
            self._latest.pop(need, None)
            self._told.pop(need, None)

    def _tell(self, need: Need, how: tuple[int, int, str]) -> None:
        self._latest[need] = how
        for told in self._told.get(need, ()):
            told(*how)

    def close(self) -> None:
        for worker in self._workers:
            worker.kill()


async def _within(
    seconds: float,
    worker: Worker,
    work: Callable[..., T],
    given: tuple[Any, ...],
    progress: Progress | None,
    *,
    share: float = math.inf,
    others: Callable[[], bool] = lambda: False,
) -> T:
    """Return what a worker finds; one that takes longer than this, or than its share while others wait, is ended."""
    loop = asyncio.get_running_loop()
    began = loop.time()

    def tell(*how: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the server has stopped
            loop.call_soon_threadsafe(progress or quiet, *how)

    future = worker.submit(work, *given, progress=None if progress is None else tell)
    found = asyncio.wrap_future(future)
    try:
        while True:
            left = max(0.0, began + seconds - loop.time())
            await asyncio.wait({found}, timeout=left if math.isinf(share) else min(1.0, left))
            spent = loop.time() - began
            if found.done():
                return found.result()
            if spent >= seconds or (spent >= share and others()):
                raise TimeoutError
    except TimeoutError:
        worker.kill()
        raise
    finally:
        found.add_done_callback(lambda done: done.cancelled() or done.exception())


# In the worker


def _review(record: str, progress: ReviewProgress = ignore_progress) -> str:
    import json
    from time import monotonic

    from piste.analysis.coach.attribution import Decision, Walk
    from piste.analysis.coach.review import begun, certainty, document, review
    from piste.core.record import Record

    read = Record.parse(record)
    empty, _ = begun(read)
    seats = tuple(range(len(empty.names)))
    judged: list[Decision] = []
    far, last = (0, 1, ""), 0.0

    def note(done: int, whole: int, what: str) -> None:
        nonlocal far
        far = done, whole, what
        progress(*far)

    def tell(decision: Decision, chances: tuple[tuple[float, ...], ...]) -> None:
        nonlocal last
        judged.append(decision)
        if monotonic() - last >= OFTEN:  # where decisions are judged by the hundred, not each is worth a message
            last = monotonic()
            progress(
                *far, json.dumps(document(empty._replace(walk=Walk(tuple(judged), chances, (), (), 0.0)), seats))
            )

    found = review(read, progress=note, tell=tell)
    return json.dumps({**document(found, seats), "certainty": certainty(found)})
