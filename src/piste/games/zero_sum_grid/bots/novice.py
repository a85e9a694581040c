"""Zero-Sum Grid, played as a beginner would: make the numbers small, and look no further than the own move."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.zero_sum_grid.bots import steady
from piste.games.zero_sum_grid.rules import HARVEST, Options, View

MOVES_PER_SLIP = 6

LINE = f"Makes the numbers smaller, whoever that helps; one move in {MOVES_PER_SLIP} is made without looking."


def line(options: Options) -> str:
    harvest = f"Takes the most zeros now; one move in {MOVES_PER_SLIP} is made without looking."
    return harvest if options.variant == HARVEST else LINE


def feel(options: Options) -> str:
    if options.variant == HARVEST:
        return "Takes what lies there now and looks no further. Think of the next move and you can beat it."
    return "Makes the numbers smaller and looks no further. Leave it no last step, and take yours."


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    if v.options.variant == HARVEST:
        if stream.below(MOVES_PER_SLIP) == 0:
            return view.actions[stream.below(len(view.actions))]
        return steady.harvest_move(v, 1, stream)
    sizes = {action: sum(map(abs, steady.after_move(v.cells, action))) for action in view.actions}
    smallest = min(sizes.values())
    if smallest and stream.below(MOVES_PER_SLIP) == 0:
        return view.actions[stream.below(len(view.actions))]
    best = [action for action, size in sizes.items() if size == smallest]
    return best[stream.below(len(best))]
