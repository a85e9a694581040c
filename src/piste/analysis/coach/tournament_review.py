"""The coach on the games of a tournament: luck, what each decision lost, and the costliest positions.

A game is worked out again from its deal and its decisions, so reviews can be made whenever the results are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import lru_cache
from typing import Any, NamedTuple

from piste.analysis.arena.chunks import Pace
from piste.analysis.arena.plan import Plan
from piste.analysis.arena.results import DealResult, DealReview, DecisionReview, GameResult, GameReview, Results
from piste.analysis.coach import sampled_attribution
from piste.analysis.coach.attribution import RESIGNATION, Attribution, Decision, attribute
from piste.analysis.coach.evaluator import Evaluator, SamplingEvaluator, evaluator_of
from piste.analysis.coach.labels import is_choice
from piste.analysis.coach.puzzles import Puzzle
from piste.analysis.engine import Engine, checkpoint
from piste.core.dealer import Dealer
from piste.core.evaluation import ESTIMATED, EXACT, PROVEN, Progress, quiet
from piste.core.extras import need, solving
from piste.core.game import Game
from piste.core.information_set import InformationSet
from piste.core.table import Table

DIGITS = 9
"""Of losses and luck: as the results file has them, so that what is read back is the same."""


def review_tournament(results: Results, engine: Engine, progress: Progress = quiet) -> None:
    """Review what is played and not yet reviewed; with a sequential test also what came after its verdict."""
    plan = results.plan
    need(solving(plan.game, plan.options, "The review of a tournament"))
    evaluator_of(plan.game, plan.options, progress)  # fills the caches for all processes
    engine.send_tables()
    left = [results.deals[key] for key in sorted(results.deals) if key not in results.reviews]
    pace, whole = Pace(engine), len(results.deals)
    tasks = ((plan, [left[at] for at in chunk]) for chunk in pace.chunks(range(len(left))))
    progress(whole - len(left), whole, "reviewing")
    with closing(engine.results(review_chunk, tasks)) as source:
        for _, reviews in source:
            pace.done(len(reviews))
            results.add(reviews)
            progress(len(results.reviews), whole, "reviewing")


def review_chunk(plan: Plan, deals: list[DealResult]) -> list[DealReview]:
    """Review some deals; an engine calls it wherever it works."""
    return [
        DealReview(deal.lineup, deal.number, tuple(review_game(plan, deal, game) for game in deal.games))
        for deal in deals
    ]


@lru_cache(maxsize=4)
def _evaluator(game: Game, options: Any) -> Evaluator:
    return evaluator_of(game, options)


def rebuild(plan: Plan, deal: DealResult, game: GameResult, decisions: int | None = None) -> Table:
    """Return the table of a game as it ended, or after so many of its decisions."""
    dealer = Dealer(plan.deal_seed(deal.lineup, deal.number))
    table = Table(plan.game, plan.options, dealer, counts=False)
    moves, forfeits, taken = iter(game.moves), list(game.forfeits), 0
    while (seat := table.to_act) is not None and (decisions is None or taken < decisions):
        if forfeits and forfeits[0].number == table.number:
            table.resign(forfeits.pop(0).seat)
        else:
            table.decide(seat, next(moves))
            taken += 1
    return table


class EvaluatedGame(NamedTuple):
    """A finished game with what the coach says of every step."""

    table: Table
    attribution: Attribution
    luck: tuple[float, ...]  # of each seat; () where it cannot be taken off a result
    numbers: Mapping[int, int]  # which decision of the game a step is, by step

    @property
    def exact(self) -> bool:
        """Whether luck is exact, and nothing on average whoever plays."""
        known = self.attribution.known
        return bool(self.luck) and self.attribution.fair_luck and all(word in (EXACT, PROVEN) for word in known)

    def decisions(self) -> list[Decision]:
        """Return the decisions in which there was a choice."""
        return [one for one in self.attribution.decisions if is_choice(one) and one.action != RESIGNATION]


def evaluate_game(plan: Plan, deal: DealResult, game: GameResult) -> EvaluatedGame:
    """Evaluate every step of a game that was played in a tournament."""
    evaluator, table = _evaluator(plan.game, plan.options), rebuild(plan, deal, game)

    def stop_here(*_: object) -> None:
        checkpoint()

    if isinstance(evaluator, SamplingEvaluator):
        found = sampled_attribution.attribute(table, evaluator, stop_here)
        luck: tuple[float, ...] = ()  # sampled: too uncertain to take anything off a result
    else:
        found = attribute(table, evaluator, stop_here)
        luck = tuple(round(columns.luck, DIGITS) for columns in found.columns) if evaluator.evaluates_outcomes else ()
    taken = [
        isinstance(step, int) and actor >= 0 for step, actor in zip(table.history(), table.actors(), strict=True)
    ]
    return EvaluatedGame(table, found, luck, {step: sum(taken[:step]) for step in range(len(taken))})


def review_game(plan: Plan, deal: DealResult, game: GameResult) -> GameReview:
    """Review one game."""
    evaluated = evaluate_game(plan, deal, game)
    decisions = tuple(
        DecisionReview(
            evaluated.numbers[one.step], one.seat, one.view.kind, round(one.loss, DIGITS), one.evaluation.known
        )
        for one in evaluated.decisions()
    )
    return GameReview(evaluated.luck, evaluated.exact, decisions)


class Costly(NamedTuple):
    """A decision that cost an entrant much, as a puzzle."""

    entrant: int
    loss: float
    chosen: str
    puzzle: Puzzle


def costliest(results: Results, entrant: int, most: int) -> Iterator[Costly]:
    """Yield the decisions of an entrant that cost most, the worst first; values that are estimated come last."""
    plan, found, seen = results.plan, [], set[str]()
    for key in sorted(results.reviews):
        deal = results.deals[key]
        for at, (game, review) in enumerate(zip(deal.games, results.reviews[key].games, strict=True)):
            for one in review.decisions:
                if game.seats[one.seat] == entrant and one.loss > 0:
                    found.append(((one.known == ESTIMATED, -one.loss, key, at, one.number), one))
    found.sort()
    for (_, _, key, at, number), one in found:
        if len(seen) == most:
            return
        deal, game = results.deals[key], results.deals[key].games[at]
        view = rebuild(plan, deal, game, number).view(one.seat).complete()
        known = InformationSet.told(plan.game, view)
        if str(known) in seen:  # the games of a deal begin alike
            continue
        seen.add(str(known))
        evaluation = _evaluator(plan.game, plan.options).evaluate(known)
        chosen = plan.game.notation.spell(view.position, game.moves[number])[0]
        yield Costly(entrant, one.loss, chosen, Puzzle(len(seen), view, evaluation))
