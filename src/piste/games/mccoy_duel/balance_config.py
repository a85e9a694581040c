"""Duel in balance reports: how many games to play, and what is true of it."""

from __future__ import annotations

from piste.games.mccoy_duel.rules import Options

RATE = 0.005
"""The share of the decisions that the solver evaluates: an evaluation takes about a second."""


def sizes(options: Options) -> dict[str, int]:
    """Return how many matches a level plays by default; `perfect` takes about a second for a round."""
    quick, slow = (400, 200) if options.rounds == 1 else (200, 100)
    if options.players > 2:
        quick, slow = quick // 2, slow // 4
    return {"novice": quick, "steady": quick, "strong": slow, "perfect": 20 if options[:2] == (2, 1) else 0}


def truths(options: Options) -> list[tuple[str, str]]:
    """Say what a designer should know of the lead; each with how it is known."""
    from piste.games.mccoy_duel.solver import book, solutions, solver

    lead, error = solver.lead_chance(options)
    even = 1 / options.players
    size = "a large edge" if lead - even > 0.08 else "an edge" if lead - even > 0.02 else "hardly an edge"
    sentence = (
        f"To lead is {size} between strong players: whoever leads wins about {100 * lead:.1f} % of the rounds if all "
        f"play as well as can be found, where {100 * even:.0f} % would be even."
    )
    if solutions.find(options) is not None:
        return [(sentence, f"by a solution of the whole round, within {100 * error:.2g} points")]
    how = "the opening book against itself" if book.covers(options) else "long sampled play"
    return [(sentence, f"estimated by {how}, ± {100 * error:.1f} points")]
