"""Positive-Negative, played steadily: beat the average of the unseen cards, and count out the last few."""

from __future__ import annotations

from piste.core.bits import count, signed_value
from piste.core.dealer import RandomStream
from piste.core.game import members
from piste.core.views import SeatView
from piste.games.positive_negative import rules
from piste.games.positive_negative.rules import DISCARD, KEEP, View

MAX_SEARCHED_CARDS = 5
"""With at most this many cards in the deck every order is searched: there a risk may be right, or safety."""

FIRST_SLIP = 4
SLIP_RATE = 6
"""Once FIRST_SLIP cards are gone, and until the search begins, one decision in SLIP_RATE goes wrong."""

LINE = (
    "Keeps a card that beats the average of the unseen ones; counts out the last five; "
    f"errs once in {SLIP_RATE} before."
)
FEEL = "Knows roughly what is left in the deck and slips at times. Luck decides many games."

Cards = tuple[int, ...]
"""The values of the cards in the deck, in no order."""


def choose(view: SeatView, stream: RandomStream) -> int:
    v: View = view.position
    action = better_action(view, stream, MAX_SEARCHED_CARDS)
    gone = count(rules.every_card(v.options)) - v.left - 1
    if gone >= FIRST_SLIP and v.left > MAX_SEARCHED_CARDS and stream.below(SLIP_RATE) == 0:
        return DISCARD if action == KEEP else KEEP
    return action


def undrawn(v: View) -> int:
    """Return the cards in the deck, for a seat that sees the card that was drawn: all that lie nowhere else."""
    return rules.every_card(v.options) & ~(v.kept[0] | v.kept[1] | v.pile | 1 << v.card)


def better_action(view: SeatView, stream: RandomStream, max_searched: int) -> int:
    """Return the better decision by the average of the unseen cards, or by full search of a small deck."""
    v: View = view.position
    top, seat = v.options.top, view.seat
    deck = tuple(signed_value(top, card) for card in members(undrawn(v)))
    drawn = signed_value(top, v.card)
    keep: tuple[float, float] = (0.0, drawn)
    discard: tuple[float, float] = (0.0, sum(deck) / len(deck) if deck else 0.0)
    if len(deck) <= max_searched:
        # Who wins comes first; by how much decides between equals.
        lead = v.scores[seat] - v.scores[1 - seat]
        keep = (value_of_keeping(lead, drawn, deck), keep[1])
        discard = (value_of_discarding(lead, deck), discard[1])
    if keep == discard:
        return (KEEP, DISCARD)[stream.below(2)]
    return KEEP if keep > discard else DISCARD


def value_of_keeping(lead: int, card: int, deck: Cards) -> float:
    """Return the value of keeping a card, from -1 (lost) to 1 (won), at a lead."""
    return -value_of_drawing(-lead - card, deck)


def value_of_discarding(lead: int, deck: Cards) -> float:
    """Return the value of discarding and adding whatever comes; nothing, if the deck is empty (P1)."""
    if not deck:
        return sign(lead)
    return sum(value_of_keeping(lead, deck[i], without(deck, i)) for i in range(len(deck))) / len(deck)


def value_of_drawing(lead: int, deck: Cards) -> float:
    """Return the value of being about to draw, if both play as well as they can: expectimax."""
    if not deck:
        return sign(lead)
    total = 0.0
    for i, card in enumerate(deck):
        rest = without(deck, i)
        total += max(value_of_keeping(lead, card, rest), value_of_discarding(lead, rest))
    return total / len(deck)


def without(deck: Cards, i: int) -> Cards:
    return deck[:i] + deck[i + 1 :]


def sign(lead: int) -> float:
    return float((lead > 0) - (lead < 0))
