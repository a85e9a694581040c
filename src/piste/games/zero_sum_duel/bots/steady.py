"""Zero Sum Duel, played steadily: win if a discard wins, else keep the cards that most draws would complete."""

from __future__ import annotations

from piste.core.bits import count, signed_sum, signed_value
from piste.core.dealer import RandomStream
from piste.core.game import members
from piste.core.views import SeatView
from piste.games.zero_sum_duel import rules
from piste.games.zero_sum_duel.rules import DISCARD, View

LINE = "Takes a discard that wins; else keeps the cards that most draws would complete, and feeds no one."
FEEL = "Takes every win it has and hands you nothing. You need luck or the better plan."


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    held = opponents(view)
    scored = [(worth(v, held, card), stream.fraction(), card) for card in view.actions]
    return max(scored)[2]


def unseen(v: View) -> int:
    """Return the cards that are in the deck or in the other hand."""
    return rules.every_card(v.options) & ~(v.hand | v.pile)


def opponents(view: SeatView) -> int:
    """Return the cards that the opponent is sure to hold.

    Whenever the deck is empty, what is unseen is the opponent's whole hand; of that, only what they discard goes.
    """
    held = unseen(view.opening) if view.opening.left == 0 else 0
    for entry in view.log:
        after: View = entry.after
        if after.left == 0:
            held = unseen(after)
        if entry.event.kind == DISCARD and entry.event.seat != view.seat:
            held &= ~(1 << entry.event.what)
    return held


def completing(top: int, hand: int) -> int:
    """Return the cards with which this hand, less one of its cards, sums to zero."""
    total = signed_sum(top, hand)
    completing_cards = 0
    for card in members(hand):
        need = signed_value(top, card) - total
        if need and abs(need) <= top:
            completing_cards |= 1 << (need + top - (need > 0))
    return completing_cards & ~hand


def worth(v: View, held: int, card: int) -> tuple[float, ...]:
    """Return how good it is to discard a card: first what counts most, then what decides between equals."""
    top, keep = v.options.top, v.hand & ~(1 << card)
    if signed_sum(top, keep) == 0:
        return (1.0, 0.0, 0.0)
    wins = completing(top, keep)
    pile = v.pile | 1 << card
    hidden = unseen(v) & ~held
    danger = 0.0
    if v.left >= 2:
        chance = count(wins & hidden) / count(hidden)
    elif v.left == 1:
        # The opponent takes the last card; what I draw then comes from the pile, their next discard included.
        other = count(wins & unseen(v)) / count(unseen(v))
        chance = (count(wins & pile) + other) / (count(pile) + 1)
    else:
        # The pile becomes the deck at once: the opponent, whose hand is known here, draws from it before me.
        chance = count(wins & pile) / count(pile)
        danger = count(completing(top, held) & pile) / count(pile)
    # Between equals: a hand that cards now out of reach would complete later, then a sum near zero.
    return ((1 - danger) * chance - danger, count(wins), -abs(signed_sum(top, keep)))
