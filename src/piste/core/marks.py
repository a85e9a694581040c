"""Marks: what a record notes about a game that is no part of it. On disk a mark is one text; here it is a value."""

from __future__ import annotations

import re
from typing import NamedTuple

from piste.core.game import Game


class Hint(NamedTuple):
    """A seat asked for a hint and was given this decision."""

    seat: int
    decision: str


class Reseated(NamedTuple):
    """Another player or bot took a seat; such a game counts for nobody."""

    seat: int
    spec: str  # who plays there from now on, as the command line writes it


class Replaced(NamedTuple):
    """A bot plays on for another one."""

    bot: str
    player: str  # whom it replaces
    reason: str


class Note(NamedTuple):
    """Any other remark."""

    text: str


Mark = Hint | Reseated | Replaced | Note

_SEATED: dict[type[Hint] | type[Reseated], str] = {Hint: "hint for seat ", Reseated: "now on seat "}
_REPLACED = re.compile(r"From here on the bot (.*?) plays for (.*?), which (.*)\.", re.DOTALL)


def mark_text(game: Game, mark: Mark) -> str:
    """Return a mark as a record has it; `read_mark` is the inverse."""
    match mark:
        case Hint(seat, text) | Reseated(seat, text):
            return f"{_SEATED[type(mark)]}{game.seat_name(seat)}: {text}"
        case Replaced(bot, player, reason):
            return f"From here on the bot {bot} plays for {player}, which {reason}."
        case Note(text):
            return text


def read_mark(game: Game, text: str) -> Mark:
    """Return the mark that a record has as this text."""
    for kind, begin in _SEATED.items():
        seat, colon, rest = text.removeprefix(begin).partition(": ")
        if text.startswith(begin) and colon and seat in game.notation.SEATS:
            return kind(game.notation.SEATS.index(seat), rest)
    replaced = _REPLACED.fullmatch(text)
    return Note(text) if replaced is None else Replaced(*replaced.groups())
