"""Who judges a game for the coach: its solver, with the help of its room's `judge.py` where there is one."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Protocol, cast, runtime_checkable

from piste.core.extras import solver_of
from piste.core.game import Game
from piste.core.known import Known
from piste.core.verdict import Progress, Verdict, quiet
from piste.core.views import SeatView


class Judge(Protocol):
    """Says what a seat's knowledge is worth, and how likely it makes what it cannot see."""

    imagines: bool  # whether it is quick enough to judge every card that might have come

    def verdict(self, known: Known) -> Verdict:
        """Return what this knowledge is worth to its seat."""

    def weights(self, known: Known) -> Mapping[Any, float]:
        """Return how likely each state is to this seat; asked before all that chance may bring is judged."""


@runtime_checkable
class Estimator(Judge, Protocol):
    """A judge that needs time for each moment, and takes as much as it is given."""

    def share_out(self, decisions: int, others: int) -> None:
        """Take so much time for each moment that so many decisions and other moments can be judged."""

    def verdict_of(self, view: SeatView, chosen: int | None = None) -> Verdict:
        """Return what a view is worth to its seat; most care is taken with the best and the chosen decision."""

    def parts(self, states: list[Any]) -> list[tuple[int, int, int]]:
        """Return what is judged by itself, as (first moment, last moment, winner)."""


class Solver:
    """The judge of a game that needs no other: its solver as it is, and chance alone for what is hidden."""

    imagines = True

    def __init__(self, solver: Any) -> None:
        self._solver = solver

    def verdict(self, known: Known) -> Verdict:
        return cast("Verdict", self._solver.verdict(known))

    def weights(self, known: Known) -> Mapping[Any, float]:
        return known.belief.states


def judge_of(game: Game, options: Any, progress: Progress = quiet, purpose: str = "A review") -> Judge:
    """Return who judges a game with these options, made ready."""
    solver = solver_of(game, options, purpose)
    if find_spec(f"{game.package}.judge") is not None:
        return cast("Judge", importlib.import_module(f"{game.package}.judge").Judge(options, progress))
    solver.prepare(options, progress)
    return Solver(solver)


def chance(verdict: Verdict) -> float:
    """Return a verdict as a winning chance, a draw as half a win."""
    return (1 + verdict.chances.value) / 2
