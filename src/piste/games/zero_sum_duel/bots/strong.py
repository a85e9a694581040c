"""Zero Sum Duel, played strongly: sees to the end of the next deck, unless it is in a hurry."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.zero_sum_duel.bots import steady
from piste.games.zero_sum_duel.bots.perfect import drawn_from

LINE = "Sees to the end of the next deck and bluffs well; one decision in three is hasty, as steady would make it."

HASTY = 3

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.zero_sum_duel.solver import solver

    if stream.below(HASTY) == 0:
        return steady.choose(view, stream)
    known = solver.shared(view)
    return drawn_from(solver.evaluate(solver.shortened(known, solver.SHORT)), stream)
