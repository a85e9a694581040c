"""One seat of a table: who sits there, and the names that players give themselves."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from piste.core.errors import OptionError
from piste.core.game import quoted

PERSON, BOT, OPEN, RESERVED = "person", "bot", "open", "kept"
MAX_NAME_LENGTH = 24


class Seat(NamedTuple):
    """A seat and its player, if it has one."""

    kind: str = OPEN
    name: str = ""
    bot: str = ""  # the level, for a bot
    stand_in: str = ""  # the level of the bot that plays for a person who is away
    players: frozenset[str] = frozenset()  # the devices of the person
    link: int = 0  # the number of revoked private links
    program: bool = False  # whether a program plays for the person who has the seat, over the API

    @property
    def attended(self) -> bool:
        """Whether a person plays here, or might still sit down."""
        return self.kind == OPEN or (self.kind != BOT and not self.program)


def clean_name(name: str) -> str:
    """Return a name as it is shown, or refuse it with a sentence."""
    tidied = " ".join("".join(c for c in name if unicodedata.category(c)[0] != "C" or c == " ").split())
    if not tidied or len(tidied) > MAX_NAME_LENGTH:
        raise OptionError(f"A name has 1 to {MAX_NAME_LENGTH} letters; {quoted(name)} has not.")
    return tidied
