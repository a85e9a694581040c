"""Long work at the terminal: in a worker process, with a progress bar, and Ctrl-C that is clean at any moment."""

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

POLL_INTERVAL_S = 0.1
BAR_DELAY_S = 0.4  # quicker work shows no bar
STOP_GRACE_S = 5.0  # in which work that can return early may do so before it is killed

_worker = Worker()
_latest: dict[Future[Any], tuple[Any, ...]] = {}


def begin(function: Callable[..., T], *arguments: Any) -> Future[T]:
    """Call a function in the worker, after whatever was begun before, without waiting for it."""
    futures: list[Future[T]] = []  # progress may be reported before `submit` returns

    def report(*progress: Any) -> None:
        if futures:
            _latest[futures[0]] = progress

    futures.append(_worker.submit(function, *arguments, progress=report))
    return futures[0]


class WorkMessages(NamedTuple):
    """What a person is told of some work."""

    start: str  # before it reports any progress
    unnamed: str = ""  # before the bar, while the work does not name its phase
    prefix: str = ""  # before the name of a phase
    stopped: str = ""  # once it was stopped
    done_before: float | None = None  # the part done before, if the progress is that of all phases together

    def label(self, phase: str, total: int) -> str:
        """Return what stands before the bar; `total` is 0 while the work has reported nothing."""
        if phase:
            return f"{self.prefix}{phase}"
        return self.unnamed if self.unnamed and total else self.start


def finish(future: Future[T], messages: WorkMessages, *, gently: bool = False) -> T:
    """Wait for the result of work that was begun; Ctrl-C ends the wait and the work, and is raised afterwards.

    Work that is stopped `gently` may still return what it has.
    """
    start = monotonic()
    deadline = 0.0  # 0.0 until the work was asked to end
    with Interrupts() as interrupts, ExitStack() as stack:
        bar: ProgressBar | None = None
        while not future.done():
            wait_for([future], POLL_INTERVAL_S)
            if bar is None and monotonic() - start > BAR_DELAY_S:
                bar = stack.enter_context(ProgressBar(messages.start, messages.done_before))
            done, total, phase = _latest.get(future, (0, 0, ""))
            if bar is not None:
                bar(done, total, "stopping" if deadline else messages.label(phase, total))
            if interrupts.came and gently and not deadline:
                interrupts.came, deadline = False, monotonic() + STOP_GRACE_S
                _worker.interrupt()
            if interrupts.came or 0 < deadline < monotonic():
                _worker.kill()
                interrupts.came = False
                raise KeyboardInterrupt(messages.stopped)
        _latest.pop(future, None)
        try:
            return future.result()
        except KeyboardInterrupt:
            raise KeyboardInterrupt(messages.stopped) from None
        except WorkerDiedError:
            raise PisteError(
                "The process that worked on this ended early, perhaps because memory ran out. Try it again."
            ) from None


def work(messages: WorkMessages, function: Callable[..., T], *arguments: Any, gently: bool = False) -> T:
    """Call a function in the worker and return its result."""
    with Interrupts():
        future = begin(function, *arguments)
    return finish(future, messages, gently=gently)


def preparing(what: str, game: Game) -> str:
    """Return what stands before the bar while something is computed that is cached afterwards."""
    return f"Preparing {what} for {game.notation.TITLE}, first time only"


class WorkerBot:
    """A built-in bot that asks a solver: it decides in the worker as it would here."""

    def __init__(self, game: Game, level: str) -> None:
        self.name = level
        self._game = game
        self._options: Any = None
        self._ready: Future[None] | None = None

    def prepare(self, options: Any, progress: Progress = quiet) -> None:
        """Begin to compute what the first decision needs; the game can begin meanwhile."""
        if self._ready is None or options != self._options or died(self._ready):
            self._options = options
            self._ready = begin(tasks.prepare, self._game.name, self.name, options)
        progress(1, 1, "")

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        with Interrupts():
            self.prepare(view.options)
        assert self._ready is not None
        name = bots.shown(self._game, self.name, view.options)
        unnamed = preparing(name, self._game)
        finish(self._ready, WorkMessages(f"{name} gets ready", unnamed))
        # A decision may compile something too; then it says how far it is.
        messages = WorkMessages(f"{name} is thinking", unnamed)
        return work(messages, tasks.choose, self._game.name, self.name, view, stream)

    def close(self) -> None:
        pass


def died(future: Future[Any]) -> bool:
    return future.done() and isinstance(future.exception(), WorkerDiedError)
