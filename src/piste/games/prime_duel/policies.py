"""Simple ways to play Prime Duel in bulk: given what the seat sees, its decisions and 32 random bits."""

from __future__ import annotations

from piste.games.prime_duel.rules import DISCARD, KEEP, View, is_prime


def keep(v: View, choices: int, word: int) -> int:
    """Keep every card."""
    return KEEP


def high(v: View, choices: int, word: int) -> int:
    """Keep the higher half of the cards."""
    return KEEP if 2 * (v.card + 1) > v.options.top else DISCARD


def primes(v: View, choices: int, word: int) -> int:
    """Keep a card that leads to the target or to a prime, and the higher half of the others."""
    after = v.scores[v.viewer] + v.card + 1
    if after == v.options.target or is_prime(after):
        return KEEP
    return KEEP if 2 * (v.card + 1) > v.options.top else DISCARD
