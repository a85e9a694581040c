"""Rate limits: how much one network may do in a short time, and how much at once. The clock is a parameter."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple
from weakref import WeakValueDictionary

from starlette.types import Scope

from piste.core.errors import PisteError


def count_down(counter: Counter[str], network: str) -> None:
    """Count one less for a network, and forget it at 0."""
    counter[network] -= 1
    if not counter[network]:
        del counter[network]


class Rate(NamedTuple):
    """A token bucket: how many at once, and how many a second in the long run."""

    burst: float
    per_second: float


# An address may be a whole school behind one router: what a class of thirty does in a hurry must pass.
RATES: Mapping[str, Rate] = {
    "requests": Rate(800, 40),
    "posts": Rate(200, 15),
    "rooms": Rate(60, 0.2),
    "program rooms": Rate(60, 0.2),  # opened by programs: they take nothing from what people may open
    "sockets": Rate(200, 10),
    "messages": Rate(40, 5),  # of one socket
    "traffic": Rate(1000, 100),  # messages of all sockets of a network
    "pictures": Rate(60, 1),  # QR codes that have to be drawn
    "studies": Rate(60, 1),  # puzzles and positions that have to be computed
}
MAX_SOCKETS_PER_NETWORK = 500  # open at once
# Requests and messages of one network that are handled at once. Only its own others wait for them.
MAX_CONCURRENT_PER_NETWORK = 4
UNLIMITED: Mapping[str, Rate] = {kind: Rate(math.inf, math.inf) for kind in RATES}

REFUSALS = {
    "requests": "That was too much at once from your network. Wait a moment, then try again.",
    "posts": "That was too much at once from your network. Wait a moment, then try again.",
    "rooms": "Your network has opened many tables in a short time. Wait a little before you open the next.",
    "program rooms": "Programs in your network have opened many tables in a short time. Wait before the next one.",
    "program games": "Very many programs play each other or bots here just now. Wait until some games are over.",
    "sockets": "Your network has connected very often in a short time. Wait a moment; the page tries again itself.",
    "held": "Your network has very many connections open. Close a page you no longer need, then try again.",
    "messages": "That was too fast. Wait a moment, then try again.",
    "studies": "Your network has asked for many puzzles and positions. Wait a moment, then try again.",
    "pictures": "Your network has asked for many QR codes. Wait a moment, or send the link instead.",
}


class RateLimitError(PisteError):
    """A network asked for more than it may."""

    def __init__(self, kind: str, wait: float) -> None:
        super().__init__(REFUSALS[kind])
        self.kind = kind
        self.wait = wait  # seconds until it may ask again


class TokenBucket:
    """Every act takes a token, and time puts them back."""

    __slots__ = ("_at", "_rate", "_tokens")

    def __init__(self, rate: Rate, now: float) -> None:
        self._rate = rate
        self._tokens = rate.burst
        self._at = now

    def take(self, now: float, tokens: int = 1) -> float:
        """Take tokens and return 0, or take none and return for how many seconds to wait."""
        if now > self._at:
            burst, per_second = self._rate
            self._tokens = min(burst, self._tokens + (now - self._at) * per_second)
            self._at = now
        if self._tokens >= tokens:
            self._tokens -= tokens
            return 0.0
        return (tokens - self._tokens) / self._rate.per_second


@dataclass(eq=False)
class Limits:
    """A token bucket for each kind of act and each network; the least recently used are forgotten first."""

    clock: Callable[[], float] = time.monotonic
    rates: Mapping[str, Rate] = field(default_factory=lambda: RATES)
    max_networks: int = 20_000  # remembered, for each kind
    max_sockets: int = MAX_SOCKETS_PER_NETWORK
    max_concurrent: int = MAX_CONCURRENT_PER_NETWORK  # 0: any number
    # A semaphore lives as long as a task holds it or waits for it, so there are never two for one network.
    _semaphores: WeakValueDictionary[str, asyncio.Semaphore] = field(default_factory=WeakValueDictionary)
    _sockets: Counter[str] = field(default_factory=Counter)
    _buckets: dict[str, dict[str, TokenBucket]] = field(default_factory=lambda: defaultdict(dict))

    @classmethod
    def off(cls) -> Limits:
        """Return limits that let everything pass, for measuring."""
        return cls(rates=UNLIMITED, max_sockets=1 << 60, max_concurrent=0)

    def take(self, kind: str, network: str) -> float:
        """Return 0 if this network may do this now, else for how many seconds to wait."""
        now, buckets = self.clock(), self._buckets[kind]
        bucket = buckets.pop(network) if network in buckets else TokenBucket(self.rates[kind], now)
        buckets[network] = bucket  # as the most recently used
        if len(buckets) > self.max_networks:
            del buckets[next(iter(buckets))]
        return bucket.take(now)

    def require(self, kind: str, network: str) -> None:
        """Let this network do this now, or raise the refusal."""
        if wait := self.take(kind, network):
            raise RateLimitError(kind, wait)

    def add_socket(self, network: str) -> bool:
        """Count one more open socket; False if this network has enough of them."""
        if self._sockets[network] >= self.max_sockets:
            return False
        self._sockets[network] += 1
        return True

    def remove_socket(self, network: str) -> None:
        count_down(self._sockets, network)

    def message_limiter(self, network: str = "") -> Callable[[], float]:
        """Return a function that takes a token for each message of one socket, and one of its network's."""
        bucket = TokenBucket(self.rates["messages"], self.clock())
        return lambda: bucket.take(self.clock()) or self.take("traffic", network)

    def work_slot(self, network: str) -> AbstractAsyncContextManager[None]:
        """Return the context that work for this network is done within; it bounds how much is done at once."""
        if not self.max_concurrent:
            return nullcontext()
        return self._semaphores.setdefault(network, asyncio.Semaphore(self.max_concurrent))


def network_of(scope: Scope) -> str:
    """Return the network that limits count for: an IPv4 address, or the first 64 bits of an IPv6 one."""
    client = scope.get("client")
    if not client:
        return ""
    try:
        address = ip_address(client[0].partition("%")[0])
    except ValueError:
        return str(client[0])[:64]
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return address.exploded[:19]  # one household usually has all addresses that begin with these 64 bits
    return str(getattr(address, "ipv4_mapped", address))
