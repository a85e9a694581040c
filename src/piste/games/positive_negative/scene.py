"""Positive-Negative as a browser draws it: what each player has kept, and the card that is to be decided on."""

from __future__ import annotations

from piste.core.bits import signed_value
from piste.core.game import members
from piste.core.protocols import HIDDEN
from piste.core.scene import (
    BACK,
    CARDS,
    HAND,
    SCORE,
    Area,
    Card,
    Score,
    Standing,
    Token,
    deck_area,
    hidden_area,
    number_card,
    number_cards,
    other_seats,
    owner_label,
    pile_area,
    player_name,
    with_minus_sign,
)
from piste.core.views import SeatView
from piste.games.positive_negative import notation, rules
from piste.games.positive_negative.rules import DECIDE, DONE, View
from piste.games.positive_negative.text import texts

EMBLEM = Area(HAND, notation.TITLE, (number_card("9"), BACK, number_card("-9")))


def scene(view: SeatView, names: tuple[str, ...]) -> tuple[Area, ...]:
    position: View = view.position
    areas: list[Area] = [totals(view, names)]
    for seat in other_seats(view.seat, len(position.scores)):
        areas += player(view, names, seat)
    pile, undrawn = (texts(position.options.top, cards) for cards in (position.pile, position.undrawn))
    areas.append(pile_area(pile))
    if position.phase == DONE:
        areas.append(deck_area(position.left, undrawn))
    else:
        areas.append(hidden_area("Not seen yet", position.options.top, unseen(position)))
    return (*areas, *player(view, names, view.seat)) if view.seat >= 0 else tuple(areas)


def player(view: SeatView, names: tuple[str, ...], seat: int) -> list[Area]:
    """Return what a player has kept, and the card they have drawn and only they may see (P2)."""
    position: View = view.position
    areas = [Area(CARDS, owner_label(view, names, seat, "cards"), faces(position, position.kept[seat]), seat=seat)]
    if seat == position.seat and (position.phase == DECIDE or position.card != HIDDEN):
        drawn = BACK if position.card == HIDDEN else faces(position, 1 << position.card)[0]
        areas.append(Area(HAND, f"{'You' if seat == view.seat else names[seat]} drew", (drawn,), seat=seat))
    return areas


def totals(view: SeatView, names: tuple[str, ...]) -> Area:
    """Return both totals as bars that begin at zero; few games go beyond three times the highest card."""
    position: View = view.position
    order = [*other_seats(view.seat, len(position.scores)), *([view.seat] if view.seat >= 0 else [])]
    tokens = tuple(
        Token(player_name(view, names, seat), position.scores[seat], own=seat == view.seat) for seat in order
    )
    far = max(3 * position.options.top, *map(abs, position.scores))
    return Area(SCORE, "Totals", minimum=-far, maximum=far, tokens=tokens)


def question(view: SeatView, _names: tuple[str, ...]) -> str:
    return f"You drew {with_minus_sign(notation.card_name(view.options.top, view.position.card))}. Keep it?"


def choice_texts(view: SeatView) -> dict[int, tuple[str, str]]:
    """Return what keeping makes of the score, and what discarding obliges to (P1)."""
    position: View = view.position
    score = position.scores[view.seat] + signed_value(position.options.top, position.card)
    drawn = "the next card counts" if position.left else "nothing follows"
    return {
        rules.KEEP: (f"Keep → {score}", "your new total"),
        rules.DISCARD: ("Discard", drawn),
    }


def standing(view: SeatView, _names: tuple[str, ...]) -> Standing:
    position: View = view.position
    scores = tuple(Score(with_minus_sign(str(score))) for score in position.scores)
    return Standing(scores, "Deck", str(position.left)) if view.ending is None else Standing(scores)


def unseen(position: View) -> list[int]:
    """Return the cards that have not been before the viewer's eyes: those of the deck, and one another may hold."""
    seen = position.kept[0] | position.kept[1] | position.pile
    seen |= 0 if position.card == HIDDEN else 1 << position.card
    hidden = rules.every_card(position.options) & ~seen
    return [signed_value(position.options.top, card) for card in members(hidden)]


def faces(position: View, cards: int) -> tuple[Card, ...]:
    return number_cards(texts(position.options.top, cards))
