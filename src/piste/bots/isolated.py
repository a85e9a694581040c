"""A bot of Python in a process of its own, where whatever it does can be ended: for bots that are not ours.

The process is kept for the bot's next game, so that its modules are loaded once. What it prints is not shown.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from time import process_time
from typing import Any, TypeVar

from piste import bots
from piste.bots.program import EXIT_TIMEOUT_S
from piste.core.dealer import RandomStream
from piste.core.errors import BotError, PisteError, UnknownNameError
from piste.core.evaluation import Progress, quiet
from piste.core.game import Game, quoted
from piste.core.views import SeatView
from piste.core.worker_process import Worker, WorkerDiedError

R = TypeVar("R")

READY_TIMEOUT_S = 60.0
"""How many seconds a bot has to be loaded and get ready for a game; more only if it has more for a decision."""
MAX_QUOTED = 200
"""How much of an error's text is told."""

_idle: defaultdict[str, list[Worker]] = defaultdict(list)
"""Processes that wait for the next game of their bot."""


def end_idle_processes() -> None:
    """End the processes that are kept for further games."""
    for workers in _idle.values():
        while workers:
            workers.pop().kill()


class IsolatedBot:
    """A seat played by a bot in its process. Whatever it does wrong raises BotError; if it hangs, it is killed."""

    def __init__(self, spec: str, game: Game, *, limit: float) -> None:
        self.name = spec
        self.seconds = 0.0
        """The CPU time of the last decision, in the other process."""
        self._game = game
        self._limit = limit
        self._worker: Worker | None = None
        self._failed: BotError | None = None

    def prepare(self, options: Any, progress: Progress) -> None:  # noqa: ARG002
        """Have the bot made. If it fails then, it is told when it has to decide; one that is not there is refused."""
        idle = _idle[self.name]
        self._worker = idle.pop() if idle else Worker()
        limit = max(READY_TIMEOUT_S, self._limit)
        try:
            self._ask(limit, f"was not ready within {limit:g} seconds", _make, self.name, self._game, options)
        except BotError as e:
            self._failed = e

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        if self._failed is not None:
            raise self._failed
        late = f"gave no answer within {self._limit:g} seconds"
        decision, self.seconds = self._ask(self._limit, late, _choose, view, stream)
        return decision

    def end(self, view: SeatView) -> None:
        if self._worker is not None and self._failed is None:
            self._ask(EXIT_TIMEOUT_S, "did not leave", _finish, view)

    def close(self) -> None:
        """Keep the process for the next game."""
        if self._worker is not None:
            _idle[self.name].append(self._worker)
            self._worker = None

    def _ask(self, limit: float, late: str, work: Callable[..., R], *args: Any) -> R:
        """Have something done by the process. It does not outlive a time limit, nor Ctrl-C."""
        if self._worker is None:
            raise BotError(f"The bot {self.name} has been ended.")
        try:
            return self._worker.submit(work, *args).result(limit)
        except PisteError as e:
            if not isinstance(e, WorkerDiedError):
                raise
            self._kill()
            raise BotError(f"The bot {self.name} ended its process.") from None
        except BaseException as e:
            self._kill()
            if isinstance(e, TimeoutError):
                raise BotError(f"The bot {self.name} {late}.") from None
            raise

    def _kill(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker = None


# In the process of the bot

_bot: bots.Bot | None = None


def _make(spec: str, game: Game, options: Any) -> None:
    global _bot  # noqa: PLW0603
    if _bot is None:
        _print_nothing()
    try:
        _bot = bots.find(spec, game, options)
        bots.prepare(_bot, options, quiet)
    except UnknownNameError:  # it is not on this machine, for one
        raise
    except BaseException as e:
        raise _failure(spec, e) from None


def _print_nothing() -> None:
    """Let what the bot prints come between no lines of the tournament."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    os.close(null)


def _choose(view: SeatView, stream: RandomStream) -> tuple[int, float]:
    """Return the decision and its CPU time."""
    if _bot is None:
        raise _gone()
    began = process_time()
    try:
        decision = _bot.choose(view, stream)
        seconds = process_time() - began
        chosen = next((action for action in view.actions if action == decision), None)
    except BaseException as e:
        raise _failure(_bot.name, e) from None
    if chosen is None:
        raise BotError(f"The bot {_bot.name} chose {quoted(repr(decision))}, which is not open.")
    return chosen, seconds


def _finish(view: SeatView) -> None:
    if _bot is None:
        raise _gone()
    try:
        bots.finish(_bot, view)
    except BaseException as e:
        raise _failure(_bot.name, e) from None


def _gone() -> BotError:
    """Return the error for a process that was started anew in the middle of a game."""
    return BotError("The bot ended its process after a decision.")


def _failure(name: str, error: BaseException) -> BotError:
    """Return what went wrong as an error that can leave the process, whatever it was."""
    if isinstance(error, PisteError):
        return BotError(str(error))
    words = " ".join(str(error).split())
    text = words if len(words) <= MAX_QUOTED else words[: MAX_QUOTED - 1] + "…"
    return BotError(f"The bot {name} raised {type(error).__name__}: {text}")
