"""Below the application: when a websocket is asked whether its client is still there, and when it is over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from piste.web.middleware.connections import WebSocketProtocol


@pytest.mark.parametrize(("now", "asked"), [(10.0, False), (29.9, False), (30.0, True), (45.0, True)])
def test_only_a_client_that_has_been_silent_is_pinged(
    now: float, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ping, call_at = Mock(), Mock()
    monkeypatch.setattr(WebSocketsSansIOProtocol, "send_keepalive_ping", ping)
    socket: Any = object.__new__(WebSocketProtocol)
    socket.loop, socket.ping_interval = SimpleNamespace(time=lambda: now, call_at=call_at), 20.0
    socket._heard_at = 10.0
    socket.send_keepalive_ping()
    assert ping.called == asked
    assert [call.args[0] for call in call_at.mock_calls] == ([] if asked else [30.0])


@pytest.mark.parametrize("said", [b"", b"what nobody takes any more"])
async def test_a_connection_is_over_as_soon_as_its_client_has_answered_the_close(said: bytes) -> None:
    async def app(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": 1013})

    transport = Mock()
    transport.is_closing.return_value, transport.get_extra_info.return_value = False, None
    transport.get_write_buffer_size.return_value = 0
    client = ClientProtocol(parse_uri("ws://localhost/"))
    client.send_request(client.connect())
    socket = WebSocketProtocol(uvicorn.Config(app, log_config=None), ServerState(), {})
    socket.connection_made(transport)
    socket.data_received(b"".join(client.data_to_send()))
    (running,) = socket.tasks
    await running
    client.receive_data(transport.write.mock_calls[0].args[0])
    if said:
        client.send_text(said)
    client.receive_data(transport.write.mock_calls[1].args[0])
    assert not transport.close.called
    socket.data_received(b"".join(client.data_to_send()))
    assert transport.close.called
