"""Prime Duel: how long a decision takes. Orders of magnitude, measured on one core."""

from __future__ import annotations

from piste.games.prime_duel.guarantees import MAX_POSITIONS_ON_DEMAND, position_count
from piste.games.prime_duel.rules import Options

SECONDS_PER_PAIR_AND_CARD = 3e-5
"""For each pair of scores and each card: at the end of a deck, and for a game that is solved completely."""

MAX_OTHER_SECONDS = 1.0
"""Everything else takes less, whatever the options."""


def long_turn_limit(options: Options) -> int:
    """Return a number of turns that hardly any game reaches."""
    return 60 + 12 * options.target // options.top


def seconds(level: str, options: Options) -> float:
    if level not in ("strong", "perfect"):
        return 0.0
    positions = position_count(options)
    limited = 0 < options.turns < long_turn_limit(options)
    if limited or (options.turns and positions * options.turns <= MAX_POSITIONS_ON_DEMAND):
        return MAX_OTHER_SECONDS
    if level == "strong" and positions > MAX_POSITIONS_ON_DEMAND:
        return MAX_OTHER_SECONDS
    return SECONDS_PER_PAIR_AND_CARD * options.top * options.target**2
