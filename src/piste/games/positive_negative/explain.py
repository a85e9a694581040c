"""Positive-Negative: why a decision is worth what it is worth, in one sentence."""

from __future__ import annotations

from piste.core.bits import count, signed_value
from piste.core.evaluation import Evaluation
from piste.core.game import counted, members
from piste.core.views import SeatView
from piste.games.positive_negative import notation
from piste.games.positive_negative.bots.steady import undrawn
from piste.games.positive_negative.rules import KEEP, View


def why(view: SeatView, verdict: Evaluation, action: int) -> str:
    """Say what keeping or discarding leaves, and how many of the cards left are better."""
    v: View = view.position
    top, chosen = v.options.top, next(choice for choice in verdict.choices if choice.action == action)
    card, deck = signed_value(top, v.card), undrawn(v)
    better = sum(signed_value(top, other) > card for other in members(deck))
    leaves = f"leaves {50 * (1 + chosen.chances.value):.0f} %"
    name, left = notation.card_name(top, v.card), count(deck)
    if left == 0:
        final = "the game ends with it" if action == KEEP else "no card is left to draw"
        return f"{'keeping' if action == KEEP else 'discarding'} {name} {leaves}: {final}"
    cards = f"{'the card' if left == 1 else f'the {left} cards'} left"
    some = f"{better or 'none'} of {cards} {'is' if better <= 1 else 'are'} better"
    if left == 1:
        some = f"the card left, {notation.card_name(top, members(deck)[0])}, is {'better' if better else 'no better'}"
    if action == KEEP:
        return f"keeping {name} {leaves}: {some}"
    last = f", and {counted(left - better, 'card')} would be worse" if left > 1 and better < left else ""
    return f"discarding {name} {leaves}: {some}{last}"
