"""What happens at a table, message by message: as lines of JSON, or over a websocket that takes decisions too."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from starlette.websockets import WebSocket, WebSocketState

from piste.bots import messages
from piste.core.errors import PisteError
from piste.core.protocols import SPECTATOR
from piste.web import logging as logs
from piste.web.api import problems
from piste.web.api.documents import now_document, table_document
from piste.web.api.problems import ApiError
from piste.web.api.requests import read_fields
from piste.web.middleware.rate_limits import REFUSALS, Limits
from piste.web.network import Root
from piste.web.tables.registry import Subscription, TableNotFoundError
from piste.web.tables.room import Room
from piste.web.tables.service import TableService
from piste.web.views.view_models import viewer_of
from piste.web.websocket import CLOSE_NO_TABLE, CLOSE_RESTART, CLOSE_TRY_LATER, DISCONNECTED, MAX_MESSAGE_LENGTH

ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
ANSWER = {"decision": str, "number": int, "do": str}
"""The fields of what a program may send over its websocket."""
ACTIONS = ("resign", "claim", "return")
"""What can be done besides deciding."""

MAX_NUMBER = 10**9  # no game has as many questions

Message = dict[str, Any]


@dataclass(eq=False)
class EventStream:
    """What one program is told of a table, from the moment it asks."""

    service: TableService
    limits: Limits
    code: str
    player: str
    network: str
    root: Root
    since: int  # how many events of the log it has
    ping: float  # seconds of silence after which it is told that the connection lives
    _seat: int = SPECTATOR
    _greeted: bool = False  # whether it was told where it sits
    _last: tuple[Message, tuple[Any, ...]] = field(default_factory=lambda: ({}, ()))  # the table, and the question

    async def messages(self) -> AsyncGenerator[Message, None]:
        """Yield every message until the table is gone or the server stops."""
        subscription = await self._arrive()
        subscription.changed.set()  # the first messages say how everything is
        try:
            while True:
                try:
                    await asyncio.wait_for(subscription.changed.wait(), self.ping)
                except TimeoutError:
                    yield {"type": "ping"}
                    continue
                subscription.changed.clear()
                if subscription.closing:
                    yield {"type": "bye", "reason": "restart" if self.service.registry.closing else "gone"}
                    return
                try:
                    found = await self._look()
                except TableNotFoundError:
                    yield {"type": "bye", "reason": "gone"}
                    return
                for message in found:
                    yield message
        finally:
            # However it ends, its player is not counted as connected from now on.
            self.service.registry.unsubscribe(self.code, self._seat, subscription)

    async def _arrive(self) -> Subscription:
        slot, visit = self.limits.work_slot(self.network), self.service.visit(self.code, self.player, self.network)
        async with slot, visit as room:
            self._seat = room.seat_of(self.player)
            return self.service.registry.subscribe(self.code, self._seat)

    async def _look(self) -> list[Message]:
        """Return what is new."""
        async with self.limits.work_slot(self.network):
            room = self.service.registry.room_at_rest(self.code)
            if room is not None:
                return self._news(room)
            async with self.service.room(self.code) as room:
                return self._news(room)

    def _news(self, room: Room) -> list[Message]:
        viewer = viewer_of(room, self.player)
        if viewer.seat != self._seat:  # the program has sat down meanwhile
            self.service.registry.change_seat(room, self._seat, viewer.seat)
            self._seat, self.since, self._greeted = viewer.seat, 0, False
        context = self.service.context(self.root)
        table, found = table_document(room, viewer, context), list[Message]()
        before, asked = self._last
        if table != before:
            found.append({"type": "table", "table": table})
        if room.table is None:
            self._last = table, ()
            return found
        view = room.table.view(viewer.seat)
        stands_in = viewer.seat != SPECTATOR and bool(room.seats[viewer.seat].stand_in)
        question = (len(view.log), view.number, bool(view.actions), stands_in)
        if not self._greeted:
            found.append(messages.hello(room.game, view))
            self._greeted = True
            asked = ()
        if question != asked:
            number = self.service.random_number(room, viewer.seat, view.number)
            found.append(now_document(room, viewer.seat, self.since, number))
            self.since = len(view.log)
        self._last = table, question
        return found


async def lines(stream: EventStream) -> AsyncIterator[bytes]:
    """Yield the messages as lines of JSON."""
    async with contextlib.aclosing(stream.messages()) as found:
        async for message in found:
            yield ENCODER.encode(message).encode() + b"\n"


@dataclass(eq=False)
class ProgramConnection:
    """A websocket: a program is told what happens, and answers as a program on this computer does."""

    socket: WebSocket
    stream: EventStream
    _sending: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self) -> None:
        """Serve the program until it disconnects, the table is gone or the server stops."""
        await self.socket.accept()
        tasks = [asyncio.ensure_future(part) for part in (self._tell(), self._receive())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(*DISCONNECTED):
            if self.socket.application_state == WebSocketState.CONNECTED:
                await self.socket.close()

    async def _tell(self) -> None:
        with contextlib.suppress(*DISCONNECTED):
            try:
                async with contextlib.aclosing(self.stream.messages()) as found:
                    async for message in found:
                        await self._send(message)
                        if message["type"] == "bye":
                            restart = message["reason"] == "restart"
                            await self.socket.close(CLOSE_RESTART if restart else CLOSE_NO_TABLE)
            except PisteError as e:  # no such table, or too many rooms
                await self._send(refusal(e))
                await self.socket.close(CLOSE_NO_TABLE if isinstance(e, TableNotFoundError) else CLOSE_TRY_LATER)

    async def _receive(self) -> None:
        wait, service = self.stream.limits.message_limiter(self.stream.network), self.stream.service
        # receive_text raises KeyError for a binary message.
        with contextlib.suppress(KeyError, *DISCONNECTED):
            while True:
                text = await self.socket.receive_text()
                if seconds := wait():
                    service.metrics.refusals.labels("messages").inc()
                    await self._send(problem("too-many", REFUSALS["messages"], seconds))
                    await self.socket.close(CLOSE_TRY_LATER)
                    return
                await self._send(await self._answer(text))
                await asyncio.sleep(0)  # a program that sends many lets others come in between

    async def _answer(self, text: str) -> Message:
        """Carry out what a program sent; return what it is told of that."""
        stream = self.stream
        try:
            verb, fields = read_answer(text)
            async with stream.limits.work_slot(stream.network):
                said = await act(stream.service, stream.code, stream.player, verb, fields, stream.network)
        except PisteError as e:
            stream.service.metrics.refusals.labels("request").inc()
            return refusal(e)
        except Exception as e:
            mark = logs.error("request failed", e)
            return problem("failed", f"Something went wrong here, and it was noted as {mark}.")
        return {"type": "taken", "do": verb, **({"decision": said, **fields} if verb == "decide" else {})}

    async def _send(self, message: Message) -> None:
        async with self._sending:
            await self.socket.send_text(ENCODER.encode(message))


def problem(kind: str, detail: str, wait: float = 0.0) -> Message:
    return {"type": "refused", "problem": problems.document(kind, detail, wait=wait)}


def refusal(error: PisteError) -> Message:
    return {"type": "refused", "problem": problems.document_of(error)}


def read_answer(text: str) -> tuple[str, Message]:
    """Return what a program wants done, and the fields of it."""
    if len(text) > MAX_MESSAGE_LENGTH:
        raise ApiError("too-large", f"A message has at most {MAX_MESSAGE_LENGTH} characters.")
    fields = read_fields(text, ANSWER)
    verb = fields.pop("do", "decide")
    if verb not in ("decide", *ACTIONS):
        raise ApiError("unreadable-request", f"The field do is not one of: decide, {', '.join(ACTIONS)}.")
    if verb == "decide":
        check_decision(fields)
    return verb, fields


def check_decision(fields: Message) -> None:
    """Refuse what is no decision, whatever is asked."""
    if fields.keys() != {"decision", "number"} or not 0 <= fields["number"] < MAX_NUMBER:
        raise ApiError("unreadable-request", "A decision has the fields decision and number, which is 0 or more.")


async def act(service: TableService, code: str, player: str, verb: str, fields: Message, network: str) -> str:
    """Let a player decide, resign, claim a turn or take a seat back; return what the decision is called.

    What was done already is not done again, and is no error: a program that got no answer asks once more.
    """
    async with service.room(code) as room:
        seat = need_seat(room, player)
        if verb == "resign" and room.has_left(seat):
            return ""
    texts = {name: str(value) for name, value in fields.items()}
    return (await service.perform(code, player, verb, texts, network)).message


def need_seat(room: Room, player: str) -> int:
    """Return the seat of a player, who must have one."""
    seat = room.seat_of(player)
    if seat == SPECTATOR:
        raise ApiError("not-your-seat", "This token has no seat at this table.")
    return seat
