"""A small application behind the guard, and how tests ask it things."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from piste.web import logging as logs
from piste.web.metrics import Metrics
from piste.web.middleware.guard import Guard, read_form
from piste.web.middleware.rate_limits import Limits
from piste.web.settings import Settings

SETTINGS = Settings(Path("nowhere.db"))
OURS = {"origin": "http://table.example", "host": "table.example"}
FORM = {**OURS, "content-type": "application/x-www-form-urlencoded"}
SECRET = "the-card-nobody-may-see"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class ActionResult(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str


async def echo(request: Request) -> Response:
    return PlainTextResponse(json.dumps(await read_form(request)))


async def fails(_: Request) -> Response:
    raise KeyError(SECRET)


async def reads_all(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def chats(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("welcome")
    assert await socket.receive_text() != SECRET, SECRET
    await socket.close()


def guarded(
    limits: Limits | None = None, metrics: Metrics | None = None, settings: Settings = SETTINGS, **more: Any
) -> Starlette:
    routes = [
        Route("/", echo, methods=["GET", "POST", "PUT"]),
        Route("/new", echo, methods=["POST"]),
        Route("/t/x/rematch", echo, methods=["POST"]),
        Route("/static/app.js", echo),
        Route("/fails", fails),
        Route("/long", reads_all, methods=["POST"]),
        WebSocketRoute("/socket", chats),
    ]
    middle = Middleware(Guard, settings, limits or Limits(Clock()), metrics or Metrics(), **more)
    return Starlette(routes=routes, middleware=[middle])


def ask(
    app: Any,
    method: str = "GET",
    path: str = "/",
    headers: dict[str, str] | None = None,
    body: bytes | list[bytes] = b"",
    *,
    scheme: str = "http",
    client: str = "203.0.113.5",
) -> ActionResult:
    """Send one request as a server would hand it over."""
    whole = isinstance(body, bytes)
    chunks = [body] if isinstance(body, bytes) else list(body)
    given = {"host": "table.example", **(headers or {})}
    if whole and body:
        given.setdefault("content-length", str(len(body)))
    elif not whole:
        given["transfer-encoding"] = "chunked"
    messages = [
        {"type": "http.request", "body": chunk, "more_body": at < len(chunks) - 1} for at, chunk in enumerate(chunks)
    ]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    where, _, query = path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": scheme,
        "path": where, "raw_path": where.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
        "client": (client, 40000), "server": ("table.example", 80),
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    text = b"".join(message.get("body", b"") for message in sent[1:]).decode()
    return ActionResult(sent[0]["status"], {k.decode(): v.decode() for k, v in sent[0]["headers"]}, text)


def connect(
    app: Any, headers: dict[str, str], *, says: str = "hello", client: str = "203.0.113.5", extension: bool = True
) -> list[dict[str, Any]]:
    """Open a websocket, say something, and return what the server sent."""
    incoming = [{"type": "websocket.connect"}, {"type": "websocket.receive", "text": says}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return incoming.pop(0) if incoming else {"type": "websocket.disconnect", "code": 1006}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "websocket", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "ws", "path": "/socket",
        "raw_path": b"/socket", "query_string": b"", "root_path": "", "subprotocols": [],
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": (client, 40000), "server": ("table.example", 80),
        "extensions": {"websocket.http.response": {}} if extension else {},
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    return sent


@contextlib.contextmanager
def overheard() -> Iterator[io.StringIO]:
    """Give what was logged, and leave logging as it was."""
    root, ours = logging.getLogger(), logging.getLogger(logs.LOGGER_NAME)
    before = root.handlers[:], root.level, ours.level
    out = io.StringIO()
    logs.configure(stream=out)
    yield out
    root.handlers[:], root.level, ours.level = before
