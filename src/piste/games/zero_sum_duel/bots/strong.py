"""Zero Sum Duel, played strongly: sees to the end of the next deck, unless it is in a hurry."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.zero_sum_duel.bots import steady
from piste.games.zero_sum_duel.bots.perfect import sample_action

LINE = "Sees to the end of the next deck and bluffs well; one decision in three is hasty, as steady would make it."
FEEL = "Counts cards and bluffs, but decides one time in three in haste: that is your chance."

HASTY_RATE = 3
"""One decision in this many is made as steady would make it."""

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.zero_sum_duel.solver import solver

    if stream.below(HASTY_RATE) == 0:
        return steady.choose(view, stream)
    known = solver.since_shared(view)
    return sample_action(solver.evaluate(solver.truncated(known, solver.STRONG_PASSES)), stream)
