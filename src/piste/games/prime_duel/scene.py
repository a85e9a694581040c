"""Prime Duel as a browser draws it: two scores on their way to the target, and what is left in the deck."""

from __future__ import annotations

from piste.core.bits import lane, lane_one
from piste.core.game import counted
from piste.core.protocols import HIDDEN
from piste.core.scene import CARDS, HAND, SCORE, Area, Card, other_seats, owner_label, turn_counter
from piste.core.views import SeatView
from piste.games.prime_duel import notation
from piste.games.prime_duel.rules import Options, View, is_prime, whole_deck
from piste.games.prime_duel.text import size

EMBLEM = Area(HAND, notation.TITLE, tuple(map(Card, "2357")))


def scene(view: SeatView, names: tuple[str, ...]) -> tuple[Area, ...]:
    position: View = view.position
    areas: list[Area] = []
    for seat in other_seats(view.seat, len(position.scores)):
        areas += player(view, names, seat)
    in_hand = 0 if position.card == HIDDEN else lane_one(position.card)
    pile = whole_deck(position.options) - position.deck - in_hand  # Q1: as in the words' picture
    areas.append(
        Area(CARDS, "Deck", stacks(position.options, position.deck), counts(position.options, position.deck))
    )
    used = tuple(card for card in stacks(position.options, pile) if not card.dim)
    areas.append(Area(CARDS, "Pile", used, counts(position.options, pile)))
    if view.ending is None and position.options.turns:
        areas.append(turn_counter(position.turns, position.options.turns))
    return (*areas, *player(view, names, view.seat)) if view.seat >= 0 else tuple(areas)


def player(view: SeatView, names: tuple[str, ...], seat: int) -> list[Area]:
    """Return a player's score, and the card they have drawn, which all may see (Q5)."""
    position: View = view.position
    score = position.scores[seat]
    note = "prime" if is_prime(score) else ""
    if position.extra and seat == position.seat and view.ending is None:
        note += ", extra turn"
    label = owner_label(view, names, seat, "score")
    areas = [Area(SCORE, label, note=note, seat=seat, value=score, maximum=position.options.target)]
    if seat == position.seat and position.card != HIDDEN:
        drew = f"{'You' if seat == view.seat else names[seat]} drew"
        areas.append(Area(HAND, drew, (Card(str(position.card + 1)),), seat=seat))
    return areas


def stacks(options: Options, cards: int) -> tuple[Card, ...]:
    """Return every card there is, with how many of it; faint where there is none."""
    cards_left = []
    for i in range(options.top):
        many = lane(cards, i)
        cards_left.append(Card(str(i + 1), f"{counted(many, 'card')} with {i + 1}", dim=many == 0, copies=many))
    return tuple(cards_left)


def counts(options: Options, cards: int) -> str:
    return counted(size(options, cards), "card") if cards else "empty"
