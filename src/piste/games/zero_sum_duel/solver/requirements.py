"""What Zero Sum Duel's solver needs: a compiler, unless the game is one of the two smallest."""

from __future__ import annotations

from piste.core.extras import NUMBA, NUMPY
from piste.games.zero_sum_duel.rules import Options

MAX_INTERPRETED_TOP = 4
"""With cards up to this, and hands that leave two in the deck, the solution takes seconds without a compiler."""


def solver(options: Options) -> tuple[str, ...]:
    return NUMPY if options.top <= MAX_INTERPRETED_TOP and options.top - options.hand == 1 else NUMBA
