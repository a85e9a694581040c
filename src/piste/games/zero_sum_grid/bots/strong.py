"""Zero-Sum Grid, played by a bot that knows whose the last move can be, and sets traps one move ahead."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.zero_sum_grid import rules
from piste.games.zero_sum_grid.bots import steady
from piste.games.zero_sum_grid.rules import HARVEST, Cells, Options, View

LOOKAHEAD_TURNS = 8  # of both players together, in harvest

LINE = "Never loses. Goes nearer where it can win, and leaves as many replies as can be that go nearer still."

ASKS_SOLVER = True  # for harvest


def line(options: Options) -> str:
    return f"Looks {LOOKAHEAD_TURNS} turns ahead." if options.variant == HARVEST else LINE


def feel(options: Options) -> str:
    if options.variant == HARVEST:
        return "Looks far ahead. Points that lie open now may cost more later."
    return "Does not lose, and leaves you replies that are easy to get wrong."


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    if v.options.variant == HARVEST:
        from piste.games.zero_sum_grid.solver import harvest

        best = harvest.best_scored(harvest.move_scores(steady.state_of(v), LOOKAHEAD_TURNS))
        return best[stream.below(len(best))]
    scored = [(rank_move(v.cells, action), stream.fraction(), action) for action in view.actions]
    return max(scored)[2]


def rank_move(cells: Cells, action: int) -> tuple[int, int]:
    """Return how good a move is: as steady ranks it, then by the number of replies that help."""
    rank = steady.rank_move(cells, action)
    if not rules.winnable(cells) or steady.distance(cells) % 2 == 0:
        return rank
    after = steady.after_move(cells, action)
    left = steady.distance(after)
    return (rank[0], sum(steady.distance(steady.after_move(after, reply)) < left for reply in steady.MOVES))
