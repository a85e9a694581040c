"""One game between bots: played to its end, with the CPU time of every decision and what was forfeited.

The forfeit rule: an entrant that is no bot of ours and does not answer within the time limit, dies, breaks the
protocol, raises an error or takes a decision that is not open resigns the game at that moment (G3). At a table for
two the other player wins; at a larger one the others play on. The next game is played as if nothing had happened.
So bots that are not ours play in processes of their own, which can be killed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import groupby
from time import process_time
from typing import Any, NamedTuple

from piste import bots
from piste.bots import Plain
from piste.bots.isolated import IsolatedBot
from piste.bots.program import LineBot
from piste.core.dealer import Dealer, RandomStream
from piste.core.errors import BotError, PisteError
from piste.core.evaluation import quiet
from piste.core.game import Game
from piste.core.table import Table
from piste.core.views import SeatView

BeforeDecision = Callable[[SeatView], object]
"""Called with the view before every decision; it may raise."""


class Time(NamedTuple):
    """The CPU time of a player's decisions."""

    decisions: int = 0
    seconds: float = 0.0
    worst: float = 0.0

    def __add__(self, other: object) -> Time:
        assert isinstance(other, Time)
        worst = max(self.worst, other.worst)
        return Time(self.decisions + other.decisions, self.seconds + other.seconds, worst)

    @property
    def mean(self) -> float:
        return self.seconds / self.decisions if self.decisions else 0.0

    @staticmethod
    def of(seconds: Sequence[float]) -> Time:
        return Time(len(seconds), sum(seconds), max(seconds, default=0.0))


class Forfeit(NamedTuple):
    """A seat that resigned because its bot failed."""

    seat: int
    number: int  # of the decision that it owed
    why: str


class Played(NamedTuple):
    """One finished game."""

    winner: int | None  # a seat, or None for a draw
    began: int | None  # the seat that decided first; None if the deal alone ended the game
    rounds: tuple[int, ...]  # won by each seat, where a game has rounds
    turns: int
    moves: tuple[int, ...]  # every decision, in order; with the seed they are the whole game
    spent: tuple[tuple[int, float], ...]  # the seat and the CPU time of each decision
    forfeits: tuple[Forfeit, ...] = ()
    payoffs: tuple[int, ...] = ()


def play_out(
    table: Table,
    dealer: Dealer,
    players: Sequence[bots.Bot],
    before: BeforeDecision | None = None,
    spent: list[tuple[int, float]] | None = None,
) -> list[tuple[int, float]]:
    """Let bots play to the end, and return the seat and the CPU time of each decision, after those in `spent`."""
    spent = [] if spent is None else spent
    while (seat := table.to_act) is not None:
        view = table.view(seat).complete()
        if before is not None:
            before(view)
        stream = dealer.stream(bots.stream_name(view))
        began = process_time()
        decision = players[seat].choose(view, stream)
        spent.append((seat, process_time() - began + getattr(players[seat], "seconds", 0.0)))
        table.decide(seat, decision, view.number)
    return spent


def play_game(
    game: Game,
    options: Any,
    specs: Sequence[str],
    seed: str,
    before: BeforeDecision | None = None,
    limit: float | None = None,
) -> Played:
    """Play one game, with these bots in the seats.

    With a time limit for each decision, in seconds, a bot that fails forfeits the game; without one its error is
    raised.
    """
    dealer = Dealer(seed)
    table = Table(game, options, dealer, counts=False)
    forfeits: list[Forfeit] = []
    seated: list[bots.Bot] = []
    try:
        for spec in specs:
            seated.append(bots.find(spec, game, options) if limit is None else _guarded(spec, game, options, limit))
            if not isinstance(seated[-1], Plain):  # a bot of the package is prepared once for all games
                bots.prepare(seated[-1], options, quiet)
        spent: list[tuple[int, float]] = []
        while True:
            try:
                play_out(table, dealer, seated, before, spent)
                break
            except ForfeitError as e:
                seat = table.to_act
                assert seat is not None
                forfeits.append(Forfeit(seat, table.number, str(e)))
                table.resign(seat)
        for seat, bot in enumerate(seated):
            bots.finish(bot, table.view(seat))
    finally:
        for bot in seated:
            bot.close()
    return finished(table, spent, forfeits)


def finished(table: Table, spent: Sequence[tuple[int, float]], forfeits: Sequence[Forfeit]) -> Played:
    """Return what a game that is over came to."""
    ending, position = table.ending(), table.view().position
    assert ending is not None
    # A game that counts its turns says how many there were; elsewhere a turn is what one seat decides in a row.
    deciders = [actor for actor in table.actors() if actor >= 0]
    turns = getattr(position, "turns", len(list(groupby(deciders))))
    rounds = tuple(getattr(position, "wins", ()))[: table.seats]
    steps = zip(table.history(), table.actors(), strict=True)
    moves = tuple(step for step, actor in steps if actor >= 0 and isinstance(step, int))
    began = deciders[0] if deciders else None
    return Played(ending.winner, began, rounds, turns, moves, tuple(spent), tuple(forfeits), ending.payoffs)


class ForfeitError(BotError):
    """A bot that is not ours failed, and forfeits its game."""


class _Guarded:
    """A bot that is not ours: whatever it does wrong is `ForfeitError`."""

    def __init__(self, bot: LineBot | IsolatedBot) -> None:
        self.name, self._bot = bot.name, bot

    @property
    def seconds(self) -> float:
        """The CPU time of its last decision, as far as it is known."""
        return getattr(self._bot, "seconds", 0.0)

    def prepare(self, options: Any, progress: Any) -> None:
        bots.prepare(self._bot, options, progress)

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        try:
            return self._bot.choose(view, stream)
        except PisteError as e:
            raise ForfeitError(str(e)) from e

    def end(self, view: SeatView) -> None:
        with suppress(PisteError):  # the game is over: what a bot makes of that changes nothing
            self._bot.end(view)

    def close(self) -> None:
        self._bot.close()


def _guarded(spec: str, game: Game, options: Any, limit: float) -> bots.Bot:
    """Return a bot, and one that is not ours such that it can be ended and only ever loses its own game."""
    if bots.is_own(spec, game):
        return bots.find(spec, game, options)
    bot = bots.find(spec, game, options, limit=limit) if bots.is_program(spec) else None
    return _Guarded(bot if isinstance(bot, LineBot) else IsolatedBot(spec, game, limit=limit))
