"""Zero Sum Duel, played strongly: sees to the end of the next deck, unless it is in a hurry."""

from __future__ import annotations

from piste.core.dealer import Stream
from piste.core.views import SeatView
from piste.games.zero_sum_duel import steady
from piste.games.zero_sum_duel.perfect import drawn_from

LINE = "Sees to the end of the next deck and bluffs well; one decision in three is hasty, as steady would make it."

HASTY = 3

ASKS_SOLVER = True


def choose(view: SeatView, stream: Stream) -> int:
    from piste.games.zero_sum_duel import solve

    if stream.below(HASTY) == 0:
        return steady.choose(view, stream)
    known = solve.shared(view)
    return drawn_from(solve.verdict(solve.shortened(known, solve.SHORT)), stream)
