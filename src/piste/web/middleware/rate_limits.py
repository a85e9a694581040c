"""How much one network may do in a short time, and how much of it at once. Time is given."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple
from weakref import WeakValueDictionary

from starlette.types import Scope

from piste.core.errors import PisteError


class Rate(NamedTuple):
    """So many at once, and so many a second in the long run."""

    burst: float
    a_second: float


# An address may be a whole school behind one router: what a class of thirty does in a hurry must pass.
RATES: Mapping[str, Rate] = {
    "requests": Rate(800, 40),
    "posts": Rate(200, 15),
    "rooms": Rate(60, 0.2),
    "sockets": Rate(200, 10),
    "messages": Rate(40, 5),  # of one socket
    "traffic": Rate(1000, 100),  # messages of all sockets of a network
    "pictures": Rate(60, 1),  # QR codes that have to be drawn
}
MOST_HELD = 500
"""Sockets that one address may have open at once."""

MOST_AT_ONCE = 4
"""Requests and messages of one network that are worked on at once; its others wait for them, and nobody else."""

FREE: Mapping[str, Rate] = {kind: Rate(math.inf, math.inf) for kind in RATES}

SENTENCES = {
    "requests": "That was too much at once from your network. Wait a moment, then try again.",
    "posts": "That was too much at once from your network. Wait a moment, then try again.",
    "rooms": "Your network has opened many tables in a short time. Wait a little before you open the next.",
    "sockets": "Your network has connected very often in a short time. Wait a moment; the page tries again itself.",
    "held": "Your network has very many connections open. Close a page you no longer need, then try again.",
    "messages": "That was too fast. Wait a moment, then try again.",
    "pictures": "Your network has asked for many QR codes. Wait a moment, or send the link instead.",
}


class RateLimitError(PisteError):
    """More than a network may ask for."""

    def __init__(self, kind: str, wait: float) -> None:
        super().__init__(SENTENCES[kind])
        self.kind = kind
        self.wait = wait  # seconds until it may ask again


class Bucket:
    """Holds tokens; every act takes one, and time puts them back."""

    __slots__ = ("_at", "_rate", "_tokens")

    def __init__(self, rate: Rate, now: float) -> None:
        self._rate = rate
        self._tokens = rate.burst
        self._at = now

    def take(self, now: float) -> float:
        """Take a token and return 0, or take none and return for how many seconds to wait."""
        if math.isinf(self._rate.burst):
            return 0.0
        gained = max(0.0, now - self._at) * self._rate.a_second
        self._tokens = min(self._rate.burst, self._tokens + gained)
        self._at = max(now, self._at)
        if self._tokens >= 1:
            self._tokens -= 1
            return 0.0
        return (1 - self._tokens) / self._rate.a_second


class Limits:
    """A bucket for each kind of act and each address; those used longest ago are forgotten first."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        rates: Mapping[str, Rate] = RATES,
        *,
        most: int = 20_000,  # addresses remembered, of each kind
        most_held: int = MOST_HELD,
        at_once: int = MOST_AT_ONCE,  # 0: any number
    ) -> None:
        self._clock = clock
        self._rates = rates
        self._most = most
        self._most_held = most_held
        self._at_once = at_once
        # A lane lives as long as somebody holds it or waits for it, so there are never two for one network.
        self._lanes: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._held: dict[str, int] = {}
        self._buckets: dict[str, OrderedDict[str, Bucket]] = {kind: OrderedDict() for kind in rates}

    @classmethod
    def off(cls) -> Limits:
        """Return limits that let everything pass, for measuring."""
        return cls(rates=FREE, most_held=1 << 60, at_once=0)

    def take(self, kind: str, address: str) -> float:
        """Return 0 if this address may do this now, else for how many seconds to wait."""
        now = self._clock()
        held = self._buckets[kind]
        bucket = held.get(address)
        if bucket is None:
            bucket = held[address] = Bucket(self._rates[kind], now)
            if len(held) > self._most:
                held.popitem(last=False)
        else:
            held.move_to_end(address)
        return bucket.take(now)

    def hold(self, address: str) -> bool:
        """Count one more open socket, or say that this address has enough of them."""
        many = self._held.get(address, 0)
        if many >= self._most_held:
            return False
        self._held[address] = many + 1
        return True

    def let_go(self, address: str) -> None:
        self._held[address] -= 1
        if not self._held[address]:
            del self._held[address]

    def need(self, kind: str, address: str) -> None:
        """Let this address do this now, or raise a sentence."""
        wait = self.take(kind, address)
        if wait:
            raise RateLimitError(kind, wait)

    def of_socket(self, address: str = "") -> Callable[[], float]:
        """Return what takes a token for each message of one socket, and one of its network's."""
        bucket = Bucket(self._rates["messages"], self._clock())
        return lambda: bucket.take(self._clock()) or self.take("traffic", address)

    def lane(self, address: str) -> AbstractAsyncContextManager[None]:
        """Return what work for this address is done within, so that it takes its turns with that of others."""
        if not self._at_once:
            return nullcontext()
        found = self._lanes.get(address)
        if found is None:
            found = self._lanes[address] = asyncio.Semaphore(self._at_once)
        return found


def address_of(scope: Scope) -> str:
    """Return whom limits count for: an address, or a household's whole network where addresses are plenty."""
    client = scope.get("client")
    if not client:
        return ""
    try:
        found = ip_address(client[0].partition("%")[0])
    except ValueError:
        return str(client[0])[:64]
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return found.exploded[:19]  # the first 64 bits: one connection usually has them all
    return str(found)
