"""The task `piste/decisions`: single positions out of games between bots, graded by what the answer costs."""

from __future__ import annotations

from typing import Any, NamedTuple

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from piste import bots
from piste.analysis.coach.puzzles import LEVELS, Puzzle
from piste.analysis.coach.review_cache import cached_puzzle
from piste.bots.model import RETRIES, prompt_messages
from piste.core.dealer import Dealer
from piste.core.errors import OptionError
from piste.core.game import Game, quoted
from piste.evals.grading import grade_decision
from piste.evals.make_task import make_task, unfinished
from piste.evals.metrics import summary
from piste.evals.seat import ModelSeat, asked_facts
from piste.evals.settings import Settings, Size, Words, number, read_settings, refusals

ALL_LEVELS = "all"
MAX_POSITIONS = 10_000
ASKED = "piste_decision"


class PositionAsked(NamedTuple):
    """One position of a task."""

    size: Size
    level: str
    number: int
    puzzle: Puzzle

    @property
    def name(self) -> str:
        return f"{self.size.label}/{self.level}/{self.number}"


@task
def decisions(
    game: Words = "all",
    positions: int = 10,
    level: str = ALL_LEVELS,
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
    """Single positions in which one decision is best, graded by what the answer costs in chances to win.

    Args:
        game: A game, several with commas between them, or all.
        positions: How many positions of each game.
        level: easy, medium or hard, by how much the best decision is better than the next; or all.
        options: Options of the game, such as top=7,target=30.
        sizes: default, varied (drawn from the seed, against memorising) or both.
        legal: Whether prompts list the decisions that are open: shown or hidden.
        rules: How much of the rules is told: full, short or none.
        notation: How a position is written: words, position or json.
        memory: What is told of the game so far: log or view (only what is seen now).
        retries: How often it is asked again after a fault, with the reason.
        twice: How many of a hundred prompts are asked twice, uncached, for the noise floor.
        seed: The same seed, the same positions.
        max_cost: Dollars after which nothing more is asked.
    """
    with refusals():
        settings = read_settings(
            game=game, options=options, sizes=sizes, retries=retries, twice=twice, seed=seed, max_cost=max_cost,
            legal=legal, rules=rules, notation=notation, memory=memory,
        )  # fmt: skip
        found = {
            one.name: one for one in find_positions(settings, number("positions", positions, 1, MAX_POSITIONS), level)
        }
    samples = [sample(one, settings) for one in found.values()]
    solver = decide_once(found, ModelSeat(settings), settings.seed)
    return make_task("piste/decisions", samples, solver, grade(found))


def find_positions(settings: Settings, positions: int, level: str) -> list[PositionAsked]:
    """Return the positions: those of a game are shared among its sizes and levels."""
    if level != ALL_LEVELS and level not in LEVELS:
        raise OptionError(f"level cannot be {quoted(level)}: it is {', '.join(LEVELS)} or {ALL_LEVELS}.")
    found: list[PositionAsked] = []
    for size in settings.sizes:
        levels = levels_of(size.game) if level == ALL_LEVELS else (level,)
        wanted = [levels[at % len(levels)] for at in settings.own_share(size, positions)]
        numbers = dict.fromkeys(levels, 0)
        while wanted:
            one = wanted.pop(0)
            numbers[one] += 1
            try:
                puzzle = cached_puzzle(size.game, size.options, settings.seed, numbers[one], one)
            except OptionError:
                if level != ALL_LEVELS or levels == (one,):
                    raise
                levels = tuple(other for other in levels if other != one)  # this size has none so hard, or so easy
                wanted = [
                    levels[at % len(levels)] if other == one else other for at, other in enumerate([one, *wanted])
                ]
                continue
            found.append(PositionAsked(size, one, numbers[one], puzzle))
    return found


def levels_of(game: Game) -> tuple[str, ...]:
    return tuple(getattr(game.explain, "PUZZLE_LEVELS", LEVELS))


def sample(one: PositionAsked, settings: Settings) -> Sample:
    puzzle = one.puzzle
    best = puzzle.evaluation.best.action
    return Sample(
        id=one.name,
        input=prompt_messages(puzzle.view, settings.style),
        target=one.size.game.notation.spell(puzzle.view.position, best)[0],
        metadata=facts(one),
    )


def facts(one: PositionAsked) -> dict[str, Any]:
    return {**one.size.facts, "level": one.level, "position": one.number}


@solver
def decide_once(found: dict[str, PositionAsked], seat: ModelSeat, seed: str) -> Solver:
    """Ask for the decision of a sample."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        one = found[str(state.sample_id)]
        view = one.puzzle.view
        asked = await seat.decide(view, Dealer(f"{seed} {one.name}"), bots.stream_name(view), 0)
        state.store.set(ASKED, asked.document)
        return state

    return solve


@scorer(metrics=[summary()])
def grade(found: dict[str, PositionAsked]) -> Scorer:
    """Grade a decision by what it costs. One that was not given has no cost, is not the best one, and is a fault."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        one = found[str(state.sample_id)]
        asked: dict[str, Any] | None = state.store.get(ASKED)
        if asked is None:
            return unfinished(facts(one))
        graded = []
        if asked["action"] is not None:
            document = grade_decision(one.puzzle.view, one.puzzle.evaluation, asked["action"])
            graded.append({**document, **asked})
        metadata = {**facts(one), "decisions": graded, **asked_facts([asked])}
        if not graded:
            why = f"No decision: {', '.join(asked['faults'])}."
            return Score(value=float("nan"), explanation=why, metadata=metadata)
        why = f"{graded[0]['told']} loses {100 * graded[0]['loss']:.2f} points ({graded[0]['known']})."
        return Score(value=graded[0]["loss"], answer=graded[0]["decision"], explanation=why, metadata=metadata)

    return score
