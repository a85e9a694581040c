"""Duel: how the play of each level is known."""

from __future__ import annotations

from piste.core.evaluation import Basis
from piste.games.mccoy_duel.rules import Options


def basis(level: str, options: Options) -> Basis:  # noqa: ARG001 (the same whatever the options)
    return Basis.THUMB if level in ("novice", "steady") else Basis.SEARCHED
