"""Prime Duel: how the play of each level is known. It depends on whether the full solution has been made here."""

from __future__ import annotations

from piste.compiled import table_cache
from piste.core.evaluation import Basis
from piste.games.prime_duel import rules
from piste.games.prime_duel.rules import Options

VERSION = 1  # of the solver

SMALL = 6_000_000
"""A game with so many positions is solved whole whenever it is needed."""


def name(options: Options) -> str:
    """Return what the full solution is called in the store."""
    return f"prime-duel top={options.top},copies={options.copies},target={options.target}"


def stamp() -> str:
    return f"rules {rules.VERSION} solver {VERSION}"


def plain(options: Options) -> Options:
    """Return the options without those that do not change what lines are worth."""
    return options._replace(first=0, turns=0)


def size(options: Options) -> int:
    """Return how many positions before a draw there are at most."""
    return int(options.target**2 * (options.copies + 1) ** options.top)


def made() -> int:
    """Return a number that is another one when a full solution may have come or gone."""
    return table_cache.last_modified()


def basis(level: str, options: Options) -> Basis:
    if level in ("novice", "steady"):
        return Basis.THUMB
    if level != "perfect":
        return Basis.ESTIMATED
    if size(options) * max(1, options.turns) <= SMALL:
        return Basis.EXACT
    if options.turns:
        return Basis.ESTIMATED
    return Basis.PARTLY if table_cache.exists(name(plain(options)), stamp()) else Basis.ESTIMATED
