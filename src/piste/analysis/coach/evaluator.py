"""Who judges a game for the coach: its solver, with the help of its room's `judge.py` where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.extras import solver_of
from piste.core.game import Game
from piste.core.information_set import InformationSet
from piste.core.views import SeatView


class Evaluator(Protocol):
    """Says what a seat's knowledge is worth, and how likely it makes what it cannot see."""

    imagines: bool  # whether it is quick enough to judge every card that might have come

    def evaluate(self, known: InformationSet) -> Evaluation:
        """Return what this knowledge is worth to its seat."""

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        """Return how likely each state is to this seat; asked before all that chance may bring is judged."""


@runtime_checkable
class SamplingEvaluator(Evaluator, Protocol):
    """A judge that needs time for each moment, and takes as much as it is given."""

    def share_out(self, decisions: int, others: int) -> None:
        """Take so much time for each moment that so many decisions and other moments can be judged."""

    def verdict_of(self, view: SeatView, chosen: int | None = None) -> Evaluation:
        """Return what a view is worth to its seat; most care is taken with the best and the chosen decision."""

    def parts(self, states: list[Any]) -> list[tuple[int, int, int]]:
        """Return what is judged by itself, as (first moment, last moment, winner)."""


class SolverEvaluator:
    """The judge of a game that needs no other: its solver as it is, and chance alone for what is hidden."""

    imagines = True

    def __init__(self, solver: Any) -> None:
        self._solver = solver

    def evaluate(self, known: InformationSet) -> Evaluation:
        return cast("Evaluation", self._solver.evaluate(known))

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        return known.belief.states


def evaluator_of(game: Game, options: Any, progress: Progress = quiet, purpose: str = "A review") -> Evaluator:
    """Return who judges a game with these options, made ready."""
    solver = solver_of(game, options, purpose)
    if game.evaluator is not None:
        return cast("Evaluator", game.evaluator.Evaluator(options, progress))
    solver.prepare(options, progress)
    return SolverEvaluator(solver)


def chance(verdict: Evaluation) -> float:
    """Return a verdict as a winning chance, a draw as half a win."""
    return (1 + verdict.chances.value) / 2
