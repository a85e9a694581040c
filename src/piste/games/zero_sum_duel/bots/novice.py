"""Zero Sum Duel, played by a beginner: sees most wins, and otherwise keeps a sum near zero."""

from __future__ import annotations

from piste.core.bits import signed_sum
from piste.core.dealer import RandomStream
from piste.core.views import SeatView
from piste.games.zero_sum_duel.rules import View

LINE = "Takes a winning discard, which it overlooks once in six; else keeps a sum near zero. Counts no cards."
FEEL = "Counts no cards and overlooks a win now and then: a friendly first opponent."

OVERLOOK_RATE = 6
"""It overlooks one win in this many."""


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    overlooked = stream.below(OVERLOOK_RATE) == 0
    sums = {card: abs(signed_sum(v.options.top, v.hand & ~(1 << card))) for card in view.actions}
    open_cards = [card for card in view.actions if sums[card] or not overlooked] or list(view.actions)
    return min(open_cards, key=lambda card: (sums[card], stream.fraction()))
