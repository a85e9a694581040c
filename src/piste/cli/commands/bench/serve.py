"""`piste bench --serve`: hundreds of games at once in the real server, beside a bare one of the same kind.

The server runs in a process of its own and so do the clients, two for each game, who decide every few seconds. A
client does what the page does: it loads the page, asks for steps from there on, and pings. Measured is the time from
sending a decision until the other client receives it. Since machines and their load differ, the same run measures a
server of the same libraries that holds no game, stores nothing and only forwards as many messages of the same size.

With a database of PostgreSQL there may be several servers: games are spread over them, or the two people of each game
are. The CPU time of the database is measured apart, where it runs on this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from piste.cli.arguments import named_games, whole_number
from piste.cli.commands.bench.harness import calibration, run_python
from piste.cli.commands.bench.serve_clients import DECISION_INTERVAL_S, TIMEOUT_S, find_database, process_usage
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.core.errors import OptionError, PisteError
from piste.core.game import counted
from piste.web.settings import LOOPBACK, Settings, cores

DEFAULT_GAMES = 500
DEFAULT_SECONDS = 30


def measure_all(args: argparse.Namespace, bar: ProgressBar) -> dict[str, Any]:
    kinds = [game.name for game in named_games(args.game)]
    games = DEFAULT_GAMES if args.games is None else whole_number("games", args.games, 1, 1900)
    seconds = DEFAULT_SECONDS if args.seconds is None else whole_number("seconds", args.seconds, 1, 3600)
    servers = 1 if args.servers is None else whole_number("servers", args.servers, 1, 16)
    if servers > 1 and args.db is None:
        raise OptionError("Several servers share one PostgreSQL: name its address with --db. It must be empty.")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        bar(0, 3, "opening games")
        database = 0 if args.db is None else find_database(args.db)
        before = calibration()
        db = str(Path(folder) / "tables.db") if args.db is None else args.db
        ports = [running.enter_context(run_server("serve", db)) for _ in range(servers)]
        for port in ports:  # so that all is loaded and the templates are compiled
            run_clients([port], kinds, len(kinds), 1, pace=0.1)
        empty = sum(process_usage(port)[1] for port in ports)
        bar(1, 3, f"playing {games} games")
        ours = run_clients(ports, kinds, games, seconds, split=args.split, database=database)
        samples = ours.pop("samples")
        running.close()
        bar(2, 3, "the same without games")
        with run_server("echo", "", json.dumps(samples)) as port:
            _, nothing = process_usage(port)
            bare = run_clients([port], kinds, games, seconds, echo=True)
            bare.pop("samples")
    loop = (before + calibration()) / 2
    for row, first in ((ours, empty), (bare, nothing)):
        row["kib_a_game"] = (row.pop("memory") - first) / 1024 / games
        row["rounds"] = loop * row["cpu_ms"] / 1000
        row["database_rounds"] = loop * row["database_cpu_ms"] / 1000
    ratio = {key: ours["latency"][key] / bare["latency"][key] for key in ("median", "p99")}
    return {
        "games": games, "seconds": seconds, "pace": DECISION_INTERVAL_S, "cores": cores(), "kinds": kinds,
        "servers": servers, "split": args.split, "loop": loop, "server": ours, "echo": bare, "ratio": ratio,
    }  # fmt: skip


def show(document: dict[str, Any], terminal: Terminal) -> None:
    ratio = document["ratio"]
    terminal.line(
        f"{counted(document['games'], 'game')} at once, two people each, a decision every {DECISION_INTERVAL_S:g} s, "
        f"for {document['seconds']} s; {counted(document['cores'], 'core')}"
    )
    if document["servers"] > 1:
        spread = "two people of a game at two of them" if document["split"] else "games spread over them"
        terminal.line(f"{document['servers']} servers, {spread}; CPU time and memory of all together")
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
    row = document["server"]
    if row["database_cpu_ms"]:
        terminal.line(
            f"its database: {row['database_cpu_ms']:.1f} ms of CPU time or "
            f"{row['database_rounds'] / 1000:.1f} k rounds a decision"
        )
    terminal.line(f"piste to the bare server: median {ratio['median']:.1f}, p99 {ratio['p99']:.1f} times as long")


# Servers


@contextlib.contextmanager
def run_server(kind: str, db: str, stdin: str = "", source: Path | None = None) -> Iterator[int]:
    """Run a server in a process of its own and lend its port; `source` has the piste to run, if not this one."""
    if kind == "serve":
        command = ["-m", "piste", "serve", "--host", LOOPBACK, "--port", "0", "--db", db]
        command += ["--no-limits", "--no-open", "--no-prepare", "--quiet"]
    else:
        command = ["-m", "piste.cli.commands.bench.serve"]
    pipe = subprocess.PIPE
    environment = None if source is None else {**os.environ, "PYTHONPATH": str(source)}
    process = subprocess.Popen(
        [sys.executable, *command], stdin=pipe, stderr=pipe, stdout=subprocess.DEVNULL, text=True, env=environment
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
    """Serve sockets in pairs: for each message both are sent what a game would have sent, the answer included."""
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


def run_clients(
    ports: list[int],
    kinds: list[str],
    games: int,
    seconds: int,
    *,
    pace: float = DECISION_INTERVAL_S,
    echo: bool = False,
    split: bool = False,
    database: int = 0,
) -> dict[str, Any]:
    """Let clients play in a process of their own and return what they measured."""
    plan = {
        "ports": ports, "kinds": kinds, "games": games, "seconds": seconds, "pace": pace, "echo": echo,
        "split": split, "database": database,
    }  # fmt: skip
    program = ("-m", "piste.cli.commands.bench.serve_clients")
    return run_python("The clients that measure", *program, stdin=json.dumps(plan))


if __name__ == "__main__":
    echo()
