"""Harvest (R5): what a position is worth, and which moves are best. `sweep` works it out, and needs numpy."""

from __future__ import annotations

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
from piste.games.zero_sum_grid.rules import ANY, DEAL, MOVE, Options, State

if TYPE_CHECKING:
    from piste.core.information_set import InformationSet

FEW = 4
"""So many turns are looked ahead where a grid is not worked out."""

SAMPLES = 400
"""So many deals of any grids are worked out to judge them all, if there are more; fewer where each takes longer."""


def sweeping() -> Any:
    """Return what works grids out."""
    load(Feature("Solving harvest", "fast", NUMPY))
    from piste.games.zero_sum_grid.solver import harvest_kernels as sweep

    return sweep


def prepare(options: Options, progress: Progress = quiet) -> None:
    """Work out all grids that can be zeroed, if they can be dealt."""
    progress(0, 1, "solving harvest")
    sweep = sweeping()
    if options.deal != ANY:
        sweep.ordered(options.top, options.turns)
    progress(1, 1, "solving harvest")


def solve_fully(options: Options, progress: Progress = quiet) -> str:
    """Say what all deals come to with perfect play."""
    prepare(options, progress)
    if options.deal == ANY:
        return "Nothing to keep: every grid is worked out when it is needed, and all deals are too many."
    found = sweeping().tally(options)
    return (
        f"With perfect play the first player wins {spaced(found.first)} of the {spaced(found.deals)} deals "
        f"({100 * found.first / found.deals:.2f} %), and the second wins {spaced(found.second + found.level)}, "
        f"of which {spaced(found.level)} are level. It takes moments, so nothing is kept."
    )


def spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def starter(s: State) -> int:
    """Return who had the first turn."""
    return s.seat ^ (s.turns & 1)


def lead(s: State, turns: int = MOST_TURNS) -> int:
    """Return how many points the first player has more in the end, or so many turns on, if both play well."""
    found = sweeping().margin(s, turns)
    return int(found if s.seat == starter(s) else -found)


def solvable(s: State) -> bool:
    """Say whether all that can follow is worked out at once; if not, only a few turns are looked at."""
    return rules.to_act(s) == OVER or bool(sweeping().solvable(s))


def guessed(s: State) -> int:
    """Return the same a few turns on: for a grid that is not worked out. That is exact if no more turns are left."""
    found = s.points[s.seat] - s.points[1 - s.seat]
    if s.phase == MOVE:
        found += steady.ahead(s, FEW)
    return found if s.seat == starter(s) else -found


def samples(top: int) -> int:
    return min(SAMPLES, max(SAMPLES // 10, SAMPLES * 5**5 // top**5))


class Share(NamedTuple):
    """How often the first player wins, and how far that may be off."""

    wins: float
    within: float
    how: str


def dealt(s: State, progress: Progress = quiet) -> Share:
    """Return how often the first player wins if both play well, before the deal is complete."""
    top, left = s.options.top, 9 - s.dealt
    if s.options.deal == ANY and (2 * top) ** left > samples(top):
        stream = RandomStream(b"piste harvest", f"{s.options} {s.cells} {s.dealt}")
        won, many, known = 0, samples(top), True
        for number in range(many):
            progress(number, many, "working out deals")
            grid = _drawn(s, stream)
            won += winner(grid) == s.seat
            known = known and solvable(grid)
        within = 1.96 * sqrt(max(won / many * (1 - won / many), 1 / many) / many) if known else 0.5
        how = "worked out" if known else f"judged by looking {FEW} turns ahead"
        return Share(won / many, within, f"{many} deals were drawn and {how}; the first player wins {won}.")
    if s.options.deal != ANY and s.dealt == 0:
        found = sweeping().tally(s.options)
        how = f"Every deal was worked out: of {spaced(found.deals)} the first player wins {spaced(found.first)}"
        return Share(found.first / found.deals, 0.0, f"{how}, {spaced(found.level)} are level and so the second's.")
    return Share(_share(s), 0.0, "Every deal that can still come was worked out.")


def _drawn(s: State, stream: RandomStream) -> State:
    while s.phase == DEAL:
        s = rules.apply(s, rules.drawn(s, stream.below(rules.spread(s))))
    return s


def _share(s: State) -> float:
    """Return the share of deals that the first player wins."""
    if s.phase != DEAL:
        return float(winner(s) == s.seat)
    weights = {outcome: rules.weight(s, outcome) for outcome in members(rules.outcomes(s))}
    return sum(many * _share(rules.apply(s, outcome)) for outcome, many in weights.items()) / sum(weights.values())


def winner(s: State) -> int:
    """Return who wins if both play well; the deal and the toss are done."""
    if rules.to_act(s) == OVER:
        return s.winner
    first = lead(s) if solvable(s) else guessed(s)
    return starter(s) if first > 0 else 1 - starter(s)


def certain(seat: int, who: int) -> Chances:
    return Chances(float(who == seat), 0.0, float(who != seat))


def evaluate(known: InformationSet, progress: Progress = quiet) -> Evaluation:
    """Say what a position of harvest is worth to a seat."""
    s: State = next(iter(known.belief.states))  # nothing is hidden: there is one
    seat = s.seat if known.seat == SPECTATOR else known.seat
    if rules.to_act(s) == OVER:
        return Evaluation(seat, certain(seat, s.winner), (), EXACT, 0.0, "The game is over.")
    if rules.to_act(s) == CHANCE and s.options.first == 0:
        how = "The toss decides who has the first turn, and nothing else is uneven."
        return Evaluation(seat, Chances(0.5, 0.0, 0.5), (), EXACT, 0.0, how)
    prepare(s.options, progress)
    if s.phase == DEAL:
        share = dealt(s, progress)
        wins = share.wins if seat == s.seat else 1 - share.wins
        word = ESTIMATED if share.within else EXACT
        return Evaluation(seat, Chances(wins, 0.0, 1 - wins), (), word, share.within, share.how)
    choices: tuple[Choice, ...] = ()
    if s.seat == seat:
        picked = best(s)
        choices = tuple(
            Choice(move, certain(seat, winner(rules.apply(s, move))), (move in picked) / len(picked))
            for move in members(rules.legal(s))
        )
    if not solvable(s) and s.options.turns - s.turns > FEW:
        how = f"This grid has too many that can follow; it was judged by looking {FEW} turns ahead."
        # The best of the decisions as they were judged, so that the two do not say different things.
        found = max((choice.chances for choice in choices), default=certain(seat, winner(s)))
        return Evaluation(seat, found, choices, ESTIMATED, 0.5, how)
    return Evaluation(seat, certain(seat, winner(s)), choices, EXACT, 0.0, told(s))


def told(s: State) -> str:
    """Say why a position is worth what it is worth."""
    first, top = lead(s) if solvable(s) else guessed(s), s.options.top
    ends = f"Player {(starter(s) if first > 0 else 1 - starter(s)) + 1} ends {counted(abs(first), 'point')} ahead"
    if first == 0:
        ends = f"both end level, which goes to Player {2 - starter(s)}, who moved second"
    return f"Every grid from -{top} to {top} that can follow was worked out: with best play {ends}."


def best(s: State) -> tuple[int, ...]:
    """Return the moves that the perfect bot chooses from.

    They have the best score in the end: each of them wins if any move does. Of these it takes those after which most
    of the replies lose points.
    """
    scored = scores(s)
    picked = largest(scored)
    if len(picked) == 1 or not solvable(s):
        return picked
    return largest({move: slips(rules.apply(s, move)) for move in picked})


def scores(s: State, turns: int = MOST_TURNS) -> dict[int, int]:
    """Return by how many points each move leaves its player ahead in the end, or so many turns on."""
    sign, known = (1 if s.seat == starter(s) else -1), solvable(s)
    after = {move: rules.apply(s, move) for move in members(rules.legal(s))}
    return {move: sign * (lead(t, turns - 1) if known else guessed(t)) for move, t in after.items()}


def largest(found: dict[int, int] | dict[int, float]) -> tuple[int, ...]:
    most = max(found.values())
    return tuple(move for move, score in found.items() if score == most)


def slips(s: State) -> float:
    """Return the share of moves that are not the best."""
    if rules.to_act(s) == OVER:
        return 0.0
    scored = scores(s)
    return 1 - len(largest(scored)) / len(scored)
