"""Positive-Negative, played as well as it can be: the solver's decision."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.protocols import HIDDEN
from piste.core.views import SeatView
from piste.games.positive_negative import rules
from piste.games.positive_negative.rules import State, View

GAMES = 20_000
"""Played out for each decision where there are too many cards to solve."""

LINE = "Plays the exact solution; with more than 20 cards in the game, from about 15 left in the deck on."

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.positive_negative.solver import solver

    state = seen(view.position)
    return solver.decide(state, solver.judge(state, seed=stream.below(1 << 31), games=GAMES))


def seen(v: View) -> State:
    """Return the state of a seat that is to decide: it sees all there is, and the deck is what it does not see."""
    gone = v.kept[0] | v.kept[1] | v.pile | 1 << v.card
    deck = rules.every_card(v.options) & ~gone
    return State(v.options, v.phase, v.seat, v.kept, deck, v.card, HIDDEN, 0)
