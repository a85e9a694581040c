"""Zero Sum Duel: why a discard is worth what it is worth, in one sentence."""

from __future__ import annotations

from piste.core.bits import count, signed_sum
from piste.core.evaluation import ESTIMATED, Evaluation
from piste.core.views import SeatView
from piste.games.zero_sum_duel import notation
from piste.games.zero_sum_duel.bots.steady import completing, unseen
from piste.games.zero_sum_duel.rules import View


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
    head = f"discarding {name} leaves {about}{50 * (1 + chosen.chances.value):.0f} %"
    if v.left >= 2:
        drawn, where = unseen(v), "you cannot see"
    else:  # before the next turn of one's own the pile is shuffled, this discard included
        drawn, where = v.pile | 1 << action, "on the pile"
    many, winning = count(drawn), count(completing(top, kept) & drawn)
    cards = f"the {many} cards" if many > 1 else "the one card"
    some = f"{winning or 'none'} of {cards} {where} {'wins' if winning <= 1 else 'win'}"
    return f"{head}: the sum is {total:+d}, and {some} if you draw {'it' if winning <= 1 else 'one'} next"
