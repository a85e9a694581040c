"""Prime Duel, played by a beginner: likes primes and high cards, and counts neither turns nor cards."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.prime_duel import rules
from piste.games.prime_duel.rules import DISCARD, KEEP, View

LINE = "Keeps what lands on the target or on a prime, though it misses one prime in five; else keeps high cards."
FEEL = "Likes high cards and primes, and misses a prime now and then."

MISS_RATE = 5
"""It overlooks one prime in this many."""


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    after = v.scores[view.seat] + v.card + 1
    if after == v.options.target:
        return KEEP
    if rules.is_prime(after) and stream.below(MISS_RATE) > 0:
        return KEEP
    return KEEP if 2 * (v.card + 1) > v.options.top else DISCARD
