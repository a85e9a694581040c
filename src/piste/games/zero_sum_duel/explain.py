"""Zero Sum Duel: why a discard is worth what it is worth, in one sentence."""

from __future__ import annotations

from piste.core.bits import count, signed_sum
from piste.core.evaluation import ESTIMATED, Evaluation
from piste.core.views import SeatView
from piste.games.zero_sum_duel import notation
from piste.games.zero_sum_duel.bots.steady import completing, unseen
from piste.games.zero_sum_duel.rules import View

LEAST_DIFFERENCE = 0.001  # between two values; a smaller one may be rounding


def why(view: SeatView, verdict: Evaluation, action: int) -> str:
    """Say what sum a discard leaves, and with how many of the unseen cards it could win on the next turn."""
    v: View = view.position
    top, name = v.options.top, notation.card_name(v.options.top, action)
    chosen = next(choice for choice in verdict.choices if choice.action == action)
    kept = v.hand & ~(1 << action)
    total = signed_sum(top, kept)
    if total == 0:
        return f"discarding {name} leaves a sum of 0 and wins"
    about = "about " if verdict.known == ESTIMATED else ""
    head = f"discarding {name} leaves {about}{50 * (1 + chosen.chances.value):.1f} %"
    drawn, where = next_draws(v, action), "you cannot see" if v.left >= 2 else "on the pile"
    many, winning = count(drawn), count(completing(top, kept) & drawn)
    cards = f"the {many} cards" if many > 1 else "the one card"
    some = f"{winning or 'none'} of {cards} {where} {'wins' if winning <= 1 else 'win'}"
    reason = f"{head}: the sum is {total:+d}, and {some} if you draw {'it' if winning <= 1 else 'one'} next"
    # Where the count speaks for another discard than the value does, what decides comes later.
    for other in verdict.choices:
        worth, wins = other.chances.value - chosen.chances.value, winning_draws(v, other.action) - winning
        if worth > LEAST_DIFFERENCE and wins < 0 and other == verdict.best:
            return f"{reason}, but it leaves less for the turns after that"
        if worth < -LEAST_DIFFERENCE and wins > 0 and chosen == verdict.best:
            return f"{reason}, but it leaves more for the turns after that"
    return reason


def next_draws(v: View, action: int) -> int:
    """Return the cards of which one is drawn on the next turn of one's own after a discard."""
    # Before that turn the pile may be shuffled, this discard included.
    return unseen(v) if v.left >= 2 else v.pile | 1 << action


def winning_draws(v: View, action: int) -> int:
    """Return how many of the cards that may be drawn next win after a discard."""
    return count(completing(v.options.top, v.hand & ~(1 << action)) & next_draws(v, action))
