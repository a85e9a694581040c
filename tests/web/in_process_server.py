"""A server without a network: its application driven directly; time, codes, dealer and bots are the test's own."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Awaitable, Callable
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlencode

from starlette.types import Message, Scope

from piste.core.dealer import ChanceSource, Commitment
from piste.core.evaluation import Progress, quiet
from piste.core.record import Head
from piste.core.views import SeatView
from piste.web.app import make_app
from piste.web.middleware.rate_limits import Limits
from piste.web.settings import JobTimes, Settings
from piste.web.storage.jobs import JobCount
from piste.web.storage.schema import StorageError
from piste.web.storage.storage import Storage
from piste.web.tables.registry import CODE_ALPHABET
from piste.web.tables.room import Opener, Room, default_opener
from piste.web.tables.service import TableService
from piste.web.tables.tokens import TokenFactory
from piste.web.workers.worker_pool import BotWorkers
from tests.limits import PATIENCE_S, now

QUICK_JOBS = JobTimes(heartbeat_s=0.1, gone_after_s=2.0, check_s=0.2, poll_s=0.2, grace_s=0.0)
"""Workers that are gone are noticed soon."""

HOST = "table.example"
OURS = {"origin": f"http://{HOST}"}
FORM = "application/x-www-form-urlencoded"


SEED = "quite-a-secret-5"  # in every game the first seat decides first
SALT = bytes(range(32))


def seeded(seed: str = SEED) -> Opener:
    """Return an opener whose games are always the same ones; apart from that, as the server opens them."""

    def opener(room: Room) -> tuple[Head, ChanceSource | None]:
        head, _ = default_opener(room)
        return head._replace(seed=seed, commitment=Commitment.to(seed, SALT)), None

    return opener


class Clock:
    """Time that passes only when told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class RunningClock(Clock):
    """Time that passes by itself, for what is tried again after a while."""

    def __call__(self) -> float:
        return now()


class CountedTokens(TokenFactory):
    """Codes and tokens in a row, the same in every run."""

    def __init__(self, first: int = 0) -> None:
        self._codes = itertools.count(0x123456789ABCDEF + first)
        self._tokens = itertools.count(first)

    def code(self) -> str:
        at = next(self._codes)
        return "".join(CODE_ALPHABET[at >> 5 * i & 31] for i in range(16))

    def token(self) -> str:
        return f"{next(self._tokens):a>43}"


class FirstMind(BotWorkers):
    """Thinks at once, in this process: takes the first decision, or what the test says."""

    def __init__(self) -> None:
        self.choosing: Callable[[str, str, SeatView], Awaitable[int]] | None = None
        self.reviewing: Callable[[Callable[..., None]], Awaitable[None]] | None = None  # before a review is answered
        self.studying: Callable[[Progress], Awaitable[None]] | None = None  # before a study is answered
        self.asked: list[tuple[str, ...]] = []
        self.evaluations: dict[Any, Any] = {}  # from which the last review was to go on
        self.prepared: list[tuple[str, str]] = []
        self.steps: tuple[tuple[int, int, str], ...] = ()  # told before anything is answered

    async def choose(
        self, game: str, level: str, view: SeatView, seed: str, stream: str, progress: Progress = quiet
    ) -> int:
        self.asked.append((game, level, seed, stream))
        await self._tell(progress)
        return await self.choosing(game, level, view) if self.choosing else view.actions[0]

    async def hint(
        self, game: str, view: SeatView, seed: str, stream: str, progress: Progress = quiet
    ) -> tuple[str, int]:
        self.asked.append((game, "hint", seed, stream))
        await self._tell(progress)
        return "perfect", view.actions[-1]

    async def prepare_all(self) -> None:
        raise AssertionError("no test wants that")

    async def _tell(self, progress: Progress) -> None:
        for step in self.steps:
            progress(*step)
            for _ in range(40):  # until whoever listens was told
                await asyncio.sleep(0)

    async def prepare(self, game: str, level: str, _options: Any, progress: Progress = quiet) -> None:
        self.prepared.append((game, level))
        await self._tell(progress)

    async def study(self, work: Callable[..., Any], *args: Any, progress: Progress = quiet) -> Any:
        self.asked.append(("", "study", work.__name__))
        await self._tell(progress)
        if self.studying is not None:
            await self.studying(progress)
        return work(*args, progress=progress)

    async def review(self, record: str, evaluations: Any, progress: Callable[..., None]) -> str:
        self.asked.append(("", "review", record))
        self.evaluations = evaluations
        await self._tell(progress)
        if self.reviewing is not None:
            await self.reviewing(progress)
        return json.dumps({"decisions": [], "chances": [], "certainty": "Nothing is known."})

    def close(self) -> None:
        pass


class Got(NamedTuple):
    """An answer, to the byte."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str:
        return next((value.decode() for key, value in self.headers if key == name.encode()), "")

    @property
    def code(self) -> str:
        """The room that the answer leads to."""
        return self.header("location").rpartition("/")[2]


def do_not_wait_for_the_disk(storage: Storage) -> None:
    """Spare the test what only a power cut could tell apart; tests of the storage itself wait."""
    if storage.shared:
        return  # the PostgreSQL of the tests does not wait either
    raw = storage._writer.raw_connection()  # the one that will be used: the writer has no other
    raw.cursor().execute("PRAGMA synchronous=OFF")
    raw.close()


class InProcessServer:
    """One server on one file or database; it can be stopped and started again."""

    def __init__(self, path: Path | str, **changes: Any) -> None:
        self.settings = Settings(db=path, **{"limits": False, "jobs": QUICK_JOBS, **changes})
        self.clock, self.tokens, self.bot_workers = Clock(), CountedTokens(), FirstMind()
        self.opener = seeded()
        self.limits: Limits | None = None
        self.ticks: Clock | None = None  # a clock of its own for who is here; None: the same one
        self.lan: list[str] = []  # the addresses of this computer in its network

    async def __aenter__(self) -> InProcessServer:
        self.storage = Storage(self.settings.db)
        self.storage.open()
        do_not_wait_for_the_disk(self.storage)
        self.app = make_app(
            self.settings,
            storage=self.storage,
            bot_workers=self.bot_workers,
            clock=self.clock,
            ticks=self.ticks,
            tokens=self.tokens,
            opener=self._opened,
            limits=self.limits,
            lan=lambda: self.lan,
        )
        self.service: TableService = self.app.state.service
        self._life = self.app.router.lifespan_context(self.app)
        await self._life.__aenter__()
        await self.service.expire()  # the server looks at the clock when it starts, before a test sets it
        peers = self.service.peers
        async with asyncio.timeout(PATIENCE_S):
            while peers is not None and not peers._heard_own:  # a table opened before it listens is read again then
                await asyncio.sleep(0)
        return self

    def _opened(self, room: Room) -> tuple[Head, ChanceSource | None]:
        return self.opener(room)

    async def __aexit__(self, *_: object) -> None:
        await self._life.__aexit__(None, None, None)
        self.storage.close()

    async def restart(self) -> None:
        await self.__aexit__()
        await self.__aenter__()

    def room(self, code: str) -> Room:
        return self.service.registry.rooms[code]

    async def settle(self) -> None:
        """Let everybody be told whatever there is to be told, and bots think until none has to."""
        while True:
            for _ in range(40):  # no more than a few turns of the loop stand between a change and its last message
                await asyncio.sleep(0)
            tasks = set(self.service.bot_runner.tasks)
            if tasks:
                await asyncio.wait(tasks)
            elif not self.service.jobs.takes_jobs or not await self._answered(self.jobs):
                return

    def jobs(self) -> list[JobCount]:
        """Return the jobs that wait or are being done."""
        return [count for count in self.storage.jobs()[0] if count.state != "failed"]

    async def _answered(self, query: Callable[[], list[JobCount]]) -> list[JobCount]:
        """Return what a query returns; of a database that does not answer, nothing."""
        try:
            return await self.storage.read(query)
        except StorageError:
            return []

    async def http(self, scope: Scope, body: bytes = b"") -> Got:
        """Send one request and return all that comes back."""
        given = [{"type": "http.request", "body": body, "more_body": False}]
        found: list[Message] = []

        async def receive() -> Message:
            return given.pop() if given else {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            found.append(message)

        await self.app(scope, receive, send)
        start = found[0]
        headers = tuple((bytes(key), bytes(value)) for key, value in start["headers"])
        return Got(start["status"], headers, b"".join(part.get("body", b"") for part in found[1:]))


NETWORK = "192.0.2.7"


def scope_of(kind: str, path: str, headers: dict[str, str], method: str = "GET", client: str = NETWORK) -> Scope:
    plain, _, query = path.partition("?")
    return {
        "type": kind,
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http" if kind == "http" else "ws",
        "method": method,
        "path": unquote(plain),
        "raw_path": plain.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(key.encode(), value.encode("latin-1")) for key, value in headers.items()],
        "client": (client, 50000),
        "server": (HOST, 80),
        "subprotocols": [],
        "extensions": {"websocket.http.response": {}},
    }


class Device:
    """A browser: keeps its cookie, follows nothing by itself."""

    def __init__(self, house: InProcessServer, token: str = "", client: str = NETWORK) -> None:
        self.house = house
        self.token = token
        self.client = client

    def headers(self) -> dict[str, str]:
        return {"host": HOST} | ({"cookie": f"piste={self.token}"} if self.token else {})

    async def get(self, path: str, **headers: str) -> Got:
        scope = scope_of("http", path, self.headers() | headers, client=self.client)
        return self._kept(await self.house.http(scope))

    async def post(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> Got:
        body = urlencode(fields or {}).encode()
        more = {**OURS, "content-type": FORM, "content-length": str(len(body)), **headers}
        scope = scope_of("http", path, self.headers() | more, "POST", self.client)
        return self._kept(await self.house.http(scope, body))

    async def do(self, code: str, verb: str, **fields: str) -> dict[str, Any]:
        """Ask for something at a table as a program does, and let it be told."""
        got = await self.post(f"/t/{code}/{verb}", fields, accept="application/json")
        await self.house.settle()
        answer: dict[str, Any] = got.json
        return answer | {"status": got.status}

    async def decide(self, code: str, decision: str, number: int) -> dict[str, Any]:
        return await self.do(code, "decide", decision=decision, number=str(number))

    async def page(self, code: str) -> str:
        return (await self.get(f"/t/{code}")).text

    async def opens(self, game: str, versus: str = "friend", **fields: str) -> str:
        """Open a table and return its code."""
        got = await self.post("/new", {"game": game, "versus": versus, **fields})
        assert got.status == 303, got.text
        await self.house.settle()
        return got.code

    def _kept(self, got: Got) -> Got:
        cookie = SimpleCookie(got.header("set-cookie")).get("piste")
        if cookie is not None:
            self.token = cookie.value
        return got

    async def connect(self, code: str, since: int = 0, step: int = -1, **headers: str) -> Socket:
        """Open a socket to a table and wait for what it says first; from `step` on, of one event after another."""
        more = self.headers() | OURS | headers
        scope = scope_of("websocket", f"/t/{code}/socket?since={since}&step={step}", more, client=self.client)
        socket = Socket(self.house, scope)
        await socket.begin()
        return socket


class Socket:
    """One connection, as its client sees it: all that was sent to it, in order, to the byte."""

    def __init__(self, house: InProcessServer, scope: Scope) -> None:
        self._house = house
        self._scope = scope
        self._in: asyncio.Queue[Message] = asyncio.Queue()
        self._new = asyncio.Event()
        self.sent: list[str] = []
        self.closed: int | None = None
        self.refused: list[Message] = []
        self._asked = 0
        self.slow: asyncio.Event | None = None  # nothing arrives before it is set

    async def begin(self) -> None:
        await self._in.put({"type": "websocket.connect"})
        self._task = asyncio.ensure_future(self._house.app(self._scope, self._in.get, self._take))
        await self._until(lambda: bool(self.sent) or self.closed is not None or bool(self.refused))
        await self._house.settle()

    async def _take(self, message: Message) -> None:
        if self.slow is not None:
            await self.slow.wait()
        if message["type"] == "websocket.send":
            if self.closed is not None:
                raise RuntimeError("sent after the end")
            self.sent.append(message["text"])
        elif message["type"] == "websocket.close":
            self.closed = message.get("code", 1000)
        elif message["type"].startswith("websocket.http.response"):
            self.refused.append(message)
        self._new.set()

    async def _until(self, done: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not done():
                if self._task.done():
                    self._task.result()
                    break
                self._new.clear()
                waits = asyncio.ensure_future(self._new.wait())
                await asyncio.wait({waits, self._task}, return_when=asyncio.FIRST_COMPLETED)
                waits.cancel()

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(text) for text in self.sent]

    @property
    def last(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.sent[-1])
        return found

    @property
    def log(self) -> list[list[Any]]:
        """Every line of the log that came."""
        return [line for message in self.messages for line in message.get("log", ())]

    def shown(self, part: str) -> str:
        """Return a part as it stands now."""
        return next(str(m["parts"][part]) for m in reversed(self.messages) if part in m.get("parts", ()))

    def put(self, text: str | bytes) -> None:
        """Send something and wait for nothing."""
        kind = "bytes" if isinstance(text, bytes) else "text"
        self._in.put_nowait({"type": "websocket.receive", kind: text})

    async def raw(self, text: str | bytes) -> list[str]:
        """Send anything and return what comes back until all is quiet; something must."""
        before = len(self.sent)
        self.put(text)
        await self._until(lambda: len(self.sent) > before or self.closed is not None)
        await self._house.settle()
        return self.sent[before:]

    async def ask(self, do: str, **fields: str | int) -> dict[str, Any]:
        """Ask for something and return the answer to it."""
        self._asked += 1
        mine = f"q{self._asked}"
        self.put(json.dumps({"id": mine, "do": do, **fields}))

        def answers() -> list[dict[str, Any]]:
            return [message for message in self.messages if message.get("re") == mine]

        await self._until(lambda: bool(answers()) or self.closed is not None)
        await self._house.settle()
        assert answers(), self.sent[-1:]
        return answers()[0]

    async def leave(self) -> None:
        """Go away without a word."""
        if self.closed is None and not self._task.done():
            await self._in.put({"type": "websocket.disconnect", "code": 1001})
        done, _ = await asyncio.wait({self._task}, timeout=PATIENCE_S)
        assert done, "the line goes on without its client"
        await self._house.settle()


async def table_for(house: InProcessServer, game: str, count: int = 2, **fields: str) -> tuple[str, list[Device]]:
    """Open a table, let friends sit down until it is full, and return its code and them by seat."""
    names = ("Ada", "Ben", "Cleo", "Dan")[:count]
    people = [Device(house, house.tokens.token()) for _ in names]
    code = await people[0].opens(game, name=names[0], **fields)
    for person, name in zip(people[1:], names[1:], strict=True):
        assert (await person.do(code, "sit", name=name))["ok"]
    return code, people


async def one_decision(house: InProcessServer, code: str, people: list[Device]) -> tuple[int, str, int]:
    """Let whoever is to act take the first decision; return seat, decision and number."""
    table = house.room(code).table
    assert table is not None
    assert table.to_act is not None
    seat, number = table.to_act, table.number
    decision = table.view(seat).decisions[0]
    assert (await people[seat].decide(code, decision, number))["ok"]
    return seat, decision, number


async def finish(house: InProcessServer, code: str, people: list[Device]) -> None:
    """Play on to the end."""
    while not house.room(code).over:
        await one_decision(house, code, people)


def buttons(page: str) -> list[str]:
    """Return the decisions that a page offers as buttons of its form."""
    return re.findall(r'name="decision" value="([^"]*)"', page)


def record(house: InProcessServer, code: str) -> str:
    table = house.room(code).table
    assert table is not None
    return table.record()


def actor(house: InProcessServer, code: str) -> int:
    table = house.room(code).table
    assert table is not None
    assert table.to_act is not None
    return table.to_act
