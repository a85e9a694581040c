"""Simple ways to play Positive-Negative in bulk: given what the seat sees, its decisions and 32 random bits."""

from __future__ import annotations

from piste.core.bits import signed_sum, signed_value
from piste.games.positive_negative.rules import DISCARD, KEEP, View, every_card


def keep(v: View, choices: int, word: int) -> int:
    """Keep every card."""
    return KEEP


def positive(v: View, choices: int, word: int) -> int:
    """Keep what is above zero."""
    return KEEP if signed_value(v.options.top, v.card) > 0 else DISCARD


def average(v: View, choices: int, word: int) -> int:
    """Keep what is no worse than the average of the cards in the deck."""
    deck = every_card(v.options) & ~(v.kept[0] | v.kept[1] | v.pile | 1 << v.card)
    return KEEP if signed_value(v.options.top, v.card) * v.left >= signed_sum(v.options.top, deck) else DISCARD
