"""Games in which no person plays: how many may run at once, and what is derived for the programs in them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from piste.core.errors import PisteError
from piste.web.middleware.rate_limits import RateLimitError
from piste.web.settings import Settings
from piste.web.tables.registry import CODE_ALPHABET, CODE_LENGTH, TableRegistry
from piste.web.tables.room import Room

NETWORKS_SHARING = 4  # one network has no more than this part of the games without a person
FULL_WAIT_S = 30.0  # when such a game is refused, it may be asked for again after this time


class NoProgramGamesError(PisteError):
    """This server lets no game begin in which no person plays."""

    def __init__(self) -> None:
        super().__init__("Whoever runs this server lets programs play against people only.")


@dataclass(eq=False)
class ProgramQuota:
    """Bounds the games that run without a person."""

    _registry: TableRegistry
    _settings: Settings

    def require(self, network: str) -> None:
        """Let one more such game begin for this network, or raise the refusal."""
        most = self._settings.program_games
        if not most:
            raise NoProgramGamesError
        rooms = self._registry.rooms.values()
        running = [room.network for room in rooms if room.to_act is not None and not room.attended]
        full = len(running) >= most or running.count(network) >= max(1, most // NETWORKS_SHARING)
        if full and self._settings.limits:
            raise RateLimitError("program games", FULL_WAIT_S)

    def require_for(self, room: Room, seat: int | None, network: str) -> None:
        """The same, if a program on this seat leaves a room without a person; None is the next free seat."""
        if room.attended and not room.attended_without(seat):
            self.require(network)


def random_number(key: bytes, room: Room, seat: int, number: int) -> int:
    """Return a number for a question to a seat, the same however often it is asked.

    It comes from a key of the server, not from the seed: what follows from the seed is the game's own.
    """
    text = f"random/{room.code}/{seat}/{number}"
    return int.from_bytes(hashlib.blake2b(text.encode(), key=key, digest_size=4).digest())


def code_for(key: bytes, player: str, request: str) -> str:
    """Return the code of the room that a player opens by a request: the same each time, and in each process."""
    digest = hashlib.blake2b(f"open/{player}/{request}".encode(), key=key, digest_size=10).digest()
    number = int.from_bytes(digest)
    return "".join(CODE_ALPHABET[number >> 5 * i & 31] for i in range(CODE_LENGTH))
