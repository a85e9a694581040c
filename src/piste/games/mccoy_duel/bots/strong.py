"""Duel, played by a bot that counts every card but searches only a short while: a sixtieth of `perfect`."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView

LINE = "Counts every hidden card and searches by sampled play, but not for long; solves nothing."
FEEL = "Reckons with every card that you may hold, and seldom wastes one."

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.mccoy_duel.bots import search

    return search.choose(view, stream, search.SHORT)
