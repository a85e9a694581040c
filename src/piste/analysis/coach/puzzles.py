"""Puzzles: positions in which one decision is clearly better than every other.

They come from games between bots, so that they look like positions of real games. The same seed and number give the
same puzzle.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any, NamedTuple

from piste import bots
from piste.analysis.arena.match import play_out
from piste.analysis.coach.evaluator import SamplingEvaluator, evaluator_of
from piste.core.dealer import Dealer, RandomStream
from piste.core.errors import OptionError, UnknownNameError
from piste.core.evaluation import ESTIMATED, Choice, Evaluation, Progress, quiet
from piste.core.game import Game
from piste.core.information_set import InformationSet
from piste.core.table import Table
from piste.core.views import SeatView

LEVELS = {"easy": (0.15, math.inf), "medium": (0.05, 0.15), "hard": (0.015, 0.05)}
"""The margin between the best decision and the next best, as a part of a win: from, to."""

PLAYERS = ("novice", "steady", "random")
"""The bots that play the games, drawn for each seat: good players alone would never reach most positions."""

MAX_DECISIONS_PER_GAME = 8
"""Decisions evaluated in one game: where an evaluation is slow, a whole game would take too long."""

MAX_GAMES = 150
"""Games searched for one puzzle."""

ANSWER_GAMES = 20
"""Where a question has two answers, each is the right one as often as the other: so many games are searched for the
one that a draw has chosen, then the first that fits is taken."""

MIN_CERTAIN_MARGIN = 0.5
"""The smallest margin between two certain results, as a part of a win: that of a draw."""

CERTAIN_GAMES = 5
"""After so many games in which every decision wins, draws or loses for certain, the search ends."""


class Puzzle(NamedTuple):
    """One position, with its answer."""

    number: int
    view: SeatView
    evaluation: Evaluation

    @property
    def margin(self) -> float:
        """By how much of a win the best decision is better than the next best."""
        best, second, *_ = ordered(self.evaluation)
        return points(best) - points(second)


def points(choice: Choice) -> float:
    """Return the chance to win after a decision, with a draw as half a win; or the payoff from 0 to 1."""
    return (1 + choice.value) / 2


def ordered(evaluation: Evaluation) -> list[Choice]:
    """Return the decisions, the best first."""
    return sorted(evaluation.choices, key=lambda choice: -choice.value)


def puzzle(
    game: Game, options: Any, seed: str, number: int, level: str = "medium", progress: Progress = quiet
) -> Puzzle:
    """Return the puzzle with this number of a seed."""
    if level not in LEVELS:
        raise UnknownNameError(f"There is no level {level!r} of puzzles. There are: {', '.join(LEVELS)}.")
    evaluator = evaluator_of(game, options, progress, "A puzzle")
    dealer = Dealer(f"puzzle {game.name} {game.option_texts(options)} {level} {seed} {number}")
    chooser = dealer.stream("puzzle")
    certain: set[bool] = set()
    wanted, spare = dealer.stream("answer").below(2), None
    many = isinstance(
        evaluator, SamplingEvaluator
    )  # there a search takes seconds, and each question has its own cards
    for at in range(MAX_GAMES):
        if spare is not None and at >= spare[0] + ANSWER_GAMES:
            return spare[1]
        if at >= CERTAIN_GAMES and certain == {True} and LEVELS[level][1] <= MIN_CERTAIN_MARGIN:
            raise OptionError(
                f"No {level} puzzle turned up in {at} games of {game.notation.TITLE} with these options, where each "
                "decision wins, draws or loses for certain. Such puzzles are easy ones: try that level."
            )
        progress(at, MAX_GAMES, "looking for a puzzle")
        for view in sample_decisions(game, options, f"{seed} {number} {at}", chooser):
            known = InformationSet.told(game, view)
            candidate = Puzzle(number, view, evaluator.evaluate(known))
            certain.add(is_certain(candidate.evaluation))
            estimated = candidate.evaluation.known == ESTIMATED and not fits(candidate, level)
            if estimated and fits(candidate, level, sure=False):
                evaluator.weights(known)  # lets the evaluator compute what it would else only estimate
                candidate = Puzzle(number, view, evaluator.evaluate(known))
            if fits(candidate, level):
                if many or len(view.actions) > 2 or view.actions[wanted] == candidate.evaluation.best.action:
                    return candidate
                spare = spare or (at, candidate)
    if spare is not None:
        return spare[1]
    raise OptionError(
        f"No {level} puzzle turned up in {MAX_GAMES} games of {game.notation.TITLE} with these options. "
        "Try another level or another seed."
    )


def any_puzzle(game: Game, options: Any, seed: str, number: int, progress: Progress = quiet) -> tuple[str, Puzzle]:
    """Return a medium puzzle with its level; in a game that has none, an easy or a hard one."""
    for level in ("medium", "easy"):
        with suppress(OptionError):
            return level, puzzle(game, options, seed, number, level, progress)
    return "hard", puzzle(game, options, seed, number, "hard", progress)


def is_certain(evaluation: Evaluation) -> bool:
    """Say whether each decision is known to win, to draw or to lose."""
    return evaluation.payoff is None and all(max(choice.chances) == 1 for choice in evaluation.choices)


def fits(puzzle: Puzzle, level: str, *, sure: bool = True) -> bool:
    """Say whether one decision is clearly better than the others; if `sure`, beyond what is not known exactly."""
    if len(puzzle.evaluation.choices) < 2:
        return False
    least, most = LEVELS[level]
    return least + 2 * puzzle.evaluation.within * sure <= puzzle.margin < most


def sample_decisions(game: Game, options: Any, seed: str, chooser: RandomStream) -> list[SeatView]:
    """Play one game between bots and return some of its decisions, in random order."""
    dealer = Dealer(seed)
    table = Table(game, options, dealer, counts=False)
    available = [name for name in PLAYERS if name in bots.names(game)]
    seats = [bots.find(available[chooser.below(len(available))], game) for _ in range(game.rules.seats(options))]
    views: list[SeatView] = []
    play_out(table, dealer, seats, views.append)
    left_out = getattr(game.explain, "NO_PUZZLE", ())
    views = [view for view in views if len(view.actions) > 1 and view.kind not in left_out]
    for i in range(len(views) - 1, 0, -1):
        j = chooser.below(i + 1)
        views[i], views[j] = views[j], views[i]
    return views[:MAX_DECISIONS_PER_GAME]
