"""Positive-Negative, played as well as it can be: the solver's decision."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.protocols import HIDDEN
from piste.core.views import SeatView
from piste.games.positive_negative.bots.steady import undrawn
from piste.games.positive_negative.rules import State, View

ROLLOUTS = 20_000
"""For each decision where there are too many cards to solve."""

LINE = "Plays the exact solution; with more than 20 cards in the game, from about 15 left in the deck on."

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.positive_negative.solver import solver

    state = state_of(view.position)
    values = solver.action_values(state, seed=stream.below(1 << 31), rollouts=ROLLOUTS)
    return solver.best_action(state, values)


def state_of(v: View) -> State:
    """Return the state of a seat that is to decide: it sees everything but the order of the deck."""
    return State(v.options, v.phase, v.seat, v.kept, undrawn(v), v.card, HIDDEN, 0)
