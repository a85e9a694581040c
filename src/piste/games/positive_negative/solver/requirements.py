"""What Positive-Negative's solver needs: a compiler, unless there are few cards."""

from __future__ import annotations

from piste.core.extras import NUMBA, NUMPY
from piste.games.positive_negative.rules import Options

MAX_INTERPRETED_CARDS = 5
"""With so few cards loading the compiler would take longer than solving."""


def solver(options: Options) -> tuple[str, ...]:
    return NUMPY if 2 * options.top <= MAX_INTERPRETED_CARDS else NUMBA
