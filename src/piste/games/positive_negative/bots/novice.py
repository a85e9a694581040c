"""Positive-Negative, played as a beginner would: a card is good if it is above zero."""

from __future__ import annotations

from piste.core.bits import signed_value
from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.positive_negative.rules import DISCARD, KEEP, View

SLIP_RATE = 5

LINE = f"Keeps what is above zero, whatever is gone and whoever leads; one time in {SLIP_RATE} it does the opposite."
FEEL = "Keeps what is above zero, and sometimes the opposite. Whoever counts cards beats it."


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    keeps = signed_value(v.options.top, v.card) > 0
    # Hope for something better still, or fear of something worse.
    if stream.below(SLIP_RATE) == 0:
        keeps = not keeps
    return KEEP if keeps else DISCARD
