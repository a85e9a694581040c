"""A position as a browser draws it: areas of cards, cells and scores, as data. A game's `scene.py` makes them.

A scene tells nothing that the seat's view does not; it only says what belongs together and how it is to be drawn.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from piste.core.game import counted
from piste.core.protocols import HIDDEN, SPECTATOR
from piste.core.views import SeatView

HAND, CARDS, TOWER, GRID, SCORE, FACT = "hand", "cards", "tower", "grid", "score", "fact"
KINDS = (HAND, CARDS, TOWER, GRID, SCORE, FACT)
"""A hand of cards; cards in a row or heap; cards on each other, the first at the bottom; cells in rows of `wide`;
`value` of `most` as a bar; a label with words."""

TONES = ("", "plus", "minus", "zero", "back", "a", "b", "c", "d")
"""How a card is coloured. What a colour says is said in `text`, `mark` or `name` too."""


class Card(NamedTuple):
    """One card or cell."""

    text: str  # what stands on it; "" for the back of a card
    name: str = ""  # what it is called in full, for those who listen; "" if the text says it all
    tone: str = ""
    mark: str = ""  # a small sign beside the text, such as the letter of a colour
    note: str = ""  # what it does or why it cannot be chosen, shown when it is looked at
    decision: int = HIDDEN  # the decision that choosing it takes, if it is open to this seat now
    dim: bool = False  # there, but of no use now
    many: int = 1  # so many of them: drawn once, with the number


class Handle(NamedTuple):
    """The two ways to move one line of a grid."""

    name: str  # "Row 1"
    row: bool  # else a column
    at: int  # which row or column, from 0
    more: int = HIDDEN  # the decision that adds, if it is open to this seat now
    less: int = HIDDEN


class Area(NamedTuple):
    """One part of the table: what lies there and whose it is."""

    kind: str
    label: str
    cards: tuple[Card, ...] = ()
    note: str = ""
    seat: int = SPECTATOR  # whose it is; SPECTATOR if it is everybody's
    value: int = 0
    most: int = 0
    wide: int = 0
    handles: tuple[Handle, ...] = ()


class RoundEnd(NamedTuple):
    """The end of a round in the middle of a game: what is to be seen before the next one begins."""

    number: int  # of the round, from 1
    title: str  # who won it
    lines: tuple[str, ...]  # how, and where the game stands
    areas: tuple[Area, ...]  # what is shown of the cards now


class SceneBuilder(Protocol):
    """A game's `scene.py`, as a module. A game without one is drawn from the rows of its words.

    A game of several rounds adds `round_end(view, names)`: a `RoundEnd` if the last event of the view ended a round
    but not the game, else None.
    """

    EMBLEM: Area  # the game's small picture in a list of games

    def scene(self, view: SeatView, names: tuple[str, ...], /) -> tuple[Area, ...]:
        """Return the table as this seat sees it: others first, the own hand last."""


def taken(areas: tuple[Area, ...]) -> set[int]:
    """Return the decisions that can be taken by touching something in the scene."""
    cards = {card.decision for area in areas for card in area.cards}
    handles = {move for area in areas for handle in area.handles for move in (handle.more, handle.less)}
    return (cards | handles) - {HIDDEN}


def plain(view: SeatView, names: tuple[str, ...], words: Any) -> tuple[Area, ...]:
    """Return a scene made of a game's rows, for a game that has none of its own."""
    return tuple(
        Area(FACT, row.label, tuple(Card(cell) for cell in row.cells), row.note) for row in words.picture(view, names)
    )


# What several games' scenes are made of


def minus(text: str) -> str:
    """Return text with the sign that is as wide as a plus, in place of the one that is typed."""
    return text.replace("-", "−")


def number(text: str, note: str = "", decision: int = HIDDEN) -> Card:
    """Return a card with a number, written as its game writes it: -3, +3 or 3."""
    value = int(text)
    name = {"-": f"minus {text[1:]}", "+": f"plus {text[1:]}"}.get(text[0], "")  # a bare sign is often left unread
    tone = "plus" if value > 0 else "minus" if value else "zero"
    return Card(minus(text), name, tone, note=note, decision=decision)


BACK = Card("", "1 card face down", "back")


def heap(many: int, note: str = "") -> Card:
    """Return cards that lie face down on each other, drawn as one; what is left of none is a faint place for them."""
    return BACK._replace(name=f"{counted(many, 'card')} face down", note=note, dim=many == 0, many=many)


def others(seat: int, seats: int) -> list[int]:
    """Return the other seats, clockwise from this one; all of them for somebody who looks on."""
    return list(range(seats)) if seat == SPECTATOR else [(seat + step) % seats for step in range(1, seats)]


def called(view: SeatView, names: tuple[str, ...], seat: int, what: str) -> str:
    """Return whose something is: Ann's hand, or Your hand."""
    return f"Your {what}" if seat == view.seat else f"{names[seat]}'s {what}"


def turn(done: int, limit: int) -> Area:
    """Return which turn of a game it is."""
    return Area(FACT, "Turn", (Card(f"{done + 1} of {limit}" if limit else str(done + 1)),))
