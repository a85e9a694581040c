"""One connection to one table: news as it happens, requests answered in order, only this audience's own view."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
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
from piste.web.views.view_models import TableViewModel

LONGEST = 1024
"""No message of a client has more characters."""

MOST_ASKED = 64
"""So many requests of one client may wait for an answer."""

LAST = 5.0
"""Seconds in which what was asked before a line broke is still done."""

LATER = 1013  # of a websocket's codes for closing: try again later
RESTART = 1012
GONE = 4404
BROKEN = (WebSocketDisconnect, RuntimeError, OSError)
"""What sending raises when there is nobody to send to."""


def dumped(message: dict[str, Any]) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


Parts = dict[str, str]


def news(
    model: TableViewModel,
    parts: Parts,
    since: int,
    before: Parts | None = None,
    steps: Sequence[tuple[TableViewModel, Parts]] = (),
) -> dict[str, Any]:
    """Return what has changed: parts that differ from those before, and lines of the log from `since` on.

    What each step on the way changed goes before it, for whoever shows one event after another.
    """
    old, shown, told, found = before or {}, dict(before or {}), max(0, since), []
    for then, drawn in steps:
        changed = {name: html for name, html in drawn.items() if shown.get(name) != html}
        found.append({"parts": changed, "log": lines(then, told)})
        shown |= drawn
        told = max(told, then.at)
    return {
        "at": model.at,
        "step": model.step,
        **({"steps": found} if found else {}),
        "parts": {name: html for name, html in parts.items() if not old.get(name) == shown.get(name) == html},
        "log": lines(model, told),
    }


def lines(model: TableViewModel, since: int) -> list[list[Any]]:
    """Return the lines of the log from one on; of very many, the last."""
    first = max(since, len(model.log) - MAX_LOG_LINES)
    return [[entry.number, entry.kind, entry.text] for entry in model.log[first:]]


class Connection:
    """What one client has been sent, and what it asked for."""

    def __init__(
        self,
        socket: WebSocket,
        service: TableService,
        pages: PageRenderer,
        *,
        code: str,
        player: str,
        network: str,
        root: Root,
        since: int,
        step: int,
        limits: Limits,
    ) -> None:
        self._socket = socket
        self._service = service
        self._pages = pages
        self._code = code
        self._player = player
        self._network = network
        self._root = root
        self._since = since
        self._step = step  # the last event that the client was told of; below 0 if it does not ask for steps
        self._limits = limits
        self._seat = SPECTATOR
        self._sent: dict[str, str] = {}
        self._n = 0
        self._sending = asyncio.Lock()
        self._asked: asyncio.Queue[str] = asyncio.Queue(MOST_ASKED)

    def _work_slot(self) -> AbstractAsyncContextManager[None]:
        return self._limits.work_slot(self._network)

    async def run(self) -> None:
        """Serve the client until it goes or the server stops."""
        try:
            async with self._work_slot(), self._service.room(self._code) as room:
                await self._service.arrive(room, self._player, self._network)
                self._seat = room.seat_of(self._player)
                subscription = self._service.registry.subscribe(self._code, self._seat)
        except TableNotFoundError as e:
            await self._socket.accept()
            await self._send({"gone": True, "said": str(e)})
            await self._socket.close(GONE)
            return
        except PisteError as e:  # it could not be kept that somebody came, or there is no room in the memory
            await self._socket.accept()
            await self._send({"ok": False, "said": str(e)})
            await self._socket.close(LATER)
            return
        tasks: list[asyncio.Task[None]] = []
        try:
            await self._socket.accept()
            answering = asyncio.ensure_future(self._answer())
            tasks = [
                asyncio.ensure_future(self._tell(subscription)),
                asyncio.ensure_future(self._receive()),
                answering,
            ]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        except BROKEN:
            pass  # gone, as people go
        finally:
            # However a line ends, its place at the table is free at once: nobody waits for a line that is not there.
            self._service.registry.unsubscribe(self._code, self._seat, subscription)
            for task in tasks[:2]:
                task.cancel()
            if tasks and not subscription.closing:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._asked.join(), LAST)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(*BROKEN):
            if self._socket.application_state == WebSocketState.CONNECTED:
                await self._socket.close()

    async def _tell(self, subscription: Subscription) -> None:
        """Send what is new, whenever something is."""
        subscription.changed.set()  # the first message says how things are
        with contextlib.suppress(*BROKEN):
            while True:
                await subscription.changed.wait()
                subscription.changed.clear()
                if subscription.closing:
                    await self._send({"bye": "restart"})
                    await self._socket.close(RESTART)
                    return
                async with self._work_slot():
                    async with self._service.room(self._code) as room:
                        model = self._service.view_model(room, self._player, self._root)
                        if model.seat != self._seat:  # they have sat down, here or through another window
                            self._service.registry.change_seat(room, self._seat, model.seat)
                            self._seat, self._since = model.seat, 0
                        steps = self._service.steps(room, self._player, model, self._step) if self._step >= 0 else ()
                    parts = self._pages.parts(model)
                    drawn = [(then, self._pages.parts(then, only=STEP_PARTS)) for then in steps]
                    message = news(model, parts, self._since, self._sent, drawn)
                if message["parts"] or message["log"] or not self._n:
                    await self._send(message)
                self._since, self._sent = model.at, parts
                self._step = model.step if self._step >= 0 else self._step

    async def _receive(self) -> None:
        """Take requests from the line, also while one is being answered, or a broken line would not be noticed."""
        wait = self._limits.message_limiter(self._network)
        # A KeyError comes of bytes where text belongs.
        with contextlib.suppress(KeyError, *BROKEN):
            while True:
                text = await self._socket.receive_text()
                if wait() or self._asked.full():
                    self._service.metrics.refused("messages")
                    await self._send({"ok": False, "said": REFUSALS["messages"]})
                    await self._socket.close(LATER)
                    return
                self._asked.put_nowait(text)
                await asyncio.sleep(0)  # who sends many at once lets others come in between

    async def _answer(self) -> None:
        """Answer requests, one after the other."""
        while True:
            text = await self._asked.get()
            try:
                await self._take(text)
            finally:
                self._asked.task_done()
            await asyncio.sleep(0)

    async def _take(self, text: str) -> None:
        answer = await self._answered(understood(text))
        with contextlib.suppress(*BROKEN):  # what they asked for is done, whether they hear of it or not
            await self._send(answer)

    async def _answered(self, asked: dict[str, str] | None) -> dict[str, Any]:
        if asked is None:
            self._service.metrics.refused("unreadable")
            return {"ok": False, "said": "That message cannot be read. Reload the page."}
        request = asked.get("id", "")
        if asked["do"] == "ping":
            return {"re": request, "ok": True}
        answer = self._service.answers.find(self._code, self._player, request)
        if answer is None:
            # A hint waits for a thinker, and there is a queue for those.
            async with contextlib.nullcontext() if asked["do"] == "hint" else self._work_slot():
                answer = await self._done(request, asked)
            self._service.answers.add(self._code, self._player, request, answer)
        return answer

    async def _done(self, request: str, asked: dict[str, str]) -> dict[str, Any]:
        fields = {key: value for key, value in asked.items() if key not in ("id", "do")}
        try:
            result = await self._service.perform(self._code, self._player, asked["do"], fields, self._network)
        except PisteError as e:
            self._service.metrics.refused("request")
            return {"re": request, "ok": False, "said": str(e)}
        except Exception as e:
            mark = logs.error("request failed", e)
            said = f"Something went wrong here, and it was noted as {mark}. The game is kept: reload the page."
            return {"re": request, "ok": False, "said": said}
        return {
            "re": request,
            "ok": True,
            "said": result.message,
            **({"go": result.redirect} if result.redirect else {}),
        }

    async def _send(self, message: dict[str, Any]) -> None:
        async with self._sending:
            self._n += 1
            await self._socket.send_text(dumped({"n": self._n, **message}))


def understood(text: str) -> dict[str, str] | None:
    """Return a request as a flat set of short texts, or None for anything else."""
    if len(text) > LONGEST:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or len(found) > 8 or not isinstance(found.get("do"), str):
        return None
    asked: dict[str, str] = {}
    for key, value in found.items():
        if isinstance(value, bool) or not isinstance(value, str | int) or len(key) > 24:
            return None
        try:
            asked[key] = str(value)
            asked[key].encode()
        except ValueError:  # half a letter, or a number with thousands of digits
            return None
    return asked if asked["do"] in VERBS or asked["do"] == "ping" else None
