"""A program that uses the API of a server without a network."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.types import Message

from tests.limits import PATIENCE_S
from tests.web.in_process_server import HOST, NETWORK, Got, InProcessServer, Socket, scope_of

API = "/api/v1"


class Program:
    """A client of the API: keeps its token, follows nothing by itself."""

    def __init__(self, house: InProcessServer, token: str = "", client: str = NETWORK) -> None:
        self.house = house
        self.token = token
        self.client = client

    def headers(self) -> dict[str, str]:
        return {"host": HOST} | ({"authorization": f"Bearer {self.token}"} if self.token else {})

    async def get(self, path: str, **headers: str) -> Got:
        return await self.house.http(scope_of("http", API + path, self.headers() | headers, client=self.client))

    async def post(self, path: str, fields: Any = None, **headers: str) -> Got:
        """Send a request, and keep the token that comes with the answer."""
        body = b"" if fields is None else fields if isinstance(fields, bytes) else json.dumps(fields).encode()
        more = {"content-type": "application/json", "content-length": str(len(body))} if body else {}
        scope = scope_of("http", API + path, self.headers() | more | headers, "POST", self.client)
        got = await self.house.http(scope, body)
        await self.house.settle()
        if got.status in (200, 201) and path.startswith("/tables"):
            self.token = got.json.get("token", self.token) if not path.endswith("/tokens") else self.token
        return got

    async def opens(self, game: str, versus: str = "friend", **fields: Any) -> str:
        """Open a table and return its code."""
        got = await self.post("/tables", {"game": game, "versus": versus, **fields})
        assert got.status == 201, got.text
        return str(got.json["table"]["code"])

    async def sits(self, code: str, name: str = "") -> None:
        got = await self.post(f"/tables/{code}/seats", {"name": name})
        assert got.status == 201, got.text

    async def sees(self, code: str) -> dict[str, Any]:
        got = await self.get(f"/tables/{code}")
        assert got.status == 200, got.text
        await self.house.settle()
        seen: dict[str, Any] = got.json
        return seen

    async def decides(self, code: str, decision: str, number: int) -> Got:
        return await self.post(f"/tables/{code}/decisions", {"decision": decision, "number": number})

    async def decides_first(self, code: str) -> Got:
        """Take the first decision that is open."""
        now = (await self.sees(code))["now"]
        return await self.decides(code, now["decisions"][0], now["number"])

    async def connect(self, code: str, since: int = 0) -> Socket:
        """Open a websocket and wait for what it says first."""
        scope = scope_of("websocket", f"{API}/tables/{code}/events?since={since}", self.headers(), client=self.client)
        socket = Socket(self.house, scope)
        await socket.begin()
        return socket

    async def listens(self, code: str, since: int = 0) -> Lines:
        """Ask for the events as lines, and wait for the first of them."""
        lines = Lines(self.house, scope_of("http", f"{API}/tables/{code}/events?since={since}", self.headers()))
        await lines.begin()
        return lines


class Lines:
    """An answer that goes on: its lines so far, until the client leaves or the server ends it."""

    def __init__(self, house: InProcessServer, scope: Any) -> None:
        self._house, self._scope = house, scope
        self._left = asyncio.Event()
        self._new = asyncio.Event()
        self._body = b""
        self.status = 0

    async def begin(self) -> None:
        self._task = asyncio.ensure_future(self._house.app(self._scope, self._receive, self._send))
        await self.until(lambda: bool(self._body) or self._task.done())
        await self._house.settle()

    async def _receive(self) -> Message:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        self._body += message.get("body", b"")
        self._new.set()

    async def until(self, done: Any) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not done():
                self._new.clear()
                waits = asyncio.ensure_future(self._new.wait())
                await asyncio.wait({waits, self._task}, return_when=asyncio.FIRST_COMPLETED)
                waits.cancel()

    @property
    def ended(self) -> bool:
        return self._task.done()

    @property
    def sent(self) -> bytes:
        return self._body

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._body.splitlines()]

    @property
    def types(self) -> list[str]:
        return [message["type"] for message in self.messages]

    async def leave(self) -> None:
        self._left.set()
        await asyncio.wait({self._task}, timeout=PATIENCE_S)
        assert self._task.done(), "the stream goes on without its client"
        await self._house.settle()


async def two_programs(house: InProcessServer, game: str, **fields: Any) -> tuple[str, list[Program]]:
    """Open a table for two programs, and return its code and them by seat."""
    programs = [Program(house), Program(house)]
    code = await programs[0].opens(game, name="Ada", **fields)
    await programs[1].sits(code, "Ben")
    return code, programs
