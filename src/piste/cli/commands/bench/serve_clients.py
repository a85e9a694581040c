"""The clients of `piste bench --serve`, in a process of their own, and what a server and its database have used."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import math
import os
import random
import re
import sys
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from piste.core.errors import OptionError, PisteError
from piste.core.extras import POSTGRES, need
from piste.web.settings import LOOPBACK

DECISION_INTERVAL_S = 2.0
PING_INTERVAL_S = 20.0
TIMEOUT_S = 60.0
MAX_OPENING_GAMES = 8  # at a time
MAX_SAMPLES = 200  # decisions whose messages the bare server sends again

PAGE_STATE = re.compile(r'data-at="(\d+)" data-step="(\d+)"')
BUTTON = re.compile(r'name="decision" value="([^"]*)"')
AREA = re.compile(r'<section class="area.*?</section>', re.DOTALL)
NUMBER = re.compile(r'data-number="(\d+)"')


def find_database(address: str) -> int:
    """Return the main process of an empty PostgreSQL; 0 if it does not run on this machine."""
    need(POSTGRES)
    import psycopg

    from piste.web.storage.postgresql import PostgresDatabase

    try:
        with psycopg.connect(PostgresDatabase(address).conninfo) as connection:
            if connection.execute("SELECT to_regclass('rooms')").fetchone() != (None,):
                raise OptionError("The database to measure with has tables already. Name an empty one.")
            try:
                main = int(stat_fields(connection.info.backend_pid)[1])
                return main if Path(f"/proc/{main}/comm").read_text().startswith("postgres") else 0
            except OSError:
                return 0
    except psycopg.Error as e:
        raise PisteError(f"The database cannot be reached: {str(e).strip().partition(chr(10))[0]}") from None


def stat_fields(process: int | str) -> list[str]:
    """Return what the system tells of a process, from its state on: the name before that may hold spaces."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def database_cpu(main: int) -> float:
    """Return the CPU seconds of a database: its main process, those it has started, and those that have ended."""
    ticks = 0
    for process in [folder.name for folder in Path("/proc").glob("[0-9]*")] if main else ():
        with contextlib.suppress(OSError):  # it has just ended
            fields = stat_fields(process)
            ticks += sum(map(int, fields[11:15])) if process == str(main) else 0
            ticks += sum(map(int, fields[11:13])) if fields[1] == str(main) else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def process_usage(port: int) -> tuple[float, float]:
    """Return CPU seconds and bytes of memory of a server, as it tells them; 0 where its system does not."""
    text = request(port, "GET", "/metrics")[0]
    metrics = dict(line.split() for line in text.splitlines() if line.startswith("process_"))
    names = ("process_cpu_seconds_total", "process_resident_memory_bytes")
    cpu, memory = (float(metrics.get(name, 0)) for name in names)
    return cpu, memory


def request(
    port: int, method: str, path: str, fields: dict[str, str] | None = None, cookie: str = ""
) -> tuple[str, str]:
    """Send a request, with a cookie if there is one; return the body and the cookie that was set."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=TIMEOUT_S)
    headers = {"origin": f"http://{LOOPBACK}:{port}", "accept": "application/json"}
    if fields is not None:
        headers["content-type"] = "application/x-www-form-urlencoded"
    if cookie:
        headers |= {"cookie": cookie, "accept": "text/html"}
    with contextlib.closing(connection):
        connection.request(method, path, None if fields is None else urlencode(fields), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise PisteError(f"The server to be measured answered {answer.status}: {text[:200]}")
        return text, (answer.getheader("set-cookie") or "").partition(";")[0]


class Page(NamedTuple):
    """What a page knows when it opens its socket."""

    cookie: str
    at: str
    step: str


def load_page(port: int, code: str, cookie: str) -> Page:
    """Load a table's page, and return from where on its socket asks for news and for steps."""
    state = PAGE_STATE.search(request(port, "GET", f"/t/{code}", cookie=cookie)[0])
    if state is None:
        raise PisteError("The page to be measured does not say what it shows.")
    return Page(cookie, *state.groups())


class Client:
    """One person's page: a socket, and what it was sent last."""

    def __init__(self, socket: ClientConnection, *, draws: bool) -> None:
        self.socket = socket
        self.draws = draws  # what the bare server sends is no page
        self.parts: dict[str, str] = {}
        self.areas: list[str] = []
        self.text = ""  # of the last news
        self.received_at = 0.0
        self.news = asyncio.Event()
        self.reader = asyncio.ensure_future(self._read())
        self._pinger = asyncio.ensure_future(self._ping())

    async def _read(self) -> None:
        async for text in self.socket:
            now = perf_counter()
            message = json.loads(text)
            frames = (*message.get("steps", ()), message)
            for frame in frames if self.draws else ():
                self._show(frame)
            # The part that every decision changes, for everybody.
            if any("choices" in frame.get("parts", ()) for frame in frames):
                self.text, self.received_at = str(text), now
                self.news.set()

    def _show(self, frame: dict[str, Any]) -> None:
        """Put into the page what has changed: whole parts, and areas of the table where the others stay."""
        self.parts.update(frame.get("parts", ()))
        if "scene" in frame.get("parts", ()):
            self.areas = AREA.findall(self.parts.pop("scene"))
        if "areas" in frame:
            self.areas = [self.areas[area] if isinstance(area, int) else area for area in frame["areas"]]

    async def _ping(self) -> None:
        with contextlib.suppress(ConnectionClosed):  # the reader tells of that
            while True:
                await asyncio.sleep(PING_INTERVAL_S)
                await self.socket.send(json.dumps({"id": "ping", "do": "ping"}))

    async def wait_for_news(self) -> None:
        """Wait for news, or fail with what ended the connection."""
        waiting = asyncio.ensure_future(self.news.wait())
        await asyncio.wait((waiting, self.reader), timeout=TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if not self.news.is_set():
            raise PisteError("A client heard nothing, or its connection ended.")

    def decisions(self) -> list[str]:
        shown = (*self.areas, *self.parts.values())
        return [unescape(value) for part in shown for value in BUTTON.findall(part)]

    def question(self) -> int:
        number = NUMBER.search(self.parts.get("choices", ""))
        return int(number[1]) if number else 0

    async def close(self) -> None:
        self._pinger.cancel()
        await self.socket.close()
        await asyncio.wait((self.reader,))


class Pair:
    """Two clients at one table."""

    def __init__(self, load: Load, at: int) -> None:
        self._load = load
        self._at = at
        self._opened = 0
        self._turns = 0
        self._clients: list[Client] = []

    async def open(self) -> None:
        """Sit down at a new table."""
        async with self._load.opening:
            await asyncio.gather(*(client.close() for client in self._clients))
            self._opened += 1
            code, pages = str(self._at), [Page("", "0", "0")] * 2
            if not self._load.echo:
                code, pages = await asyncio.to_thread(self._table)
            self._clients = [await self._connected(code, page, who) for who, page in enumerate(pages)]
            for client in self._clients:
                await client.wait_for_news()

    def _table(self) -> tuple[str, list[Page]]:
        ports, kinds = (self._port(0), self._port(1)), self._load.kinds
        kind = kinds[(self._at + self._opened) % len(kinds)]
        text, first = request(ports[0], "POST", "/new", {"game": kind, "versus": "friend", "name": "Ada"})
        code = json.loads(text)["go"].rpartition("/")[2]
        second = request(ports[1], "POST", f"/t/{code}/sit", {"name": "Bob"})[1]
        return code, [load_page(port, code, cookie) for port, cookie in zip(ports, (first, second), strict=True)]

    def _port(self, who: int) -> int:
        """Return the server of one of the two people."""
        ports = self._load.ports
        return ports[(self._at + who * self._load.split) % len(ports)]

    async def _connected(self, code: str, page: Page, who: int) -> Client:
        address = f"{LOOPBACK}:{self._port(who)}"
        return Client(
            await connect(
                f"ws://{address}/t/{code}/socket?since={page.at}&step={page.step}&areas=1",
                origin=f"http://{address}",  # type: ignore[arg-type]
                additional_headers={"cookie": page.cookie},
                ping_interval=None,  # as a browser does
                open_timeout=TIMEOUT_S,
                max_size=None,
                proxy=None,
            ),
            draws=not self._load.echo,
        )

    async def play(self, seconds: float) -> None:
        """Decide now and then, and note how long it takes until the other one knows."""
        load = self._load
        begin = perf_counter() + random.random() * load.pace
        for tick in range(max(1, round(seconds / load.pace))):
            await asyncio.sleep(begin + tick * load.pace - perf_counter())
            able = [client for client in self._clients if load.echo or client.decisions()]
            if not able:
                await self.open()
                continue
            mover = able[self._turns % len(able)]
            self._turns += 1
            other = self._clients[1 - self._clients.index(mover)]
            decision, question = (mover.decisions() or ["keep"])[0], mover.question()
            message = {"id": f"d{question}", "do": "decide", "decision": decision, "number": question}
            mover.news.clear()
            other.news.clear()
            sent = perf_counter()
            await mover.socket.send(json.dumps(message))
            await other.wait_for_news()
            load.latencies.append(other.received_at - sent)
            await mover.wait_for_news()
            if len(load.samples) < MAX_SAMPLES:
                load.samples.append((mover.text, other.text))


@dataclass
class Load:
    """All clients of one measurement."""

    ports: list[int]
    kinds: list[str]
    games: int
    seconds: float
    pace: float
    echo: bool
    split: bool = False  # whether the two people of a game are at different servers
    database: int = 0  # the main process of its database, if it has one on this machine
    opening: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_OPENING_GAMES))
    latencies: list[float] = field(default_factory=list)
    samples: list[tuple[str, str]] = field(default_factory=list)

    async def run(self) -> dict[str, Any]:
        pairs = [Pair(self, at) for at in range(self.games)]
        await asyncio.gather(*(pair.open() for pair in pairs))
        await asyncio.gather(*(pair.play(2 * self.pace) for pair in pairs))
        self.latencies.clear()
        self.samples.clear()
        cpu_before, _ = await asyncio.to_thread(self._usage)
        database_before = database_cpu(self.database)
        began, spent = perf_counter(), process_time()
        await asyncio.gather(*(pair.play(self.seconds) for pair in pairs))
        whole, spent = perf_counter() - began, process_time() - spent
        cpu_after, memory = await asyncio.to_thread(self._usage)
        database_spent = database_cpu(self.database) - database_before
        latencies = sorted(1000 * latency for latency in self.latencies)
        if not latencies:
            raise PisteError("Nobody could decide anything in that time.")
        p99 = latencies[math.ceil(0.99 * len(latencies)) - 1]
        return {
            "decisions": len(latencies),
            "rate": len(latencies) / whole,  # below games / pace where the server could not keep up
            "latency": {"median": median(latencies), "p99": p99, "longest": latencies[-1]},
            "cpu": (cpu_after - cpu_before) / whole,
            "cpu_ms": 1000 * (cpu_after - cpu_before) / len(latencies),
            "database_cpu_ms": 1000 * database_spent / len(latencies),
            "clients_cpu": spent / whole,
            "memory": memory,
            "bytes": round(sum(len(text.encode()) for pair in self.samples for text in pair) / len(self.samples) / 2),
            "samples": self.samples,
        }

    def _usage(self) -> tuple[float, float]:
        """Return CPU seconds and bytes of memory of all servers."""
        used = [process_usage(port) for port in self.ports]
        return sum(cpu for cpu, _ in used), sum(memory for _, memory in used)


def play() -> None:
    """Be the clients: read what to do, and print what was measured."""
    from piste.web.server import raise_file_limit

    plan = json.load(sys.stdin)
    raise_file_limit(2 * plan["games"] + 256)
    print(json.dumps(asyncio.run(Load(**plan).run())))


if __name__ == "__main__":
    play()
