"""The task `piste/games`: whole games against a level, in pairs, each deal from every seat."""

from __future__ import annotations

from typing import Any, NamedTuple

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from piste import bots
from piste.analysis.arena.game_play import Forfeit, finished
from piste.analysis.arena.plan import Plan
from piste.analysis.arena.results import GameResult, game_document, read_game
from piste.analysis.coach.evaluator import evaluator_of
from piste.bots.model import RETRIES
from piste.core.dealer import Dealer
from piste.core.game import counted
from piste.core.table import Table
from piste.evals.grading import grade_game, make_plan
from piste.evals.make_task import make_task, unfinished
from piste.evals.metrics import summary
from piste.evals.seat import AskedDecision, ModelSeat, asked_facts
from piste.evals.settings import (
    MAX_DEALS,
    VARIED,
    Settings,
    Size,
    Words,
    number,
    read_opponent,
    read_settings,
    refusals,
)
from piste.evals.work import decide, run_elsewhere

PLAYED = "piste_game"
"""Where a sample keeps the game that was played: with it the log can be graded anew."""


class Seating(NamedTuple):
    """One game of a task: a deal, and the seat of the model."""

    plan: Plan
    size: Size
    deal: int
    seat: int

    @property
    def order(self) -> tuple[int, ...]:
        """The entrant in each seat: 0 is the model."""
        return tuple(int(seat != self.seat) for seat in range(self.plan.seats))

    @property
    def name(self) -> str:
        return f"{self.size.label}/{self.deal}/{self.plan.game.seat_name(self.seat)}"


@task
def games(
    game: Words = "prime-duel",
    opponent: str = "steady",
    deals: int = 20,
    options: Words = None,
    sizes: str = "default",
    legal: str = "shown",
    rules: str = "full",
    notation: str = "words",
    memory: str = "log",
    retries: int = RETRIES,
    twice: int = 10,
    seed: Words = "piste",
    max_cost: float | None = None,
) -> Task:
    """Whole games of a model against a level, graded by what each decision cost.

    Args:
        game: A game, several with commas between them, or all.
        opponent: The level that it plays against: random, novice, steady, strong or perfect.
        deals: How many deals of each game; each is played once from every seat.
        options: Options of the game, such as top=7,target=30.
        sizes: default, varied (drawn from the seed, against memorising) or both.
        legal: Whether prompts list the decisions that are open: shown or hidden.
        rules: How much of the rules is told: full, short or none.
        notation: How a position is written: words, position or json.
        memory: What is told of the game so far: log or view (only what is seen now).
        retries: How often it is asked again after a fault, with the reason.
        twice: How many of a hundred prompts are asked twice, uncached, for the noise floor.
        seed: The same seed, the same deals.
        max_cost: Dollars after which nothing more is asked.
    """
    with refusals():
        settings = read_settings(
            game=game, options=options, sizes=sizes, retries=retries, twice=twice, seed=seed, max_cost=max_cost,
            legal=legal, rules=rules, notation=notation, memory=memory,
        )  # fmt: skip
        level, many = read_opponent(opponent, settings), number("deals", deals, 1, MAX_DEALS)
        solve_first(settings)
        seatings = {one.name: one for one in all_seatings(settings, level, many)}
    samples = [sample(one, level) for one in seatings.values()]
    return make_task("piste/games", samples, play_game(seatings, level, ModelSeat(settings)), grade(seatings, level))


def solve_first(settings: Settings) -> None:
    """Solve the sizes that were drawn before a model is asked anything; what is kept on disk serves all processes."""
    for size in settings.sizes:
        if size.sizes == VARIED:
            evaluator_of(size.game, size.options)


def all_seatings(settings: Settings, level: str, deals: int) -> list[Seating]:
    """Return every game: so many deals with the usual options, and as many shared among the sizes that were drawn."""
    found = []
    for size in settings.sizes:
        plan, own = make_plan(size, level, deals, settings.seed), settings.own_share(size, deals)
        found += [Seating(plan, size, deal, seat) for deal in own for seat in range(plan.seats)]
    return found


def sample(one: Seating, level: str) -> Sample:
    """Return the sample of a game; what the model is asked comes while it is played."""
    seat = one.plan.game.seat_name(one.seat)
    return Sample(
        id=one.name,
        input=f"{one.size.label}: deal {one.deal}, the model is Player {seat} against {level}.",
        metadata=facts(one, level),
    )


def facts(one: Seating, level: str) -> dict[str, Any]:
    own = {"opponent": level, "deal": one.deal, "seat": one.seat, "seats": one.plan.seats}
    return {**one.size.facts, **own}


@solver
def play_game(seatings: dict[str, Seating], level: str, seat: ModelSeat) -> Solver:
    """Play the game of a sample to its end."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        one = seatings[str(state.sample_id)]
        result, asked = await played(one, level, seat)
        state.store.set(PLAYED, {"game": game_document(result), "asked": [ask.document for ask in asked]})
        return state

    return solve


async def played(one: Seating, level: str, seat: ModelSeat) -> tuple[GameResult, list[AskedDecision]]:
    """Play a game. If the model gives no decision it forfeits the game at that moment, which is a loss."""
    plan = one.plan
    dealer = Dealer(plan.deal_seed(0, one.deal))
    table = Table(plan.game, plan.options, dealer, counts=False)
    asked: list[AskedDecision] = []
    forfeits: list[Forfeit] = []
    taken = 0
    while (actor := table.to_act) is not None:
        view = table.view(actor).complete()
        stream = bots.stream_name(view)
        if actor != one.seat:
            action = await decide(plan.game.name, level, view, dealer.stream(stream))
        elif len(view.actions) == 1:
            action = view.actions[0]
        else:
            asked.append(await seat.decide(view, dealer, stream, taken))
            chosen = asked[-1].action
            if chosen is None:
                forfeits.append(
                    Forfeit(actor, table.number, "no decision: " + ", ".join(asked[-1].document["faults"]))
                )
                table.resign(actor)
                continue
            action = chosen
        table.decide(actor, action, view.number)
        taken += 1
    return GameResult.of(one.order, finished(table, (), forfeits)), asked


@scorer(metrics=[summary()])
def grade(seatings: dict[str, Seating], level: str) -> Scorer:
    """Grade a game by what each decision of the model cost."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        one = seatings[str(state.sample_id)]
        kept: dict[str, Any] | None = state.store.get(PLAYED)
        if kept is None:
            return unfinished(facts(one, level))
        result, asked = read_game(kept["game"]), kept["asked"]
        graded = await run_elsewhere(grade_game, one.plan, one.deal, result)
        by_number = {ask["number"]: ask for ask in asked}
        for decision in graded["decisions"]:
            decision.update(by_number.get(decision["number"], {}))
        points = result.points(one.seat)
        outcome = {"points": points, "turns": result.turns}
        metadata = {**facts(one, level), **graded, **outcome, **asked_facts(asked)}
        ended = {1.0: "won", 0.0: "lost"}.get(points, "drawn")
        return Score(value=points, answer=ended, explanation=explained(metadata), metadata=metadata)

    return score


def explained(metadata: dict[str, Any]) -> str:
    """Return what the grade of a game says, in a line."""
    known = [one for one in metadata["decisions"] if one["known"] != "estimated"]
    lost = 100 * sum(one["loss"] for one in known)
    parts = [f"{counted(len(known), 'graded decision')} lost {lost:.2f} points of winning chance together"]
    if len(known) < len(metadata["decisions"]):
        parts.append(f"{len(metadata['decisions']) - len(known)} more have estimated values only")
    if metadata["forfeit"]:
        parts.append(f"the game was forfeited ({metadata['forfeit']})")
    return "; ".join(parts) + "."
