"""A first game of Duel that teaches: one round with five cards each, abilities, a change of stance and the trump."""

from __future__ import annotations

from piste.core.lesson import Lesson, Picture
from piste.core.scene import CARDS, HAND, TOWER, Area, Card
from piste.core.views import SeatView
from piste.games.mccoy_duel.rules import (
    COPY,
    DONE,
    GIVE,
    KILL,
    LEAD,
    PLAY,
    STANCE,
    TAKE,
    TRUMPED,
    Options,
    View,
)
from piste.games.mccoy_duel.scene import plain_face

OF_TOWER = {
    KILL: "The 0 buries one of the cards in the tower, out of everybody's reach. Choose it there.",
    TAKE: "The 2 takes one of the cards in the tower into your hand. Choose it there.",
    COPY: "The 4 does what another card in the tower does. Choose it there.",
}


def asked(view: SeatView) -> bool:
    """Say whether this seat is to play a card."""
    p: View = view.position
    return p.phase == PLAY and p.seat == view.seat


def lead(view: SeatView) -> str:
    if not asked(view) or view.position.power != LEAD:
        return ""
    return (
        "The last one who can play wins the round. Begin with any card; each card after it must be lower. "
        "So begin high, with the 7."
    )


def stance(view: SeatView) -> str:
    if not asked(view) or view.position.demand != STANCE:
        return ""
    return (
        "Every card does something when played. After a 5 the next card must be a 6, a 7 or the trump *. "
        "After that, lower cards follow again."
    )


def trumped(view: SeatView) -> str:
    p: View = view.position
    if not asked(view) or p.demand != TRUMPED:
        return ""
    goes = "The trump * goes on any card and counts as 8, so any card but a 0 may follow."
    if sum(p.sizes) > p.sizes[view.seat]:
        return f"{goes} Keep low cards for later."
    return f"{goes} Your opponent has no cards left: play, and you win."


def from_tower(view: SeatView) -> str:
    p: View = view.position
    return OF_TOWER.get(p.phase, "") if p.seat == view.seat else ""


def give(view: SeatView) -> str:
    p: View = view.position
    if p.phase != GIVE or p.target != view.seat:
        return ""
    return "Your opponent played a 7: you must give away a card, but you choose which. Keep the trump if you can."


def lower(view: SeatView) -> str:
    p: View = view.position
    if not asked(view):
        return ""
    return f"The power to beat is {p.power}: play a lower card, or the trump *, which goes on anything."


def result(view: SeatView) -> str:
    if view.position.phase != DONE:
        return ""
    return "That is a whole round. In a real match everybody has nine cards, and whoever wins three rounds wins."


def faces(*cards: int) -> tuple[Card, ...]:
    return tuple(plain_face(Options(), card) for card in cards)


def no_use(cards: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(card._replace(dim=True) for card in cards)


AMBER, BLUE = 0, 9
PICTURES = (
    Picture(
        "Play lower",
        (Area(TOWER, "Tower", faces(AMBER + 7, BLUE + 4), badge=("Power to beat", "4", "")),),
        "Any card may lead. After that every card must be lower than the one before. "
        "The trump * goes on anything and counts as 8.",
    ),
    Picture(
        "Each card does something",
        (Area(CARDS, "Your nine cards", faces(*range(AMBER, BLUE)), "one is buried at random"),),
        "When a card is played, its ability happens. After a 5, for example, only a 6, a 7 or the trump may follow.",
    ),
    Picture(
        "Who cannot play is out",
        (Area(HAND, "Your hand", no_use(faces(AMBER + 3, AMBER + 6)), "the power to beat is 2: you are out"),),
        "The last one who can play wins the round. Whoever first wins three rounds wins the match.",
    ),
)

LESSON = Lesson(
    options={"first": "1", "rounds": "1", "powers": "2567*"},
    laid="2 7",
    seed="first lesson",
    notes=(lead, stance, trumped, from_tower, give, lower, result),
    suggested=("7", "6b", "5"),
)
