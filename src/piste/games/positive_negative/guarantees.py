"""Positive-Negative: how the play of each level is known."""

from __future__ import annotations

from piste.core.evaluation import Basis
from piste.games.positive_negative.rules import Options

AT_MOST = 20
"""So many cards are solved once, and what is needed of it is kept."""


def basis(level: str, options: Options) -> Basis:
    if level != "perfect":
        return Basis.THUMB
    return Basis.EXACT if 2 * options.top <= AT_MOST else Basis.PARTLY
