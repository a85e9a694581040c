"""Duel: how the play of each level is known, and what the solver needs: the same whatever the options."""

from __future__ import annotations

from piste.core.evaluation import Basis
from piste.core.extras import NUMBA
from piste.games.mccoy_duel.rules import Options


def basis(level: str, options: Options) -> Basis:  # noqa: ARG001
    return Basis.THUMB if level in ("novice", "steady") else Basis.SEARCHED


def libraries(options: Options) -> tuple[str, ...]:  # noqa: ARG001
    return NUMBA  # without a compiler the search takes about a hundred times as long
