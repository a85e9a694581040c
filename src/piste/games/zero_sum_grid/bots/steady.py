"""Zero-Sum Grid, played steadily: approach zero if the last move can be yours, never leave it if not."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.game import members
from piste.core.protocols import OVER
from piste.core.views import SeatView
from piste.games.zero_sum_grid import rules
from piste.games.zero_sum_grid.rules import HARVEST, MOVE, Cells, Options, State, View

LINE = "Approaches zero, and never leaves the last step to the other player. It does not lose."

MOVES = range(12)


def line(options: Options) -> str:
    return "Looks 2 turns ahead." if options.variant == HARVEST else LINE


def feel(options: Options) -> str:
    if options.variant == HARVEST:
        return "Thinks of your reply, and no further."
    return "Never leaves you the last step, so it does not lose. Can you say the same?"


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    if v.options.variant == HARVEST:
        return harvest_move(v, 2, stream)
    scored = [(rank_move(v.cells, action), stream.fraction(), action) for action in view.actions]
    return max(scored)[2]


def harvest_move(v: View, turns: int, stream: RandomStream) -> int:
    """Return the best move of harvest by a search of this number of turns; one of them if there are several."""
    s = state_of(v)
    scored = [(gain(s, move, turns), stream.fraction(), move) for move in members(rules.legal(s))]
    return max(scored)[2]


def gain(s: State, move: int, turns: int, alpha: int = -99, beta: int = 99) -> int:
    """Return how many points more than the opponent a move gains within these turns, by alpha-beta search.

    Outside of the bounds `alpha` and `beta` only the side matters.
    """
    after = rules.apply(s, move)
    points = after.points[s.seat] - s.points[s.seat]
    if turns == 1 or rules.to_act(after) == OVER:
        return points
    return points - best_gain(after, turns - 1, points - beta, points - alpha)


def best_gain(s: State, turns: int, alpha: int = -99, beta: int = 99) -> int:
    """Return the same for the best move."""
    best = -99
    for move in members(rules.legal(s)):
        best = max(best, gain(s, move, turns, max(alpha, best), beta))
        if best >= beta:
            break  # the opponent will not allow this
    return best


def state_of(v: View) -> State:
    """Return the state that a seat sees: nothing is hidden here."""
    return State(v.options, v.phase, v.seat, v.cells, v.dealt, v.turns, v.winner, v.reason, v.points, v.line)


def rank_move(cells: Cells, action: int) -> tuple[int, int]:
    """Return how good a move is: first what matters most, then what decides between equals."""
    after = after_move(cells, action)
    if not rules.winnable(cells):
        return (0, -sum(map(abs, after)))  # nobody can win: any move will do, a tidy one looks best
    left = distance(after)
    if distance(cells) % 2 == 0:
        # The last move can only be the opponent's (R2): never leave one step to zero, else keep the grid tidy.
        return (left > 1, -left)
    return (-left, 0)  # it can only be ours: go nearer


def after_move(cells: Cells, action: int) -> Cells:
    return rules.moved(State(Options(), MOVE, 0, cells, 9, 0, 0, 0), action).cells


def distance(cells: Cells) -> int:
    """Return the least number of moves to zero, for a grid that can be zeroed.

    Its cells are r + c for a number r of each row and c of each column, and the moves undo these one by one. Taking t
    from every c and adding it to every r changes no cell, so the best t is looked for: sum |r + t| + sum |c - t| is
    least where t is the median of all -r and c.
    """
    corner = cells[0]
    points = sorted((-cells[0], -cells[3], -cells[6], 0, cells[1] - corner, cells[2] - corner))
    return sum(points[3:]) - sum(points[:3])
