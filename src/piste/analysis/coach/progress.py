"""How well somebody has decided over time: one row for each reviewed game, and averages of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class GameProgress(NamedTuple):
    """How well one seat decided in one game."""

    accuracy: float | None  # in percent; None if nothing could be lost
    loss: float | None  # of a decision on average, in points of winning chance; None without decisions
    decisions: int


class Average(NamedTuple):
    """The same over several games."""

    accuracy: float
    loss: float


def game_progress(review: Mapping[str, Any], seat: str) -> GameProgress:
    """Return how well a seat decided, from the document of a review; `seat` as the game calls it."""
    losses = [decision["loss"] for decision in review["decisions"] if decision["seat"] == seat]
    accuracy = next((column["accuracy"] for column in review["columns"] if column["seat"] == seat), None)
    return GameProgress(accuracy, 100 * sum(losses) / len(losses) if losses else None, len(losses))


def average(games: Sequence[GameProgress]) -> Average:
    """Return the mean accuracy of games, and the mean loss of their decisions."""
    decisions = sum(game.decisions for game in games)
    lost = sum(game.loss * game.decisions for game in games if game.loss is not None)
    return Average(sum(game.accuracy or 0.0 for game in games) / len(games), lost / max(1, decisions))


def first_and_last(games: Sequence[GameProgress]) -> tuple[Average, Average]:
    """Return the averages of the first and of the last third of games in which something could be lost."""
    third = max(1, len(games) // 3)
    return average(games[:third]), average(games[-third:])
