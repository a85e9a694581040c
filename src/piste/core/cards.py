"""Decks with one card of each number from -top to top, without 0: how such cards are read and listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from piste.core.errors import DealError, PositionError
from piste.core.game import members, quoted, without_plus
from piste.core.position import Fields

Name = Callable[[int, int], str]
"""How a game writes a card: with its sign always (+3), or as a plain number (3)."""


def listed_cards(top: int, cards: int, name: Name) -> str:
    return ",".join(name(top, card) for card in members(cards)) or "-"


def read_cards(top: int, words: Iterable[str], name: Name) -> list[int]:
    """Return cards by name, in order; the text of a ValueError says what is wrong."""
    known = {without_plus(name(top, card)): card for card in range(2 * top)}
    cards: list[int] = []
    for word in words:
        card = known.get(without_plus(word))
        if card is None:
            highest = name(top, 2 * top - 1)
            raise ValueError(f"{quoted(word)} is not a card of this game (-{top} to {highest}, without 0)")
        if card in cards:
            raise ValueError(f"the card {name(top, card)} is there twice")
        cards.append(card)
    return cards


def laid_deck(top: int, text: str, name: Name) -> tuple[int, ...]:
    """Return a deck that a person laid, its top first, or raise DealError with the reason."""
    try:
        return tuple(read_cards(top, text.replace(",", " ").split(), name))
    except ValueError as e:
        raise DealError(f"This deck cannot be laid: {e}.") from None


def placed(top: int, fields: Fields, keys: Iterable[str], name: Name) -> list[int]:
    """Return the sets of cards in these fields of a position; no card may be in two of them."""
    places: list[int] = []
    for key in keys:
        try:
            places.append(sum(1 << card for card in read_cards(top, fields.words(key), name)))
        except ValueError as e:
            raise PositionError(f"In the field '{key}', {e}.") from None
        twice = members(places[-1] & sum(places[:-1]))
        if twice:
            raise PositionError(f"The card {name(top, twice[0])} is in two places.")
    return places
