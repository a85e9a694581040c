"""What Zero-Sum Grid's solver needs: nothing, but for harvest (R5), which is worked out in arrays."""

from __future__ import annotations

from piste.core.extras import NOTHING, NUMPY
from piste.games.zero_sum_grid.rules import HARVEST, Options


def solver(options: Options) -> tuple[str, ...]:
    return NUMPY if options.variant == HARVEST else NOTHING
