"""Zero-Sum Grid: why a move is worth what it is worth, in one sentence."""

from __future__ import annotations

from piste.core.evaluation import Evaluation
from piste.core.game import counted
from piste.core.views import SeatView
from piste.games.zero_sum_grid import notation, rules
from piste.games.zero_sum_grid.bots.steady import distance, state_of
from piste.games.zero_sum_grid.rules import HARVEST, MOVE, State, View

PUZZLE_LEVELS = ("easy",)
"""Of the usual grid: each decision wins, draws or loses for certain, so no puzzle is a medium or hard one."""


def why(view: SeatView, verdict: Evaluation, action: int) -> str:
    """Say how far from zero a move leaves the grid, and who can make the last move."""
    v: View = view.position
    chosen = next(choice for choice in verdict.choices if choice.action == action)
    name = notation.name(v.options, MOVE, action)
    s = state_of(v)
    after = rules.apply(s, action)
    if v.options.variant == HARVEST:
        return explain_harvest(name, s, after, chosen.chances.win)
    if after.winner == v.seat:
        return f"{name} leaves nothing but zeros and wins"
    if not rules.winnable(after.cells):
        return f"{name} is a draw like every move: this grid cannot be brought to zero"
    left = distance(after.cells)
    steps = f"leaves the grid {counted(left, 'move')} from zero"
    if chosen.chances.loss == 1.0:
        return f"{name} {steps}, and Player {2 - v.seat} makes it"
    if after.phase != MOVE:
        return f"{name} {steps}, and the turn limit makes it a draw"
    last = v.seat if left % 2 == 0 else 1 - v.seat
    who = f"only Player {last + 1} could ever make the last move"
    return f"{name} {steps}: {who}, and the other can keep away from it"


def explain_harvest(name: str, s: State, after: State, win: float) -> str:
    """Say what a move of harvest scores, how the points stand after it, and how it then ends with the best play."""
    own, other = after.points[s.seat], after.points[1 - s.seat]
    scored = own - s.points[s.seat]
    stand = f"{name} scores {scored or 'nothing'} and makes it {own} to {other}"
    left = s.options.turns - after.turns
    if left == 0:
        return f"{stand} at the end"
    if 0.0 < win < 1.0:
        return f"{stand}, with {counted(left, 'turn')} to go"
    who = s.seat if win == 1.0 else 1 - s.seat
    return f"{stand}: with {counted(left, 'turn')} to go Player {who + 1} can make sure of the game"
