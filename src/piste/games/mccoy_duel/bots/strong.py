"""Duel, played by somebody who counts every card but thinks only a short while: the same search, a sixtieth of it."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView

LINE = "Counts every hidden card and searches by sampled play, but not for long; solves nothing."

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.mccoy_duel.solver import search

    return search.decide(view, stream, search.SHORT)
