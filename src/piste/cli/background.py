"""Heavy work at the terminal: in a worker process, with a bar that moves, and Ctrl-C that is clean at any moment."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import ExitStack
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from piste import bots
from piste.bots import tasks
from piste.cli.progress_bar import ProgressBar
from piste.core.dealer import RandomStream
from piste.core.errors import PisteError
from piste.core.evaluation import Progress, quiet
from piste.core.game import Game
from piste.core.interrupts import Interrupts
from piste.core.views import SeatView
from piste.core.worker_process import Worker, WorkerDiedError

T = TypeVar("T")

LOOK = 0.1
"""Seconds between two looks at how far the work is and whether somebody wants to stop it."""

QUICK = 0.4
"""Seconds of work of which nothing is said."""

GENTLE = 5.0
"""Seconds in which work that can end early may do so before it is ended."""

_worker = Worker()
_latest: dict[Future[Any], tuple[Any, ...]] = {}


def begin(function: Callable[..., T], *arguments: Any) -> Future[T]:
    """Have a function called in the worker, after whatever was begun before; go on meanwhile."""
    told: list[Future[T]] = []

    def tell(*how: Any) -> None:
        if told:
            _latest[told[0]] = how

    future = _worker.submit(function, *arguments, progress=tell)
    told.append(future)
    return future


class Saying(NamedTuple):
    """What a person is told of some work."""

    what: str  # before anything is told of its progress
    first: str = ""  # before the bar, where the work does not say itself what it does
    head: str = ""  # before what the work says itself
    stopped: str = ""  # once it was stopped
    before: float | None = None  # the part done before, if the work tells of all its phases together

    def of(self, doing: str) -> str:
        return f"{self.head}{doing}" if doing else self.first or self.what


def finish(future: Future[T], saying: Saying, *, gently: bool = False) -> T:
    """Return what comes of something begun; Ctrl-C ends the wait and the work, and is raised when all is in order.

    Work that is stopped `gently` may still return what it has.
    """
    began = monotonic()
    ending = 0.0
    with Interrupts() as interrupts, ExitStack() as shown:
        bar: ProgressBar | None = None
        while not future.done():
            wait_for([future], LOOK)
            if bar is None and monotonic() - began > QUICK:
                bar = shown.enter_context(ProgressBar(saying.what, saying.before))
            done, whole, doing = _latest.get(future, (0, 0, ""))
            if bar is not None:
                bar(done, whole, "stopping" if ending else saying.of(doing))
            if interrupts.came and gently and not ending:
                interrupts.came, ending = False, monotonic() + GENTLE
                _worker.interrupt()
            if interrupts.came or 0 < ending < monotonic():
                _worker.kill()
                interrupts.came = False
                raise KeyboardInterrupt(saying.stopped)
        _latest.pop(future, None)
        try:
            return future.result()
        except KeyboardInterrupt:
            raise KeyboardInterrupt(saying.stopped) from None
        except WorkerDiedError:
            raise PisteError(
                "The process that worked on this ended early, perhaps for want of memory. Try it again."
            ) from None


def work(saying: Saying, function: Callable[..., T], *arguments: Any, gently: bool = False) -> T:
    """Return what a function finds in the worker."""
    with Interrupts():
        future = begin(function, *arguments)
    return finish(future, saying, gently=gently)


def preparing(whom: str, game: Game) -> str:
    """Return what stands before the bar while something is made that will be kept."""
    return f"Preparing {whom} for {game.notation.TITLE}, first time only"


class WorkerBot:
    """One of our own strong bots, which decides in the worker as it would here."""

    def __init__(self, game: Game, level: str) -> None:
        self.name = level
        self._game = game
        self._options: Any = None
        self._ready: Future[None] | None = None

    def prepare(self, options: Any, progress: Progress = quiet) -> None:
        """Begin to make what the first decision needs: the game can begin meanwhile."""
        if self._ready is None or options != self._options or died(self._ready):
            self._options = options
            self._ready = begin(tasks.prepare, self._game.name, self.name, options)
        progress(1, 1, "")

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        with Interrupts():
            self.prepare(view.options)
        assert self._ready is not None
        shown = bots.shown(self._game, self.name, view.options)
        finish(self._ready, Saying(f"{shown} gets ready", preparing(shown, self._game)))
        return work(Saying(f"{shown} is thinking"), tasks.choose, self._game.name, self.name, view, stream)

    def close(self) -> None:
        pass


def died(future: Future[Any]) -> bool:
    return future.done() and isinstance(future.exception(), WorkerDiedError)
