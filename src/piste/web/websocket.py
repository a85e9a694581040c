"""A websocket to one table: sends changes of this client's own view, and answers its requests in order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from piste.core.errors import PisteError
from piste.core.protocols import SPECTATOR
from piste.web import logging as logs
from piste.web.middleware.rate_limits import REFUSALS, Limits
from piste.web.network import Root
from piste.web.tables.registry import Subscription, TableNotFoundError
from piste.web.tables.room import Room
from piste.web.tables.service import VERBS, TableService
from piste.web.views.parts import STEP_PARTS, ShownTable
from piste.web.views.rendering import MAX_LOG_LINES
from piste.web.views.view_models import TableViewModel, Viewer
from piste.web.views.view_models import steps as steps_since

MAX_MESSAGE_LENGTH = 1024
REQUESTS = VERBS | {"ping"}
FINISH_TIMEOUT_S = 5.0  # a hint that was asked for before a disconnection is still carried out for this time
CLOSE_RESTART, CLOSE_TRY_LATER, CLOSE_NO_TABLE = 1012, 1013, 4404
DISCONNECTED = (WebSocketDisconnect, RuntimeError, OSError)  # what sending raises when the client is gone


def news(
    shown: ShownTable, model: TableViewModel, since: int, steps: Sequence[TableViewModel] = ()
) -> dict[str, Any]:
    """Return what a client is sent: what differs from what it shows, and lines of the log from `since` on.

    Before that come the changes of each step, for a client that shows one event after another.
    """
    lines_sent, changes = max(0, since), []
    for then in steps:
        changes.append({**shown.update(then, STEP_PARTS), "log": lines(then, lines_sent)})
        lines_sent = max(lines_sent, then.at)
    return {
        "at": model.at,
        "step": model.step,
        **({"steps": changes} if changes else {}),
        **shown.update(model),
        "log": lines(model, lines_sent),
    }


def lines(model: TableViewModel, since: int) -> list[list[Any]]:
    """Return the lines of the log from `since` on; of very many, the last."""
    first = max(since, model.at - MAX_LOG_LINES)
    return [[entry.number, entry.kind, entry.text] for entry in model.log[first : model.at]]


@dataclass(eq=False)
class Connection:
    """One client: what it has been sent, and what it requests."""

    _socket: WebSocket
    _service: TableService
    _shown: ShownTable
    _limits: Limits
    _code: str
    _player: str
    _network: str
    _root: Root
    _since: int  # the number of lines of the log that it has
    _step: int  # the last event sent; below 0 if the client does not want steps
    _seat: int = SPECTATOR
    _n: int = 0  # messages sent
    _sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    _held: list[dict[str, Any]] = field(default_factory=list)  # answers that are sent with the next news
    _hint: asyncio.Task[None] | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)  # there are news to be sent

    def _work_slot(self) -> AbstractAsyncContextManager[None]:
        return self._limits.work_slot(self._network)

    async def run(self) -> None:
        """Serve the client until it disconnects or the server stops."""
        try:
            async with self._work_slot(), self._service.visit(self._code, self._player, self._network) as room:
                self._seat = room.seat_of(self._player)
                subscription = self._service.registry.subscribe(self._code, self._seat)
        except PisteError as e:  # no such table, the arrival could not be stored, or there are too many rooms
            gone = isinstance(e, TableNotFoundError)
            await self._socket.accept()
            await self._send({"gone": True, "said": str(e)} if gone else {"ok": False, "said": str(e)})
            await self._socket.close(CLOSE_NO_TABLE if gone else CLOSE_TRY_LATER)
            return
        self._changed = subscription.changed
        tasks: list[asyncio.Task[None]] = []
        try:
            await self._socket.accept()
            tasks = [asyncio.ensure_future(part) for part in (self._send_changes(subscription), self._receive())]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        except DISCONNECTED:
            pass
        finally:
            # However a connection ends, its player is not counted as connected from now on.
            self._service.registry.unsubscribe(self._code, self._seat, subscription)
            if self._hint is not None:
                tasks.append(self._hint)
                if not subscription.closing:
                    await asyncio.wait((self._hint,), timeout=FINISH_TIMEOUT_S)
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
                    for answer in self._held:
                        await self._send(answer)
                    await self._send({"bye": "restart"})
                    await self._socket.close(CLOSE_RESTART)
                    return
                await self._send_latest()

    async def _send_latest(self) -> None:
        """Send what has changed; nothing of it is held while the next change is waited for."""
        async with self._work_slot():
            room = self._service.registry.room_at_rest(self._code)
            if room is not None:
                message = self._news(room)
            else:
                async with self._service.room(self._code) as room:
                    message = self._news(room)
        answers, self._held = self._held, []
        for answer in answers[:-1]:
            await self._send(answer)
        if message["parts"] or "areas" in message or message["log"] or not self._n:
            await self._send({**answers[-1], **message} if answers else message)
        elif answers:
            await self._send(answers[-1])

    def _news(self, room: Room) -> dict[str, Any]:
        """Return what this client does not show yet."""
        model = self._service.view_model(room, self._player, self._root)
        if model.seat != self._seat:  # the player has sat down, here or in another window
            self._service.registry.change_seat(room, self._seat, model.seat)
            self._seat, self._since = model.seat, 0
        message = news(self._shown, model, self._since, steps_since(room, Viewer(model.seat), model, self._step))
        self._since = model.at
        self._step = model.step if self._step >= 0 else self._step
        return message

    async def _receive(self) -> None:
        """Read requests and answer them, one after the other."""
        wait = self._limits.message_limiter(self._network)
        # receive_text raises KeyError for a binary message.
        with contextlib.suppress(KeyError, *DISCONNECTED):
            while True:
                text = await self._socket.receive_text()
                if wait():
                    self._service.metrics.refusals.labels("messages").inc()
                    await self._send({"ok": False, "said": REFUSALS["messages"]})
                    await self._socket.close(CLOSE_TRY_LATER)
                    return
                asked = parse_request(text)
                if asked is not None and asked["do"] == "hint":
                    # It waits for a bot worker. Meanwhile other requests are answered, and a disconnection is seen.
                    if self._hint is not None:
                        await self._hint
                    self._hint = asyncio.ensure_future(self._answer(asked))
                else:
                    await self._answer(asked)
                await asyncio.sleep(0)  # a client that sends many lets others come in between

    async def _answer(self, asked: dict[str, str] | None) -> None:
        """Carry out a request and answer it, even if the client is gone; with the news of it, if there are any."""
        answer = await self._respond(asked)
        if self._changed.is_set():
            self._held.append(answer)
        else:
            with contextlib.suppress(*DISCONNECTED):
                await self._send(answer)

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
            if answer["ok"]:  # what was refused may be possible when it is asked for again: the database is back
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
            await self._socket.send_text(orjson.dumps({"n": self._n, **message}).decode())


def parse_request(text: str) -> dict[str, str] | None:
    """Return a request as a flat dictionary of short texts, or None for anything else."""
    try:
        data = orjson.loads(text) if len(text) <= MAX_MESSAGE_LENGTH else None
    except ValueError:  # no JSON, or a lone surrogate
        return None
    if not isinstance(data, dict) or len(data) > 8:
        return None
    for key, value in data.items():
        if type(value) not in (str, int) or len(key) > 24:
            return None
    return {key: str(value) for key, value in data.items()} if data.get("do") in REQUESTS else None
