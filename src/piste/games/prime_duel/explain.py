"""Prime Duel: why a decision is worth what it is worth, in one sentence."""

from __future__ import annotations

from piste.core.bits import lane, units
from piste.core.evaluation import ESTIMATED, Evaluation
from piste.core.game import counted
from piste.core.views import SeatView
from piste.games.prime_duel import rules
from piste.games.prime_duel.rules import KEEP, View


def told(view: SeatView, action: int) -> str:
    """Return a decision with its card."""
    return f"{'keep' if action == KEEP else 'discard'} {view.position.card + 1}"


def why(view: SeatView, verdict: Evaluation, action: int) -> str:
    """Say what keeping makes of the score, or how many of the cards left make a prime, win, or go past the target."""
    v: View = view.position
    chosen = next(choice for choice in verdict.choices if choice.action == action)
    about = "about " if verdict.known == ESTIMATED else ""
    leaves = f"leaves {about}{50 * (1 + chosen.chances.value):.1f} %"
    card, score, target = v.card + 1, v.scores[v.seat], v.options.target
    if action == KEEP:
        after = score + card
        if after == target:
            return f"keeping {card} reaches {target} and wins"
        prime = "a prime number with an extra turn" if rules.is_prime(after) else "not a prime number"
        return f"keeping {card} {leaves}: it makes {after}, {prime}, {target - after} from the target"
    deck = v.deck if v.deck else rules.whole_deck(v.options)
    left, good, past = units(deck), 0, 0
    for i in range(v.options.top):
        after, many = score + i + 1, lane(deck, i)
        good += many * (after == target or (after < target and rules.is_prime(after)))
        past += many * (after > target)
    some = (
        f"{good or 'none'} of {counted(left, 'card')} {'makes' if good <= 1 else 'make'} a prime number or {target}"
    )
    too_high = f" and {past} {'goes' if past == 1 else 'go'} past it" if past else ""
    return f"discarding {card} {leaves}: {some}{too_high}"
