"""Prime Duel in a balance report: how many games to play."""

from __future__ import annotations

from piste.games.prime_duel.rules import Options

RATE = 0.04
"""The share of the decisions that the solver evaluates: an evaluation takes up to some seconds."""


def sizes(options: Options) -> dict[str, int]:  # noqa: ARG001
    """Return how many games a level plays by default."""
    return {"strong": 500, "perfect": 60}
