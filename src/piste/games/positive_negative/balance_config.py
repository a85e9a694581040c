"""Positive-Negative in a balance report: how many games to play."""

from __future__ import annotations

from piste.games.positive_negative.rules import Options


def sizes(options: Options) -> dict[str, int]:
    """Return how many games a level plays by default; a deck too large to solve is played out for each decision."""
    return {"strong": 400, "perfect": 100 if options.top <= 10 else 20}
