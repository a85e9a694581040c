"""Duel: how the play of each level is known, and what the solver needs."""

from __future__ import annotations

from piste.core.bits import count
from piste.core.evaluation import Basis
from piste.core.extras import NUMBA
from piste.games.mccoy_duel.rules import Options

MAX_POWERS_ON_DEMAND = 6
"""With at most so many powers a round between two is solved whole whenever it is needed."""


def basis(level: str, options: Options) -> Basis:
    if level in ("novice", "steady"):
        return Basis.THUMB
    solved = level == "perfect" and options.players == 2 and count(options.powers) <= MAX_POWERS_ON_DEMAND
    return Basis.PARTLY if solved else Basis.SEARCHED


def libraries(options: Options) -> tuple[str, ...]:  # noqa: ARG001
    return NUMBA  # without a compiler the search takes about a hundred times as long
