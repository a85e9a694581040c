"""Places that are lent to one network after another, so that nobody waits behind everything somebody else wants."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

NETWORK: ContextVar[str] = ContextVar("network", default="")
"""For whom something is worked out: whose turn it takes. It goes along with the task that was begun for somebody."""


class FairQueue:
    """Some places. A network waits for its turn, however much another one has asked for before."""

    def __init__(self, places: int) -> None:
        self._free = places
        # With more than two places no network has all of them: another one need not wait for its work to end.
        self._most = places - 1 if places > 2 else places
        self._held: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def locked(self) -> bool:
        return self._free == 0

    def others_wait(self, network: str) -> bool:
        """Whether another network waits for a place."""
        return any(other != network for other in self._waiting)

    @asynccontextmanager
    async def place(self, network: str) -> AsyncIterator[None]:
        """Lend a place when it is this network's turn."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(network, deque()).append(turn)
        self._lend()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(network, turn)
            else:  # it was lent at the same moment
                self._give_back(network)
            raise
        try:
            yield
        finally:
            self._give_back(network)

    def _leave(self, network: str, turn: asyncio.Future[None]) -> None:
        self._waiting[network].remove(turn)
        if not self._waiting[network]:
            del self._waiting[network]

    def _give_back(self, network: str) -> None:
        self._free += 1
        self._held[network] -= 1
        if not self._held[network]:
            del self._held[network]
        self._lend()

    def _lend(self) -> None:
        """Lend what is free, to the network that has waited longest for its turn."""
        while self._free:
            network = next((one for one in self._waiting if self._held[one] < self._most), None)
            if network is None:
                return
            turn = self._waiting[network].popleft()
            self._waiting.move_to_end(network)
            if not self._waiting[network]:
                del self._waiting[network]
            if turn.cancelled():
                continue
            self._free -= 1
            self._held[network] += 1
            turn.set_result(None)
