"""`piste bench --serve`: hundreds of games at once in the real server, beside a bare one of the same kind.

The server runs in a process of its own and so do the clients, two for each game, who decide every few seconds. A
client does what the page does: it loads the page, asks for steps from there on, and pings. Measured is the time from
sending a decision until the other client receives it. Since machines and their load differ, the same run measures a
server of the same libraries that holds no game, stores nothing and only forwards as many messages of the same size.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import math
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from piste.cli.arguments import named_games, whole_number
from piste.cli.commands.bench.harness import calibration, run_python
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.core.errors import PisteError
from piste.core.game import counted
from piste.web.settings import LOOPBACK, Settings, cores

DEFAULT_GAMES = 500
DEFAULT_SECONDS = 30
DECISION_INTERVAL_S = 2.0
PING_INTERVAL_S = 20.0
TIMEOUT_S = 60.0
MAX_OPENING_GAMES = 8  # at a time
MAX_SAMPLES = 200  # decisions whose messages the bare server sends again

PAGE_STATE = re.compile(r'data-at="(\d+)" data-step="(\d+)"')
BUTTON = re.compile(r'name="decision" value="([^"]*)"')
NUMBER = re.compile(r'data-number="(\d+)"')


def measure_all(args: argparse.Namespace, bar: ProgressBar) -> dict[str, Any]:
    kinds = [game.name for game in named_games(args.game)]
    games = DEFAULT_GAMES if args.games is None else whole_number("games", args.games, 1, 1900)
    seconds = DEFAULT_SECONDS if args.seconds is None else whole_number("seconds", args.seconds, 1, 3600)
    with tempfile.TemporaryDirectory() as folder:
        bar(0, 3, "opening games")
        before = calibration()
        with run_server("serve", Path(folder)) as port:
            run_clients(port, kinds, len(kinds), 1, pace=0.1)  # so that all is loaded and the templates are compiled
            _, empty = process_usage(port)
            bar(1, 3, f"playing {games} games")
            ours = run_clients(port, kinds, games, seconds)
        samples = ours.pop("samples")
        bar(2, 3, "the same without games")
        with run_server("echo", Path(folder), json.dumps(samples)) as port:
            _, nothing = process_usage(port)
            bare = run_clients(port, kinds, games, seconds, echo=True)
            bare.pop("samples")
    loop = (before + calibration()) / 2
    for row, first in ((ours, empty), (bare, nothing)):
        row["kib_a_game"] = (row.pop("memory") - first) / 1024 / games
        row["rounds"] = loop * row["cpu_ms"] / 1000
    ratio = {key: ours["latency"][key] / bare["latency"][key] for key in ("median", "p99")}
    return {
        "games": games, "seconds": seconds, "pace": DECISION_INTERVAL_S, "cores": cores(), "kinds": kinds,
        "loop": loop, "server": ours, "echo": bare, "ratio": ratio,
    }  # fmt: skip


def show(document: dict[str, Any], terminal: Terminal) -> None:
    ratio = document["ratio"]
    terminal.line(
        f"{counted(document['games'], 'game')} at once, two people each, a decision every {DECISION_INTERVAL_S:g} s, "
        f"for {document['seconds']} s; {counted(document['cores'], 'core')}"
    )
    for name, row in (("piste", document["server"]), ("bare server", document["echo"])):
        latency = row["latency"]
        terminal.line(
            f"{name}: from a decision until the other client has it: median {latency['median']:.1f} ms, "
            f"99 in 100 within {latency['p99']:.1f} ms, longest {latency['longest']:.1f} ms"
        )
        terminal.line(
            f"  {row['decisions']} decisions, {row['rate']:.0f} a second; {row['cpu_ms']:.1f} ms of CPU time or "
            f"{row['rounds'] / 1000:.1f} k rounds of the loop each, {100 * row['cpu']:.0f} % of a core; "
            f"{row['kib_a_game']:.0f} KiB a game"
        )
    terminal.line(f"piste to the bare server: median {ratio['median']:.1f}, p99 {ratio['p99']:.1f} times as long")


# Servers


@contextlib.contextmanager
def run_server(kind: str, folder: Path, stdin: str = "") -> Iterator[int]:
    """Run a server in a process of its own and lend its port."""
    if kind == "serve":
        command = ["-m", "piste", "serve", "--host", LOOPBACK, "--port", "0", "--db", str(folder / "tables.db")]
        command += ["--no-limits", "--no-open", "--no-prepare", "--quiet"]
    else:
        command = ["-m", "piste.cli.commands.bench.serve", kind]
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, *command], stdin=pipe, stderr=pipe, stdout=subprocess.DEVNULL, text=True
    )
    assert process.stdin is not None
    assert process.stderr is not None
    reader = threading.Thread(target=process.stderr.read, daemon=True)
    try:
        process.stdin.write(stdin)
        process.stdin.close()
        last = ""
        for last in process.stderr:
            if '"serving"' in last:
                break
        else:
            raise PisteError(f"The server to be measured did not begin: {last.strip()}")
        reader.start()  # or it would have to wait for one
        yield int(json.loads(last)["port"])
    finally:
        process.terminate()
        try:
            process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if reader.ident is not None:
            reader.join()
        process.stderr.close()


def echo() -> None:
    """Serve sockets in pairs: each message is answered, and both are sent what a game would have sent."""
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route, WebSocketRoute
    from starlette.websockets import WebSocket, WebSocketDisconnect

    from piste.web.metrics import Metrics
    from piste.web.server import listen, raise_file_limit, run_app

    samples = cycle(json.load(sys.stdin))
    pairs: dict[str, list[WebSocket]] = {}
    counts = Metrics()

    async def socket(one: WebSocket) -> None:
        await one.accept()
        pair = pairs.setdefault(one.path_params["code"], [])
        pair.append(one)
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
            await one.send_text(next(samples)[0])
            while True:
                text = await one.receive_text()
                if '"ping"' in text:
                    await one.send_text(text)
                    continue
                mine, theirs = next(samples)
                await one.send_text(text)
                for other in pair:
                    await other.send_text(mine if other is one else theirs)
        pair.remove(one)

    metrics = Route("/metrics", lambda _request: Response(counts.text()))
    app = Starlette(routes=[WebSocketRoute("/t/{code}/socket", socket), metrics])
    settings = Settings(db=Path(), host=LOOPBACK, port=0, limits=False)
    raise_file_limit(settings.max_sockets + 512)
    with listen(LOOPBACK, 0) as listener:
        port = listener.getsockname()[1]
        run_app(
            app, settings, listener, lambda: print(json.dumps({"event": "serving", "port": port}), file=sys.stderr)
        )


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


# Clients


def run_clients(
    port: int, kinds: list[str], games: int, seconds: int, *, pace: float = DECISION_INTERVAL_S, echo: bool = False
) -> dict[str, Any]:
    """Let clients play in a process of their own and return what they measured."""
    plan = {"port": port, "kinds": kinds, "games": games, "seconds": seconds, "pace": pace, "echo": echo}
    program = ("-m", "piste.cli.commands.bench.serve", "clients")
    return run_python("The clients that measure", *program, stdin=json.dumps(plan))


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

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.parts: dict[str, str] = {}
        self.text = ""  # of the last news
        self.received_at = 0.0
        self.news = asyncio.Event()
        self.reader = asyncio.ensure_future(self._read())
        self._pinger = asyncio.ensure_future(self._ping())

    async def _read(self) -> None:
        async for text in self.socket:
            now = perf_counter()
            message = json.loads(text)
            if "choices" in message.get("parts", ()):  # the part that every decision changes, for everybody
                self.parts.update(message["parts"])
                self.text, self.received_at = str(text), now
                self.news.set()

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
        return [unescape(value) for part in self.parts.values() for value in BUTTON.findall(part)]

    def question(self) -> int:
        number = NUMBER.search(self.parts["choices"])
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
            self._clients = [await self._connected(code, page) for page in pages]
            for client in self._clients:
                await client.wait_for_news()

    def _table(self) -> tuple[str, list[Page]]:
        port, kinds = self._load.port, self._load.kinds
        kind = kinds[(self._at + self._opened) % len(kinds)]
        text, first = request(port, "POST", "/new", {"game": kind, "versus": "friend", "name": "Ada"})
        code = json.loads(text)["go"].rpartition("/")[2]
        second = request(port, "POST", f"/t/{code}/sit", {"name": "Bob"})[1]
        return code, [load_page(port, code, cookie) for cookie in (first, second)]

    async def _connected(self, code: str, page: Page) -> Client:
        address = f"{LOOPBACK}:{self._load.port}"
        return Client(
            await connect(
                f"ws://{address}/t/{code}/socket?since={page.at}&step={page.step}",
                origin=f"http://{address}",  # type: ignore[arg-type]
                additional_headers={"cookie": page.cookie},
                ping_interval=None,  # as a browser does
                open_timeout=TIMEOUT_S,
                max_size=None,
                proxy=None,
            )
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

    port: int
    kinds: list[str]
    games: int
    seconds: float
    pace: float
    echo: bool
    opening: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_OPENING_GAMES))
    latencies: list[float] = field(default_factory=list)
    samples: list[tuple[str, str]] = field(default_factory=list)

    async def run(self) -> dict[str, Any]:
        pairs = [Pair(self, at) for at in range(self.games)]
        await asyncio.gather(*(pair.open() for pair in pairs))
        await asyncio.gather(*(pair.play(2 * self.pace) for pair in pairs))
        self.latencies.clear()
        self.samples.clear()
        cpu_before, _ = await asyncio.to_thread(process_usage, self.port)
        began, spent = perf_counter(), process_time()
        await asyncio.gather(*(pair.play(self.seconds) for pair in pairs))
        whole, spent = perf_counter() - began, process_time() - spent
        cpu_after, memory = await asyncio.to_thread(process_usage, self.port)
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
            "clients_cpu": spent / whole,
            "memory": memory,
            "bytes": round(sum(len(text.encode()) for pair in self.samples for text in pair) / len(self.samples) / 2),
            "samples": self.samples,
        }


def play() -> None:
    """Be the clients: read what to do, and print what was measured."""
    from piste.web.server import raise_file_limit

    plan = json.load(sys.stdin)
    raise_file_limit(2 * plan["games"] + 256)
    print(json.dumps(asyncio.run(Load(**plan).run())))


if __name__ == "__main__":
    {"echo": echo, "clients": play}[sys.argv[1]]()
