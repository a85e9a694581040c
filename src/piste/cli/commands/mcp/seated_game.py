"""What the tools need of a game, wherever it is played."""

from __future__ import annotations

import asyncio
import base64
import os
import re
from typing import NamedTuple, Protocol

from piste.cli.commands.mcp.jobs import Report
from piste.core.record import Record
from piste.core.views import SeatView

RESIGN = "resign"


class SeatedGame(Protocol):
    """A game in which the client has one seat."""

    name: str
    lock: asyncio.Lock  # one call at a time

    @property
    def view(self) -> SeatView:
        """What the client's seat sees."""

    async def advance(self, report: Report, seconds: float | None = None, /) -> str:
        """Let the others decide until it is the client's turn; return who is waited for if that takes too long."""

    async def decide(self, decision: str, question: int | None, /) -> None:
        """Take the client's decision, or let it resign."""

    def look(self, thinking: str = "", /, *, whole_log: bool = False) -> str:
        """Return what the client sees; `thinking` is who is waited for."""

    async def hint(self, report: Report, /) -> str:
        """Return what the strongest bot would decide."""

    async def record(self) -> Record:
        """Return the record of a game that is over; that of a running one holds secrets."""


class Naming(NamedTuple):
    """How games are named: what a client may ask for, and whether it may be told which there are."""

    pattern: str  # of what follows the first part of a name and a dash
    listed: bool

    def fits(self, name: str) -> bool:
        """Say whether games have such names here."""
        return re.fullmatch(f"[a-z0-9-]{{1,60}}-{self.pattern}", name) is not None

    def candidate(self, first: str, number: int) -> str:
        """Return a name that may be free."""
        return f"{first}-{number if self.listed else base64.b32encode(os.urandom(10)).decode().lower()}"


NUMBERED = Naming(r"[1-9][0-9]{0,8}", True)
"""For one user: prime-duel-1, prime-duel-2 and so on."""

UNGUESSABLE = Naming(r"[a-z2-7]{16}", False)
"""For several clients: 80 random bits, which only the client that began the game was told."""
