"""Prime Duel in a browser's log: short lines, and how it ended."""

from __future__ import annotations

from piste.core.game import counted
from piste.core.presentation import EventContext, Passing
from piste.core.protocols import RESIGNS
from piste.core.views import Ending, SeatView
from piste.games.prime_duel.rules import DECIDE, DISCARD, DRAW, REDRAW, TARGET_REACHED, TOSS, TURN_LIMIT, View


def start(_view: SeatView, _names: tuple[str, ...]) -> list[str]:
    return []


def lines(moment: EventContext) -> list[str]:
    kind, seat, what, also = moment.event
    if kind == RESIGNS:
        return []  # told with the result
    if kind == TOSS:
        return [moment.goes_first(seat)]
    before: View = moment.before
    after: View = moment.after
    who, target, score = moment.subject(seat), before.options.target, after.scores[seat]
    shuffled = [] if kind == DECIDE or before.deck else ["The pile was shuffled into a new deck"]  # Q4
    card = (also if kind == DECIDE else what) + 1
    if kind == DRAW:
        if after.phase == REDRAW:  # Q2
            return [*shuffled, f"{who} drew {card}: over {target}, discarded"]
        return [*shuffled, Passing(f"{who} drew {card}")]  # the decision names the card again
    if kind == DECIDE and what == DISCARD:
        return [f"{who} discarded {card}"]
    if before.scores[seat] + card > target:  # Q3
        return [*shuffled, f"{who} drew {card}: over {target}, still {score}"]
    prime = ", prime: extra turn" if after.extra else ""
    return [*shuffled, f"{who} {'kept' if kind == DECIDE else 'drew'} {card} → {score}{prime}"]


def final_score(view: SeatView) -> tuple[int, ...]:
    scores: tuple[int, ...] = view.position.scores
    return scores


def decisive(view: SeatView, names: tuple[str, ...], ending: Ending) -> str:
    position: View = view.position
    target = position.options.target
    if position.reason == TURN_LIMIT:
        return f"Nobody had reached {target} after {counted(position.turns, 'turn')}: a draw by turn limit."
    if position.reason != TARGET_REACHED or ending.winner is None:
        return ""
    kind, _, what, also = view.log[-1].event
    who = "You" if ending.winner == view.seat else names[ending.winner]
    did = f"kept {also + 1}" if kind == DECIDE else f"drew {what + 1}"
    return f"{who} {did} and landed on {target} exactly."
