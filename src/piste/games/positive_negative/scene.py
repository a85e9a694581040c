"""Positive-Negative as a browser draws it: what each player has kept, and the card that is to be decided on."""

from __future__ import annotations

from piste.core.protocols import HIDDEN
from piste.core.scene import (
    BACK,
    CARDS,
    HAND,
    Area,
    Card,
    face_down,
    number_card,
    other_seats,
    owner_label,
    with_minus_sign,
)
from piste.core.views import SeatView
from piste.games.positive_negative import notation, rules
from piste.games.positive_negative.rules import DECIDE, DONE, View
from piste.games.positive_negative.text import texts

EMBLEM = Area(HAND, notation.TITLE, (number_card("9"), BACK, number_card("-9")))


def scene(view: SeatView, names: tuple[str, ...]) -> tuple[Area, ...]:
    position: View = view.position
    areas: list[Area] = []
    for seat in other_seats(view.seat, len(position.scores)):
        areas += player(view, names, seat)
    pile = faces(position, position.pile)
    areas += [Area(CARDS, "Pile", pile, "" if pile else "empty"), deck(position)]
    return (*areas, *player(view, names, view.seat)) if view.seat >= 0 else tuple(areas)


def player(view: SeatView, names: tuple[str, ...], seat: int) -> list[Area]:
    """Return what a player has kept, with the score, and the card they have drawn and only they may see (P2)."""
    position: View = view.position
    score = with_minus_sign(f"score {position.scores[seat]}")
    areas = [Area(CARDS, owner_label(view, names, seat, "cards"), faces(position, position.kept[seat]), score, seat)]
    if seat == position.seat and (position.phase == DECIDE or position.card != HIDDEN):
        drawn = BACK if position.card == HIDDEN else faces(position, 1 << position.card)[0]
        areas.append(Area(HAND, f"{'You' if seat == view.seat else names[seat]} drew", (drawn,), seat=seat))
    return areas


def deck(position: View) -> Area:
    """Return the deck: how many cards it has and, once the game is over, which (G9)."""
    if position.undrawn:
        return Area(CARDS, "Never drawn", faces(position, position.undrawn))
    return Area(CARDS, "Deck", (face_down(position.left, unseen(position)),), "" if position.left else "empty")


def unseen(position: View) -> str:
    """Return the cards that have not been before the viewer's eyes: those of the deck, and one another may hold."""
    seen = position.kept[0] | position.kept[1] | position.pile
    seen |= 0 if position.card == HIDDEN else 1 << position.card
    left = texts(position.options.top, rules.every_card(position.options) & ~seen)
    return with_minus_sign(f"not seen yet: {', '.join(left)}") if left and position.phase != DONE else ""


def faces(position: View, cards: int) -> tuple[Card, ...]:
    return tuple(number_card(text) for text in texts(position.options.top, cards))
