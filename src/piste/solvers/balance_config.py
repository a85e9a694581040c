"""A game that has no solver of its own in a balance report: how many games to play."""

from __future__ import annotations

from typing import Any

from piste.core.evaluation import Basis
from piste.core.game import Game

SOLVED_GAMES, SEARCHED_GAMES = 400, 20
"""Of the strongest level: a decision of a solution is looked up, a search takes about a second."""


def of(game: Game) -> GameBalanceConfig:
    """Return the sizes of a report on a game."""
    return GameBalanceConfig(game)


class GameBalanceConfig:
    """What a game's `balance_config.py` offers as a module, for one game that has none."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def sizes(self, options: Any) -> dict[str, int]:
        """Return how many games a level plays by default."""
        searched = self.game.guarantees is None or self.game.guarantees.basis("perfect", options) == Basis.SEARCHED
        strongest = SEARCHED_GAMES if searched else SOLVED_GAMES
        return {"novice": 400, "steady": 200, "strong": 100, "perfect": strongest}
