"""Self-play of a bot level: how long games are, and which decisions matter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from contextlib import closing, nullcontext
from time import monotonic
from typing import Any, NamedTuple

from piste import bots
from piste.analysis.arena.chunks import Pace
from piste.analysis.arena.match import Match, Outcome
from piste.analysis.balance.estimates import Estimate, mean, points, share
from piste.analysis.balance.random_play import PlayStatistics
from piste.analysis.engine import Engine, checkpoint, open_engine
from piste.core.dealer import RandomStream
from piste.core.errors import is_interrupt
from piste.core.evaluation import ESTIMATED, EXACT, PROVEN, WITHIN, Evaluation, Progress, quiet
from piste.core.extras import solver_of
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
            points(made), drawn, mean(decisions), lengths, mean([game.turns for game in self.games]),
            payoff=mean([game.payoffs[self.first] for game in self.games], -math.inf),
        )  # fmt: skip

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
    weigh: bool = False,
    rate: float = 1.0,
    progress: Progress = quiet,
    beside: Callable[[float], None] = lambda _: None,
    engine: Engine | None = None,
) -> SelfPlayGames:
    """Let a level play itself; to `weigh` it, ask the solver about the share `rate` of the decisions.

    Ctrl-C ends it early. `beside` is told how long the solver was asked, which is no part of playing.
    """
    match = Match(game, options, (level, level), seed)
    outcomes, weighed = list[Outcome](), list[DecisionStakes]()
    try:
        match.prepare(progress)
        if weigh:
            solver_of(game, options).prepare(options, progress)
        phase = f"{bots.shown(game, level, options)} against itself"
        progress(0, games, phase)
        with open_engine() if engine is None else nullcontext(engine) as used:
            used.send_tables()
            pace = Pace(used)
            tasks = ((match, numbers, rate if weigh else 0.0) for numbers in pace.chunks(range(games)))
            with closing(used.in_order(play_itself_chunk, tasks)) as source:
                for chunk, seconds in source:
                    pace.done(len(chunk))
                    beside(seconds / used.workers)
                    for outcome, stakes in chunk:
                        outcomes.append(outcome)
                        weighed += stakes
                        progress(len(outcomes), games, phase)
    except (KeyboardInterrupt, SystemError) as e:
        if not is_interrupt(e):
            raise
    return SelfPlayGames(level, game.rules.seats(options), first, games, tuple(outcomes), tuple(weighed))


def play_itself_chunk(
    match: Match, numbers: range, rate: float
) -> tuple[list[tuple[Outcome, list[DecisionStakes]]], float]:
    """Play some games, weigh a share of their decisions, and return how long the solver was asked."""
    match.prepare()
    solver = solver_of(match.game, match.options) if rate else None
    if solver is not None:
        solver.prepare(match.options, quiet)
    games, seconds = [], 0.0
    for number in numbers:
        views: list[SeatView] = []

        def note(view: SeatView, views: list[SeatView] = views) -> None:
            checkpoint()
            views.append(view)

        outcome = match.play(number, 0, note)
        stakes: list[DecisionStakes] = []
        if solver is not None:
            choosers = (RandomStream(f"{match.seed} {number}".encode(), f"weigh {view.number}") for view in views)
            sample = [view for view, chooser in zip(views, choosers, strict=True) if chooser.fraction() < rate]
            began = monotonic()
            for view in sample:
                checkpoint()
                stakes.append(decision_stakes(match.game, view, solver))
            seconds += monotonic() - began
        games.append((outcome, stakes))
    return games, seconds


def decision_stakes(game: Game, view: SeatView, solver: Any) -> DecisionStakes:
    """Return what a seat can lose with this decision, given what it knows."""
    if len(view.actions) < 2:
        return DecisionStakes(0.0, 0.0, PROVEN, 0.0)
    evaluation: Evaluation = solver.evaluate(InformationSet.told(game, view), quiet)
    values = sorted((choice.value / 2 for choice in evaluation.choices), reverse=True)
    if len(values) < 2:  # all choices are worth the same
        return DecisionStakes(0.0, 0.0, evaluation.known, evaluation.within)
    return DecisionStakes(values[0] - values[1], values[0] - values[-1], evaluation.known, evaluation.within)
