"""Zero Sum Duel: how the play of each level is known, how long it thinks, and what the solver needs."""

from __future__ import annotations

from math import comb

from piste.core.evaluation import Basis
from piste.core.extras import NUMBA, NUMPY
from piste.games.zero_sum_duel.rules import Options

EXACT_SIZES = ((3, 2), (4, 2), (4, 3), (5, 3), (5, 4), (6, 5))
"""Highest card and hand for which each pass hides one choice of each player at most, and which take seconds."""

SECONDS_PER_HAND = 4e-5
"""For each hand that the other player may have at some time of a pass; an order of magnitude, on one core."""

MAX_SOLVED_SECONDS = 1.0
"""A decision in a game that is solved takes less."""


def is_exact(options: Options) -> bool:
    """Say whether games with these options are solved; others are estimated."""
    return (options.top, options.hand) in EXACT_SIZES


def basis(level: str, options: Options) -> Basis:
    if level in ("novice", "steady"):
        return Basis.THUMB
    if not is_exact(options):
        return Basis.ESTIMATED
    return Basis.EXACT if level == "perfect" else Basis.SEARCHED


def libraries(options: Options) -> tuple[str, ...]:
    hides_nothing = options.top - options.hand == 1  # the linear programs of other sizes are compiled
    return NUMPY if is_exact(options) and hides_nothing else NUMBA


def seconds(level: str, options: Options) -> float:
    if level not in ("strong", "perfect"):
        return 0.0
    if is_exact(options):
        return MAX_SOLVED_SECONDS
    searches = 2 if level == "strong" else 1  # strong counts them for a shorter game, too
    return SECONDS_PER_HAND * hands(options) * searches


def hands(options: Options) -> int:
    """Return about how many hands a seat holds possible, counted anew after each draw of a pass."""
    cards, hand = 2 * options.top, options.hand
    drawn = sum(comb(cards - own, own) for own in range(1, hand + 1))
    return drawn + comb(cards - hand + 1, hand + 1)  # then the pile grows, a card at a time
