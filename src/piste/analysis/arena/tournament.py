"""Tournaments: all deals of a plan are played by an engine, in any order, and the results are kept as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from typing import Any

from piste.analysis.arena.chunks import Pace
from piste.analysis.arena.game_play import play_game
from piste.analysis.arena.plan import Plan
from piste.analysis.arena.results import DealResult, GameResult, Results
from piste.analysis.arena.sprt import SequentialTest
from piste.analysis.engine import Engine, checkpoint
from piste.bots.isolated import end_idle_processes
from piste.core.evaluation import Progress, quiet

Tell = Callable[[Results], None]
"""Called with the results so far after each chunk; it may raise KeyboardInterrupt."""


def play_tournament(results: Results, engine: Engine, progress: Progress = quiet, tell: Tell | None = None) -> None:
    """Play what is not yet played. With a sequential test it ends as soon as the question is settled."""
    plan = results.plan
    plan.prepare(progress)  # refuses bots that cannot play, and fills the caches for all processes
    engine.send_tables()
    pace = Pace(engine)
    whole = sum(plan.deals)
    test = None if plan.sprt is None else SequentialTest(plan.sprt)
    if test is not None and test.take(pair_scores(results, 0)):
        return
    tasks = ((plan, lineup, numbers) for lineup, numbers in _chunks(results, pace))
    progress(len(results.deals), whole, "playing")
    try:
        with closing(engine.results(play_chunk, tasks)) as source:
            for _, deals in source:
                pace.done(len(deals))
                results.add(deals)
                progress(len(results.deals), whole, "playing")
                if tell is not None:
                    tell(results)
                if test is not None and test.take(pair_scores(results, 0, test.pairs.n)):
                    return
    finally:
        end_idle_processes()


def _chunks(results: Results, pace: Pace) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield chunks of deals that are not played: of the lineup of which the smallest part has been handed out."""
    plan = results.plan
    left = [
        [number for number in range(deals) if (lineup, number) not in results.deals]
        for lineup, deals in enumerate(plan.deals)
    ]
    handed = [plan.deals[lineup] - len(numbers) for lineup, numbers in enumerate(left)]
    while waiting := [lineup for lineup, numbers in enumerate(left) if numbers]:
        lineup = min(waiting, key=lambda one: (handed[one] / plan.deals[one], one))
        size = pace.next_size(sum(map(len, left)))
        chunk, left[lineup] = left[lineup][:size], left[lineup][size:]
        handed[lineup] += len(chunk)
        yield lineup, tuple(chunk)


def play_chunk(plan: Plan, lineup: int, numbers: tuple[int, ...]) -> list[DealResult]:
    """Play some deals of a lineup; an engine calls it wherever it works."""
    _prepare_once(plan)
    return [play_deal(plan, lineup, number) for number in numbers]


_prepared: set[tuple[str, Any, tuple[str, ...]]] = set()


def _prepare_once(plan: Plan) -> None:
    """Let our bots get ready when this process plays its first chunk; others do it before each game, elsewhere."""
    key = (plan.game.name, plan.options, tuple(entrant.spec for entrant in plan.entrants))
    if key not in _prepared:
        plan.prepare(ours=True)
        _prepared.add(key)


def play_deal(plan: Plan, lineup: int, number: int) -> DealResult:
    """Play one deal from every order of the seats."""
    seed, games = plan.deal_seed(lineup, number), []
    for order in plan.orders(lineup):
        specs = [plan.entrants[entrant].spec for entrant in order]
        played = play_game(plan.game, plan.options, specs, seed, lambda _: checkpoint(), plan.limit)
        games.append(GameResult.of(order, played))
    return DealResult(lineup, number, tuple(games))


def pair_scores(results: Results, lineup: int, first: int = 0) -> Iterator[float]:
    """Yield what the first entrant of a lineup of two got from each deal, from 0 to 2, up to one that is missing.

    Deals are taken in their order, whatever order they were played in: so a test stops at the same one everywhere.
    """
    entrant = results.plan.lineups[lineup][0]
    for number in count(first):
        deal = results.deals.get((lineup, number))
        if deal is None:
            return
        yield deal.points(entrant)[0]
