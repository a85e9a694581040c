"""How the play of each level is known in a game that has no solver of its own, and what it needs."""

from __future__ import annotations

from functools import cache
from typing import Any

from piste.compiled import table_cache
from piste.core.evaluation import Basis
from piste.core.extras import NUMPY, Feature, has
from piste.core.game import Game

QUICK_NODES = 1_500
"""A tree of no more nodes is solved to say what can be claimed; else what is kept in the cache says it."""


@cache
def of(game: Game) -> GameGuarantees:
    """Return what can be claimed of a game's levels."""
    return GameGuarantees(game)


class GameGuarantees:
    """What a game's `guarantees.py` offers as a module, for one game that has none."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._known: dict[tuple[Any, int], Basis] = {}

    def basis(self, level: str, options: Any) -> Basis:
        """Return how the play of a level is known; of the strongest, as far as the game has been measured."""
        if level != "perfect":
            return Basis.SEARCHED if level == "strong" else Basis.ESTIMATED
        if not has(Feature("", "", NUMPY)):
            return Basis.SEARCHED
        key = options, self.made()
        if key not in self._known:
            self._known = {key: self._measured(options)}
        return self._known[key]

    def _measured(self, options: Any) -> Basis:
        from piste.solvers.solver import of as solver_of

        solution = solver_of(self.game).known_solution(options, QUICK_NODES)
        if solution is None:
            return Basis.SEARCHED
        if self.game.rules.seats(options) > 2:  # nothing is sure against others who play another solution
            return Basis.SEARCHED
        return Basis.EXACT if solution.exact else Basis.WITHIN

    def libraries(self, _options: Any) -> tuple[str, ...]:
        return NUMPY

    def made(self) -> int:
        """Return another number when a game may have been solved since."""
        return table_cache.last_modified()
