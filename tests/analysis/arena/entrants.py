"""Bots of Python for tournaments, found as `tests.analysis.arena.entrants:NAME`."""

from __future__ import annotations

import os
import signal
import sys
import threading
from time import process_time

from piste import bots
from piste.core.dealer import RandomStream
from piste.core.errors import PisteError
from piste.core.game import Game
from piste.core.views import SeatView

HERE = __name__


class Last:
    """Takes the last decision that is open."""

    name = "last"

    def __init__(self, game: Game) -> None: ...

    def choose(self, view: SeatView, stream: RandomStream) -> int:  # noqa: ARG002
        return view.actions[-1]

    def close(self) -> None: ...


class Raises(Last):
    """Fails at its second decision."""

    asked = 0

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        self.asked += 1
        if self.asked == 2:
            raise ZeroDivisionError("by nothing")
        return super().choose(view, stream)


class Illegal(Last):
    """Answers with what is no decision."""

    def choose(self, view: SeatView, stream: RandomStream) -> int:  # noqa: ARG002
        return -7


class Sleeps(Last):
    """Never answers, and needs no time for it."""

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        threading.Event().wait()
        return super().choose(view, stream)


class Loops(Last):
    """Never answers, and is busy with it."""

    def choose(self, view: SeatView, stream: RandomStream) -> int:  # noqa: ARG002
        while True:
            pass


class SleepsAtTheEnd(Last):
    """Plays well, and hangs when it is told how the game ended."""

    def end(self, view: SeatView) -> None:  # noqa: ARG002
        threading.Event().wait()


class SleepsWhenMade(Last):
    """Can be made here, but hangs where it is made for a game."""

    def __init__(self, game: Game) -> None:
        if "pytest" not in sys.modules:
            threading.Event().wait()
        super().__init__(game)


class DiesFirst(Last):
    """Ends its process at its first decision."""

    def choose(self, view: SeatView, stream: RandomStream) -> int:  # noqa: ARG002
        os._exit(3)


class DiesLast(Last):
    """Is killed at one of its last decisions."""

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        if view.position.left <= 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().choose(view, stream)


class DiesBetween(Last):
    """Has its process ended by a thread, while it answers or a little later."""

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        threading.Thread(target=os._exit, args=(3,)).start()
        return super().choose(view, stream)


class Leaves(Last):
    """Thinks that it may end the program."""

    def choose(self, view: SeatView, stream: RandomStream) -> int:  # noqa: ARG002
        sys.exit("enough")


class Interrupts(Last):
    """Looks like Ctrl-C."""

    def choose(self, view: SeatView, stream: RandomStream) -> int:  # noqa: ARG002
        raise KeyboardInterrupt


class Prints(Last):
    """Prints megabytes, and raises an error with as many."""

    def choose(self, view: SeatView, stream: RandomStream) -> int:  # noqa: ARG002
        print("x" * 5_000_000, flush=True)
        print("x" * 5_000_000, file=sys.stderr, flush=True)
        raise ValueError("y" * 5_000_000)


class Busy(Last):
    """Takes a known time of the processor, not of the clock."""

    seconds = 0.02

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        end = process_time() + self.seconds
        while process_time() < end:
            pass
        return super().choose(view, stream)


class Noisy(Last):
    """`steady`, but a share of its decisions is random. It draws first, so its luck is another than steady's."""

    share = 0.0

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._bot = bots.find("steady", game)

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        if stream.fraction() < self.share:
            return view.actions[stream.below(len(view.actions))]
        return self._bot.choose(view, stream)


class Noisy30(Noisy):
    share = 0.3


def no_bot(game: Game) -> object:
    return game.name


def refuses(game: Game) -> object:
    raise PisteError(f"I do not play {game.name}.")
