"""Duel, played as well as we can: small rounds and the end of others solved, the rest searched and not proven."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView

LINE = "Counts every hidden card. With few powers or few cards left it plays a solved mix; else it searches."

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.mccoy_duel.bots import search

    return search.choose(view, stream, search.FULL)
