"""The bot that knows no better: every decision is as likely as every other. What others are measured against."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.views import SeatView

LINE = "Takes any decision that is open, each as likely as the others."
FEEL = "Decides by chance. Good for getting to know the rules."


def choose(view: SeatView, stream: RandomStream) -> int:
    return view.actions[stream.below(len(view.actions))]
