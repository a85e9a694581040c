"""Positive-Negative in a browser's log: short lines, and how it ended."""

from __future__ import annotations

from piste.core.presentation import EventContext, Passing
from piste.core.protocols import HIDDEN, RESIGNS
from piste.core.scene import with_minus_sign
from piste.core.views import Ending, SeatView
from piste.games.positive_negative import notation, rules
from piste.games.positive_negative.rules import DECIDE, DRAW, KEEP, REDRAW, View


def start(_view: SeatView, _names: tuple[str, ...]) -> list[str]:
    return []


def lines(moment: EventContext) -> list[str]:
    kind, seat, what, also = moment.event
    if kind == RESIGNS:
        return []  # told with the result
    after: View = moment.after
    shown = also if kind == DECIDE else what
    card = "a card" if shown == HIDDEN else notation.card_name(after.options.top, shown)
    did = "drew" if kind != DECIDE else "kept" if what == KEEP else "discarded"
    score = f" (total {after.scores[seat]})" if did == "kept" or kind == REDRAW else ""
    line = f"{moment.subject(seat)} {with_minus_sign(f'{did} {card}{score}')}"
    return [Passing(line) if kind == DRAW else line]  # the decision names the card again


def final_score(view: SeatView) -> tuple[int, ...]:
    scores: tuple[int, ...] = view.position.scores
    return scores


def decisive(view: SeatView, _names: tuple[str, ...], _ending: Ending) -> str:
    reason = view.position.reason
    if reason == rules.RESIGNED:
        return ""
    why = "the higher score wins" if reason == rules.HIGHER_SCORE else "the same score is a draw"
    return f"The deck is empty: {why}."
