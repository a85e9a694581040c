"""Bots, hints and reviews, in processes of their own: thinking must not hold up the table.

A thinker is given a seat's view and a stream of its own, and nothing else of the game; a reviewer is given the record
of a game that is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache, lru_cache
from hashlib import blake2b
from multiprocessing import connection
from typing import Any, Protocol, TypeVar, cast

from piste.core.errors import PisteError
from piste.core.views import SeatView
from piste.web import logs

LONGEST = {False: 60.0, True: 300.0}
"""Seconds after which a thought, or a review, is given up: a first one may have to compile and to solve first."""

AGAIN = "The game is kept: reload the page to let it try again."

T = TypeVar("T")


class Busy(PisteError):
    """Too many wait already."""


class Tired(PisteError):
    """A thought that took too long, or whose process died."""


class Thinking(Protocol):
    """Whoever thinks for a hall."""

    async def choose(self, game: str, level: str, view: SeatView, seed: str, stream: str) -> int: ...
    async def hint(self, game: str, view: SeatView, seed: str, stream: str) -> tuple[str, int]: ...
    async def review(self, record: str) -> str: ...
    def close(self) -> None: ...


def seed_of_bots(seed: str | bytes | None) -> str:
    """Return what bots draw from: it depends on the game's seed and tells nothing of it."""
    text = seed if isinstance(seed, bytes) else repr(seed).encode()
    return blake2b(text, digest_size=32, person=b"piste bots").hexdigest()


class Minds:
    """Worker processes: some that think, one that reviews."""

    def __init__(self, thinkers: int, most: int) -> None:
        self._thinkers = thinkers
        self._most = most
        self._waiting = {False: 0, True: 0}  # whoever looks back must not keep those waiting who play
        self._pools: dict[bool, ProcessPoolExecutor] = {}
        self._closed = False
        self._tasks: set[asyncio.Task[Any]] = set()
        # A thought is handed over only when somebody is free, so that its time begins when its work does.
        self._free = {False: asyncio.Semaphore(thinkers), True: asyncio.Semaphore(1)}

    async def choose(self, game: str, level: str, view: SeatView, seed: str, stream: str) -> int:
        """Return a bot's decision."""
        return await self._run(False, _choose, game, level, view, seed, stream)

    async def hint(self, game: str, view: SeatView, seed: str, stream: str) -> tuple[str, int]:
        """Return the strongest bot's name and its decision."""
        return await self._run(False, _hint, game, view, seed, stream)

    async def review(self, record: str) -> str:
        """Return the coach's review of a finished game as JSON."""
        return await self._run(True, _review, record)

    async def _run(self, slow: bool, work: Callable[..., T], *given: Any) -> T:
        """Have something worked out; if whoever asked goes away, it is finished all the same: its worker is busy."""
        task = asyncio.ensure_future(self._worked(slow, work, *given))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # perhaps nobody else asks
        return await asyncio.shield(task)

    async def _worked(self, slow: bool, work: Callable[..., T], *given: Any) -> T:
        if self._waiting[slow] >= self._most:
            raise Busy("The bots here are very busy. Wait a moment; the game is kept.")
        self._waiting[slow] += 1
        try:
            for last in (False, True):
                try:
                    async with self._free[slow]:
                        if self._closed:
                            raise PisteError("The server stops. The game is kept: come back in a moment.")
                        pool = self._pool(slow)
                        async with asyncio.timeout(LONGEST[slow]):
                            found, refused = await asyncio.wrap_future(pool.submit(_told, work, *given))
                    if refused:
                        raise PisteError(refused)
                    return cast("T", found)
                except (BrokenProcessPool, asyncio.CancelledError):
                    task = asyncio.current_task()
                    if task is not None and task.cancelling():
                        raise  # nobody waits for it any more; else it was dropped with another's thought
                    self._drop(slow, pool)
                    if last:
                        raise Tired(f"A bot stopped in the middle of a thought. {AGAIN}") from None
                except TimeoutError:
                    self._drop(slow, pool)
                    raise Tired(f"A bot took too long and was stopped. {AGAIN}") from None
            raise AssertionError("the second time returns or raises")
        except (PisteError, asyncio.CancelledError):
            raise
        except Exception as e:
            logs.trouble("a bot failed", e)
            raise PisteError(f"A bot failed at this. {AGAIN}") from e
        finally:
            self._waiting[slow] -= 1

    def _pool(self, slow: bool) -> ProcessPoolExecutor:
        if slow not in self._pools:
            ways = multiprocessing.get_all_start_methods()
            context = multiprocessing.get_context("forkserver" if "forkserver" in ways else "spawn")
            workers = 1 if slow else self._thinkers
            self._pools[slow] = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(slow,))
        return self._pools[slow]

    def _drop(self, slow: bool, pool: ProcessPoolExecutor) -> None:
        """Let go of processes that died or hang; the next thought starts new ones."""
        if self._pools.get(slow) is not pool:
            return
        del self._pools[slow]
        _end(pool)

    def close(self) -> None:
        self._closed = True
        for pool in self._pools.values():
            _end(pool)
        self._pools.clear()


def _end(pool: ProcessPoolExecutor) -> None:
    processes = list((pool._processes or {}).values())  # those that hang do not end by themselves
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        with contextlib.suppress(OSError, ValueError):
            process.kill()


# In the worker


def _begin(slow: bool) -> None:
    """Get a worker ready: it ends with its server, even one that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(10 if slow else 2)  # who plays comes before who thinks, and who plays on before who looks back


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(0)


def _told(work: Callable[..., Any], *given: Any) -> tuple[Any, str]:
    """Return what came of it, or the sentence of a refusal: refusals themselves do not all travel well."""
    try:
        return work(*given), ""
    except PisteError as e:
        return None, str(e)


@cache
def _bot(game: str, level: str) -> Any:
    from piste import bots
    from piste.core.game import find

    return bots.find(level, find(game)) if level else bots.best(find(game))


@lru_cache(maxsize=256)
def _prepared(game: str, level: str, options: Any) -> Any:
    """Return a bot that is ready for a game with these options."""
    from piste import bots
    from piste.core.verdict import quiet

    bot = _bot(game, level)
    bots.prepare(bot, options, quiet)
    return bot


def _choose(game: str, level: str, view: SeatView, seed: str, stream: str) -> int:
    from piste.core.dealer import Dealer

    return int(_prepared(game, level, view.options).choose(view, Dealer(seed).stream(stream)))


def _hint(game: str, view: SeatView, seed: str, stream: str) -> tuple[str, int]:
    return str(_bot(game, "").name), _choose(game, "", view, seed, stream)


def _review(record: str) -> str:
    import json

    from piste.coach.review import certainty, document, review
    from piste.core.record import Record

    found = review(Record.parse(record))
    seats = tuple(range(len(found.names)))
    return json.dumps({**document(found, seats), "certainty": certainty(found)})
