"""A first game of Positive-Negative that teaches: ten cards, a discard that helps, and a free one at the end."""

from __future__ import annotations

from piste.core.bits import signed_value
from piste.core.game import counted, members
from piste.core.lesson import Lesson, Picture
from piste.core.scene import BACK, CARDS, HAND, SCORE, Area, Token, number_card, number_cards
from piste.core.views import SeatView
from piste.games.positive_negative import rules
from piste.games.positive_negative.notation import card_name
from piste.games.positive_negative.rules import DECIDE, DONE, REDRAW, View


def drawn_value(view: SeatView) -> int:
    """Return the value of the card that this seat has to decide on; 0 if there is none."""
    p: View = view.position
    return signed_value(p.options.top, p.card) if p.phase == DECIDE and p.seat == view.seat else 0


def start(view: SeatView) -> str:
    value = drawn_value(view)
    if not value:
        return ""
    does = f"adds {value} to" if value > 0 else f"takes {-value} from"
    return (
        f"The higher score wins at the end. Only you see this card. Keeping it {does} your score. "
        "If you discard it, you must add the next card."
    )


def last_card(view: SeatView) -> str:
    p: View = view.position
    if not drawn_value(view) or p.left:
        return ""
    return "This is the last card. If you discard it, nothing follows and your score stays as it is."


def negative(view: SeatView) -> str:
    value = drawn_value(view)
    if value >= 0:
        return ""
    return (
        f"Keeping {value} costs you {-value} points. Discard it, and the next card counts instead, better or worse."
    )


def forced(view: SeatView) -> str:
    """Tell of the card that followed a discard of one's own."""
    mine = [entry.event for entry in view.log if entry.event.seat == view.seat and entry.event.kind == REDRAW]
    if not drawn_value(view) or not mine:
        return ""
    added = card_name(view.position.options.top, mine[-1].what)
    return f"You discarded, so the next card was added: {added}. It is the same for your opponent."


def to_come(view: SeatView) -> str:
    """Name the cards that this seat has not seen: those in the deck."""
    p: View = view.position
    if not drawn_value(view) or p.left > 5:
        return ""
    seen = p.kept[0] | p.kept[1] | p.pile | 1 << p.card
    left = [card_name(p.options.top, card) for card in members(rules.every_card(p.options) & ~seen)]
    return f"There is one of each card, so you can tell what is left: {', '.join(left)}."


def result(view: SeatView) -> str:
    p: View = view.position
    if p.phase != DONE:
        return ""
    cards = counted(2 * rules.Options().top, "card")
    return f"That is the whole game. A real one has {cards}, from -10 to 10 without 0. The same score is a draw."


PICTURES = (
    Picture(
        "Draw a card",
        (Area(HAND, "You drew", number_cards(("7",))),),
        "There is one card of each number from -10 to 10, and no 0. Only you see the card you drew.",
    ),
    Picture(
        "Keep it, or discard it",
        (
            Area(CARDS, "Discarded", (number_card("-6")._replace(dim=True),)),
            Area(CARDS, "Must be added", (BACK,)),
        ),
        "Keep it, and it is added to your score. Discard it, and you must add the next card, whatever it is.",
    ),
    Picture(
        "The end",
        (Area(SCORE, "Totals", minimum=-20, maximum=20, tokens=(Token("Other", -4), Token("You", 11, own=True))),),
        "When the deck is empty, the higher score wins; the same score is a draw. "
        "Whoever discards the last card of all draws no other.",
    ),
)

LESSON = Lesson(
    options={"top": "5"},
    laid="3 -1 -5 -4 2 -3 1 4 5 -2",
    seed="first lesson",
    notes=(start, last_card, negative, forced, to_come, result),
    suggested=("keep", "discard", "keep", "discard"),
)
