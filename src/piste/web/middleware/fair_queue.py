"""A queue for a few slots that takes networks in turn, so that no network waits behind all the work of another."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from piste.web.middleware.rate_limits import count_down

NETWORK: ContextVar[str] = ContextVar("network", default="")
"""The network that work is done for. Tasks inherit it from the request that began them."""


class FairQueue:
    """Some slots. A network gets its turn however much another one has asked for before."""

    def __init__(self, slots: int) -> None:
        self._free = slots
        # With more than two slots no network has all of them, so another one need not wait for its work to end.
        self._max_per_network = slots - 1 if slots > 2 else slots
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # the network whose turn it is next first

    @property
    def locked(self) -> bool:
        return self._free == 0

    def count(self, network: str) -> int:
        """Return how many of a network wait for a slot or hold one."""
        return self._held[network] + len(self._waiting.get(network, ()))

    def others_wait(self, network: str) -> bool:
        """Whether another network waits for a slot."""
        return any(other != network for other in self._waiting)

    @asynccontextmanager
    async def slot(self, network: str) -> AsyncIterator[None]:
        """Wait until it is this network's turn, and hold a slot inside the context."""
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(network, deque()).append(granted)
        self._grant()
        try:
            await granted
        except asyncio.CancelledError:
            if not granted.cancelled():  # it was granted at the same moment
                self._release(network)
            elif granted in self._waiting.get(network, ()):
                self._waiting[network].remove(granted)
                if not self._waiting[network]:
                    del self._waiting[network]
            raise
        try:
            yield
        finally:
            self._release(network)

    def _release(self, network: str) -> None:
        self._free += 1
        count_down(self._held, network)
        self._grant()

    def _grant(self) -> None:
        """Give free slots to the networks that have waited longest for their turn."""
        while self._free:
            network = next((one for one in self._waiting if self._held[one] < self._max_per_network), None)
            if network is None:
                return
            waiting = self._waiting.pop(network)
            granted = waiting.popleft()
            if waiting:
                self._waiting[network] = waiting  # behind the others
            if granted.cancelled():
                continue
            self._free -= 1
            self._held[network] += 1
            granted.set_result(None)
