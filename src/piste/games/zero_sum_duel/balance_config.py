"""Zero Sum Duel in a balance report: how many games to play, and what is true of it."""

from __future__ import annotations

from piste.games.zero_sum_duel.guarantees import is_exact
from piste.games.zero_sum_duel.rules import Options


def sizes(options: Options) -> dict[str, int]:
    """Return how many games a level plays by default; sizes that are not solved are played out for each decision."""
    return dict.fromkeys(("strong", "perfect"), 500 if is_exact(options) else 100)


def truths(options: Options) -> list[tuple[str, str]]:
    """Say what a designer should know; each with how it is known."""
    if not is_exact(options):
        return [("This size is not solved: what best play comes to is a guess by a rule of thumb.", "estimated")]
    return []
