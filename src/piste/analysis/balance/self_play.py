"""Games of a level against itself, followed decision by decision: how long they are, and which decisions matter."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from piste import bots
from piste.analysis.balance.estimates import Estimate, mean, share
from piste.analysis.balance.random_play import Spread, counted
from piste.core.dealer import Dealer, RandomStream
from piste.core.errors import is_interrupt
from piste.core.evaluation import ESTIMATED, EXACT, PROVEN, WITHIN, Evaluation, Progress, quiet
from piste.core.game import Game
from piste.core.information_set import InformationSet
from piste.core.table import Table
from piste.core.views import SeatView

MATTERS = 0.01
"""A decision matters if a worse choice would cost more than this chance to win: one point."""

ORDER = (PROVEN, EXACT, WITHIN, ESTIMATED)


class Weighed(NamedTuple):
    """What a decision was about, in chances to win."""

    second: float  # between the best choice and the next best
    worst: float  # between the best choice and the worst
    known: str
    within: float


class Played(NamedTuple):
    """One game."""

    winner: int | None
    decisions: int
    turns: int
    weighed: tuple[Weighed, ...]


class Traced(NamedTuple):
    """Games of a level against itself."""

    level: str
    seats: int
    first: int  # the seat that begins
    asked: int
    games: tuple[Played, ...]

    @property
    def stopped(self) -> bool:
        return len(self.games) < self.asked

    def spread(self) -> Spread:
        made = [1 / self.seats if g.winner is None else float(g.winner == self.first) for g in self.games]
        drawn = sum(game.winner is None for game in self.games)
        return counted(made, drawn, [g.decisions for g in self.games], [g.turns for g in self.games])

    def matter(self) -> Matter | None:
        """Return how many decisions matter, or None if none was weighed."""
        weighed = [found for game in self.games for found in game.weighed]
        if not weighed:
            return None
        known = max((found.known for found in weighed), key=ORDER.index)
        slip = share(sum(found.worst > MATTERS for found in weighed), len(weighed))
        single = share(sum(found.second > MATTERS for found in weighed), len(weighed))
        costs = mean([found.worst for found in weighed])
        return Matter(self.level, slip, single, costs, known, max(found.within for found in weighed))


class Matter(NamedTuple):
    """How much hangs on a decision."""

    level: str  # who played the games
    slip: Estimate  # the share of decisions at which the worst choice costs more than a point
    single: Estimate  # the share at which even the second best does
    costs: Estimate  # what the worst choice costs on average, in chances to win
    known: str  # how the least sure of the verdicts is known
    within: float  # and by how much it may be off


def trace(
    game: Game,
    options: Any,
    level: str,
    games: int,
    seed: str,
    *,
    first: int = 0,
    solver: Any = None,
    rate: float = 0.0,
    progress: Progress = quiet,
    beside: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Traced:
    """Let a level play itself; with a solver, ask it about this part of the decisions. Ctrl-C ends it early.

    The solver is asked within `beside`, for whoever wants to know how long the games alone take.
    """
    found: list[Played] = []
    seats = game.rules.seats(options)
    try:
        players = [bots.find(level, game, options) for _ in range(seats)]
        bots.prepare(players[0], options, progress)
        if solver is not None and rate:
            solver.prepare(options, progress)
        told = f"{bots.shown(game, level, options)} against itself"
        progress(0, games, told)
        for deal in range(games):
            found.append(_play(game, options, players, f"{seed} {deal}", solver, rate, beside))
            progress(deal + 1, games, told)
    except (KeyboardInterrupt, SystemError) as e:
        if not is_interrupt(e):
            raise
    return Traced(level, seats, first, games, tuple(found))


def _play(
    game: Game, options: Any, players: list[bots.Bot], seed: str, solver: Any, rate: float,
    beside: Callable[[], AbstractContextManager[None]],
) -> Played:  # fmt: skip
    """Play one game, dealt as a match with that seed would deal it."""
    dealer = Dealer(seed)
    table = Table(game, options, dealer, counts=False)
    weighed: list[Weighed] = []
    decisions = changes = 0
    last = None
    while (seat := table.to_act) is not None:
        view = table.view(seat)
        if rate and RandomStream(seed.encode(), f"weigh {view.number}").fraction() < rate:
            with beside():
                weighed.append(weigh(game, view, solver))
        table.decide(seat, players[seat].choose(view, dealer.stream(bots.stream_name(view))), view.number)
        decisions += 1
        changes += seat != last
        last = seat
    ending = table.ending()
    assert ending is not None
    # A game that counts its turns says how many there were; elsewhere a turn is what one seat decides in a row.
    turns = getattr(table.view().position, "turns", changes)
    return Played(ending.winner, decisions, turns, tuple(weighed))


def weigh(game: Game, view: SeatView, solver: Any) -> Weighed:
    """Say what a seat can lose with this decision, by what it knows."""
    if len(view.actions) < 2:
        return Weighed(0.0, 0.0, PROVEN, 0.0)
    verdict: Evaluation = solver.evaluate(InformationSet.told(game, view), quiet)
    worths = sorted((choice.chances.value / 2 for choice in verdict.choices), reverse=True)
    if len(worths) < 2:  # all that is open comes to the same
        return Weighed(0.0, 0.0, verdict.known, verdict.within)
    return Weighed(worths[0] - worths[1], worths[0] - worths[-1], verdict.known, verdict.within)
