"""Simple policies of Duel for simulation: from a view, its decisions and 32 random bits."""

from __future__ import annotations

from piste.core.bits import lowest
from piste.games.mccoy_duel.rules import PICK, SEAT, View, power_of


def _extreme(v: View, choices: int, sign: int) -> int:
    """Return the decision to lead, or the first card of the highest (1) or lowest (-1) power."""
    if v.phase == PICK and (choices >> (SEAT + v.viewer)) & 1:
        return SEAT + v.viewer
    best = lowest(choices)
    left = choices if best < SEAT else 0
    while left:
        card = lowest(left)
        if sign * power_of(card) > sign * power_of(best):
            best = card
        left &= left - 1
    return best


def highest(v: View, choices: int, word: int) -> int:
    """Choose the card of the highest power; lead where possible."""
    return _extreme(v, choices, 1)


def low(v: View, choices: int, word: int) -> int:
    """Choose the card of the lowest power; lead where possible."""
    return _extreme(v, choices, -1)
