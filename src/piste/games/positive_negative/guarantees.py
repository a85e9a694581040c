"""Positive-Negative: how the play of each level is known, and what the solver needs."""

from __future__ import annotations

from piste.core.evaluation import Basis
from piste.core.extras import NUMBA, NUMPY
from piste.games.positive_negative.rules import Options

MAX_SOLVED_CARDS = 20
"""A game of at most this many cards is solved; what is needed of a large one is computed once and stored."""

MAX_INTERPRETED_CARDS = 5
"""With so few cards loading the compiler would take longer than solving."""


def basis(level: str, options: Options) -> Basis:
    if level != "perfect":
        return Basis.THUMB
    return Basis.EXACT if 2 * options.top <= MAX_SOLVED_CARDS else Basis.PARTLY


def libraries(options: Options) -> tuple[str, ...]:
    return NUMPY if 2 * options.top <= MAX_INTERPRETED_CARDS else NUMBA
