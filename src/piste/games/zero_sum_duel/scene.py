"""Zero Sum Duel as a browser draws it: two hands, and between them pile and deck."""

from __future__ import annotations

from piste.core.bits import signed_value
from piste.core.game import counted, members
from piste.core.protocols import HIDDEN
from piste.core.scene import (
    BACK,
    HAND,
    Area,
    Card,
    Standing,
    deck_area,
    hidden_area,
    number_card,
    number_cards,
    other_seats,
    owner_label,
    pile_area,
    turn_standing,
    with_minus_sign,
)
from piste.core.views import SeatView
from piste.games.zero_sum_duel import notation
from piste.games.zero_sum_duel.rules import DISCARD, DONE, View, every_card
from piste.games.zero_sum_duel.text import shown_hand, signed, texts, total

EMBLEM = Area(HAND, notation.TITLE, number_cards(("-5", "+2", "+3")), "sum 0")


def scene(view: SeatView, names: tuple[str, ...]) -> tuple[Area, ...]:
    position: View = view.position
    areas = [hand(view, names, seat) for seat in other_seats(view.seat, len(position.sizes))]
    top = position.options.top
    areas += [pile_area(texts(top, pile(view))), deck_area(position.left, texts(top, members(position.undrawn)))]
    if position.phase != DONE:
        areas.append(hidden_area("Face down", top, face_down(position)))
    return (*areas, hand(view, names, view.seat)) if view.seat >= 0 else tuple(areas)


def pile(view: SeatView) -> list[int]:
    """Return the pile, the latest discard last where the log tells which it was."""
    cards = list(members(view.position.pile))
    latest = next((entry.event.what for entry in reversed(view.log) if entry.event.kind == DISCARD), HIDDEN)
    return sorted(cards, key=lambda card: card == latest)


def face_down(position: View) -> list[int]:
    """Return the cards that the viewer does not see: those of the deck and of other hands."""
    hidden = every_card(position.options) & ~(position.hand | position.pile)
    return [signed_value(position.options.top, card) for card in members(hidden)]


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
    # Only what is kept wins: the sum of a hand that is one card too large would mislead (Z7).
    full = len(cards) > position.options.hand and position.phase != DONE
    note = f"{counted(len(cards), 'card')}: discard one" if full else f"sum {signed(total(top, cards))}"
    return Area(HAND, label, faces, with_minus_sign(note), seat)


def face(view: SeatView, card: int, text: str) -> Card:
    """Return a card; one that may be discarded says which sum that would leave."""
    if card not in view.actions:
        return number_card(text)
    left = with_minus_sign(signed(sum_without(view.position, card)))
    return number_card(text, f"leaves {left}", card)._replace(below=left)


def sum_without(position: View, card: int) -> int:
    return total(position.options.top, members(position.hand & ~(1 << card)))


def choice_texts(view: SeatView) -> dict[int, tuple[str, str]]:
    """Return what each discard leaves; a sum of zero wins (Z1)."""
    texts = {}
    for card in view.actions:
        left = sum_without(view.position, card)
        what = f"leaves a sum of {signed(left)}" if left else "leaves a sum of 0: you win"
        texts[card] = f"Discard {notation.card_name(view.options.top, card)}", what
    return texts


def standing(view: SeatView, _names: tuple[str, ...]) -> Standing:
    return turn_standing(view)
