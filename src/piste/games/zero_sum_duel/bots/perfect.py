"""Zero Sum Duel, played perfectly: the equilibrium mix, worked out from the seat's own log."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.evaluation import Evaluation
from piste.core.views import SeatView

LINE = "Plays the solution: the equilibrium mix of discards; where the size is not solved, the best estimate."

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.zero_sum_duel.solver import solver

    return sample_action(solver.evaluate(solver.since_shared(view)), stream)


def sample_action(evaluation: Evaluation, stream: RandomStream) -> int:
    """Sample a decision from the mix."""
    return evaluation.choices[stream.weighted([choice.mix for choice in evaluation.choices])].action
