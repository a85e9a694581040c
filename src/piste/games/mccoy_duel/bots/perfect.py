"""Duel, played as well as can be: the end of a round solved, the rest searched with every hidden card counted."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView

LINE = "Counts every hidden card, searches the round by sampled play, and plays a solved mix once few cards are left."

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.mccoy_duel.bots import search

    return search.choose(view, stream, search.FULL)
