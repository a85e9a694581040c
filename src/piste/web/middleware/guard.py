"""Middleware between the network and the tables: headers, sizes, origins, rate limits, and errors as sentences.

`Guard` is plain ASGI and wraps the whole application. It refuses with a sentence, as a page or, where the client asks
for JSON, as JSON. A refusal never repeats what the client sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from piste.core.errors import PisteError
from piste.web import logging as logs
from piste.web.api import problems
from piste.web.metrics import Metrics
from piste.web.middleware.rate_limits import REFUSALS, Limits, network_of
from piste.web.settings import Settings

MAX_BODY_BYTES = 8192
BODY_TIMEOUT_S = 10.0
MAX_FORM_FIELDS = 64
MAX_HOST_CHARS = 100  # a host name can have 253 characters, but nobody types as many
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    # Other sites learn nothing. With `no-referrer` browsers would also send "Origin: null" with our own forms, and we
    # could not tell a foreign form from ours.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), interest-cohort=()",
}


DEFAULT_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}
HTTP_SCHEME = {"ws": "http", "wss": "https"}


def origin(text: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port, or None for what is no origin."""
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        return None
    if url.scheme not in DEFAULT_PORTS or not url.hostname or url.path or url.query or url.username is not None:
        return None
    return HTTP_SCHEME.get(url.scheme, url.scheme), url.hostname, DEFAULT_PORTS[url.scheme] if port is None else port


def is_same_origin(scope: Scope, public: str = "") -> bool:
    """Say whether a request that changes something, or a websocket, was sent by one of our own pages.

    Browsers name the origin of every POST and every websocket, and a page cannot forge it. Where it is missing or
    "null" a POST passes only with a `Sec-Fetch-Site` that no foreign page can cause; a websocket never.
    """
    headers = Headers(scope=scope)
    named = headers.get("origin", "null")
    if named != "null":
        sender = origin(named)
        own = (origin(f"{scope['scheme']}://{headers.get('host', '')}"), origin(public))
        return sender is not None and sender in own
    return scope["type"] == "http" and headers.get("sec-fetch-site", "") in ("same-origin", "none")


Page = Callable[[int, str], str]  # returns a page for a status and a sentence


def plain_page(status: int, sentence: str) -> str:
    """Return a page that needs no template."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>piste</title></head>'
        f"<body><main><h1>{status}</h1><p>{escape(sentence)}</p>"
        '<p><a href="/">All games</a></p></main></body></html>\n'
    )


def wants_json(scope: Scope) -> bool:
    """Say whether the client wants JSON rather than a page."""
    return "application/json" in Headers(scope=scope).get("accept", "")


def answer(scope: Scope, status: int, sentence: str, page: Page = plain_page, *, wait: float = 0.0) -> Response:
    """Return a refusal as a page, or as JSON if the client asked for it; to the API, as a problem document."""
    if problems.is_api(scope):
        return problems.response(problems.by_status(status), sentence, wait=wait)
    if wants_json(scope) or scope["type"] == "websocket":
        text, kind = json.dumps({"ok": False, "said": sentence}), "application/json"
    else:
        text, kind = page(status, sentence), "text/html"
    headers = {"retry-after": str(max(1, math.ceil(min(wait, 3600))))} if wait else {}
    return Response(text, status, headers, media_type=kind)


@dataclass(eq=False)
class Guard:
    """Wraps the application; put it around everything else."""

    _app: ASGIApp
    _settings: Settings
    _limits: Limits
    _metrics: Metrics
    _page: Page = plain_page
    _sockets: int = 0  # open now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = 0
        work_slot = contextlib.AsyncExitStack()

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = message["status"]
                add_headers(scope, message)
                self._metrics.requests.labels(f"{started // 100}xx").inc()
                await work_slot.aclose()  # the work is done: a slow reader keeps no request waiting
            await send(message)

        refused, headers = self._refusal(scope), Headers(scope=scope)
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if refused is None and has_body:
            body = await read_body(scope, receive)
            if isinstance(body, bytes):
                receive = replay_body(body, receive)
            else:
                refused = self._refuse(scope, "body", *body)
                refused.headers["connection"] = "close"  # the rest of the body is not read
        held = contextlib.ExitStack()
        if refused is None and problems.is_stream(scope):
            refused = self._hold(scope, held)
        if refused is not None:
            await refused(scope, receive, send_with_headers)
            return
        try:
            with held:
                if not waits_for_worker(scope["path"]):
                    await work_slot.enter_async_context(self._limits.work_slot(network_of(scope)))
                async with work_slot:
                    await self._app(scope, receive, send_with_headers)
        except Exception as e:
            if started:
                logs.error("failed while answering", e, method=scope["method"])
                raise ConnectionAbortedError from None  # the client must not take half an answer for a whole one
            await self._internal_error(scope, e)(scope, receive, send_with_headers)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        open_now = False

        async def send_counted(message: Message) -> None:
            nonlocal open_now
            if message["type"] == "websocket.accept" and not open_now:
                open_now = True
                self._metrics.sockets.inc()
            elif message["type"] == "websocket.http.response.start":
                add_headers(scope, message)
            await send(message)

        held = contextlib.ExitStack()
        refused = self._refusal(scope) or self._hold(scope, held)
        if refused is not None:
            if "websocket.http.response" in scope.get("extensions", {}):
                await refused(scope, receive, send_counted)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        try:
            with held:
                await self._app(scope, receive, send_counted)
        except WebSocketDisconnect:
            pass  # the client disconnected
        except Exception as e:
            logs.error("socket failed", e)
            with contextlib.suppress(RuntimeError, OSError):  # it may be closed already
                await send({"type": "websocket.close", "code": 1011})
        finally:
            if open_now:
                self._metrics.sockets.dec()

    def _hold(self, scope: Scope, held: contextlib.ExitStack) -> Response | None:
        """Count a connection that stays open until the stack is closed, or return a refusal."""
        network = network_of(scope)
        if self._sockets >= self._settings.max_sockets:
            return self._refuse(scope, "full", 503, "All places are taken just now. Try again in a minute.", 60)
        if not self._limits.add_socket(network):
            return self._refuse(scope, "held", 429, REFUSALS["held"], 60)
        self._sockets += 1

        def release() -> None:
            self._sockets -= 1
            self._limits.remove_socket(network)

        held.callback(release)
        return None

    def _refusal(self, scope: Scope) -> Response | None:
        """Return a refusal if the head of a request already calls for one."""
        # The rate limits that a request counts for.
        posts = ("requests", "posts") if scope.get("method") == "POST" else ("requests",)
        stays_open = scope["type"] == "websocket" or problems.is_stream(scope)
        for kind in ("sockets",) if stays_open else posts:
            if wait := self._limits.take(kind, network_of(scope)):
                return self._refuse(scope, kind, 429, REFUSALS[kind], wait)
        if len(Headers(scope=scope).get("host", "")) > MAX_HOST_CHARS:
            return self._refuse(scope, "host", 400, "No server has a name as long as the one that was asked for.")
        changing = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        # The API reads no cookies, so nobody can be made to use it unknowingly: programs need not name an origin.
        named = not problems.is_api(scope) or "origin" in Headers(scope=scope)
        if changing and named and not is_same_origin(scope, self._settings.public):
            logs.warning("foreign origin", kind=scope["type"], scheme=scope["scheme"])
            return self._refuse(
                scope, "origin", 403,
                "This did not come from a page of this table, so nothing was done. Open the table and try there.",
            )  # fmt: skip
        return None

    def _refuse(self, scope: Scope, kind: str, status: int, sentence: str, wait: float = 0.0) -> Response:
        self._metrics.refusals.labels(kind).inc()
        return answer(scope, status, sentence, self._page, wait=wait)

    def _internal_error(self, scope: Scope, error: Exception) -> Response:
        """Return what users see of an unexpected error: nothing of it but an id that is in the log."""
        mark = logs.error("failed", error, method=scope["method"])
        sentence = f"Something went wrong here, and it was noted as {mark}. Your games are kept: try again."
        try:
            return answer(scope, 500, sentence, self._page)
        except Exception as again:
            logs.error("failed to draw the error page", again)
            return answer(scope, 500, sentence)


def waits_for_worker(path: str) -> bool:
    """Say whether an address waits for a worker: workers have a queue of their own, and nothing else waits for it."""
    return path.endswith(("/hint", "/analyse")) or path.startswith(("/puzzles", "/puzzle/", "/analysis"))


def add_headers(scope: Scope, message: Message) -> None:
    """Add the headers that every response has."""
    headers = MutableHeaders(scope=message)
    headers.update(HEADERS)
    if scope["path"].startswith("/static/") and message["status"] in (200, 304):
        # An address with the content's hash in it always means the same content.
        hashed = b"v=" in scope.get("query_string", b"")
        headers["cache-control"] = "public, max-age=31536000, immutable" if hashed else "no-cache"
    else:
        headers["cache-control"] = "no-store"


TOO_LARGE = (413, f"That was more than {MAX_BODY_BYTES} bytes, and no decision is as long. Nothing was done.")
TOO_SLOW = (408, "That took too long to arrive, so nothing was done. Try again.")
CUT_OFF = (400, "That did not arrive whole, so nothing was done. Try again.")


async def read_body(scope: Scope, receive: Receive) -> bytes | tuple[int, str]:
    """Return a body, or why it is refused; memory holds at most the limit and one chunk."""
    length = Headers(scope=scope).get("content-length", "")
    if length and not (length.isascii() and length.isdigit() and len(length) < 12 and int(length) <= MAX_BODY_BYTES):
        return TOO_LARGE
    body = b""
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for chunk in Request(scope, receive).stream():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    return TOO_LARGE
    except ClientDisconnect:
        return CUT_OFF
    except TimeoutError:
        return TOO_SLOW
    return body


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first gives a body that was read already."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


class FormError(PisteError):
    """A form that cannot be read."""


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form, each with its one value."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    body = await request.body()
    if not body:
        return {}
    if kind != "application/x-www-form-urlencoded":
        raise FormError("This is not a form as our pages send it (application/x-www-form-urlencoded).")
    if len(body) > MAX_BODY_BYTES:
        raise FormError(TOO_LARGE[1])
    try:
        text = body.decode("ascii")
        fields = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_FORM_FIELDS)
    except ValueError:  # letters that are not UTF-8, or too many fields
        raise FormError(
            f"This form cannot be read: it has more than {MAX_FORM_FIELDS} fields, or is not UTF-8."
        ) from None
    form = dict(fields)
    if len(form) != len(fields):
        raise FormError("This form gives one of its fields twice.")
    return form
