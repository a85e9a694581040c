"""A websocket to one table: sends changes of this client's own view, and answers its requests in order."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from piste.core.errors import PisteError
from piste.core.protocols import SPECTATOR
from piste.web import logging as logs
from piste.web.middleware.rate_limits import REFUSALS, Limits
from piste.web.network import Root
from piste.web.tables.registry import Subscription, TableNotFoundError
from piste.web.tables.service import VERBS, TableService
from piste.web.views.rendering import MAX_LOG_LINES, STEP_PARTS, PageRenderer
from piste.web.views.view_models import TableViewModel, viewer_of
from piste.web.views.view_models import steps as steps_since

MAX_MESSAGE_LENGTH = 1024
MAX_QUEUED_REQUESTS = 64
FINISH_TIMEOUT_S = 5.0  # requests that came before a disconnection are still carried out for this time
CLOSE_RESTART, CLOSE_TRY_LATER, CLOSE_NO_TABLE = 1012, 1013, 4404
DISCONNECTED = (WebSocketDisconnect, RuntimeError, OSError)  # what sending raises when the client is gone


Parts = dict[str, str]


def news(
    model: TableViewModel,
    parts: Parts,
    since: int,
    before: Parts | None = None,
    steps: Sequence[tuple[TableViewModel, Parts]] = (),
) -> dict[str, Any]:
    """Return what has changed: parts that differ from those before, and lines of the log from `since` on.

    Before that come the changes of each step, for a client that shows one event after another.
    """
    old, latest, lines_sent, changes = before or {}, dict(before or {}), max(0, since), []
    for then, drawn in steps:
        changed = {name: html for name, html in drawn.items() if latest.get(name) != html}
        changes.append({"parts": changed, "log": lines(then, lines_sent)})
        latest |= drawn
        lines_sent = max(lines_sent, then.at)
    return {
        "at": model.at,
        "step": model.step,
        **({"steps": changes} if changes else {}),
        "parts": {name: html for name, html in parts.items() if not old.get(name) == latest.get(name) == html},
        "log": lines(model, lines_sent),
    }


def lines(model: TableViewModel, since: int) -> list[list[Any]]:
    """Return the lines of the log from `since` on; of very many, the last."""
    first = max(since, len(model.log) - MAX_LOG_LINES)
    return [[entry.number, entry.kind, entry.text] for entry in model.log[first:]]


@dataclass(eq=False)
class Connection:
    """One client: what it has been sent, and what it requests."""

    _socket: WebSocket
    _service: TableService
    _pages: PageRenderer
    _limits: Limits
    _code: str
    _player: str
    _network: str
    _root: Root
    _since: int  # the number of lines of the log that it has
    _step: int  # the last event sent; below 0 if the client does not want steps
    _seat: int = SPECTATOR
    _sent: Parts = field(default_factory=dict)
    _n: int = 0  # messages sent
    _sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    _requests: asyncio.Queue[str] = field(default_factory=lambda: asyncio.Queue(MAX_QUEUED_REQUESTS))

    def _work_slot(self) -> AbstractAsyncContextManager[None]:
        return self._limits.work_slot(self._network)

    async def run(self) -> None:
        """Serve the client until it disconnects or the server stops."""
        try:
            async with self._work_slot(), self._service.room(self._code) as room:
                await self._service.arrive(room, self._player, self._network)
                self._seat = room.seat_of(self._player)
                subscription = self._service.registry.subscribe(self._code, self._seat)
        except PisteError as e:  # no such table, the arrival could not be stored, or there are too many rooms
            gone = isinstance(e, TableNotFoundError)
            await self._socket.accept()
            await self._send({"gone": True, "said": str(e)} if gone else {"ok": False, "said": str(e)})
            await self._socket.close(CLOSE_NO_TABLE if gone else CLOSE_TRY_LATER)
            return
        tasks: list[asyncio.Task[None]] = []
        try:
            await self._socket.accept()
            parts = (self._send_changes(subscription), self._receive(), self._answer_requests())
            tasks = [asyncio.ensure_future(part) for part in parts]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        except DISCONNECTED:
            pass
        finally:
            # However a connection ends, its player is not counted as connected from now on.
            self._service.registry.unsubscribe(self._code, self._seat, subscription)
            for task in tasks[:2]:
                task.cancel()
            if tasks and not subscription.closing:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._requests.join(), FINISH_TIMEOUT_S)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(*DISCONNECTED):
            if self._socket.application_state == WebSocketState.CONNECTED:
                await self._socket.close()

    async def _send_changes(self, subscription: Subscription) -> None:
        """Send every change."""
        subscription.changed.set()  # the first message sends everything
        with contextlib.suppress(*DISCONNECTED):
            while True:
                await subscription.changed.wait()
                subscription.changed.clear()
                if subscription.closing:
                    await self._send({"bye": "restart"})
                    await self._socket.close(CLOSE_RESTART)
                    return
                async with self._work_slot():
                    async with self._service.room(self._code) as room:
                        model = self._service.view_model(room, self._player, self._root)
                        if model.seat != self._seat:  # the player has sat down, here or in another window
                            self._service.registry.change_seat(room, self._seat, model.seat)
                            self._seat, self._since = model.seat, 0
                        steps = steps_since(room, viewer_of(room, self._player), model, self._step)
                    parts = self._pages.parts(model)
                    drawn = [(then, self._pages.parts(then, only=STEP_PARTS)) for then in steps]
                    message = news(model, parts, self._since, self._sent, drawn)
                if message["parts"] or message["log"] or not self._n:
                    await self._send(message)
                self._since, self._sent = model.at, parts
                self._step = model.step if self._step >= 0 else self._step

    async def _receive(self) -> None:
        """Read requests, also while one is being answered, or a disconnection would not be noticed."""
        wait = self._limits.message_limiter(self._network)
        # receive_text raises KeyError for a binary message.
        with contextlib.suppress(KeyError, *DISCONNECTED):
            while True:
                text = await self._socket.receive_text()
                if wait() or self._requests.full():
                    self._service.metrics.refusals.labels("messages").inc()
                    await self._send({"ok": False, "said": REFUSALS["messages"]})
                    await self._socket.close(CLOSE_TRY_LATER)
                    return
                self._requests.put_nowait(text)
                await asyncio.sleep(0)  # a client that sends many lets others come in between

    async def _answer_requests(self) -> None:
        """Answer requests, one after the other."""
        while True:
            text = await self._requests.get()
            try:
                answer = await self._respond(parse_request(text))
                with contextlib.suppress(*DISCONNECTED):  # the request is carried out even if the client is gone
                    await self._send(answer)
            finally:
                self._requests.task_done()
            await asyncio.sleep(0)

    async def _respond(self, asked: dict[str, str] | None) -> dict[str, Any]:
        if asked is None:
            self._service.metrics.refusals.labels("unreadable").inc()
            return {"ok": False, "said": "That message cannot be read. Reload the page."}
        request = asked.get("id", "")
        if asked["do"] == "ping":
            return {"re": request, "ok": True}
        answer = self._service.answers.get((self._code, self._player, request))
        if answer is None:
            # A hint waits for a bot worker, which has a queue of its own.
            async with contextlib.nullcontext() if asked["do"] == "hint" else self._work_slot():
                answer = await self._perform(request, asked)
            self._service.keep_answer(self._code, self._player, request, answer)
        return answer

    async def _perform(self, request: str, asked: dict[str, str]) -> dict[str, Any]:
        fields = {key: value for key, value in asked.items() if key not in ("id", "do")}
        try:
            result = await self._service.perform(self._code, self._player, asked["do"], fields, self._network)
        except PisteError as e:
            self._service.metrics.refusals.labels("request").inc()
            return {"re": request, "ok": False, "said": str(e)}
        except Exception as e:
            error_id = logs.error("request failed", e)
            said = f"Something went wrong here, and it was noted as {error_id}. The game is kept: reload the page."
            return {"re": request, "ok": False, "said": said}
        redirect = {"go": result.redirect} if result.redirect else {}
        return {"re": request, "ok": True, "said": result.message, **redirect}

    async def _send(self, message: dict[str, Any]) -> None:
        async with self._sending:
            self._n += 1
            text = json.dumps({"n": self._n, **message}, ensure_ascii=False, separators=(",", ":"))
            await self._socket.send_text(text)


def parse_request(text: str) -> dict[str, str] | None:
    """Return a request as a flat dictionary of short texts, or None for anything else."""
    try:
        data = json.loads(text) if len(text) <= MAX_MESSAGE_LENGTH else None
        if not isinstance(data, dict) or len(data) > 8:
            return None
        if not all(type(value) in (str, int) and len(key) <= 24 for key, value in data.items()):
            return None
        request = {key: str(value) for key, value in data.items()}
        "".join(request.values()).encode()
    except (ValueError, RecursionError):  # no JSON, a lone surrogate, or a number with thousands of digits
        return None
    return request if request.get("do") in (*VERBS, "ping") else None
