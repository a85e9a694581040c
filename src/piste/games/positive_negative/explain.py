"""Positive-Negative: why a decision is worth what it is worth, in one sentence."""

from __future__ import annotations

from piste.core.bits import count, signed_value
from piste.core.evaluation import Evaluation
from piste.core.game import members
from piste.core.views import SeatView
from piste.games.positive_negative import notation
from piste.games.positive_negative.bots.steady import undrawn
from piste.games.positive_negative.rules import KEEP, View


def told(view: SeatView, action: int) -> str:
    """Return a decision with its card."""
    return f"{'keep' if action == KEEP else 'discard'} {notation.card_name(view.options.top, view.position.card)}"


def why(view: SeatView, verdict: Evaluation, action: int) -> str:
    """Say how the scores stand if the card is kept, or how many of the cards left are better if it is not."""
    v: View = view.position
    top, chosen = v.options.top, next(choice for choice in verdict.choices if choice.action == action)
    card, deck = signed_value(top, v.card), undrawn(v)
    own, other, left = v.scores[v.seat], v.scores[1 - v.seat], count(deck)
    leaves = f"{notation.card_name(top, v.card)} leaves {50 * (1 + chosen.chances.value):.1f} %"
    other_value = max((one.chances.value for one in verdict.choices if one.action != action), default=-1.0)
    others = f"{50 * (1 + other_value):.1f} %"
    if action == KEEP:
        stand = f"keeping {leaves}: it makes {own + card} to {other}"
        if left == 0:
            return f"{stand} at the end"
        mean = sum(signed_value(top, one) for one in members(deck)) / left
        if mean > card and chosen == verdict.best:  # the average speaks for the other choice
            return f"{stand}; discarding leaves {others}, though the next card adds {mean:+.1f} on average"
        return f"{stand}, where the next card would add {mean:+.1f} on average"
    if left == 0:
        return f"discarding {leaves}: no card is left to draw, so it stays {own} to {other}"
    if left == 1:
        return f"discarding {leaves}: the one card left, {notation.card_name(top, members(deck)[0])}, must be added"
    better = sum(signed_value(top, one) > card for one in members(deck))
    some = f"{better or 'none'} of the {left} cards left {'is' if better <= 1 else 'are'} better"
    rest = f", and {left - better} {'is' if left - better == 1 else 'are'} worse" if better < left else ""
    yet = f", but keeping it leaves {others}" if 2 * better < left and chosen == verdict.best else ""
    return f"discarding {leaves}: {some}{rest}{yet}"
