"""Zero-Sum Grid, played by somebody who knows whose the last move can be, and sets traps one move ahead."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.zero_sum_grid import rules
from piste.games.zero_sum_grid.bots import steady
from piste.games.zero_sum_grid.rules import HARVEST, Cells, View

TURNS = 8
"""So many turns of both together it looks ahead in harvest."""

LINE = (
    "Never loses. Goes nearer where it can win, and leaves as many replies as can be that go nearer still. "
    f"Harvest: {TURNS} turns."
)

ASKS_SOLVER = True  # for harvest


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    if v.options.variant == HARVEST:
        from piste.games.zero_sum_grid.solver import harvest

        picked = harvest.largest(harvest.scores(steady.seen(v), TURNS))
        return picked[stream.below(len(picked))]
    scored = [(worth(v.cells, action), stream.fraction(), action) for action in view.actions]
    return max(scored)[2]


def worth(cells: Cells, action: int) -> tuple[int, int]:
    """Return how good a move is: as steady sees it, then how many replies help."""
    found = steady.worth(cells, action)
    if not rules.winnable(cells) or steady.distance(cells) % 2 == 0:
        return found
    after = steady.moved(cells, action)
    far = steady.distance(after)
    return (found[0], sum(steady.distance(steady.moved(after, reply)) < far for reply in steady.MOVES))
