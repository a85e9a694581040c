"""Positive-Negative, played strongly: counts every card and hardly ever errs."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.positive_negative.bots import steady
from piste.games.positive_negative.rules import DISCARD, KEEP, View

MAX_SEARCHED_CARDS = 6
SLIP_RATE = 25

LINE = (
    f"Beats the average of the unseen cards and counts out the last {MAX_SEARCHED_CARDS}; "
    f"until then it errs once in {SLIP_RATE}."
)
FEEL = "Counts the last cards exactly. You have to do the same to keep up."


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    action = steady.better_action(view, stream, MAX_SEARCHED_CARDS)
    if v.left > MAX_SEARCHED_CARDS and stream.below(SLIP_RATE) == 0:
        return DISCARD if action == KEEP else KEEP
    return action
