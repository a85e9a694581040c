"""Self-play of a bot level: how long games are, and which decisions matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from piste import bots
from piste.analysis.balance.estimates import Estimate, mean, points, share
from piste.analysis.balance.random_play import PlayStatistics
from piste.core.dealer import Dealer, RandomStream
from piste.core.errors import is_interrupt
from piste.core.evaluation import ESTIMATED, EXACT, PROVEN, WITHIN, Evaluation, Progress, quiet
from piste.core.game import Game
from piste.core.information_set import InformationSet
from piste.core.table import Table
from piste.core.views import SeatView

MIN_STAKES = 0.01
"""A decision matters if a worse choice would cost more than this chance to win: one point."""

ORDER = (PROVEN, EXACT, WITHIN, ESTIMATED)


class DecisionStakes(NamedTuple):
    """What depends on one decision, in chances to win."""

    second: float  # between the best choice and the next best
    worst: float  # between the best choice and the worst
    known: str
    within: float


class SelfPlayGame(NamedTuple):
    """One game."""

    winner: int | None
    decisions: int
    turns: int
    stakes: tuple[DecisionStakes, ...]


class SelfPlayGames(NamedTuple):
    """Games of a level against itself."""

    level: str
    seats: int
    first: int  # the seat that begins
    asked: int
    games: tuple[SelfPlayGame, ...]

    @property
    def stopped(self) -> bool:
        return len(self.games) < self.asked

    def statistics(self) -> PlayStatistics:
        made = Counter(1 / self.seats if g.winner is None else float(g.winner == self.first) for g in self.games)
        drawn = share(sum(game.winner is None for game in self.games), len(self.games))
        decisions = [game.decisions for game in self.games]
        lengths = {length: float(n) for length, n in sorted(Counter(decisions).items())}
        return PlayStatistics(
            points(made), drawn, mean(decisions), lengths, mean([game.turns for game in self.games])
        )

    def stakes(self) -> StakesSummary | None:
        """Return how many decisions matter, or None if the solver was asked about none."""
        stakes = [decision for game in self.games for decision in game.stakes]
        if not stakes:
            return None
        known = max((decision.known for decision in stakes), key=ORDER.index)
        slip = share(sum(decision.worst > MIN_STAKES for decision in stakes), len(stakes))
        single = share(sum(decision.second > MIN_STAKES for decision in stakes), len(stakes))
        costs = mean([decision.worst for decision in stakes])
        return StakesSummary(self.level, slip, single, costs, known, max(decision.within for decision in stakes))


class StakesSummary(NamedTuple):
    """How much depends on a decision, over all games of a level."""

    level: str  # who played the games
    slip: Estimate  # the share of decisions at which the worst choice costs more than a point
    single: Estimate  # the share at which even the second best does
    costs: Estimate  # what the worst choice costs on average, in chances to win
    known: str  # how the least certain of the evaluations is known
    within: float  # and by how much it may be off


def play_itself(
    game: Game,
    options: Any,
    level: str,
    games: int,
    seed: str,
    *,
    first: int = 0,
    solver: Any = None,
    rate: float = 1.0,
    progress: Progress = quiet,
    beside: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> SelfPlayGames:
    """Let a level play itself; with a solver, ask it about the share `rate` of the decisions. Ctrl-C ends it early.

    The solver is asked within the context `beside`, so that its time can be told from that of the games.
    """
    played: list[SelfPlayGame] = []
    seats = game.rules.seats(options)
    try:
        players = [bots.find(level, game, options) for _ in range(seats)]
        bots.prepare(players[0], options, progress)
        if solver is not None:
            solver.prepare(options, progress)
        phase = f"{bots.shown(game, level, options)} against itself"
        progress(0, games, phase)
        for deal in range(games):
            played.append(_play(game, options, players, f"{seed} {deal}", solver, rate, beside))
            progress(deal + 1, games, phase)
    except (KeyboardInterrupt, SystemError) as e:
        if not is_interrupt(e):
            raise
    return SelfPlayGames(level, seats, first, games, tuple(played))


def _play(
    game: Game, options: Any, players: list[bots.Bot], seed: str, solver: Any, rate: float,
    beside: Callable[[], AbstractContextManager[None]],
) -> SelfPlayGame:  # fmt: skip
    """Play one game, dealt as a match with that seed would deal it."""
    dealer = Dealer(seed)
    table = Table(game, options, dealer, counts=False)
    stakes: list[DecisionStakes] = []
    decisions = changes = 0
    last = None
    while (seat := table.to_act) is not None:
        view = table.view(seat)
        if solver is not None and RandomStream(seed.encode(), f"weigh {view.number}").fraction() < rate:
            with beside():
                stakes.append(decision_stakes(game, view, solver))
        table.decide(seat, players[seat].choose(view, dealer.stream(bots.stream_name(view))), view.number)
        decisions += 1
        changes += seat != last
        last = seat
    ending = table.ending()
    assert ending is not None
    # A game that counts its turns says how many there were; elsewhere a turn is what one seat decides in a row.
    turns = getattr(table.view().position, "turns", changes)
    return SelfPlayGame(ending.winner, decisions, turns, tuple(stakes))


def decision_stakes(game: Game, view: SeatView, solver: Any) -> DecisionStakes:
    """Return what a seat can lose with this decision, given what it knows."""
    if len(view.actions) < 2:
        return DecisionStakes(0.0, 0.0, PROVEN, 0.0)
    evaluation: Evaluation = solver.evaluate(InformationSet.told(game, view), quiet)
    values = sorted((choice.chances.value / 2 for choice in evaluation.choices), reverse=True)
    if len(values) < 2:  # all choices are worth the same
        return DecisionStakes(0.0, 0.0, evaluation.known, evaluation.within)
    return DecisionStakes(values[0] - values[1], values[0] - values[-1], evaluation.known, evaluation.within)
