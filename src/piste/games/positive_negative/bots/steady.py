"""Positive-Negative, played steadily: beat the average of the unseen cards, and count out the last few."""

from __future__ import annotations

from piste.core.bits import count
from piste.core.dealer import RandomStream
from piste.core.game import members
from piste.core.views import SeatView
from piste.games.positive_negative import rules
from piste.games.positive_negative.rules import DISCARD, KEEP, View

COUNTED = 5
"""With so few cards in the deck every way it can lie is gone through: there a risk may be right, or safety."""

SETTLED_IN = 4
SLIPS = 6
"""Once so many cards are gone, and until the last are counted out, one decision in so many goes wrong."""

LINE = (
    f"Keeps a card that beats the average of the unseen ones; counts out the last five; errs once in {SLIPS} before."
)

Cards = tuple[int, ...]
"""The values of the cards in the deck, in no order."""


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    found = weighed(view, stream, COUNTED)
    gone = count(rules.every_card(v.options)) - v.left - 1
    if gone >= SETTLED_IN and v.left > COUNTED and stream.below(SLIPS) == 0:
        return DISCARD if found == KEEP else KEEP
    return found


def weighed(view: SeatView, stream: RandomStream, counted: int) -> int:
    """Return the better decision by the average of the unseen cards, or by counting out so many."""
    v: View = view.position
    top, seat = v.options.top, view.seat
    gone = v.kept[0] | v.kept[1] | v.pile | 1 << v.card
    deck = tuple(rules.value(top, card) for card in members(rules.every_card(v.options) & ~gone))
    drawn = rules.value(top, v.card)
    keep: tuple[float, float] = (0.0, drawn)
    discard: tuple[float, float] = (0.0, sum(deck) / len(deck) if deck else 0.0)
    if len(deck) <= counted:
        # Who wins comes first; by how much decides between equals.
        lead = v.scores[seat] - v.scores[1 - seat]
        keep = (kept(lead, drawn, deck), keep[1])
        discard = (discarded(lead, deck), discard[1])
    if keep == discard:
        return (KEEP, DISCARD)[stream.below(2)]
    return KEEP if keep > discard else DISCARD


def kept(lead: int, card: int, deck: Cards) -> float:
    """Return what it is worth to keep a card, from -1 (lost) to 1 (won), when you lead by so much."""
    return -to_draw(-lead - card, deck)


def discarded(lead: int, deck: Cards) -> float:
    """Return what it is worth to discard, and to take whatever comes; nothing, if the deck is empty (P1)."""
    if not deck:
        return sign(lead)
    return sum(kept(lead, deck[i], without(deck, i)) for i in range(len(deck))) / len(deck)


def to_draw(lead: int, deck: Cards) -> float:
    """Return what it is worth to be about to draw, if both go on as well as they can."""
    if not deck:
        return sign(lead)
    total = 0.0
    for i, card in enumerate(deck):
        rest = without(deck, i)
        total += max(kept(lead, card, rest), discarded(lead, rest))
    return total / len(deck)


def without(deck: Cards, i: int) -> Cards:
    return deck[:i] + deck[i + 1 :]


def sign(lead: int) -> float:
    return float((lead > 0) - (lead < 0))
