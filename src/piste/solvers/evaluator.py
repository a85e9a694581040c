"""The coach's evaluator of a game that has no solver of its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from piste.core.errors import PisteError
from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.game import Game
from piste.core.information_set import InformationSet
from piste.core.views import SeatView
from piste.solvers import ismcts
from piste.solvers.solution import GraphSolution
from piste.solvers.solver import GameSolver
from piste.solvers.solver import of as solver_of
from piste.solvers.tree import estimate

REVIEW_PASSES = 1_000_000
"""Of all searches for one review together."""

MIN_PASSES = 5_000


@cache
def of(game: Game) -> Evaluators:
    """Return what makes evaluators for a game."""
    return Evaluators(game)


class Evaluators:
    """What a game's `solver/evaluator.py` offers as a module, for one game that has none."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def Evaluator(self, options: Any, progress: Progress = quiet) -> Any:  # noqa: N802 a class in a game's own module
        """Return the evaluator: exact or within a bound between two where the game is solved, else by samples."""
        solver = solver_of(self.game)
        solver.prepare(options, progress)
        solution = solver.whole(options).solution
        if self.game.rules.seats(options) != 2:
            return SamplingEvaluator(solver)
        if not estimate(self.game, self.game.rules.start(options)).zero_sum:
            raise PisteError(
                f"{self.game.notation.TITLE} is no zero-sum game: what one player loses the other need not win. The "
                "coach accounts for two players only where it is."
            )
        return SamplingEvaluator(solver) if solution is None else SolvedEvaluator(solver, solution)


class SolvedEvaluator:
    """Looks everything up in the solution."""

    def __init__(self, solver: GameSolver, solution: Any) -> None:
        self._solver = solver
        # By construction a thing that a seat can know is worth the mean of what may come next, so that outcomes need
        # not be evaluated; where nothing is hidden they are, and luck is then fair whoever plays.
        self.evaluates_outcomes = isinstance(solution, GraphSolution)

    def evaluate(self, known: InformationSet) -> Evaluation:
        return self._solver.evaluate(known)

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        return known.belief.states


class SamplingEvaluator:
    """Searches, for a share of the time of a review; what is small enough is solved."""

    evaluates_outcomes = False

    def __init__(self, solver: GameSolver) -> None:
        self._solver, self._passes = solver, ismcts.EVALUATION_PASSES

    def set_budget(self, decisions: int, others: int) -> None:
        self._passes = min(ismcts.EVALUATION_PASSES, max(MIN_PASSES, REVIEW_PASSES // max(1, decisions + others)))

    def evaluate(self, known: InformationSet) -> Evaluation:
        return self._solver.evaluate(known, quiet, self._passes)

    def evaluate_view(self, view: SeatView, chosen: int | None = None) -> Evaluation:  # noqa: ARG002
        return self.evaluate(InformationSet.told(self._solver.game, view))

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        return known.belief.states

    def parts(self, states: list[Any]) -> list[tuple[int, int, tuple[float, ...]]]:
        """Return the whole game as one part, with what each seat got of what can be won and lost."""
        rules, last = self._solver.game.rules, states[-1]
        scale = ismcts.scale_of(self._solver.game, last.options)
        seats = range(rules.seats(last.options))
        results = tuple((1 + scale.value(rules.payoff(last, seat))) / 2 for seat in seats)
        return [(0, len(states) - 1, results)]
