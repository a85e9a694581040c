"""The application: every address of the server, and its handler."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from piste.core.errors import PisteError, UnknownNameError
from piste.core.game import find, quoted
from piste.core.protocols import SPECTATOR
from piste.web import logging as logs
from piste.web.api import problems
from piste.web.api.site import ApiSite
from piste.web.middleware.guard import HTTP_SCHEME, FormError, Guard, answer, read_form, wants_json
from piste.web.middleware.rate_limits import Limits, RateLimitError, network_of
from piste.web.network import Root, lan_addresses, link_root, qr_svg
from piste.web.operation import OperationSite
from piste.web.requests import int_param, last_step, parse_int, requested_game
from piste.web.settings import Settings
from piste.web.storage.schema import Listing as StoredTable
from piste.web.storage.schema import StorageAwayError
from piste.web.storage.storage import Storage
from piste.web.study.runner import StudyRunner
from piste.web.study.site import StudySite
from piste.web.tables.lessons import LESSON
from piste.web.tables.registry import TableNotFoundError
from piste.web.tables.results import result_text, stored_score
from piste.web.tables.room import Opener, default_opener
from piste.web.tables.seats import OPEN, RESERVED
from piste.web.tables.service import TableService
from piste.web.tables.tokens import TokenFactory, is_token, player_of
from piste.web.views.parts import ShownTable
from piste.web.views.rendering import STATIC, PageRenderer, TableListing
from piste.web.views.replay import replay_step
from piste.web.views.view_models import steps as steps_since
from piste.web.views.view_models import viewer_of
from piste.web.websocket import Connection, news
from piste.web.workers.worker_pool import BotWorkers, WorkersBusyError

COOKIE = "piste"
COOKIE_MAX_AGE_S = 365 * 86400
MAX_ROOMS_LOADED = 10  # running games that the list of a player's games loads, to say whose turn it is
TABLES_ON_HOME_PAGE = 3  # open tables on the first page; a link leads to the others
RUNNING_ON_HOME_PAGE = 3  # of the player's own games there
MAX_SCORES_READ = 20  # of finished games, by one request for a list: each is replayed once
MAX_QR_CODES, MAX_SCORES = 512, 8192  # in the cache
NOBODY_PLAYS = "Nobody plays in public just now. Open a table, show it on the front page, and it stands here too."
WANTS_REMATCH = "Your opponent wants a rematch"
NO_GAMES = "You have no games here yet."
ERROR_STATUS = (
    ((TableNotFoundError, UnknownNameError), 404), ((WorkersBusyError, StorageAwayError), 503),
    (RateLimitError, 429), (FormError, 400),
)  # fmt: skip
REVIEW_WAIT_S = 1.5  # a replay that is opened waits this long for the coach
IDLE_CHECK_S = 60
IDLE_CHECKS_PER_EXPIRY = 60


@dataclass(eq=False)
class Site:
    """Handles requests. All that it knows of games comes from the service, as view models."""

    settings: Settings
    service: TableService
    pages: PageRenderer
    limits: Limits
    lan: Callable[[], list[str]]
    runner: StudyRunner
    qr_codes: dict[str, bytes] = field(default_factory=dict)  # QR codes by link, the oldest first
    scores: dict[str, tuple[int, ...]] = field(default_factory=dict)  # of finished games, the oldest first

    # Who asks

    def player(self, request: HTTPConnection) -> str:
        """Return the id of a device's user; "" if it has no token yet."""
        token = request.cookies.get(COOKIE, "")
        return player_of(token) if is_token(token) else ""

    def root(self, request: HTTPConnection) -> str:
        """Return the base of our addresses as this client sees it."""
        scheme = HTTP_SCHEME.get(request.url.scheme, request.url.scheme)
        return f"{scheme}://{request.headers.get('host', 'localhost')}"

    def link_root(self, request: HTTPConnection) -> Root:
        """Return the base of the links that users share."""
        return link_root(self.settings, self.root(request), request.headers.get("host", "localhost"), self.lan)

    def player_and_token(self, request: Request) -> tuple[str, str]:
        """Return the player, and a new token for a device that has none."""
        player = self.player(request)
        token = "" if player else self.service.tokens.token()
        return player or player_of(token), token

    def go(self, request: Request, address: str, token: str, said: str = "") -> Response:
        """Lead a client to an address, with its token if that is new."""
        answered = JSONResponse({"ok": True, "said": said, "go": address}) if wants_json(request.scope) else None
        response = answered or RedirectResponse(address, 303)
        if token:
            response.set_cookie(
                COOKIE, token, max_age=COOKIE_MAX_AGE_S, path="/", httponly=True, samesite="lax",
                secure=self.secure(request),
            )  # fmt: skip
        return response

    def secure(self, request: HTTPConnection) -> bool:
        """Say whether cookies are for https alone."""
        return self.root(request).startswith("https:") or self.settings.public.startswith("https:")

    async def name(self, player: str) -> str:
        return (await self.service.storage.read(self.service.storage.player, player) if player else None) or ""

    # Pages around the table

    async def home(self, request: Request) -> Response:
        listed = await self.service.storage.read(self.service.storage.listed, TABLES_ON_HOME_PAGE)
        tables = [self.listing(stored, "") for stored in listed]
        player, root = self.player(request), self.link_root(request).text
        running = [table for table in await self.own_tables(player) if not table.over]
        running.sort(key=lambda table: not table.yours)  # the latest first among those where it is this player's turn
        running = running[:RUNNING_ON_HOME_PAGE]
        return HTMLResponse(self.pages.home(await self.name(player), tables, running, root))

    async def game(self, request: Request) -> Response:
        game = requested_game(request)
        if game.name != request.path_params["game"]:
            return RedirectResponse(f"/g/{game.name}", 308)
        root = self.link_root(request).text
        return HTMLResponse(self.pages.game_page(game, await self.name(self.player(request)), root=root))

    async def rules(self, request: Request) -> Response:
        game, part = requested_game(request), "part" in request.query_params
        if game.name != request.path_params["game"]:
            return RedirectResponse(f"/rules/{game.name}{'?part=1' if part else ''}", 308)
        return HTMLResponse(self.pages.rules_page(game, part=part, root=self.link_root(request).text))

    async def watch(self, _request: Request) -> Response:
        listed = await self.service.storage.read(self.service.storage.listed)
        tables = [self.listing(stored, "") for stored in listed]
        return HTMLResponse(self.pages.page("list", title="Watch", tables=tables, empty=NOBODY_PLAYS))

    async def yours(self, request: Request) -> Response:
        tables = await self.own_tables(self.player(request), scores=True)
        return HTMLResponse(self.pages.page("list", title="Your games", tables=tables, empty=NO_GAMES))

    def read_scores(self, tables: list[StoredTable]) -> None:
        """Read the final scores of the latest of these games that are not known; runs in another thread."""
        over = [one.room.code for one in tables if one.room.ended is not None and one.room.code not in self.scores]
        for code in over[:MAX_SCORES_READ]:
            self.scores[code] = ()
            stored = self.service.storage.room(code)
            with contextlib.suppress(Exception):  # a damaged one is listed without a score
                self.scores[code] = stored_score(stored.lines) if stored else ()
            if len(self.scores) > MAX_SCORES:
                del self.scores[next(iter(self.scores))]

    async def own_tables(self, player: str, *, scores: bool = False) -> list[TableListing]:
        """Return the tables of a player, the latest first; with the scores of those that are over, if asked for."""
        tables = await self.service.storage.read(self.service.storage.rooms_of, player) if player else []
        if scores:
            await self.service.storage.read(self.read_scores, tables)
        for stored in [table for table in tables if table.room.ended is None][:MAX_ROOMS_LOADED]:
            with contextlib.suppress(PisteError):  # a damaged one must not hide the others
                async with self.service.room(stored.room.code):
                    pass  # only a room in memory knows whose turn it is
        return [self.listing(stored, player) for stored in tables]

    def listing(self, stored: StoredTable, player: str) -> TableListing:
        """Return a room as a list shows it; one that cannot be shown is named, and does not hide the others."""
        try:
            return self._table_listing(stored, player)
        except Exception as e:
            row = stored.room
            why = f"its game, {quoted(row.game)}, is not installed here"
            if not isinstance(e, UnknownNameError):
                mark = logs.error("table cannot be listed", e, room=logs.room_hash(row.code))
                why = f"what is kept of it is damaged, noted as {mark}"
            named = f"Table {str(row.code)[:6]}"
            return TableListing(f"/t/{row.code}", named, (), f"This table cannot be shown: {why}.")

    def _table_listing(self, stored: StoredTable, player: str) -> TableListing:
        row, game = stored.room, find(stored.room.game)
        room = self.service.registry.rooms.get(row.code)
        actor = None if room is None else room.to_act
        waiting = sum(seat.kind in (OPEN, RESERVED) for seat in stored.seats)
        if row.ended is not None:
            status = result_text(stored, self.scores.get(row.code, ()))
        elif any(seat.kind == RESERVED and seat.seat in stored.yours for seat in stored.seats):
            status = WANTS_REMATCH
        elif waiting:
            status = "Waiting for players"
        elif actor in stored.yours and actor is not None:
            status = "Your turn"
        elif room is not None and actor is not None:
            status = f"{room.names()[actor]}'s turn"
        else:
            status = "Running"
        people = tuple(
            seat.name or ("free seat" if seat.kind == OPEN else f"Player {game.seat_name(seat.seat)}")
            for seat in stored.seats
        )
        others = tuple(
            name
            for seat, name in zip(stored.seats, people, strict=True)
            if seat.seat not in stored.yours and seat.kind != OPEN
        )
        when = datetime.fromtimestamp(row.touched, UTC).strftime("%Y-%m-%dT%H:%MZ")
        deletable = player and (row.ended is not None or (waiting and row.host == player))
        return TableListing(
            f"/t/{row.code}", game.notation.TITLE, people, status, when, game=game.name, others=others,
            yours=status in ("Your turn", WANTS_REMATCH), over=row.ended is not None,
            delete=f"/t/{row.code}/delete" if deletable else "",
        )  # fmt: skip

    # The table

    async def new(self, request: Request) -> Response:
        fields = await read_form(request)
        player, token = self.player_and_token(request)
        given = {key: value for key, value in fields.items() if key.startswith("option-") and value.strip()}
        options = {key.removeprefix("option-"): value for key, value in given.items()}
        game = find(fields.get("game", ""))
        if fields.get("players", "").strip() and "players" in game.rules.Options._fields:
            options["players"] = fields["players"]
        name = fields.get("name", "")
        if fields.get("versus") == LESSON and not name.strip():
            name = await self.name(player)  # the rules pages do not ask for one
        try:
            room = await self.service.open(
                player, game.name, options, name, fields.get("versus", "steady"),
                network_of(request.scope),
            )  # fmt: skip
        except (WorkersBusyError, RateLimitError):
            raise
        except PisteError as e:
            if wants_json(request.scope):
                raise
            page = self.pages.game_page(game, fields.get("name", ""), str(e), options, fields.get("versus", ""))
            return HTMLResponse(page, 422)
        return self.go(request, f"/t/{room.code}", token)

    async def table(self, request: Request) -> Response:
        player = self.player(request)
        async with self.service.visit(request.path_params["code"], player, network_of(request.scope)) as room:
            model = self.service.view_model(room, player, self.link_root(request))
        name = await self.name(player) if model.door else ""
        if model.round_end is not None and model.round_end.number <= int_param(request, "seen", 0):
            model = model._replace(round_end=None)  # "Next round" without JavaScript
        whole = request.query_params.get("log") == "all"
        to = max(0, int_param(request, "to", 0))
        return HTMLResponse(self.pages.table_page(model, name=name, whole=whole, to=to))

    async def news(self, request: Request) -> Response:
        player = self.player(request)
        async with self.service.visit(request.path_params["code"], player, network_of(request.scope)) as room:
            model = self.service.view_model(room, player, self.link_root(request))
            steps = steps_since(room, viewer_of(room, player), model, last_step(request))
        shown = ShownTable(self.pages.draw)  # nothing is known of what the page shows
        return JSONResponse(news(shown, model, int_param(request, "since", 0), steps))

    async def act(self, request: Request) -> Response:
        code, verb = request.path_params["code"], request.path_params["do"]
        fields = await read_form(request)
        player, token = self.player_and_token(request)
        result = await self.service.perform(code, player, verb, fields, network_of(request.scope))
        return self.go(request, result.redirect or f"/t/{code}", token, result.message)

    async def seat(self, request: Request) -> Response:
        """The private link of a seat. It asks first, so that a preview of the link does nothing."""
        code, token = request.path_params["code"], request.path_params["token"]
        seat = parse_int(request.path_params["seat"], 2, -1)
        if request.method == "POST":
            await read_form(request)
            player, given = self.player_and_token(request)
            await self.service.bind(code, seat, token, player)
            return self.go(request, f"/t/{code}", given)
        async with self.service.room(code) as room:
            self.service.check_link(room, seat, token)
            named, people, title = room.names()[seat], room.names(), room.game.notation.TITLE
        context = {"title": title, "game": room.game, "name": named, "people": people, "action": request.url.path}
        return HTMLResponse(self.pages.page("seat", **context))

    async def connect(self, request: Request) -> Response:
        """Show a token by which a program plays the seat of whoever asks; nothing else ever shows it."""
        code, player, root = request.path_params["code"], self.player(request), self.link_root(request)
        await read_form(request)
        token = await self.service.connect(code, player)
        if wants_json(request.scope):
            return JSONResponse({"ok": True, "said": "", "token": token})
        async with self.service.room(code) as room:
            named, title = room.names()[room.seat_of(player)], room.game.notation.TITLE
        context = {"title": title, "name": named, "token": token, "code": code, "link": f"{root.text}/t/{code}"}
        return HTMLResponse(self.pages.page("connect", root=root.text, only_here=root.only_here, **context))

    async def qr(self, request: Request) -> Response:
        async with self.service.room(request.path_params["code"]) as room:
            root = self.link_root(request)
            if root.only_here:
                raise PisteError(root.only_here)
            link = f"{root.text}/t/{room.code}"
        picture = self.qr_codes.get(link)
        if picture is None:
            self.limits.require("pictures", network_of(request.scope))
            picture = self.qr_codes[link] = await asyncio.to_thread(qr_svg, link)
            if len(self.qr_codes) > MAX_QR_CODES:
                del self.qr_codes[next(iter(self.qr_codes))]
        return Response(picture, media_type="image/svg+xml")

    async def socket(self, websocket: WebSocket) -> None:
        code, player, network = websocket.path_params["code"], self.player(websocket), network_of(websocket.scope)
        root, since, step = self.link_root(websocket), int_param(websocket, "since", 0), last_step(websocket)
        # Pages of earlier versions do not say that they can put single areas in place: they are sent whole scenes.
        shown = ShownTable(self.pages.draw, "areas" in websocket.query_params)
        connection = Connection(websocket, self.service, shown, self.limits, code, player, network, root, since, step)
        await connection.run()

    # Afterwards

    async def record(self, request: Request) -> Response:
        async with self.service.room(request.path_params["code"]) as room:
            text, name = room.record(), f"piste-{room.game.name}-{room.code[:6]}.jsonl"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(text, media_type="application/x-ndjson", headers=headers)

    async def review(self, request: Request) -> Response:
        review = await self.service.bot_runner.review(request.path_params["code"], network_of(request.scope))
        if review is None:
            done = (await self.service.bot_runner.review_status(request.path_params["code"])).fraction
            said = {"ok": False, "said": "The coach is still looking at this game.", "done": done}
            return JSONResponse(said, 202)
        return Response(review, media_type="application/json")

    async def resume_review(self, request: Request) -> Response:
        code, fields = request.path_params["code"], await read_form(request)
        await self.service.bot_runner.resume_review(code, network_of(request.scope))
        seat, step = parse_int(fields.get("seat", ""), 2, SPECTATOR), parse_int(fields.get("step", ""), 6, 0)
        return RedirectResponse(f"/t/{code}/replay?seat={seat}&step={step}", 303)

    async def replay(self, request: Request) -> Response:
        code, player = request.path_params["code"], self.player(request)
        opening = "step" not in request.query_params  # at the costliest decision, if the coach is quick
        review = await self.service.bot_runner.review(
            code, network_of(request.scope), REVIEW_WAIT_S if opening else 0.0
        )
        status = await self.service.bot_runner.review_status(code)
        async with self.service.room(code) as room:
            own = room.seat_of(player)
            seat, step = int_param(request, "seat", own), -1 if opening else max(0, int_param(request, "step", 0))
            replay = replay_step(room, step, seat, review, status, own)
        return HTMLResponse(self.pages.replay_page(replay, part="part" in request.query_params))

    # For browsers that keep the site as an app

    async def offline(self, _request: Request) -> Response:
        return HTMLResponse(self.pages.page("offline"))

    async def service_worker(self, _request: Request) -> Response:
        """Return the service worker; at this address it serves every page."""
        return Response(self.pages.service_worker, media_type="text/javascript")

    # Refusals

    async def error_response(self, request: Request, error: Exception) -> Response:
        """Return a refusal with its sentence."""
        if problems.is_api(request.scope):
            self.service.metrics.refusals.labels(getattr(error, "kind", "request")).inc()
            return problems.refused_by(error)
        if isinstance(error, HTTPException):
            status = error.status_code
            what = "There is no such page" if status == 404 else "That cannot be done at this address"
            said = f"{what}. The games are on the first page."
        else:
            status = next((status for kinds, status in ERROR_STATUS if isinstance(error, kinds)), 409)
            said = str(error)
        kind, wait = (error.kind, error.wait) if isinstance(error, RateLimitError) else ("request", 0.0)
        self.service.metrics.refusals.labels(kind).inc()
        room = self.service.registry.rooms.get(str(request.path_params.get("code", "")))
        page = partial(
            self.pages.error_page, game=room.game if room else None, table=f"/t/{room.code}" if room else ""
        )
        return answer(request.scope, status, said, page, wait=wait)

    def routes(self) -> list[Route | WebSocketRoute | Mount]:
        return [
            Route("/", self.home),
            Route("/g/{game}", self.game),
            Route("/rules/{game}", self.rules),
            Route("/watch", self.watch),
            Route("/games", self.yours),
            *StudySite(self.service, self.pages, self.runner, self.player, self.secure).routes(),
            Route("/new", self.new, methods=["POST"]),
            Route("/t/{code}", self.table),
            Route("/t/{code}/news", self.news),
            Route("/t/{code}/qr.svg", self.qr),
            Route("/t/{code}/record", self.record),
            Route("/t/{code}/review", self.review),
            Route("/t/{code}/review", self.resume_review, methods=["POST"]),
            Route("/t/{code}/replay", self.replay),
            WebSocketRoute("/t/{code}/socket", self.socket),
            Route("/t/{code}/connect", self.connect, methods=["POST"]),
            Route("/t/{code}/{do}", self.act, methods=["POST"]),
            Route("/s/{code}/{seat}/{token}", self.seat, methods=["GET", "POST"]),
            Route("/offline", self.offline),
            Route("/service-worker.js", self.service_worker),
            *ApiSite(self.service, self.settings, self.limits, self.link_root).routes(),
            *OperationSite(self.service, self.settings).routes(),
            Mount("/static", GZipMiddleware(StaticFiles(directory=STATIC))),  # public files
        ]


def make_app(
    settings: Settings,
    *,
    storage: Storage | None = None,
    bot_workers: BotWorkers | None = None,
    clock: Callable[[], float] = time.time,
    ticks: Callable[[], float] | None = None,
    tokens: TokenFactory | None = None,
    opener: Opener = default_opener,
    limits: Limits | None = None,
    lan: Callable[[], list[str]] = lan_addresses,
) -> Starlette:
    """Return the application. A storage that is not given is opened here, and closed with the application."""
    opened = storage or Storage(settings.db)
    if storage is None:
        opened.open()
    pages = PageRenderer()
    bot_workers = bot_workers or BotWorkers(settings.thinkers, settings.max_queued_per_network)
    limits = limits or (Limits() if settings.limits else Limits.off())
    ticks = ticks or (time.monotonic if clock is time.time else clock)  # a given clock is both
    service = TableService(opened, bot_workers, settings, limits, clock, ticks, tokens or TokenFactory(), opener)
    runner = StudyRunner(bot_workers, limits)
    site = Site(settings, service, pages, limits, lan, runner)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        care = asyncio.gather(
            maintain(service),
            *([service.peers.run()] if service.peers is not None else []),
            *([bot_workers.prepare_all()] if settings.prepare and settings.thinkers else []),
            return_exceptions=True,
        )
        service.jobs.start()
        try:
            yield
        finally:
            care.cancel()
            await service.jobs.stop()  # before its bot workers end
            service.registry.close_subscriptions()
            await runner.close()
            await service.bot_runner.close()
            with contextlib.suppress(asyncio.CancelledError):
                await care
            if storage is None:
                await asyncio.to_thread(opened.close)

    guard = Middleware(Guard, settings, limits, service.metrics, pages.error_page)
    app = Starlette(
        routes=site.routes(),
        middleware=[guard],
        lifespan=lifespan,
        exception_handlers={PisteError: site.error_response, HTTPException: site.error_response},
    )
    app.state.service, app.state.study = service, runner
    return app


async def maintain(service: TableService) -> None:
    """Delete old tables every hour and unload idle ones every minute."""
    while True:
        try:
            await service.expire()
        except PisteError as e:
            logs.error("could not delete old tables", e)
        for _ in range(IDLE_CHECKS_PER_EXPIRY):
            await asyncio.sleep(IDLE_CHECK_S)
            service.registry.release_idle()
