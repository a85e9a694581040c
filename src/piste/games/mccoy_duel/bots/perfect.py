"""Duel, played as well as we can: small rounds and the end of others solved, openings learned, the rest searched."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView

LINE = "Counts every hidden card. It opens by a learned book and ends by a solved mix; else it searches."

ASKS_SOLVER = True


def choose(view: SeatView, stream: RandomStream) -> int:
    from piste.games.mccoy_duel.bots import search

    return search.choose(view, stream, search.FULL)
