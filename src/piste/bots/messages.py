"""What a program at a seat is told, as JSON, and how a view is read back from it. docs/bots.md describes it.

Programs on this computer get these messages line by line (`bots/program.py`), programs elsewhere over the network.
They are made of a seat's view and of nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, get_args, get_origin, get_type_hints

from piste.core.belief import event_text
from piste.core.errors import PositionError
from piste.core.game import Game
from piste.core.views import Ending, SeatView

PROTOCOL = 1


def hello(game: Game, view: SeatView) -> dict[str, Any]:
    """Return the first message: the game, its options, and where the program sits."""
    seats = range(game.rules.seats(view.options))
    return {
        "type": "hello",
        "piste": PROTOCOL,
        "game": view.game,
        "options": game.option_texts(view.options),
        "origin": view.origin,
        "kinds": game.notation.KINDS,
        "seat": game.seat_name(view.seat),
        "seats": [game.seat_name(seat) for seat in seats],
    }


def decide(game: Game, view: SeatView, since: int, random: int) -> dict[str, Any]:
    """Return a question, with what the seat was told since the last message."""
    return {
        "type": "decide",
        "number": view.number,
        "decisions": view.decisions,
        "view": plain(view.position),
        "log": news(game, view, since),
        "random": random,
    }


def end(game: Game, view: SeatView, ending: Ending, since: int) -> dict[str, Any]:
    """Return the last message: how the game ended."""
    return {
        "type": "end",
        "winner": None if ending.winner is None else game.seat_name(ending.winner),
        "reason": ending.reason,
        "payoffs": ending.payoffs,
        "view": plain(view.position),
        "log": news(game, view, since),
    }


def news(game: Game, view: SeatView, since: int) -> list[str]:
    """Return what the seat was told after so many events, in the notation."""
    return [event_text(game, view.options, entry.event) for entry in view.log[since:]]


def plain(value: Any) -> Any:
    """Return a view as JSON has it: named tuples by their fields, other tuples as lists."""
    if isinstance(value, tuple):
        if hasattr(value, "_asdict"):
            return {key: plain(part) for key, part in value._asdict().items()}
        return [plain(part) for part in value]
    return value


def typed(kind: Any, value: Any) -> Any:
    """Return the value of this type that `plain` made JSON of; refuse what is none."""
    if kind is int:
        if type(value) is not int:
            raise PositionError("A view has a whole number in each of its places, and here something else stands.")
        return value
    if get_origin(kind) is tuple:
        parts: Sequence[Any] = get_args(kind)
        if not isinstance(value, list) or len(value) != len(parts):
            raise PositionError(f"A view has a list of {len(parts)} numbers where something else stands.")
        return tuple(typed(part, one) for part, one in zip(parts, value, strict=True))
    fields = _fields(kind)
    if not isinstance(value, dict) or value.keys() != fields.keys():
        raise PositionError(
            f"A view of this version has the fields {', '.join(fields)}, and what stands here has not."
        )
    return kind(**{name: typed(part, value[name]) for name, part in fields.items()})


@lru_cache
def _fields(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
