"""Prime Duel, played strongly: knows the race for every pair of scores, but not that cards run out."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView

LINE = "Weighs both scores to the end of the game, with the odds of the deck as it is, as if they stayed so."
FEEL = "Weighs both scores to the very end. Against it every turn counts."

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.prime_duel.solver import solver

    return solver.best_decision(solver.model_decisions(solver.state_of(view.position)), stream)
