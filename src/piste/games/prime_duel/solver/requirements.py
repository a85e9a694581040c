"""What Prime Duel's solver needs: a compiler, unless the game is small."""

from __future__ import annotations

from piste.core.extras import NUMBA, NUMPY
from piste.games.prime_duel.guarantees import position_count
from piste.games.prime_duel.rules import Options

MAX_INTERPRETED_POSITIONS = 20_000
"""Up to this many positions are solved in seconds without a compiler."""


def solver(options: Options) -> tuple[str, ...]:
    return NUMPY if position_count(options) * max(options.turns, 1) <= MAX_INTERPRETED_POSITIONS else NUMBA
