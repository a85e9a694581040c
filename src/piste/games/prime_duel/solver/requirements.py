"""What Prime Duel's solver needs: a compiler, unless the game is small."""

from __future__ import annotations

from piste.core.extras import NUMBA, NUMPY
from piste.games.prime_duel.guarantees import size
from piste.games.prime_duel.rules import Options

INTERPRETED = 20_000
"""So many positions are worked out in seconds without a compiler."""


def solver(options: Options) -> tuple[str, ...]:
    return NUMPY if size(options) * max(options.turns, 1) <= INTERPRETED else NUMBA
