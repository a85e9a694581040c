"""Evaluators for the coach: a game's `solver/evaluator.py` where there is one, else its solver as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

from piste.core.evaluation import Choice, Evaluation, Progress, quiet
from piste.core.extras import solver_of
from piste.core.game import Game
from piste.core.information_set import InformationSet
from piste.core.views import SeatView


class Evaluator(Protocol):
    """Gives the value of an information set, and the probabilities of its states."""

    evaluates_outcomes: bool  # whether it is fast enough to evaluate every outcome of a chance node

    def evaluate(self, known: InformationSet) -> Evaluation:
        """Return the value of an information set to its seat."""

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        """Return the probability of each state; called before the outcomes of a chance node are evaluated."""


@runtime_checkable
class SamplingEvaluator(Evaluator, Protocol):
    """An evaluator whose precision depends on the time that it has for each step."""

    def set_budget(self, decisions: int, others: int) -> None:
        """Share out the time budget among this many decisions and other steps."""

    def evaluate_view(self, view: SeatView, chosen: int | None = None) -> Evaluation:
        """Return the value of a view to its seat; the best and the chosen decision get the most samples."""

    def parts(self, states: list[Any]) -> list[tuple[int, int, tuple[float, ...]]]:
        """Return the parts that are evaluated separately, as (first step, last step, what each seat got of a win)."""


class SolverEvaluator:
    """The default evaluator: the solver, with hidden cards as likely as chance alone makes them."""

    evaluates_outcomes = True

    def __init__(self, solver: Any) -> None:
        self._solver = solver

    def evaluate(self, known: InformationSet) -> Evaluation:
        return cast("Evaluation", self._solver.evaluate(known))

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        return known.belief.states


def evaluator_of(game: Game, options: Any, progress: Progress = quiet, purpose: str = "A review") -> Evaluator:
    """Return the evaluator of a game with these options, prepared."""
    solver = solver_of(game, options, purpose)
    if game.evaluator is not None:
        return cast("Evaluator", game.evaluator.Evaluator(options, progress))
    solver.prepare(options, progress)
    return SolverEvaluator(solver)


def chance(worth: Evaluation | Choice) -> float:
    """Return an evaluation, or that of a choice, as a winning chance, a draw as half a win.

    Where a game pays other amounts, it is the expected payoff, brought into 0 to 1 by the largest.
    """
    return (1 + worth.value) / 2
