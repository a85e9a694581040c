"""Simple ways to play Zero Sum Duel in bulk: given what the seat sees, its decisions and 32 random bits."""

from __future__ import annotations

from piste.core.bits import lowest, signed_sum, signed_value
from piste.games.zero_sum_duel.rules import View


def largest(v: View, choices: int, word: int) -> int:
    """Discard the card farthest from zero, which is the lowest or the highest."""
    low, high = lowest(choices), choices.bit_length() - 1
    return high if signed_value(v.options.top, high) > -signed_value(v.options.top, low) else low


def nearest(v: View, choices: int, word: int) -> int:
    """Keep the hand whose sum is nearest to zero, so that a hand that wins is never broken."""
    best = lowest(choices)
    left = choices
    while left:
        card = lowest(left)
        after = abs(signed_sum(v.options.top, v.hand ^ (1 << card)))
        if after < abs(signed_sum(v.options.top, v.hand ^ (1 << best))):
            best = card
        left &= left - 1
    return best
