"""What a worker process does for the pages of puzzles and of the analysis board.

The coach and the solvers are loaded in the worker; the server only names the work and takes the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from piste.core.errors import OptionError
from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.game import find
from piste.core.views import SeatView

if TYPE_CHECKING:
    from piste.analysis.coach.board import Board, Worth

LEVELS = ("easy", "medium", "hard")
"""Of puzzles, as the coach has them."""

SEED = "piste serve"
"""Of the numbered puzzles; they are the same on every server, so that each is made once and kept."""


class SolvedPuzzle(NamedTuple):
    """One puzzle with its answer."""

    game: str
    level: str
    view: SeatView
    position: str  # what the seat knows, in the notation
    secrets: bool  # whether the seat was told what it cannot see any more
    evaluation: Evaluation
    reasons: tuple[str, ...]  # in the order of the evaluation's choices


def puzzle(game_name: str, level: str, number: int, progress: Progress = quiet) -> SolvedPuzzle:
    """Return a puzzle of a level by its number."""
    return _puzzle(game_name, (level,), SEED, number, progress)


def puzzle_of_the_day(game_name: str, day: str, progress: Progress = quiet) -> SolvedPuzzle:
    """Return the puzzle of a day, in the level that the game has puzzles of."""
    return _puzzle(game_name, ("medium", "easy", "hard"), f"{SEED} {day}", 1, progress)


def _puzzle(game_name: str, levels: tuple[str, ...], seed: str, number: int, progress: Progress) -> SolvedPuzzle:
    from piste.analysis.coach.board import reasons
    from piste.analysis.coach.review_cache import cached_puzzle
    from piste.compiled.compiler import observation_spec
    from piste.core.evaluation import described
    from piste.core.information_set import InformationSet

    game = find(game_name)
    for level in levels:
        try:
            made = cached_puzzle(game, game.options(), seed, number, level, progress)
        except OptionError:
            if level == levels[-1]:
                raise
            continue
        known = InformationSet.of(game, made.view)
        evaluation = described(made.evaluation, known)
        whys = reasons(game, made.view, evaluation)
        secrets = bool(observation_spec(game).SHOWN)
        return SolvedPuzzle(game_name, level, made.view.complete(), str(known), secrets, evaluation, whys)
    raise AssertionError("the last level returns or raises")


def board(text: str, progress: Progress = quiet) -> Board:  # noqa: ARG001 (every task is told of)
    """Return a position laid out."""
    from piste.analysis.coach import board as boards

    return boards.board(text)


def first_position(game_name: str, progress: Progress = quiet) -> str:  # noqa: ARG001
    """Return the position that a board without a text begins with."""
    from piste.analysis.coach import board as boards

    return boards.first_position(find(game_name))


def follow(text: str, step: str, progress: Progress = quiet) -> str:  # noqa: ARG001
    """Return the text of the position after a step."""
    from piste.analysis.coach import board as boards

    return boards.follow(text, step)


def position_of(game_name: str, view: SeatView, progress: Progress = quiet) -> str:  # noqa: ARG001
    """Return the text of what a seat of a finished game knew at a step."""
    from piste.analysis.coach import board as boards

    return boards.position_of(find(game_name), view)


def evaluate(text: str, progress: Progress = quiet) -> Worth:
    """Return what a position is worth, and each decision in it."""
    from piste.analysis.coach import board as boards

    return boards.evaluate(text, progress)
