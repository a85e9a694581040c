"""What a bot is: something that takes a seat, is given the seat's view, and answers with one of its decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from piste.core.dealer import RandomStream
from piste.core.evaluation import Progress
from piste.core.views import SeatView

Prepare = Callable[[Any, Progress], None]
Choose = Callable[[SeatView, RandomStream], int]


class Bot(Protocol):
    """A seat that decides by itself. It knows what its seat knows and nothing else."""

    name: str

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        """Return one of `view.actions`. Whatever the bot leaves to chance it draws from the stream.

        The stream is a fresh one for each decision, called `stream_name(view)`: so a bot that keeps nothing in mind
        between decisions goes on the same when a game is taken up again.
        """

    def close(self) -> None:
        """Let go of whatever the bot holds. May be called at any time, and more than once."""


class Plain:
    """A bot that is one function: nothing to remember, nothing to close; perhaps something to make ready before."""

    def __init__(self, name: str, choose: Choose, prepare: Prepare | None = None) -> None:
        self.name = name
        self._choose = choose
        self._prepare = prepare

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        return self._choose(view, stream)

    def prepare(self, options: Any, progress: Progress) -> None:
        """Load or compute what the first decision needs, so that it comes as quickly as the others."""
        if self._prepare is not None:
            self._prepare(options, progress)

    def close(self) -> None:
        pass


def stream_name(view: SeatView) -> str:
    """Return the name of the stream that belongs to the decision now open."""
    return f"bot {view.seat} {view.number}"


def finish(bot: Bot, view: SeatView) -> None:
    """Tell a bot how its game ended, if it has an `end(view)` that wants to know, and close it."""
    try:
        end = getattr(bot, "end", None)
        if end is not None:
            end(view)
    finally:
        bot.close()
