"""Zero Sum Duel as a browser draws it: two hands, and between them pile and deck."""

from __future__ import annotations

from piste.core.game import counted, members
from piste.core.scene import (
    BACK,
    HAND,
    Area,
    Card,
    deck_area,
    number_card,
    number_cards,
    other_seats,
    owner_label,
    pile_area,
    turn_counter,
    with_minus_sign,
)
from piste.core.views import SeatView
from piste.games.zero_sum_duel import notation
from piste.games.zero_sum_duel.rules import DONE, View
from piste.games.zero_sum_duel.text import shown_hand, signed, texts, total

EMBLEM = Area(HAND, notation.TITLE, number_cards(("-5", "+2", "+3")), "sum 0")


def scene(view: SeatView, names: tuple[str, ...]) -> tuple[Area, ...]:
    position: View = view.position
    areas = [hand(view, names, seat) for seat in other_seats(view.seat, len(position.sizes))]
    pile, undrawn = (texts(position.options.top, members(cards)) for cards in (position.pile, position.undrawn))
    areas += [pile_area(pile), deck_area(position.left, undrawn)]
    if position.phase != DONE and position.options.turns:
        areas.append(turn_counter(position.turns, position.options.turns))
    return (*areas, hand(view, names, view.seat)) if view.seat >= 0 else tuple(areas)


def hand(view: SeatView, names: tuple[str, ...], seat: int) -> Area:
    """Return a hand: the own one, or another's, which is shown once the game is over (Z3, Z8)."""
    position: View = view.position
    label = owner_label(view, names, seat, "hand")
    if seat != view.seat and position.phase != DONE:
        size = position.sizes[seat]
        return Area(HAND, label, (BACK,) * size, counted(size, "card"), seat)
    cards = shown_hand(view, seat)
    top = position.options.top
    faces = tuple(face(view, card, text) for card, text in zip(cards, texts(top, cards), strict=True))
    return Area(HAND, label, faces, with_minus_sign(f"sum {signed(total(top, cards))}"), seat)


def face(view: SeatView, card: int, text: str) -> Card:
    if card not in view.actions:
        return number_card(text)
    return number_card(text, with_minus_sign(f"discard {text}"), card)
