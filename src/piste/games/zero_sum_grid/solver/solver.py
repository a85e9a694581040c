"""Zero-Sum Grid, solved: the distance to zero says everything, and docs/solve/zero-sum-grid.md proves it.

A grid that can be zeroed is six markers on a line, one for each row and column; a move shifts one of them by one
step, and who brings them together wins. The distance is the sum of the upper three less the sum of the lower three,
and each move changes it by one. So the player to move at an odd distance is the only one who can ever win (R2), and
wins against good play only at distance 1: at 2 the opponent steps away, and never has to come nearer.

No numbers are stored and nothing is searched. Harvest (R5) is another game; `harvest` evaluates it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from piste.core.evaluation import PROVEN, Chances, Choice, Evaluation, Progress, quiet
from piste.core.game import counted, members
from piste.core.protocols import CHANCE, HIDDEN, OVER, SPECTATOR
from piste.games.zero_sum_grid import rules
from piste.games.zero_sum_grid.bots.steady import MOVES, distance
from piste.games.zero_sum_grid.rules import DEAL, HARVEST, MOVE, Cells, Options, State
from piste.games.zero_sum_grid.solver import harvest

if TYPE_CHECKING:
    from piste.core.information_set import InformationSet

VERSION = 1

WIN, DRAW, LOSS = Chances(1.0, 0.0, 0.0), Chances(0.0, 1.0, 0.0), Chances(0.0, 0.0, 1.0)

LOOKAHEAD_MOVES = 7
"""How many of its own moves ahead the bot weighs how likely the opponent is to go wrong."""


def solve_fully(options: Options, progress: Progress = quiet) -> str:
    if options.variant == HARVEST:
        return harvest.solve_fully(options, progress)
    return "Nothing to compute: what a grid is worth follows from its distance to zero, for every size and limit."


def prepare(options: Options, progress: Progress = quiet) -> None:
    """Make harvest ready; for the sheet's game there is nothing to do."""
    if options.variant == HARVEST:
        harvest.prepare(options, progress)


def only_winner(s: State) -> int:
    """Return the one seat that can ever win, or HIDDEN if nobody can: the parity rule (R2), and the turn limit."""
    if s.phase != MOVE or not rules.winnable(s.cells):
        return HIDDEN
    left = distance(s.cells)
    if s.options.turns and left > s.options.turns - s.turns:
        return HIDDEN  # the limit comes first, however badly anybody plays
    return s.seat if left % 2 else 1 - s.seat


def result(s: State) -> int:
    """Return who wins if both play well from here, or HIDDEN for a draw; not asked before the toss."""
    if rules.to_act(s) == OVER:
        return s.winner
    return s.seat if only_winner(s) == s.seat and distance(s.cells) == 1 else HIDDEN


def chances(s: State, seat: int) -> Chances:
    """Return how a game ends for a seat if both play well."""
    if s.phase == DEAL:
        return DRAW  # nine cells without a zero take three moves at least
    if rules.to_act(s) == CHANCE:
        ways = [chances(rules.apply(s, who), seat) for who in members(rules.outcomes(s))]
        win, draw, loss = (sum(part) / len(ways) for part in zip(*ways, strict=True))
        return Chances(win, draw, loss)
    winner = result(s)
    return DRAW if winner == HIDDEN else WIN if winner == seat else LOSS


def evaluate(known: InformationSet, progress: Progress = quiet) -> Evaluation:
    """Say what a grid is worth to a seat."""
    s: State = next(iter(known.belief.states))  # nothing is hidden: there is one
    if s.options.variant == HARVEST:
        return harvest.evaluate(known, progress)
    seat = s.seat if known.seat == SPECTATOR else known.seat
    choices: tuple[Choice, ...] = ()
    if rules.to_act(s) == seat:
        best = best_moves(s)
        choices = tuple(
            Choice(move, chances(rules.apply(s, move), seat), (move in best) / len(best)) for move in MOVES
        )
    return Evaluation(seat, chances(s, seat), choices, PROVEN, 0.0, explain(s), {"distance": distance_or_none(s)})


def distance_or_none(s: State) -> int | None:
    """Return how many moves a grid is from zero; None during the deal, and where it can never be zeroed."""
    return None if s.phase == DEAL or not rules.winnable(s.cells) else distance(s.cells)


def explain(s: State) -> str:
    """Say why a grid is worth what it is worth."""
    if rules.to_act(s) == OVER:
        return "The game is over."
    if s.phase == DEAL:
        return "Every deal is a draw if both play well: the one who cannot make the last move keeps away from it."
    if not rules.winnable(s.cells):
        return "Nobody can win: the rows do not differ by the same amount in every column, and no move changes that."
    left = distance(s.cells)
    steps = f"The distance to zero is {counted(left, 'move')}"
    if s.phase != MOVE:
        return f"{steps}, so it depends on the toss who can make the last one."
    winner = only_winner(s)
    if winner == HIDDEN:
        return f"{steps}, and the turn limit comes first: nobody can win."
    who = f"{steps}, so only Player {winner + 1} can ever make the last one (R2)"
    if left == 1:
        return f"{who}, and does so now."
    return f"{who}; Player {2 - winner} need not let that happen."


# What the bot does. Against good play every move that does not lose is as good as any other.


def best_moves(s: State) -> tuple[int, ...]:
    """Return the moves that the perfect bot chooses from, each as good as the others."""
    if s.options.variant == HARVEST:
        return harvest.best_moves(s)
    return harvest.best_scored({move: rank_move(s, move) for move in MOVES})


def rank_move(s: State, move: int) -> tuple[float, ...]:
    """Return how good a move is: first the result, then, for the player who can win, how easily the opponent errs."""
    after = rules.apply(s, move)
    winner = result(after)
    outcome = 0 if winner == HIDDEN else 1 if winner == s.seat else -1
    if rules.to_act(after) == OVER or only_winner(s) == HIDDEN:
        return (outcome, -sum(map(abs, after.cells)))  # nothing depends on it: a tidy grid looks best
    left = distance(after.cells)
    if only_winner(s) != s.seat:
        # Never leave the last step. Among what is safe a tidy grid is best; none is safer than another.
        return (outcome, -left)
    turns = after.options.turns - after.turns if after.options.turns else 2 * LOOKAHEAD_MOVES
    markers = markers_of(after.cells)
    nearer = sum(marker_distance(reply) < left for reply in after_shifts(markers))
    hope = round(win_chance_against_random(markers, min(turns, 2 * LOOKAHEAD_MOVES)), 12)
    return (outcome, losing_replies(markers), hope, -left, nearer)


Markers = tuple[int, ...]
"""The six markers in order, with the lowest at 0. Which is a row's and which a column's makes no difference."""


def markers_of(cells: Cells) -> Markers:
    markers = sorted((cells[0], cells[3], cells[6], 0, cells[0] - cells[1], cells[0] - cells[2]))
    return tuple(marker - markers[0] for marker in markers)


def marker_distance(markers: Markers) -> int:
    return sum(markers[3:]) - sum(markers[:3])


def after_shifts(markers: Markers) -> Iterator[Markers]:
    """Yield the markers after each of the twelve moves."""
    for i in range(6):
        for by in (1, -1):
            new = sorted((*markers[:i], markers[i] + by, *markers[i + 1 :]))
            yield tuple(marker - new[0] for marker in new)


def losing_replies(markers: Markers) -> int:
    """Return after how many of the twelve replies the grid is one step from zero."""
    return sum(marker_distance(after) == 1 for after in after_shifts(markers)) if marker_distance(markers) == 2 else 0


@lru_cache(maxsize=100_000)
def win_chance_against_random(markers: Markers, turns: int) -> float:
    """Return the chance to win soon if the opponent, who is to move, plays at random, with these turns left."""
    left = marker_distance(markers)
    if turns < 2 or left > turns - 1:
        return 0.0
    chance = 0.0
    for after in after_shifts(markers):
        if marker_distance(after) == 1:
            chance += 1.0
        else:
            chance += max(
                win_chance_against_random(mine, turns - 2)
                for mine in after_shifts(after)
                if marker_distance(mine) < marker_distance(after)
            )
    return chance / 12
