"""Prime Duel: how the play of each level is known. It depends on whether the full solution is stored."""

from __future__ import annotations

from piste.compiled import table_cache
from piste.core.evaluation import Basis
from piste.games.prime_duel import rules
from piste.games.prime_duel.rules import Options

VERSION = 1  # of the solver

MAX_POSITIONS_ON_DEMAND = 6_000_000
"""A game with at most this many positions is solved completely whenever it is needed."""


def name(options: Options) -> str:
    """Return the name of the full solution in the table cache."""
    return f"prime-duel top={options.top},copies={options.copies},target={options.target}"


def stamp() -> str:
    return f"rules {rules.VERSION} solver {VERSION}"


def value_options(options: Options) -> Options:
    """Return the options without those that do not change the values of the full solution."""
    return options._replace(first=0, turns=0)


def position_count(options: Options) -> int:
    """Return how many positions before a draw there are at most."""
    return int(options.target**2 * (options.copies + 1) ** options.top)


def made() -> int:
    """Return a number that changes when a full solution may have been stored or removed."""
    return table_cache.last_modified()


def basis(level: str, options: Options) -> Basis:
    if level in ("novice", "steady"):
        return Basis.THUMB
    if level != "perfect":
        return Basis.ESTIMATED
    if position_count(options) * max(1, options.turns) <= MAX_POSITIONS_ON_DEMAND:
        return Basis.EXACT
    if options.turns:
        return Basis.ESTIMATED
    return Basis.PARTLY if table_cache.exists(name(value_options(options)), stamp()) else Basis.ESTIMATED
