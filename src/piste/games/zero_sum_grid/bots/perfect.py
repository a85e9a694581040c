"""Zero-Sum Grid, played as well as it can be: never lost, and won whenever the opponent goes wrong."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.zero_sum_grid.bots.steady import state_of
from piste.games.zero_sum_grid.rules import ANY, HARVEST, Options

LINE = "Never loses. Where it can win, it moves so that as many replies as can be lose, now or a few moves on."

ASKS_SOLVER = True


def line(options: Options) -> str:
    if options.variant != HARVEST:
        return LINE
    return "Plays the solution, where the grid has one in reach." if options.deal == ANY else "Plays the solution."


def feel(options: Options) -> str:
    if options.variant == HARVEST:
        return ""  # as in other games
    return "Never loses, and sets traps a few moves ahead. Not to lose is the most that you can reach."


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.zero_sum_grid.solver import solver

    best = solver.best_moves(state_of(view.position))
    return best[stream.below(len(best))]
