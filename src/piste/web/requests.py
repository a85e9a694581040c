"""What an address asks for: its game and its numbers."""

from __future__ import annotations

from starlette.requests import HTTPConnection, Request

from piste.core.errors import UnknownNameError
from piste.core.game import Game, find, listed, names, tidy

MAX_ALIAS_CHARS = 40  # of a game's name in an address; none is as long


def requested_game(request: Request) -> Game:
    """Return the game that an address means: by its name, its title, or a part of these that no other game has."""
    wanted = alias(request.path_params["game"])
    known = {name: {alias(name), alias(find(name).notation.TITLE)} for name in names()}
    meant = [name for name, words in known.items() if wanted in words]
    meant = meant or [name for name, words in known.items() if wanted and any(wanted in word for word in words)]
    if len(meant) != 1:
        titles = [find(name).notation.TITLE for name in names()]
        raise UnknownNameError(f"There is no such game here. The games are {listed(titles, 'and')}.")
    return find(meant[0])


def alias(text: str) -> str:
    """Return a game's name as addresses are compared: Zero Sum Duel is zero-sum-duel."""
    return tidy(text[:MAX_ALIAS_CHARS]).replace("_", "").replace("-", "")


def parse_int(text: str, max_digits: int, default: int) -> int:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= max_digits else default


def int_param(request: HTTPConnection, key: str, default: int) -> int:
    return parse_int(request.query_params.get(key, ""), 6, default)


def last_step(request: HTTPConnection) -> int:
    """Return the last event that a client was sent, if it wants each one; below 0 if it does not."""
    return int_param(request, "step", -1)
