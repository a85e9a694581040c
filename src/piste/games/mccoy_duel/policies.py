"""Simple ways to play Duel in bulk: given what the seat sees, its decisions and 32 random bits."""

from __future__ import annotations

from piste.core.bits import lowest
from piste.games.mccoy_duel.rules import PICK, SEAT, View, power_of


def _first(v: View, choices: int) -> int:
    """Return the decision to lead, if it is about that, or the lowest one."""
    if v.phase == PICK and (choices >> (SEAT + v.viewer)) & 1:
        return SEAT + v.viewer
    return lowest(choices)


def highest(v: View, choices: int, word: int) -> int:
    """Choose the card of the highest power that there is to choose; lead where it may."""
    best = _first(v, choices)
    if best >= SEAT:
        return best
    left = choices
    while left:
        card = lowest(left)
        if power_of(card) > power_of(best):
            best = card
        left &= left - 1
    return best


def low(v: View, choices: int, word: int) -> int:
    """Choose the card of the lowest power that there is to choose; lead where it may."""
    best = _first(v, choices)
    if best >= SEAT:
        return best
    left = choices
    while left:
        card = lowest(left)
        if power_of(card) < power_of(best):
            best = card
        left &= left - 1
    return best
