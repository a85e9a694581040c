"""A first game of Zero Sum Duel that teaches: hands that are nearly full, hidden cards, and a zero to be found."""

from __future__ import annotations

from piste.core.bits import signed_sum, signed_value
from piste.core.game import members
from piste.core.lesson import Lesson, Picture
from piste.core.scene import CARDS, HAND, Area, number_cards
from piste.core.views import SeatView
from piste.games.zero_sum_duel.bots.steady import opponents
from piste.games.zero_sum_duel.notation import card_name
from piste.games.zero_sum_duel.rules import DISCARD, DONE, TURN_LIMIT, View


def asked(view: SeatView) -> bool:
    """Say whether this seat is to discard."""
    p: View = view.position
    return p.phase == DISCARD and p.seat == view.seat


def start(view: SeatView) -> str:
    if not asked(view):
        return ""
    return (
        "You win when the cards you keep, two or three, add up to 0. "
        "Each turn you draw one and may keep three: discard one of these four."
    )


def winning(view: SeatView) -> str:
    p: View = view.position
    if not asked(view) or not any(signed_sum(p.options.top, p.hand & ~(1 << card)) == 0 for card in members(p.hand)):
        return ""
    return "Three of these four cards add up to 0. Discard the other one, and you win."


def hidden(view: SeatView) -> str:
    if not asked(view):
        return ""
    return (
        "There is one card of each number from -5 to +5, no 0. You see only what others discard. "
        "When the deck is empty, the pile becomes the deck."
    )


def nearly(view: SeatView) -> str:
    """Name two cards of one's own and the card that makes them zero, unless the opponent is sure to hold it."""
    p: View = view.position
    if not asked(view):
        return ""
    top = p.options.top
    held = {signed_value(top, card) for card in members(opponents(view))}
    for one in members(p.hand):
        for two in members(p.hand):
            need = -signed_sum(top, 1 << one | 1 << two)
            if one < two and need and abs(need) <= top and need not in held:
                return (
                    f"Keep cards that are one card away from 0: {card_name(top, one)} and {card_name(top, two)} "
                    f"wait for {need:+d}."
                )
    return ""


def result(view: SeatView) -> str:
    p: View = view.position
    if p.phase != DONE:
        return ""
    if p.reason == TURN_LIMIT:
        return "The turns are used up, so it is a draw. A real game goes on until a hand adds up to 0."
    return "That is the whole game. A real one has no turn limit."


PICTURES = (
    Picture(
        "The cards",
        (Area(CARDS, "Deck", number_cards(f"{n:+d}" for n in range(-5, 6) if n), "shuffled, face down"),),
        "There is one card of each number from -5 to +5, and no 0. Hands are empty at the start.",
    ),
    Picture(
        "Your turn",
        (Area(HAND, "Your hand", number_cards(("-1", "+4", "+3", "+1")), "four cards: discard one"),),
        "Draw a card. With four in hand, discard one, face up. Others do not see your hand.",
    ),
    Picture(
        "You win",
        (Area(HAND, "Your hand", number_cards(("+3", "+1", "-4")), "sum 0"),),
        "When the cards you keep, two or three, add up to 0, you win at once. "
        "When the deck is empty, the pile is shuffled and becomes the deck.",
    ),
)

LESSON = Lesson(
    options={"first": "a", "turns": "20"},
    laid="-1 -5 +4 -4 +3 +5 +1 +2 -3 -2",
    seed="first lesson",
    notes=(start, winning, hidden, nearly, result),
    suggested=("+4", "-1", "-3"),
)
