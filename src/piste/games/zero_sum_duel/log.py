"""Zero Sum Duel in a browser's log: short lines, and how it ended."""

from __future__ import annotations

from piste.core.game import counted
from piste.core.presentation import EventContext, Passing
from piste.core.protocols import HIDDEN, RESIGNS
from piste.core.scene import with_minus_sign
from piste.core.views import Ending, SeatView
from piste.games.zero_sum_duel import notation, rules
from piste.games.zero_sum_duel.rules import DISCARD, DRAW, TOSS, View
from piste.games.zero_sum_duel.text import in_order, shown_hand, signed, texts, total, won


def start(_view: SeatView, _names: tuple[str, ...]) -> list[str]:
    return []


def lines(moment: EventContext) -> list[str]:
    kind, seat, what, _ = moment.event
    if kind == RESIGNS:
        return []  # told with the result
    if kind == TOSS:
        return [moment.goes_first(seat)]
    before: View = moment.before
    after: View = moment.after
    top = after.options.top
    card = "a card" if what == HIDDEN else with_minus_sign(notation.card_name(top, what))
    shuffled = ["The pile was shuffled into a new deck"] if kind == DRAW and not before.left else []  # Z4
    line = f"{moment.subject(seat)} {'drew' if kind == DRAW else 'discarded'} {card}"
    if won(after):
        line += ": sum 0"
    elif kind == DISCARD and moment.own:
        line += with_minus_sign(f": sum {signed(total(top, in_order(seat, moment.opening, moment.log)))}")
    elif what == HIDDEN and after.phase == DISCARD:
        line = Passing(line)  # the discard tells of the same turn
    return [*shuffled, line]


def final_score(_view: SeatView) -> None:
    return None


def decisive(view: SeatView, names: tuple[str, ...], ending: Ending) -> str:
    """Return what the last card did; of another's draw nobody is told which card it was."""
    position: View = view.position
    if position.reason == rules.TURN_LIMIT:
        return f"Nobody had a sum of zero after {counted(position.turns, 'turn')}: a draw by turn limit."
    if position.reason != rules.SUM_IS_ZERO or ending.winner is None:
        return ""
    kind, seat, what, _ = view.log[-1].event
    top = position.options.top
    card = "a card" if what == HIDDEN else notation.card_name(top, what)
    who, whose = ("You", "your") if seat == view.seat else (names[seat], "the")
    did = f"{who} {'drew' if kind == DRAW else 'discarded'} {card}"
    return f"{did}: {whose} hand {' '.join(texts(top, shown_hand(view, ending.winner)))} sums to zero."
