"""Limits on connections below the application: silence, bytes sent and bytes left unread.

A request that does not come, a head that comes byte by byte and an answer that is not read do not reach the
application, nor do pings, pongs and empty fragments of a websocket. Here every connection has a timeout, and every
byte counts.
"""

from __future__ import annotations

import asyncio
from asyncio import BaseTransport
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from piste.web.middleware.rate_limits import Rate, TokenBucket, count_down, network_of

READ_TIMEOUT_S = 30.0  # a client that reads nothing of an answer for longer is cut off
# Bytes that a client may send at once, and in the long run: a decision has a hundred.
ALLOWED_BYTES = Rate(64_000, 16_000)
MAX_UNREAD_BYTES = 512_000  # bytes that may wait for a client that does not read
CHUNK_BYTES = 512  # bytes of a websocket that are parsed before the messages in them are handled


@dataclass(eq=False)
class Connections:
    """All connections of one server. A new one replaces a silent one rather than be refused.

    A connection is silent while no request of it is being answered: it has sent none yet, a part of one, or not the
    next one.
    """

    max_open: float
    max_per_network: float
    max_silent: float
    _open: int = 0
    _by_network: Counter[str] = field(default_factory=Counter)
    _silent: dict[HttpProtocol, str] = field(default_factory=dict)  # with their networks, silent for longest first

    def add(self, network: str, *, limited: bool) -> bool:
        """Count a connection; False if its network has enough of them."""
        if limited and self._by_network[network] >= self.max_per_network:
            return False
        self._open += 1
        self._by_network[network] += 1
        return True

    def remove(self, network: str) -> None:
        self._open -= 1
        count_down(self._by_network, network)

    def mark_silent(self, network: str, connection: HttpProtocol) -> None:
        """Note a silent connection; of too many, cut off the oldest of the network that has most."""
        self._silent.setdefault(connection, network)
        if self._open > self.max_open or len(self._silent) > self.max_silent:
            largest = Counter(self._silent.values()).most_common(1)[0][0]
            oldest = next(one for one, network in self._silent.items() if network == largest)
            self.mark_active(oldest)
            oldest.transport.abort()

    def mark_active(self, connection: HttpProtocol) -> None:
        self._silent.pop(connection, None)


class HttpProtocol(H11Protocol):
    """One connection. It is cut off if it sends no request, sends it slowly or does not read the answer."""

    proxy = ""  # an address or a network whose connections belong to many users
    server_connections: ClassVar[Connections]  # of the server
    head_timeout_s: float  # for the head of a request, from its first byte or from the connection
    _timer: asyncio.TimerHandle | None = None
    _network: str | None = None  # that it counts for

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        network = network_of({"client": self.client})
        of_many = not self.client or (self.proxy and ip_address(self.client[0]) in ip_network(self.proxy))
        if not self.server_connections.add(network, limited=not of_many):
            transport.abort()
            return
        self._network = network
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._set_timeout(None)
        self._leave()
        super().connection_lost(exc)

    def _leave(self) -> None:
        network, self._network = self._network, None
        if network is not None:
            self.server_connections.mark_active(self)
            self.server_connections.remove(network)

    def _wait_for_request(self) -> None:
        self._set_timeout(self.head_timeout_s)
        if self._network is not None:
            self.server_connections.mark_silent(self._network, self)

    def _answer_request(self) -> None:
        self._set_timeout(None)
        self.server_connections.mark_active(self)

    def _set_timeout(self, seconds: float | None) -> None:
        """Abort this connection after some seconds, unless it is called again before; None: never."""
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
            protocol.on_close = self._leave  # it is still the same connection

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # For the next request, which may be here already, or for reading the last part of this answer.
        self._wait_for_request() if self._waiting else self._answer_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._set_timeout(READ_TIMEOUT_S)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._wait_for_request() if self._waiting else self._answer_request()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._set_timeout(1.0)  # closing waits for a client that may not read


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """One websocket. A client that sends too much or reads nothing is cut off at once."""

    on_close: Callable[[], None] | None = None  # called when the connection is over

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self._heard_at = self.loop.time()
        self._allowance = TokenBucket(ALLOWED_BYTES, self._heard_at)
        self._unparsed = b""

    def connection_lost(self, exc: Exception | None) -> None:
        if self.on_close is not None:
            self.on_close()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard_at = self.loop.time()
        too_much = self._allowance.take(self._heard_at, len(data)) > 0
        if too_much or self.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self.transport.abort()
            return
        self._unparsed += data
        self._parse()

    def _parse(self) -> None:
        """Parse until there is a message for the application; the rest waits until it has taken that.

        An application that has closed takes nothing more: then only the client's own close is waited for.
        """
        while self._unparsed and (self.close_sent or self.queue.empty()) and not self.transport.is_closing():
            part, self._unparsed = self._unparsed[:CHUNK_BYTES], self._unparsed[CHUNK_BYTES:]
            super().data_received(part)

    async def receive(self) -> Any:
        message = await super().receive()
        self._parse()
        return message

    def send_keepalive_ping(self) -> None:
        """Ask whether the client is there, unless it has sent something lately: then as long after that."""
        due = self._heard_at + (self.ping_interval or 0.0)
        if self.loop.time() < due:
            self.ping_timer = self.loop.call_at(due, self.send_keepalive_ping)
        else:
            super().send_keepalive_ping()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()  # closing would wait for a client that does not read

    def shutdown(self) -> None:
        super().shutdown()
        if self.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self.transport.abort()


def check_uvicorn() -> None:
    """Refuse a uvicorn that lacks what is overridden here or in server.py: the limits would silently be gone."""
    needed: dict[type, list[str]] = {uvicorn.Server: ["startup", "shutdown", "handle_exit"]}
    for kind in (HttpProtocol, WebSocketProtocol):
        needed[kind.__mro__[1]] = [name for name, value in vars(kind).items() if callable(value) and name[0] != "_"]
    for base, names in needed.items():
        for name in names:
            if not callable(getattr(base, name, None)):
                raise ImportError(f"uvicorn {uvicorn.__version__} has no {base.__name__}.{name}")
