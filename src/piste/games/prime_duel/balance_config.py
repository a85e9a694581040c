"""Prime Duel on the scales: how many games to weigh it by."""

from __future__ import annotations

from piste.games.prime_duel.rules import Options

RATE = 0.04
"""The part of the decisions that the solver is asked about: a verdict takes up to some seconds."""


def sizes(options: Options) -> dict[str, int]:  # noqa: ARG001
    """Return how many games a level plays by default."""
    return {"strong": 500, "perfect": 60}
