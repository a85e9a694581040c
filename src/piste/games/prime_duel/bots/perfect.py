"""Prime Duel, played as well as it can be: the solver's best decision."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView

LINE = "Exact at the start and the end of a deck; in between by a formula fitted to the full solution, cards ahead."

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.prime_duel.solver import solver

    return solver.best_decision(solver.decisions(solver.state_of(view.position)), stream)
