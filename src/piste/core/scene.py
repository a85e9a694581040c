"""A position as a browser draws it: areas of cards, cells and scores, as data. A game's `scene.py` builds them.

A scene tells nothing that the seat's view does not; it only says what belongs together and how to draw it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from piste.core.game import counted
from piste.core.presentation import NONE, UNKNOWN, CardRow
from piste.core.protocols import HIDDEN, SPECTATOR
from piste.core.views import SeatView

HAND, CARDS, TOWER, GRID, TRACK, SCORE, FACT, NUMBERS = (
    "hand",
    "cards",
    "tower",
    "grid",
    "track",
    "score",
    "fact",
    "numbers",
)
KINDS = (HAND, CARDS, TOWER, GRID, TRACK, SCORE, FACT, NUMBERS)
"""A hand of cards; cards in a row or pile; cards stacked, the first at the bottom; cells in rows of `columns`;
squares from `minimum` to `maximum` with `tokens` on them; `tokens` as bars that begin at zero; a label with words;
the numbers from `minimum` to `maximum` without 0, those in `marks` bright and the others faint."""

TONES = ("", "plus", "minus", "zero", "back", "a", "b", "c", "d")
"""How a card is coloured. What a colour says is said in `text`, `mark` or `name` too."""


class Card(NamedTuple):
    """One card or cell."""

    text: str  # what is printed on it; "" for the back of a card
    name: str = ""  # its full name for screen readers; "" if the text says it all
    tone: str = ""
    mark: str = ""  # a small sign beside the text, such as the letter of a colour
    note: str = ""  # what it does or why it cannot be chosen, as a tooltip
    decision: int = HIDDEN  # the decision that choosing it makes, if it is open to this seat now
    dim: bool = False  # there, but of no use now
    copies: int = 1  # drawn once, with the number
    icon: str = ""  # what it does as a picture: the path of an SVG of 24 by 24, drawn as lines
    word: str = ""  # what it does in a word
    below: str = ""  # what choosing it leads to, written below it
    active: bool = False  # what it does is happening now; of a cell, the last move changed it
    more: str = ""  # of a cell: what it becomes when 1 is added to its line
    less: str = ""  # and when 1 is subtracted


class Handle(NamedTuple):
    """The two moves of one line of a grid."""

    name: str  # "Row 1"
    row: bool  # else a column
    line: int  # number of the row or column, from 0
    add: int = HIDDEN  # the decision that adds, if it is open to this seat now
    subtract: int = HIDDEN


class Token(NamedTuple):
    """Where a player stands on a track, or how long their bar is."""

    name: str  # "You", or a name
    value: int
    note: str = ""
    own: bool = False  # of the viewer
    reach: int = HIDDEN  # where a decision that is open to somebody now would bring it; HIDDEN if nowhere


class Area(NamedTuple):
    """One part of the table: what lies there and whose it is."""

    kind: str
    label: str
    cards: tuple[Card, ...] = ()
    note: str = ""
    seat: int = SPECTATOR  # the owner; SPECTATOR if nobody owns it
    columns: int = 0
    handles: tuple[Handle, ...] = ()
    minimum: int = 0
    maximum: int = 0
    marks: tuple[int, ...] = ()  # squares of a track, or numbers, that are special
    tokens: tuple[Token, ...] = ()
    badge: tuple[str, str, str] = ("", "", "")  # what counts most about it, large: a label, a number and a note
    row_names: tuple[str, ...] = ()  # of a grid; without them R1, R2 and so on
    column_names: tuple[str, ...] = ()


class Score(NamedTuple):
    """What stands beside a player's name: points, or rounds won, and the player's colour."""

    points: str = ""
    note: str = ""  # a word or two: "prime", "out"
    wins: int = 0
    pips: int = 0  # how many rounds win; `wins` of so many pips are filled
    tone: str = ""
    mark: str = ""  # the letter of the colour
    colour: str = ""  # its name


class Standing(NamedTuple):
    """How the game stands, for the strip with the players' names."""

    scores: tuple[Score, ...] = ()  # by seat; empty if the game counts nothing
    label: str = ""  # "Turn" or "Round"
    value: str = ""  # its number
    note: str = ""  # "of 9", "best of 5"


class RoundEnd(NamedTuple):
    """The end of a round in the middle of a game: what to show before the next one begins."""

    number: int  # of the round, from 1
    title: str  # who won it
    lines: tuple[str, ...]  # how, and the score of the match
    areas: tuple[Area, ...]  # the cards that are shown now
    line: int = 0  # the number of the log's first line about the next round; the server fills it in


class SceneBuilder(Protocol):
    """A game's `scene.py`, as a module. A game without one is drawn from the rows of its text.

    What may be added: `standing(view, names)`, a `Standing`, for a game that counts points, rounds or turns;
    `question(view, names)`, what a page asks instead of the words of a terminal; `choice_texts(view)`, by action what
    a button says and what the decision leads to; and for a game of several rounds `round_end(view, names)`: a
    `RoundEnd` if the last event of the view ended a round but not the game, else None.
    """

    EMBLEM: Area  # the game's small picture in a list of games

    def scene(self, view: SeatView, names: tuple[str, ...], /) -> tuple[Area, ...]:
        """Return the table as this seat sees it: opponents first, the own hand last."""


def offered_decisions(areas: tuple[Area, ...]) -> set[int]:
    """Return the decisions that can be made by choosing something in the scene."""
    cards = {card.decision for area in areas for card in area.cards}
    handles = {move for area in areas for handle in area.handles for move in (handle.add, handle.subtract)}
    return (cards | handles) - {HIDDEN}


def scene_from_rows(view: SeatView, names: tuple[str, ...], text: Any) -> tuple[Area, ...]:
    """Return a scene made of the rows of a game's text, for a game without a `scene.py`.

    A row of cards is drawn as cards, the others as words.
    """
    return tuple(
        cards_from_row(row)
        if isinstance(row, CardRow)
        else Area(FACT, row.label, tuple(Card(cell) for cell in row.cells), row.note)
        for row in text.picture(view, names)
    )


def cards_from_row(row: CardRow) -> Area:
    cards = tuple(BACK if cell == UNKNOWN else Card(cell) for cell in row.cells if cell != NONE)
    return Area(CARDS, row.label, cards, row.note or ("" if cards else "none"))


# What several games' scenes are made of


def with_minus_sign(text: str) -> str:
    """Return text with a minus sign, which is as wide as a plus, in place of each hyphen."""
    return text.replace("-", "−")


@lru_cache(maxsize=1024)  # the same cards lie on every table
def number_card(text: str, note: str = "", decision: int = HIDDEN) -> Card:
    """Return a card with a number, written as its game writes it: -3, +3 or 3."""
    value = int(text)
    name = {"-": f"minus {text[1:]}", "+": f"plus {text[1:]}"}.get(text[0], "")  # screen readers often skip a sign
    tone = "plus" if value > 0 else "minus" if value else "zero"
    return Card(with_minus_sign(text), name, tone, note=note, decision=decision)


def number_cards(texts: Iterable[str]) -> tuple[Card, ...]:
    return tuple(number_card(text) for text in texts)


BACK = Card("", "1 card face down", "back")


@lru_cache(maxsize=256)
def face_down(cards: int, note: str = "") -> Card:
    """Return a pile of cards face down, drawn as one; an empty pile is a faint place."""
    return BACK._replace(name=f"{counted(cards, 'card')} face down", note=note, dim=cards == 0, copies=cards)


def pile_area(texts: Sequence[str]) -> Area:
    """Return the pile: cards with numbers, face up."""
    return Area(CARDS, "Pile", number_cards(texts), "" if texts else "empty")


def deck_area(left: int, undrawn: Sequence[str], note: str = "") -> Area:
    """Return the deck: how many cards it has and, once the game is over, which (G9)."""
    if undrawn:
        return Area(CARDS, "Left in the deck", number_cards(undrawn))
    return Area(CARDS, "Deck", (face_down(left, note),), "" if left else "empty")


def hidden_area(label: str, top: int, values: Iterable[int]) -> Area:
    """Return which cards from -top to top the viewer does not see."""
    return Area(NUMBERS, label, minimum=-top, maximum=top, marks=tuple(values))


def other_seats(seat: int, seats: int) -> list[int]:
    """Return the other seats, clockwise from this one; all of them for a spectator."""
    return list(range(seats)) if seat == SPECTATOR else [(seat + step) % seats for step in range(1, seats)]


def owner_label(view: SeatView, names: tuple[str, ...], seat: int, what: str) -> str:
    """Return a label that names the owner: Ann's hand, or Your hand."""
    return f"Your {what}" if seat == view.seat else f"{names[seat]}'s {what}"


def player_name(view: SeatView, names: tuple[str, ...], seat: int) -> str:
    return "You" if seat == view.seat else names[seat]


def turn_standing(view: SeatView, scores: tuple[Score, ...] = ()) -> Standing:
    """Return the scores with the number of the current turn, where the options limit turns."""
    limit = view.options.turns
    if view.ending is not None or not limit:
        return Standing(scores)
    return Standing(scores, "Turn", str(view.position.turns + 1), f"of {limit}")
