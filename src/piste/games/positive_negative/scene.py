"""Positive-Negative as a browser draws it: what each player has kept, and the card that is to be decided on."""

from __future__ import annotations

from piste.core.protocols import HIDDEN
from piste.core.scene import (
    BACK,
    CARDS,
    HAND,
    Area,
    Card,
    deck_area,
    number_card,
    number_cards,
    other_seats,
    owner_label,
    pile_area,
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
    pile, undrawn = (texts(position.options.top, cards) for cards in (position.pile, position.undrawn))
    areas += [pile_area(pile), deck_area(position.left, undrawn, unseen(position))]
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


def unseen(position: View) -> str:
    """Return the cards that have not been before the viewer's eyes: those of the deck, and one another may hold."""
    seen = position.kept[0] | position.kept[1] | position.pile
    seen |= 0 if position.card == HIDDEN else 1 << position.card
    left = texts(position.options.top, rules.every_card(position.options) & ~seen)
    return with_minus_sign(f"not seen yet: {', '.join(left)}") if left and position.phase != DONE else ""


def faces(position: View, cards: int) -> tuple[Card, ...]:
    return number_cards(texts(position.options.top, cards))
