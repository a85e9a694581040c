"""Prime Duel: how long a decision takes. Orders of magnitude, measured on one core."""

from __future__ import annotations

from piste.games.prime_duel.guarantees import SMALL, size
from piste.games.prime_duel.rules import Options

A_LINE = 3e-5
"""Seconds for each pair of scores and each card: at the end of a deck, and for a game that is solved whole."""

BOUNDED = 1.0
"""Seconds at most of everything else, whatever the options."""


def far(options: Options) -> int:
    """Return a number of turns so great that hardly any game is still going on."""
    return 60 + 12 * options.target // options.top


def seconds(level: str, options: Options) -> float:
    if level not in ("strong", "perfect"):
        return 0.0
    whole = size(options) <= SMALL
    counted = 0 < options.turns < far(options) or (options.turns and size(options) * options.turns <= SMALL)
    if counted or (level == "strong" and not whole):
        return BOUNDED
    return A_LINE * options.top * options.target**2
