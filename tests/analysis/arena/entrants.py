"""Bots of Python for tournaments, found as `tests.analysis.arena.entrants:NAME`."""

from __future__ import annotations

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
