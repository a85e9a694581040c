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
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import psycopg
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from piste.cli.commands.bench.serve_clients import request
from piste.core.errors import PisteError
from piste.core.record import Record
from piste.core.replay import replay
from piste.web.settings import LOOPBACK
from piste.web.storage.schema import CHANNEL
from tests.limits import PATIENCE_S, PATIENT, now, pause, until
from tests.postgres_server import QUICK, PostgresServer, needed_programs, postgres_server
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

LISTENS = f"query = 'LISTEN {CHANNEL}'"
"""Whether a server hears of the others on a connection; the queue listens too, to channels of its own."""

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
        self.dead = 0.0  # when what was killed last was gone

    async def start(self, processes: list[Server]) -> None:
        process = ServerWithoutBots(self.db) if processes is self.servers else JobWorker(self.db)
        await process.__aenter__()
        processes.append(process)

    async def stop(self, processes: list[Server]) -> None:
        process = self.chooser.choice(processes)
        processes.remove(process)
        await process.__aexit__()
        self.dead = now()
        self.said.append(process.said)

    def port(self) -> int:
        """Return a server, as a load balancer does that knows nothing of tables."""
        return self.chooser.choice(self.servers).port

    async def ended(self, which: str) -> None:
        """End a connection to the database: one of that kind, as soon as there is one."""
        pids: list[int] = []
        async with await psycopg.AsyncConnection.connect(self.db, autocommit=True) as connection:
            while not pids:
                await pause(0.02)
                found = await connection.execute(
                    "SELECT pid FROM pg_stat_activity WHERE application_name = 'piste' "
                    f"AND datname = current_database() AND {which} ORDER BY pid".encode()
                )
                pids = [pid for (pid,) in await found.fetchall()]
            await connection.execute("SELECT pg_terminate_backend(%s)", [self.chooser.choice(pids)])
        self.dead = now()


async def kill_server(cluster: Cluster) -> None:
    await cluster.stop(cluster.servers)
    await cluster.start(cluster.servers)


async def kill_worker(cluster: Cluster) -> None:
    await cluster.stop(cluster.workers)
    await cluster.start(cluster.workers)


async def kill_listener(cluster: Cluster) -> None:
    await cluster.ended(LISTENS)


async def kill_other_connection(cluster: Cluster) -> None:
    await cluster.ended(f"NOT {LISTENS}")


async def kill_postgres(cluster: Cluster) -> None:
    await asyncio.to_thread(cluster.postgres.stop, "immediate")
    cluster.dead = now()
    await asyncio.to_thread(cluster.postgres.start)


VICTIMS: tuple[Callable[[Cluster], Awaitable[None]], ...] = (
    kill_server,
    kill_worker,
    kill_listener,
    kill_other_connection,
    kill_postgres,
)
"""Whatever may be killed: each is tried in turn, at a random moment."""


class Wanderer(Player):
    """Somebody's page that comes back to whichever server takes it, and asks again for what could not be done."""

    def __init__(self, code: str, cookie: str, chooser: random.Random, versus: str) -> None:
        super().__init__(code, cookie, chooser)
        self.versus = versus
        self.uncertain: set[tuple[int, str]] = set()  # what was asked, and nobody could say whether it was taken
        self.came = now()
        self.lost: list[float] = []  # when a connection was lost, or there was none to be had
        self.advanced: list[float] = []  # when it was shown a later question, or the end of the game
        self._seen = -1  # the last question

    async def wander(self, cluster: Cluster, told: Callable[[], None]) -> None:
        while not self.done:
            try:
                await self._visit(cluster.port(), told)
            except (ConnectionClosed, InvalidHandshake, OSError):
                self.lost.append(now())
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
                    self._note_advance()
                    await self._decide(socket)

    def _note_advance(self) -> None:
        if self._question() > self._seen or self.over:
            self._seen = self._question()
            self.advanced.append(now())

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


class Kill(NamedTuple):
    name: str
    began: float
    dead: float


def seconds_lost(kills: list[Kill], players: list[Wanderer]) -> Iterator[tuple[str, float]]:
    """Yield for each kill how long it took until everybody who played then had gone on.

    What was under way when it happened does not count: not before the victim was dead, and not before the last loss
    of the connection until the next kill.
    """
    for kill, following in pairwise([*kills, Kill("", PATIENCE_S + kills[-1].dead, 0.0)]):
        longest = 0.0
        for player in players:
            if player.came < kill.began:
                lost = (when for when in player.lost if kill.began < when < following.began)
                free = max([kill.dead, *lost])
                longest = max(longest, next((when - kill.began for when in player.advanced if when > free), 0.0))
        yield kill.name, longest


def told_of(lost: list[tuple[str, float]]) -> str:
    """Return the median and the longest of these times."""
    parts = []
    for name, count in [("all", len(lost)), *Counter(name for name, _ in lost).items()]:
        times = [seconds for of, seconds in lost if name in (of, "all")]
        parts.append(f"{count} {name} {median(times):.1f} ({max(times):.1f})")
    return f"median (longest): {', '.join(parts)}"


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
        players = [Wanderer(one.code, one._cookie, cluster.chooser, fields["versus"]) for one in begun]
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
    """A PostgreSQL that can be killed: no other test is connected to it.

    It stops only when no connection to it is half begun, for which it waits this long; by default a minute.
    """
    with postgres_server(needed_programs(request), (*QUICK, "authentication_timeout=5s")) as server:
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
async def test_games_go_on_whatever_is_killed(
    own_postgres: PostgresServer, record_property: Callable[[str, object], None]
) -> None:
    told = 0
    kills: list[Kill] = []

    def count() -> None:
        nonlocal told
        told += 1

    async with running(own_postgres, f"kills {KILLS}") as cluster:
        games = [
            asyncio.ensure_future(
                play_for_ever(cluster, {"game": game, "versus": versus, **fields}, count, lambda: len(kills) == KILLS)
            )
            for game, fields in TABLES
            for versus in OPPONENTS
            if versus != "strong" or game in QUICK_FOR_STRONG
        ]
        for n in range(KILLS):
            due = told + cluster.chooser.randint(1, DECISIONS_BETWEEN_KILLS)
            await until(lambda due=due: told >= due or any(game.done() for game in games))  # type: ignore[misc]
            assert not any(game.done() for game in games), [game.exception() for game in games if game.done()]
            kill, began = VICTIMS[n % len(VICTIMS)], now()
            await kill(cluster)
            kills.append(Kill(kill.__name__.removeprefix("kill_").replace("_", " "), began, cluster.dead))
        played = [players for game in games for players in await game]
        assert played
        everybody = [player for players in played for player in players]
        lost = list(seconds_lost(kills, [player for player in everybody if player.versus != "strong"]))
        waited = list(seconds_lost(kills, [player for player in everybody if player.versus == "strong"]))
        record_property("figure", f"seconds until every client had gone on, {told_of(lost)}")
        record_property("figure", f"against `strong`, whose workers are killed while it thinks, {told_of(waited)}")
        for players in played:
            text, _ = await asyncio.to_thread(request, cluster.port(), "GET", f"/t/{players[0].code}/record")
            check_taken(text, players)
    for said in cluster.said:
        found = UNEXPECTED.search(said)
        assert found is None, said[found.start() :]
