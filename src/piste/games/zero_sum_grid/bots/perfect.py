"""Zero-Sum Grid, played as well as it can be: never lost, and won whenever the opponent goes wrong."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.zero_sum_grid.bots.steady import state_of

LINE = (
    "Never loses. Where it can win, it moves so that as many replies as can be lose, now or a few moves on. "
    "Harvest: solved."
)

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.zero_sum_grid.solver import solver

    best = solver.best_moves(state_of(view.position))
    return best[stream.below(len(best))]
