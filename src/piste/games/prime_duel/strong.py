"""Prime Duel, played strongly: knows the race for every pair of scores, but not that cards run out."""

from __future__ import annotations

from piste.core.dealer import Stream
from piste.core.views import SeatView

LINE = "Weighs both scores to the end of the game, with the odds of the deck as it is, as if they stayed so."

ASKS_SOLVER = True


def choose(view: SeatView, stream: Stream) -> int:
    from piste.games.prime_duel import solve

    return solve.pick(solve.by_odds(solve.state_of(view.position)), stream)
