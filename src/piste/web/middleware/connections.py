"""Connections below the application: how long one may be silent, how much it may send and leave unread.

A request that does not come, a head that comes byte by byte and an answer that nobody reads do not reach the
application, nor do pings, pongs and empty fragments of a websocket. Here every connection has a time, and every byte
counts.
"""

from __future__ import annotations

import asyncio
from asyncio import BaseTransport
from collections import Counter
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from piste.web.middleware.rate_limits import network_of

SLOWEST_READER = 30.0
"""Seconds in which a client must go on reading an answer."""

BURST = 64_000.0
A_SECOND = 16_000.0
"""Bytes that a client may send at once, and in the long run: a decision has a hundred."""

MOST_UNREAD = 512_000
"""Bytes that may wait for a client that does not read."""

SLICE = 512
"""Bytes of a websocket that are read before what they hold is dealt with."""


class Connections:
    """All connections of one server. A newcomer takes the place of a silent one rather than be refused.

    Silent is whoever has no request being answered: it has sent none yet, a part of one, or not the next one.
    """

    def __init__(self, *, most: float, of_one: float, silent: float) -> None:
        self._most = most  # in all
        self._most_of_one = of_one  # of one network
        self._most_silent = silent
        self._open = 0
        self._by_network: Counter[str] = Counter()
        self._silent: dict[str, dict[HttpProtocol, None]] = {}  # by network; who has been silent longest comes first
        self._many_silent = 0

    def enter(self, network: str, *, limited: bool) -> bool:
        """Count a connection, or say that its network has enough of them."""
        if limited and self._by_network[network] >= self._most_of_one:
            return False
        self._open += 1
        self._by_network[network] += 1
        return True

    def leave(self, network: str) -> None:
        self._open -= 1
        self._by_network[network] -= 1
        if not self._by_network[network]:
            del self._by_network[network]

    def fell_silent(self, network: str, line: HttpProtocol) -> None:
        """Note whom to cut off when there are too many, and do so: the first of the network that has most."""
        silent = self._silent.setdefault(network, {})
        if line not in silent:
            silent[line] = None
            self._many_silent += 1
        if self._open > self._most or self._many_silent > self._most_silent:
            most = max(self._silent, key=lambda one: len(self._silent[one]))
            first = next(iter(self._silent[most]))
            self.spoke(most, first)
            first.transport.abort()

    def spoke(self, network: str, line: HttpProtocol) -> None:
        silent = self._silent.get(network, {})
        if line in silent:
            del silent[line]
            self._many_silent -= 1
            if not silent:
                del self._silent[network]


class HttpProtocol(H11Protocol):
    """One connection. Who sends no request, sends it slowly or does not read the answer is cut off."""

    proxy = ""  # an address or a network whose connections are many people's
    all_connections: ClassVar[Connections]  # the server's own
    slowest_head: float  # seconds for the head of a request, from the first byte or from when somebody connected
    _timer: asyncio.TimerHandle | None = None
    _network: str | None = None  # for which it is counted

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        network = network_of({"client": self.client})
        of_many = not self.client or (self.proxy and ip_address(self.client[0]) in ip_network(self.proxy))
        if not self.all_connections.enter(network, limited=not of_many):
            transport.abort()
            return
        self._network = network
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._within(None)
        self._let_go()
        super().connection_lost(exc)

    def _let_go(self) -> None:
        network, self._network = self._network, None
        if network is not None:
            self.all_connections.spoke(network, self)
            self.all_connections.leave(network)

    def _wait_for_request(self) -> None:
        self._within(self.slowest_head)
        if self._network is not None:
            self.all_connections.fell_silent(self._network, self)

    def _answer_request(self) -> None:
        self._within(None)
        if self._network is not None:
            self.all_connections.spoke(self._network, self)

    def _wait_or_answer(self) -> None:
        if self._waiting:
            self._wait_for_request()
        else:
            self._answer_request()

    def _within(self, seconds: float | None) -> None:
        """Give this connection so long for what it has to do next; None: as long as it takes."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)

    @property
    def _waiting(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        if self._waiting and self._timer is None:
            self._wait_for_request()
        super().data_received(data)
        if not self._waiting and not self.flow.write_paused:
            self._answer_request()

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._answer_request()
        super().handle_websocket_upgrade(event)
        protocol = self.transport.get_protocol()
        if isinstance(protocol, WebSocketProtocol):
            protocol.ended = self._let_go  # it is the same connection still

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # For the next one, which may be here already, or for reading the last part of this one.
        self._wait_or_answer()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._within(SLOWEST_READER)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._wait_or_answer()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._within(1.0)  # closing waits for somebody who may not read


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """One websocket. Who sends too much or reads nothing is cut off at once, without waiting for them."""

    ended: Callable[[], None] | None = None  # called when the connection is over

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self._left = BURST
        self._at = self.loop.time()
        self._unread = b""

    def connection_lost(self, exc: Exception | None) -> None:
        if self.ended is not None:
            self.ended()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        now = self.loop.time()
        self._left = min(BURST, self._left + (now - self._at) * A_SECOND) - len(data)
        self._at = now
        if self._left < 0 or self.transport.get_write_buffer_size() > MOST_UNREAD:
            self.transport.abort()
            return
        self._unread += data
        self._read_on()

    def _read_on(self) -> None:
        """Read until there is something for the application: the rest waits until it has dealt with that."""
        while self._unread and self.queue.empty() and not self.transport.is_closing():
            part, self._unread = self._unread[:SLICE], self._unread[SLICE:]
            super().data_received(part)

    async def receive(self) -> Any:
        message = await super().receive()
        self._read_on()
        return message

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()  # closing would wait for somebody who does not read

    def shutdown(self) -> None:
        super().shutdown()
        if self.transport.get_write_buffer_size() > MOST_UNREAD:
            self.transport.abort()


# What is used or overridden here and in serving.py, none of which uvicorn promises to keep.
BUILT_ON: dict[type, tuple[str, ...]] = {
    H11Protocol: (
        "connection_made", "connection_lost", "data_received", "handle_websocket_upgrade", "on_response_complete",
        "timeout_keep_alive_handler", "pause_writing", "resume_writing",
    ),
    WebSocketsSansIOProtocol: (
        "connection_made", "connection_lost", "data_received", "receive", "keepalive_timeout", "shutdown",
    ),
    uvicorn.Server: ("startup", "shutdown", "handle_exit"),
}  # fmt: skip


def check_uvicorn() -> None:
    """Refuse a uvicorn that lacks what is built on: its limits would silently not be there."""
    for kind, names in BUILT_ON.items():
        for name in names:
            if not callable(getattr(kind, name, None)):
                raise ImportError(f"uvicorn {uvicorn.__version__} has no {kind.__name__}.{name}")
