"""The websocket below the application: holds each connection to a rate of bytes and to what it leaves unread.

Pings, pongs and empty fragments never reach the application, whose limits count messages; here every byte counts.
"""

from __future__ import annotations

from asyncio import BaseTransport

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

BURST = 64_000.0
A_SECOND = 16_000.0
"""Bytes that a client may send at once, and in the long run: a decision has a hundred."""

MOST_UNREAD = 512_000
"""Bytes that may wait for a client that does not read."""


class Wire(WebSocketsSansIOProtocol):
    """One connection. Who sends too much or reads nothing is cut off at once, without waiting for them."""

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self._left = BURST
        self._at = self.loop.time()

    def data_received(self, data: bytes) -> None:
        now = self.loop.time()
        self._left = min(BURST, self._left + (now - self._at) * A_SECOND) - len(data)
        self._at = now
        if self._left < 0 or self.transport.get_write_buffer_size() > MOST_UNREAD:
            self.transport.abort()
            return
        super().data_received(data)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()  # closing would wait for somebody who does not read

    def shutdown(self) -> None:
        super().shutdown()
        if self.transport.get_write_buffer_size() > MOST_UNREAD:
            self.transport.abort()
