"""Zero Sum Duel: how long a decision takes. Orders of magnitude, measured on one core."""

from __future__ import annotations

from math import comb

from piste.games.zero_sum_duel.guarantees import is_exact
from piste.games.zero_sum_duel.rules import Options

SECONDS_PER_HAND = 4e-5
"""For each hand that the other player may have at some time of a pass."""

MAX_SOLVED_SECONDS = 1.0
"""A decision in a game that is solved takes less."""


def hands(options: Options) -> int:
    """Return about how many hands a seat holds possible, counted anew after each draw of a pass."""
    cards, hand = 2 * options.top, options.hand
    drawn = sum(comb(cards - own, own) for own in range(1, hand + 1))
    return drawn + comb(cards - hand + 1, hand + 1)  # then the pile grows, a card at a time


def seconds(level: str, options: Options) -> float:
    if level not in ("strong", "perfect"):
        return 0.0
    if is_exact(options):
        return MAX_SOLVED_SECONDS
    searches = 2 if level == "strong" else 1  # strong counts them for a shorter game, too
    return SECONDS_PER_HAND * hands(options) * searches
