"""Self-play of a bot level: how long games are, and which decisions matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from piste import bots
from piste.analysis.arena.match import Match, Outcome
from piste.analysis.balance.estimates import Estimate, mean, points, share
from piste.analysis.balance.random_play import PlayStatistics
from piste.core.dealer import RandomStream
from piste.core.errors import is_interrupt
from piste.core.evaluation import ESTIMATED, EXACT, PROVEN, WITHIN, Evaluation, Progress, quiet
from piste.core.game import Game
from piste.core.information_set import InformationSet
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


class SelfPlayGames(NamedTuple):
    """Games of a level against itself."""

    level: str
    seats: int
    first: int  # the seat that begins
    asked: int
    games: tuple[Outcome, ...]
    weighed: tuple[DecisionStakes, ...]

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
        if not self.weighed:
            return None
        known = max((decision.known for decision in self.weighed), key=ORDER.index)
        slip = share(sum(decision.worst > MIN_STAKES for decision in self.weighed), len(self.weighed))
        single = share(sum(decision.second > MIN_STAKES for decision in self.weighed), len(self.weighed))
        costs = mean([decision.worst for decision in self.weighed])
        return StakesSummary(self.level, slip, single, costs, known, max(one.within for one in self.weighed))


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
    match = Match(game, options, (level, level), seed)
    outcomes, weighed = list[Outcome](), list[DecisionStakes]()
    try:
        match.prepare(progress)
        if solver is not None:
            solver.prepare(options, progress)
        phase = f"{bots.shown(game, level, options)} against itself"
        progress(0, games, phase)
        for deal in range(games):
            views: list[SeatView] = []
            outcome = match.play(deal, 0, views.append)
            if solver is not None:
                choosers = (RandomStream(f"{seed} {deal}".encode(), f"weigh {view.number}") for view in views)
                sample = [view for view, chooser in zip(views, choosers, strict=True) if chooser.fraction() < rate]
                with beside():
                    weighed += [decision_stakes(game, view, solver) for view in sample]
            outcomes.append(outcome)
            progress(deal + 1, games, phase)
    except (KeyboardInterrupt, SystemError) as e:
        if not is_interrupt(e):
            raise
    return SelfPlayGames(level, game.rules.seats(options), first, games, tuple(outcomes), tuple(weighed))


def decision_stakes(game: Game, view: SeatView, solver: Any) -> DecisionStakes:
    """Return what a seat can lose with this decision, given what it knows."""
    if len(view.actions) < 2:
        return DecisionStakes(0.0, 0.0, PROVEN, 0.0)
    evaluation: Evaluation = solver.evaluate(InformationSet.told(game, view), quiet)
    values = sorted((choice.chances.value / 2 for choice in evaluation.choices), reverse=True)
    if len(values) < 2:  # all choices are worth the same
        return DecisionStakes(0.0, 0.0, evaluation.known, evaluation.within)
    return DecisionStakes(values[0] - values[1], values[0] - values[-1], evaluation.known, evaluation.within)
