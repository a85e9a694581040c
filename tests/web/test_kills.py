"""Two servers and two workers on one PostgreSQL are killed, and so is the PostgreSQL, while people play at both.

Whatever anybody was told has happened, nothing happened twice, and every game goes on to its end by itself.
PISTE_KILLS says how often something is killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from piste.cli.commands.bench.serve_clients import request
from piste.core.errors import PisteError
from piste.core.record import Record
from piste.core.replay import replay
from piste.web.settings import LOOPBACK
from tests.limits import PATIENCE_S, PATIENT, pause, until
from tests.postgres_server import PostgresServer, needed_programs, postgres_server
from tests.web.test_durability import TABLES, Player, Server, Tables

KILLS = int(os.environ.get("PISTE_KILLS", "8"))
SERVERS = WORKERS = 2
DECISIONS_BETWEEN_KILLS = 30
RECONNECT_S = 0.2
REFUSALS = re.compile(
    r"could not be kept, so it has not happened|not known yet whether this was kept|does not answer just now"
    r"|Very much happens at this table"
)
"""What somebody may read while something is away; whoever reads it asks again."""

ANSWERED = re.compile(r"That question has been answered: you decided (.*)\. Look again")
UNEXPECTED = re.compile(r"request failed|cannot be read|Traceback|goodbye failed")


OPPONENTS = ("steady", "friend", "strong")
"""`steady` decides in the server, `strong` in a worker. In games of more than a few cards it would take long."""

QUICK_FOR_STRONG = ("positive-negative", "zero-sum-grid")


class ServerWithoutBots(Server):
    WORDS = (*Server.WORDS, "--bot-workers", "0")


class JobWorker(Server):
    """`piste worker`: what it has begun is picked up by another one."""

    WORDS = ("worker", "--bot-workers", "1")
    READY = "working"


class Cluster:
    """Servers and workers on one database, and what can be done to them."""

    def __init__(self, postgres: PostgresServer, seed: str) -> None:
        self.postgres, self.db = postgres, postgres.migrated()
        self.chooser = random.Random(seed)
        self.servers: list[Server] = []
        self.workers: list[Server] = []
        self.said: list[str] = []

    async def start(self, processes: list[Server]) -> None:
        process = ServerWithoutBots(self.db) if processes is self.servers else JobWorker(self.db)
        await process.__aenter__()
        processes.append(process)

    async def stop(self, processes: list[Server]) -> None:
        process = self.chooser.choice(processes)
        processes.remove(process)
        await process.__aexit__()
        self.said.append(process.said)

    def port(self) -> int:
        """Return a server, as a load balancer does that knows nothing of tables."""
        return self.chooser.choice(self.servers).port

    async def ended(self, which: str) -> None:
        """End a connection to the database, if there is one of that kind now."""
        async with await psycopg.AsyncConnection.connect(self.db, autocommit=True) as connection:
            found = await connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'piste' AND datname = current_database() "
                f"AND {which} ORDER BY pid".encode()
            )
            pids = [pid for (pid,) in await found.fetchall()]
            if pids:
                await connection.execute("SELECT pg_terminate_backend(%s)", [self.chooser.choice(pids)])


async def kill_server(cluster: Cluster) -> None:
    await cluster.stop(cluster.servers)
    await cluster.start(cluster.servers)


async def kill_worker(cluster: Cluster) -> None:
    await cluster.stop(cluster.workers)
    await cluster.start(cluster.workers)


async def kill_listener(cluster: Cluster) -> None:
    await cluster.ended("query LIKE 'LISTEN%%'")


async def kill_any_connection(cluster: Cluster) -> None:
    await cluster.ended("query NOT LIKE 'LISTEN%%'")


async def kill_postgres(cluster: Cluster) -> None:
    await asyncio.to_thread(cluster.postgres.stop, "immediate")
    await asyncio.to_thread(cluster.postgres.start)


VICTIMS: tuple[Callable[[Cluster], Awaitable[None]], ...] = (
    kill_server,
    kill_worker,
    kill_listener,
    kill_any_connection,
    kill_postgres,
)
"""Whatever may be killed: each is tried in turn, at a random moment."""


class Wanderer(Player):
    """Somebody's page that comes back to whichever server takes it, and asks again for what could not be done."""

    def __init__(self, code: str, cookie: str, chooser: random.Random) -> None:
        super().__init__(code, cookie, chooser)
        self.uncertain: set[tuple[int, str]] = set()  # what was asked, and nobody could say whether it was taken

    async def wander(self, cluster: Cluster, told: Callable[[], None]) -> None:
        while not self.done:
            try:
                await self._visit(cluster.port(), told)
            except (ConnectionClosed, InvalidHandshake, OSError):
                self._doubt()
                await pause(RECONNECT_S)

    def _doubt(self) -> None:
        if self._asked is not None:
            self.uncertain.add((self._asked["number"], self._asked["decision"]))

    async def _visit(self, port: int, told: Callable[[], None]) -> None:
        address = f"{LOOPBACK}:{port}"
        async with connect(
            f"ws://{address}/t/{self.code}/socket?since=0",
            origin=f"http://{address}",  # type: ignore[arg-type]
            additional_headers={"cookie": self._cookie},
            proxy=None,
            **PATIENT,
        ) as socket:
            self._parts.clear()
            if self._asked is not None:
                await socket.send(json.dumps(self._asked))
            while not self.done:
                async with asyncio.timeout(PATIENCE_S):
                    message = json.loads(await socket.recv())
                before = len(self.acknowledged)
                self._hear(message)
                if len(self.acknowledged) > before:
                    told()
                if self._parts:
                    await self._decide(socket)

    def _hear(self, message: dict[str, Any]) -> None:
        if message.get("ok") is False and "re" in message:
            assert self._asked is not None
            number, taken = self._asked["number"], ANSWERED.search(message["said"])
            if taken is not None:  # so an earlier one was taken, of which nobody could say so
                assert (number, taken[1]) in self.uncertain, (message, self.uncertain)
                self.acknowledged[number] = taken[1]
            else:
                assert REFUSALS.search(message["said"]), message
                if "not known yet" in message["said"]:
                    self._doubt()
            self._asked = None  # and decide anew, perhaps otherwise
        elif message.get("ok") is False:
            assert REFUSALS.search(message["said"]), message
        elif "bye" not in message:
            super()._hear(message)


async def play_for_ever(
    cluster: Cluster, fields: dict[str, str], told: Callable[[], None], ended: Callable[[], bool]
) -> list[list[Wanderer]]:
    """Play one game after another until there is an end, and return who played."""
    opened, played = Tables("kills"), []
    while not ended():
        try:
            begun = await asyncio.to_thread(opened._begin, cluster.port(), fields)
        except (PisteError, OSError):  # nobody was told that there is a table
            await pause(RECONNECT_S)
            continue
        players = [Wanderer(one.code, one._cookie, cluster.chooser) for one in begun]
        await asyncio.gather(*(player.wander(cluster, told) for player in players))
        played.append(players)
    return played


def check_taken(record: str, players: list[Wanderer]) -> None:
    """See that a game holds all that was acknowledged, and nothing that nobody asked for or that was denied."""
    table, _ = replay(Record.parse(record))
    assert table.ending() is not None
    steps = [step for step in map(json.loads, record.splitlines()) if "seat" in step]
    for number, step in enumerate(steps):
        name = next(step[key] for key in step if key not in ("n", "seat", "check"))
        told = [player.acknowledged[number] for player in players if number in player.acknowledged]
        doubted = any((number, name) in player.uncertain for player in players)
        assert told == [name] or (not told and (doubted or len(players) == 1)), (number, name, told)
    assert all(number < len(steps) for player in players for number in player.acknowledged)


@pytest.fixture(scope="module")
def own_postgres(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """A PostgreSQL that can be killed: no other test is connected to it."""
    with postgres_server(needed_programs(request)) as server:
        yield server


@asynccontextmanager
async def running(postgres: PostgresServer, seed: str) -> AsyncIterator[Cluster]:
    cluster = Cluster(postgres, seed)
    try:
        for _ in range(SERVERS):
            await cluster.start(cluster.servers)
        for _ in range(WORKERS):
            await cluster.start(cluster.workers)
        yield cluster
    finally:
        for processes in (cluster.servers, cluster.workers):
            while processes:
                await cluster.stop(processes)


@pytest.mark.slow
async def test_games_go_on_whatever_is_killed(own_postgres: PostgresServer) -> None:
    told = killed = 0

    def count() -> None:
        nonlocal told
        told += 1

    async with running(own_postgres, f"kills {KILLS}") as cluster:
        games = [
            asyncio.ensure_future(
                play_for_ever(cluster, {"game": game, "versus": versus, **fields}, count, lambda: killed == KILLS)
            )
            for game, fields in TABLES
            for versus in OPPONENTS
            if versus != "strong" or game in QUICK_FOR_STRONG
        ]
        for n in range(KILLS):
            due = told + cluster.chooser.randint(1, DECISIONS_BETWEEN_KILLS)
            await until(lambda due=due: told >= due or any(game.done() for game in games))  # type: ignore[misc]
            assert not any(game.done() for game in games), [game.exception() for game in games if game.done()]
            await VICTIMS[n % len(VICTIMS)](cluster)
            killed += 1
        played = [players for game in games for players in await game]
        assert played
        for players in played:
            text, _ = await asyncio.to_thread(request, cluster.port(), "GET", f"/t/{players[0].code}/record")
            check_taken(text, players)
    for said in cluster.said:
        found = UNEXPECTED.search(said)
        assert found is None, said[found.start() :]
