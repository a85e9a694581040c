"""Zero-Sum Grid, played as a beginner would: make the numbers small, and look no further than the own move."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.zero_sum_grid.bots import steady
from piste.games.zero_sum_grid.rules import HARVEST, View

SLIPS = 6

LINE = (
    f"Makes the numbers smaller, whoever that helps; one move in {SLIPS} is made without looking. "
    "Harvest: the most zeros now."
)


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    if v.options.variant == HARVEST:
        if stream.below(SLIPS) == 0:
            return view.actions[stream.below(len(view.actions))]
        return steady.harvested(v, 1, stream)
    sizes = {action: sum(map(abs, steady.moved(v.cells, action))) for action in view.actions}
    smallest = min(sizes.values())
    if smallest and stream.below(SLIPS) == 0:
        return view.actions[stream.below(len(view.actions))]
    tidy = [action for action, size in sizes.items() if size == smallest]
    return tidy[stream.below(len(tidy))]
