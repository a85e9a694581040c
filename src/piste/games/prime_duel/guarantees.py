"""Prime Duel: how the play of each level is known, how long it thinks, and what the solver needs."""

from __future__ import annotations

from piste.compiled import table_cache
from piste.core.evaluation import Basis
from piste.core.extras import NUMBA, NUMPY
from piste.games.prime_duel import rules
from piste.games.prime_duel.rules import Options

VERSION = 1  # of the solver

MAX_POSITIONS_ON_DEMAND = 6_000_000
"""A game with at most this many positions is solved completely whenever it is needed."""

MAX_INTERPRETED_POSITIONS = 20_000
"""Up to this many positions are solved in seconds without a compiler."""

SECONDS_PER_PAIR_AND_CARD = 3e-5
"""For each pair of scores and each card: at the end of a deck, and for a game that is solved completely.

Like all times here an order of magnitude, measured on one core.
"""

MAX_OTHER_SECONDS = 1.0
"""Everything else takes less, whatever the options."""


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
    """Return how a level's play is known, which may depend on whether the full solution is stored."""
    if level in ("novice", "steady"):
        return Basis.THUMB
    if level != "perfect":
        return Basis.ESTIMATED
    if position_count(options) * max(1, options.turns) <= MAX_POSITIONS_ON_DEMAND:
        return Basis.EXACT
    if options.turns:
        return Basis.ESTIMATED
    options = value_options(options)
    # What is needed of the full solution of the sheet's size is part of the package.
    solved = options == Options() or table_cache.exists(name(options), stamp())
    return Basis.PARTLY if solved else Basis.ESTIMATED


def libraries(options: Options) -> tuple[str, ...]:
    return NUMPY if position_count(options) * max(options.turns, 1) <= MAX_INTERPRETED_POSITIONS else NUMBA


def long_turn_limit(options: Options) -> int:
    """Return a number of turns that hardly any game reaches."""
    return 60 + 12 * options.target // options.top


def seconds(level: str, options: Options) -> float:
    if level not in ("strong", "perfect"):
        return 0.0
    positions = position_count(options)
    limited = 0 < options.turns < long_turn_limit(options)
    if limited or (options.turns and positions * options.turns <= MAX_POSITIONS_ON_DEMAND):
        return MAX_OTHER_SECONDS
    if level == "strong" and positions > MAX_POSITIONS_ON_DEMAND:
        return MAX_OTHER_SECONDS
    return SECONDS_PER_PAIR_AND_CARD * options.top * options.target**2
