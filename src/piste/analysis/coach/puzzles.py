"""Positions to train on: somebody is to decide, and one decision is clearly better than every other.

They come out of games between bots, so they look like positions that people meet. The same seed and number give the
same puzzle.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from piste import bots
from piste.analysis.coach.evaluator import evaluator_of
from piste.core.dealer import Dealer, RandomStream
from piste.core.errors import OptionError, UnknownNameError
from piste.core.evaluation import ESTIMATED, Choice, Evaluation, Progress, quiet
from piste.core.game import Game
from piste.core.information_set import InformationSet
from piste.core.table import Table
from piste.core.views import SeatView

LEVELS = {"easy": (0.15, math.inf), "medium": (0.05, 0.15), "hard": (0.015, 0.05)}
"""By how much of a win the best decision is better than the next best: from, to."""

PLAYERS = ("novice", "steady", "random")
"""Who plays the games, drawn for each seat: good players alone would never get into most positions."""

LOOKED_AT = 8
"""So many decisions of a game are looked at: where a verdict takes long, a whole game would take too long."""

TRIES = 150
"""So many games are looked through for one puzzle."""

LEAST_CERTAIN = 0.5
"""By so much of a win a decision is better than another at least, where both are certain and one is better."""

SOON = 5
"""Where every decision in so many games wins, draws or loses for certain, the other games are not looked through."""


class Puzzle(NamedTuple):
    """One position, with its answer."""

    number: int
    view: SeatView
    verdict: Evaluation

    @property
    def margin(self) -> float:
        """By how much of a win the best decision is better than the next best."""
        best, second, *_ = ordered(self.verdict)
        return points(best) - points(second)


def points(choice: Choice) -> float:
    """Return the chance to win after a decision, with a draw as half a win."""
    return choice.chances.win + choice.chances.draw / 2


def ordered(verdict: Evaluation) -> list[Choice]:
    """Return the decisions, the best first."""
    return sorted(verdict.choices, key=lambda choice: -choice.chances.value)


def puzzle(
    game: Game, options: Any, seed: str, number: int, level: str = "medium", progress: Progress = quiet
) -> Puzzle:
    """Return puzzle number so-and-so of a seed."""
    if level not in LEVELS:
        raise UnknownNameError(f"There is no level {level!r} of puzzles. There are: {', '.join(LEVELS)}.")
    judge = evaluator_of(game, options, progress, "A puzzle")
    dealer = Dealer(f"puzzle {game.name} {game.option_texts(options)} {level} {seed} {number}")
    chooser = dealer.stream("puzzle")
    certain: set[bool] = set()
    for at in range(TRIES):
        if at >= SOON and certain == {True} and LEVELS[level][1] <= LEAST_CERTAIN:
            raise OptionError(
                f"No {level} puzzle turned up in {at} games of {game.notation.TITLE} with these options, where each "
                "decision wins, draws or loses for certain. Such puzzles are easy ones: try that level."
            )
        progress(at, TRIES, "looking for a puzzle")
        for view in asked(game, options, f"{seed} {number} {at}", chooser):
            known = InformationSet.told(game, view)
            found = Puzzle(number, view, judge.evaluate(known))
            certain.add(is_certain(found.verdict))
            if fits(found, level):
                return found
            if found.verdict.known == ESTIMATED and fits(found, level, sure=False):
                judge.weights(known)  # lets it work out what it would else only estimate
                found = Puzzle(number, view, judge.evaluate(known))
                if fits(found, level):
                    return found
    raise OptionError(
        f"No {level} puzzle turned up in {TRIES} games of {game.notation.TITLE} with these options. "
        "Try another level or another seed."
    )


def any_puzzle(game: Game, options: Any, seed: str, number: int, progress: Progress = quiet) -> tuple[str, Puzzle]:
    """Return a medium puzzle with its level; in a game that has none, an easy or a hard one."""
    for level in ("medium", "easy"):
        try:
            return level, puzzle(game, options, seed, number, level, progress)
        except OptionError:
            continue
    return "hard", puzzle(game, options, seed, number, "hard", progress)


def is_certain(verdict: Evaluation) -> bool:
    """Say whether each decision is known to win, to draw or to lose."""
    return all(max(choice.chances) == 1 for choice in verdict.choices)


def fits(found: Puzzle, level: str, *, sure: bool = True) -> bool:
    """Say whether one decision is clearly better than the others; if `sure`, beyond what is not known exactly."""
    if len(found.verdict.choices) < 2:
        return False
    least, most = LEVELS[level]
    return least + 2 * found.verdict.within * sure <= found.margin < most


def asked(game: Game, options: Any, seed: str, chooser: RandomStream) -> list[SeatView]:
    """Play one game between bots and return some of its questions, in an order of chance."""
    dealer = Dealer(seed)
    table = Table(game, options, dealer, counts=False)
    here = [name for name in PLAYERS if name in bots.names(game)]
    seats = [bots.find(here[chooser.below(len(here))], game) for _ in range(game.rules.seats(options))]
    found: list[SeatView] = []
    while (seat := table.to_act) is not None:
        view = table.view(seat)
        if len(view.actions) > 1:
            found.append(view)
        table.decide(seat, seats[seat].choose(view, dealer.stream(bots.stream_name(view))))
    for i in range(len(found) - 1, 0, -1):
        j = chooser.below(i + 1)
        found[i], found[j] = found[j], found[i]
    return found[:LOOKED_AT]
