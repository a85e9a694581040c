"""Zero-Sum Grid: how the play of each level is known, and what the solver needs."""

from __future__ import annotations

from piste.core.evaluation import Basis
from piste.core.extras import NOTHING, NUMPY
from piste.games.zero_sum_grid.rules import ANY, HARVEST, Options


def basis(level: str, options: Options) -> Basis:
    if options.variant != HARVEST:
        return Basis.PROVEN if level == "perfect" else Basis.THUMB
    if level == "novice":
        return Basis.THUMB
    if level != "perfect":
        return Basis.SEARCHED
    return Basis.PARTLY if options.deal == ANY else Basis.EXACT


def libraries(options: Options) -> tuple[str, ...]:
    return NUMPY if options.variant == HARVEST else NOTHING  # harvest (R5) is worked out in arrays
