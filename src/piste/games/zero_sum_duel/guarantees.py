"""Zero Sum Duel: how the play of each level is known."""

from __future__ import annotations

from piste.core.evaluation import Basis
from piste.games.zero_sum_duel.rules import Options

EXACT_SIZES = ((3, 2), (4, 2), (4, 3), (5, 3), (5, 4), (6, 5))
"""Highest card and hand for which each pass hides one choice of each player at most, and which take seconds."""


def is_exact(options: Options) -> bool:
    """Say whether games with these options are solved; others are estimated."""
    return (options.top, options.hand) in EXACT_SIZES


def basis(level: str, options: Options) -> Basis:
    if level in ("novice", "steady"):
        return Basis.THUMB
    if not is_exact(options):
        return Basis.ESTIMATED
    return Basis.EXACT if level == "perfect" else Basis.SEARCHED
