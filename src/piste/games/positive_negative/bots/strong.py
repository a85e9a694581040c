"""Positive-Negative, played by somebody who counts every card and hardly ever errs."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.positive_negative.bots import steady
from piste.games.positive_negative.rules import DISCARD, KEEP, View

COUNTED = 6
SLIPS = 25

LINE = f"Beats the average of the unseen cards and counts out the last {COUNTED}; until then it errs once in {SLIPS}."


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    found = steady.weighed(view, stream, COUNTED)
    if v.left > COUNTED and stream.below(SLIPS) == 0:
        return DISCARD if found == KEEP else KEEP
    return found
