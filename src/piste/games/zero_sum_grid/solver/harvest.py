"""Harvest (R5): what a position is worth, and which moves are best. `harvest_tables` works it out with numpy."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from piste.core.dealer import RandomStream
from piste.core.evaluation import ESTIMATED, EXACT, Chances, Choice, Evaluation, Progress, quiet
from piste.core.extras import NUMPY, Feature, load
from piste.core.game import counted, members
from piste.core.protocols import CHANCE, OVER, SPECTATOR
from piste.games.zero_sum_grid import rules
from piste.games.zero_sum_grid.bots import steady
from piste.games.zero_sum_grid.notation import MOST_TURNS
from piste.games.zero_sum_grid.rules import ANY, DEAL, Options, State

if TYPE_CHECKING:
    from piste.core.information_set import InformationSet

LOOKAHEAD_TURNS = 4
"""How far to search where a grid is not worked out."""

MAX_SAMPLED_DEALS = 400
"""How many deals are worked out to estimate them all, if there are more; fewer where each takes longer."""


def tables() -> Any:
    """Return the module that works grids out; refuse if numpy is missing."""
    load(Feature("Solving harvest", "fast", NUMPY))
    from piste.games.zero_sum_grid.solver import harvest_tables

    return harvest_tables


def prepare(options: Options, progress: Progress = quiet) -> None:
    """Work out all grids that can be zeroed, if they can be dealt."""
    progress(0, 1, "solving harvest")
    if options.deal != ANY:
        tables().ordered_table(options.top, options.turns)
    progress(1, 1, "solving harvest")


def solve_fully(options: Options, progress: Progress = quiet) -> str:
    """Say what all deals come to with perfect play."""
    prepare(options, progress)
    if options.deal == ANY:
        return "Nothing to keep: every grid is worked out when it is needed, and all deals are too many."
    tally = tables().tally(options)
    return (
        f"With perfect play the first player wins {spaced(tally.first)} of the {spaced(tally.deals)} deals "
        f"({100 * tally.first / tally.deals:.2f} %), and the second wins {spaced(tally.second + tally.level)}, "
        f"of which {spaced(tally.level)} are level. It takes moments, so nothing is kept."
    )


def spaced(number: int) -> str:
    """Return a number with its digits in groups of three."""
    return f"{number:,}".replace(",", " ")


def first_player(s: State) -> int:
    """Return who had the first turn."""
    return s.seat ^ (s.turns & 1)


def solvable(s: State) -> bool:
    """Say whether all that can follow is worked out at once; if not, only a few turns are searched."""
    return rules.to_act(s) == OVER or bool(tables().solvable(s))


def final_lead(s: State, turns: int = MOST_TURNS) -> int:
    """Return by how many points the first player leads in the end, or after these turns, if both play well.

    Where a grid is not worked out, that is by a search of a few turns; exact for the last turns.
    """
    if solvable(s):
        margin = int(tables().margin(s, turns))
    else:
        margin = s.points[s.seat] - s.points[1 - s.seat] + steady.best_gain(s, LOOKAHEAD_TURNS)
    return margin if s.seat == first_player(s) else -margin


def sampled_deals(top: int) -> int:
    return min(MAX_SAMPLED_DEALS, max(MAX_SAMPLED_DEALS // 10, MAX_SAMPLED_DEALS * 5**5 // top**5))


class Share(NamedTuple):
    """How often the first player wins, and the error of that."""

    wins: float
    within: float
    how: str


def first_player_share(s: State, progress: Progress = quiet) -> Share:
    """Return how often the first player wins if both play well, before the deal is complete."""
    top, left = s.options.top, 9 - s.dealt
    if s.options.deal == ANY and (2 * top) ** left > sampled_deals(top):
        stream = RandomStream(b"piste harvest", f"{s.options} {s.cells} {s.dealt}")
        won, deals, known = 0, sampled_deals(top), True
        for number in range(deals):
            progress(number, deals, "working out deals")
            grid = _sample_deal(s, stream)
            won += winner(grid) == s.seat
            known = known and solvable(grid)
        within = 1.96 * sqrt(max(won / deals * (1 - won / deals), 1 / deals) / deals) if known else 0.5
        how = "worked out" if known else f"judged by looking {LOOKAHEAD_TURNS} turns ahead"
        return Share(won / deals, within, f"{deals} deals were drawn and {how}; the first player wins {won}.")
    if s.options.deal != ANY and s.dealt == 0:
        tally = tables().tally(s.options)
        how = f"Every deal was worked out: of {spaced(tally.deals)} the first player wins {spaced(tally.first)}"
        return Share(tally.first / tally.deals, 0.0, f"{how}, {spaced(tally.level)} are level and so the second's.")
    return Share(_exact_share(s), 0.0, "Every deal that can still come was worked out.")


def _sample_deal(s: State, stream: RandomStream) -> State:
    while s.phase == DEAL:
        s = rules.apply(s, rules.drawn(s, stream.below(rules.spread(s))))
    return s


def _exact_share(s: State) -> float:
    """Return the share of deals that the first player wins."""
    if s.phase != DEAL:
        return float(winner(s) == s.seat)
    weights = {outcome: rules.weight(s, outcome) for outcome in members(rules.outcomes(s))}
    won = sum(weight * _exact_share(rules.apply(s, outcome)) for outcome, weight in weights.items())
    return won / sum(weights.values())


def winner(s: State) -> int:
    """Return who wins if both play well; the deal and the toss are done."""
    if rules.to_act(s) == OVER:
        return s.winner
    return first_player(s) ^ int(final_lead(s) <= 0)


def certain_result(seat: int, who: int) -> Chances:
    return Chances(float(who == seat), 0.0, float(who != seat))


def evaluate(known: InformationSet, progress: Progress = quiet) -> Evaluation:
    """Say what a position of harvest is worth to a seat."""
    s: State = next(iter(known.belief.states))  # nothing is hidden: there is one
    seat = s.seat if known.seat == SPECTATOR else known.seat
    if rules.to_act(s) == OVER:
        return Evaluation(seat, certain_result(seat, s.winner), (), EXACT, 0.0, "The game is over.")
    if rules.to_act(s) == CHANCE and s.options.first == 0:
        how = "The toss decides who has the first turn, and nothing else is uneven."
        return Evaluation(seat, Chances(0.5, 0.0, 0.5), (), EXACT, 0.0, how)
    prepare(s.options, progress)
    if s.phase == DEAL:
        share = first_player_share(s, progress)
        wins = share.wins if seat == s.seat else 1 - share.wins
        word = ESTIMATED if share.within else EXACT
        return Evaluation(seat, Chances(wins, 0.0, 1 - wins), (), word, share.within, share.how)
    choices: tuple[Choice, ...] = ()
    if s.seat == seat:
        best = best_moves(s)
        choices = tuple(
            Choice(move, certain_result(seat, winner(rules.apply(s, move))), (move in best) / len(best))
            for move in members(rules.legal(s))
        )
    if not solvable(s) and s.options.turns - s.turns > LOOKAHEAD_TURNS:
        how = f"This grid has too many that can follow; it was judged by looking {LOOKAHEAD_TURNS} turns ahead."
        # The best of the choices as they were searched, so that the two do not say different things.
        chances = max((choice.chances for choice in choices), default=certain_result(seat, winner(s)))
        return Evaluation(seat, chances, choices, ESTIMATED, 0.5, how)
    return Evaluation(seat, certain_result(seat, winner(s)), choices, EXACT, 0.0, explain(s))


def explain(s: State) -> str:
    """Say why a position is worth what it is worth."""
    lead, top = final_lead(s), s.options.top
    ends = f"Player {winner(s) + 1} ends {counted(abs(lead), 'point')} ahead"
    if lead == 0:
        ends = f"both end level, which goes to Player {2 - first_player(s)}, who moved second"
    return f"Every grid from -{top} to {top} that can follow was worked out: with best play {ends}."


def best_moves(s: State) -> tuple[int, ...]:
    """Return the moves that the perfect bot chooses from.

    They have the best score in the end: each of them wins if any move does. Of these it takes those after which most
    of the replies lose points.
    """
    picked = best_scored(move_scores(s))
    if len(picked) == 1 or not solvable(s):
        return picked
    return best_scored({move: mistake_share(rules.apply(s, move)) for move in picked})


def move_scores(s: State, turns: int = MOST_TURNS) -> dict[int, int]:
    """Return by how many points each move leaves its player ahead in the end, or after these turns."""
    sign = 1 if s.seat == first_player(s) else -1
    return {move: sign * final_lead(rules.apply(s, move), turns - 1) for move in members(rules.legal(s))}


def best_scored(scores: Mapping[int, Any]) -> tuple[int, ...]:
    """Return the moves with the highest score."""
    best = max(scores.values())
    return tuple(move for move, score in scores.items() if score == best)


def mistake_share(s: State) -> float:
    """Return the share of moves that are not the best."""
    if rules.to_act(s) == OVER:
        return 0.0
    scored = move_scores(s)
    return 1 - len(best_scored(scored)) / len(scored)
