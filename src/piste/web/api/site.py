"""Every address of the API, and its handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from piste.bots import messages
from piste.core.errors import UnknownNameError
from piste.core.game import find, names
from piste.core.protocols import SPECTATOR
from piste.web.api import documents, problems
from piste.web.api.events import ACTIONS, EventStream, ProgramConnection, act, check_decision, lines, need_seat
from piste.web.api.openapi import openapi
from piste.web.api.problems import PROBLEMS, ROOT, ApiError
from piste.web.api.requests import (
    Caller,
    caller_of,
    idempotency_key,
    need_caller,
    read_body,
    read_options,
)
from piste.web.middleware.rate_limits import Limits, network_of
from piste.web.network import Root
from piste.web.requests import int_param, requested_game
from piste.web.settings import Settings
from piste.web.tables.lessons import LESSON
from piste.web.tables.registry import TableNotFoundError
from piste.web.tables.room import Room
from piste.web.tables.service import TableService
from piste.web.tables.tokens import player_of, seat_bearer
from piste.web.views.view_models import viewer_of


@dataclass(eq=False)
class ApiSite:
    """Handles requests of programs. They name themselves by a token in a header; cookies are not read."""

    service: TableService
    settings: Settings
    limits: Limits
    link_root: Callable[[HTTPConnection], Root]

    # What there is

    async def index(self, _request: Request) -> Response:
        return JSONResponse({"openapi": f"{ROOT}/openapi.json", "addresses": sorted(openapi()["paths"])})

    async def openapi(self, _request: Request) -> Response:
        return JSONResponse(openapi())

    async def problems(self, _request: Request) -> Response:
        kinds = [{"type": f"{ROOT}/problems#{name}", **problem._asdict()} for name, problem in PROBLEMS.items()]
        return JSONResponse({"problems": kinds})

    async def games(self, _request: Request) -> Response:
        return JSONResponse({"games": [documents.game_document(find(name)) for name in names()]})

    async def game(self, request: Request) -> Response:
        return JSONResponse(documents.game_document(requested_game(request)))

    async def rules(self, request: Request) -> Response:
        return PlainTextResponse(documents.rules_text(requested_game(request)), media_type="text/markdown")

    # Tokens

    async def device_token(self, request: Request) -> Response:
        await read_body(request, {})
        return JSONResponse({"token": self.service.tokens.token(), "scope": "device"}, 201)

    async def seat_token(self, request: Request) -> Response:
        code, caller = request.path_params["code"], need_caller(request)
        await read_body(request, {})
        async with self.service.room(code) as room:
            need_seat(room, caller.player)
        token = await self.service.connect(code, caller.player)
        return JSONResponse({"token": token, "scope": "seat"}, 201)

    # Tables

    async def open(self, request: Request) -> Response:
        caller, fields = caller_of(request), await read_body(request, OPEN_FIELDS)
        if caller.one_seat:
            raise ApiError("not-your-seat", "This token is for one seat at one table, and opens no other table.")
        token, player = self._token_for(caller)
        versus, options = fields.get("versus", "steady"), read_options(fields)
        if versus == LESSON:
            raise UnknownNameError("A first game that teaches is for people. Name a bot, or friend for free seats.")
        opened = partial(
            self.service.open, player, find(fields.get("game", "")).name, options, fields.get("name", ""), versus,
            network_of(request.scope), program=True,
        )  # fmt: skip
        key = idempotency_key(request)
        if key and not token:
            code = self.service.code_for(player, key)
            async with self.service.registry.lock(f"open {code}"):  # one that is sent twice at once is done once
                again = await self._opened_before(code, fields, options)
                room = again or await self._open_once(opened, code, fields, options)
        else:
            room = await opened()
        document = await self._seen(request, room.code, player)
        return JSONResponse(
            {**document, **({"token": token} if token else {})}, 201, {"location": f"{ROOT}/tables/{room.code}"}
        )

    async def _open_once(
        self, opened: Callable[..., Awaitable[Room]], code: str, fields: dict[str, Any], options: dict[str, str]
    ) -> Room:
        """Open a room, unless another process opens it for the same request at this moment."""
        try:
            return await opened(code=code)
        except Exception:
            again = await self._opened_before(code, fields, options)
            if again is None:
                raise
            return again

    async def _opened_before(self, code: str, fields: dict[str, Any], options: dict[str, str]) -> Room | None:
        """Return the room that the same request opened when it was sent before."""
        try:
            async with self.service.room(code) as room:
                same = room.game is find(fields.get("game", "")) and dict(room.options) == options
        except TableNotFoundError:
            return None
        if not same:
            raise ApiError("other-request", "Another table was opened with this Idempotency-Key.")
        return room

    def _token_for(self, caller: Caller) -> tuple[str, str]:
        """Return a new token for a seat, where a program has none, and its player."""
        token = "" if caller.player else seat_bearer(self.service.tokens.token())
        return token, caller.player or player_of(token)

    async def sit(self, request: Request) -> Response:
        code, caller, network = request.path_params["code"], caller_of(request), network_of(request.scope)
        fields = await read_body(request, SIT_FIELDS)
        async with self.service.room(code) as room:
            before = room.seat_of(caller.player)
        if caller.one_seat and before == SPECTATOR:
            raise ApiError("not-your-seat", "This token is for one seat at one table, and that is not this table.")
        token, player = self._token_for(caller)
        if "link" in fields:
            await self.service.bind(code, fields.get("seat", -1), fields["link"], player, program=True)
        else:
            name = {"name": fields.get("name", "")}
            await self.service.perform(code, player, "sit", name, network, program=True)
        document = await self._seen(request, code, player)
        return JSONResponse({**document, **({"token": token} if token else {})}, 201 if before == SPECTATOR else 200)

    async def see(self, request: Request) -> Response:
        return JSONResponse(await self._seen(request, request.path_params["code"], caller_of(request).player))

    async def _seen(self, request: Request, code: str, player: str) -> dict[str, Any]:
        """Return the table, where the program sits, and what it is to be told now, its log from `since` on."""
        async with self.service.visit(code, player, network_of(request.scope)) as room:
            viewer, since = viewer_of(room, player), max(0, int_param(request, "since", 0))
            table = documents.table_document(room, viewer, self.service.context(self.link_root(request)))
            if room.table is None:
                return {"table": table, "hello": None, "now": {"type": "waiting"}}
            random = self.service.random_number(room, viewer.seat, room.table.number)
            return {
                "table": table,
                "hello": messages.hello(room.game, room.table.view(viewer.seat)),
                "now": documents.now_document(room, viewer.seat, since, random),
            }

    async def history(self, request: Request) -> Response:
        player, since = caller_of(request).player, max(0, int_param(request, "since", 0))
        async with self.service.visit(request.path_params["code"], player, network_of(request.scope)) as room:
            if room.table is None:
                raise ApiError("not-now", "The game has not begun: somebody is still missing.")
            return JSONResponse(documents.history_document(room.table.view(room.seat_of(player)), since))

    async def record(self, request: Request) -> Response:
        async with self.service.room(request.path_params["code"]) as room:
            return Response(room.record(), media_type="application/x-ndjson")

    async def decide(self, request: Request) -> Response:
        return await self._act(request, "decide", DECISION_FIELDS)

    async def _act(self, request: Request, verb: str, allowed: dict[str, type]) -> Response:
        code, caller, fields = request.path_params["code"], need_caller(request), await read_body(request, allowed)
        if verb == "decide":
            check_decision(fields)
        said = await act(self.service, code, caller.player, verb, fields, network_of(request.scope))
        taken = {"do": verb, **({**fields, "decision": said} if verb == "decide" else {})}
        return JSONResponse({"taken": taken, **await self._seen(request, code, caller.player)})

    # Events

    def _stream(self, connection: HTTPConnection) -> EventStream:
        return EventStream(
            self.service, self.limits, connection.path_params["code"], caller_of(connection).player,
            network_of(connection.scope), self.link_root(connection), max(0, int_param(connection, "since", 0)),
            self.settings.ping,
        )  # fmt: skip

    async def events(self, request: Request) -> Response:
        stream = self._stream(request)
        async with self.service.room(stream.code):
            pass  # one that is not there is refused, not begun
        # Proxies that collect answers before they pass them on would keep every message back.
        return StreamingResponse(
            lines(stream), media_type="application/x-ndjson", headers={"x-accel-buffering": "no"}
        )

    async def socket(self, websocket: WebSocket) -> None:
        try:
            stream = self._stream(websocket)
        except ApiError as e:
            await websocket.send_denial_response(problems.response_to(e))
            return
        await ProgramConnection(websocket, stream).run()

    def routes(self) -> list[Route | WebSocketRoute]:
        table, post = f"{ROOT}/tables/{{code}}", ["POST"]
        return [
            Route(ROOT, self.index),
            Route(f"{ROOT}/openapi.json", self.openapi),
            Route(f"{ROOT}/problems", self.problems),
            Route(f"{ROOT}/games", self.games),
            Route(f"{ROOT}/games/{{game}}", self.game),
            Route(f"{ROOT}/games/{{game}}/rules", self.rules),
            Route(f"{ROOT}/tokens", self.device_token, methods=post),
            Route(f"{ROOT}/tables", self.open, methods=post),
            Route(table, self.see),
            Route(f"{table}/seats", self.sit, methods=post),
            Route(f"{table}/tokens", self.seat_token, methods=post),
            Route(f"{table}/decisions", self.decide, methods=post),
            *(Route(f"{table}/{do}", partial(self._act, verb=do, allowed={}), methods=post) for do in ACTIONS),
            Route(f"{table}/history", self.history),
            Route(f"{table}/record", self.record),
            Route(f"{table}/events", self.events),
            WebSocketRoute(f"{table}/events", self.socket),
        ]


OPEN_FIELDS = {"game": str, "options": dict, "versus": str, "name": str}
SIT_FIELDS = {"name": str, "seat": int, "link": str}
DECISION_FIELDS = {"number": int, "decision": str}
