"""Below the application: when a websocket is asked whether its client is still there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

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
