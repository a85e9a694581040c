"""Servers on one PostgreSQL are stopped and replaced while people play: they come back, and nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import httpx2 as httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from piste.cli.commands.bench.serve_clients import AREA, BUTTON, NUMBER
from piste.web.storage.storage import Storage
from tests.limits import PATIENCE_S, PATIENT, until, wait_until
from tests.postgres_server import PostgresServer
from tests.web.in_process_server import Device, InProcessServer
from tests.web.server_process import ServerProcess, posix, serving

GAME = {"game": "zero-sum-grid", "versus": "friend", "option-turns": "400"}
TABLES = 3
AT_A_TIME = 10  # decisions of each table between two steps of a test
BROKEN = (ConnectionClosed, InvalidHandshake, OSError, EOFError)


class Allowance:
    """How many decisions each table may make by now: people go on while something happens, but not to the end."""

    def __init__(self) -> None:
        self.decisions = 0
        self._changed = asyncio.Event()

    def raise_to(self, decisions: int) -> None:
        self.decisions = decisions
        self._changed.set()
        self._changed = asyncio.Event()

    async def reaches(self, number: int) -> None:
        while number >= self.decisions:
            await self._changed.wait()


@dataclass(eq=False)
class Player:
    """Plays at a table through whichever server is there, and repeats what was not answered, as a page does."""

    cookie: str
    table: str
    addresses: list[str]
    taken: set[int] = field(default_factory=set)  # the questions whose answers were acknowledged
    refused: list[str] = field(default_factory=list)
    waiting: dict[str, Any] | None = None  # what was asked and not answered
    visits: int = 0
    goodbyes: int = 0

    async def play(self, allowance: Allowance) -> None:
        while True:
            address = self.addresses[self.visits % len(self.addresses)]
            self.visits += 1
            headers = {"Cookie": self.cookie, "Origin": address}
            where = f"ws{address.removeprefix('http')}{self.table}/socket?since=0"
            with contextlib.suppress(*BROKEN):
                async with connect(where, additional_headers=headers, proxy=None, **PATIENT) as socket:
                    await self._at_table(socket, allowance)
            await asyncio.sleep(0)

    async def _at_table(self, socket: ClientConnection, allowance: Allowance) -> None:
        """Decide until the connection is lost."""
        page = Page()
        if self.waiting is not None:
            await socket.send(json.dumps(self.waiting))
        async for text in socket:
            message = json.loads(text)
            self.goodbyes += "bye" in message
            for frame in (*message.get("steps", ()), message):
                page.show(frame)
            if self.waiting is not None and message.get("re") == self.waiting["id"]:
                if message["ok"]:
                    self.taken.add(self.waiting["number"])
                else:
                    self.refused.append(message["said"])
                self.waiting = None
            number, offered = page.number(), page.decisions()
            if self.waiting is None and offered and number not in self.taken:
                await allowance.reaches(number)
                self.waiting = {"id": f"q{number}", "do": "decide", "decision": offered[0], "number": number}
                await socket.send(json.dumps(self.waiting))


class Page:
    """What a page shows, as far as deciding needs it."""

    def __init__(self) -> None:
        self._parts: dict[str, str] = {}
        self._areas: list[str] = []

    def show(self, frame: dict[str, Any]) -> None:
        """Put whole parts in their place, and areas of the table where the others stay."""
        self._parts |= frame.get("parts", {})
        if "scene" in self._parts:
            self._areas = AREA.findall(self._parts.pop("scene"))
        if "areas" in frame:
            self._areas = [self._areas[area] if isinstance(area, int) else area for area in frame["areas"]]

    def decisions(self) -> list[str]:
        shown = "".join((*self._areas, *self._parts.values()))
        return [unescape(value) for value in BUTTON.findall(shown)]

    def number(self) -> int:
        found = NUMBER.search(self._parts.get("choices", ""))
        return -1 if found is None else int(found[1])

    def over(self) -> bool:
        return 'class="result' in self._parts.get("status", "")


async def open_tables(address: str, others: list[str]) -> list[Player]:
    """Open tables for two people each, one of whom is connected elsewhere."""
    players = []
    for _ in range(TABLES):
        where = ""
        for name in ("Ann", "Bo"):
            async with httpx.AsyncClient(
                base_url=address, headers={"origin": address}, trust_env=False, timeout=PATIENCE_S
            ) as client:
                if where:
                    await client.post(f"{where}/sit", data={"name": name})
                else:
                    where = (await client.post("/new", data={**GAME, "name": name})).headers["location"]
                players.append(Player(f"piste={client.cookies['piste']}", where, [address, *others]))
        players[-1].addresses.reverse()
    return players


def check_records(db: str, players: list[Player]) -> None:
    """Every decision that was acknowledged stands in the record, once; and there is none that nobody made."""
    with Storage(db) as storage:
        for table in {player.table for player in players}:
            stored = storage.room(table.rpartition("/")[2])
            assert stored is not None
            here = [player for player in players if player.table == table]
            assert not [said for player in here for said in player.refused]
            assert not here[0].taken & here[1].taken
            acknowledged = sorted(here[0].taken | here[1].taken)
            assert acknowledged == list(range(len(acknowledged)))
            # Whoever was interrupted at the end may not have had an answer yet.
            made = sum('"seat"' in line for line in stored.lines[1:])
            waiting = sum(player.waiting is not None for player in here)
            assert len(acknowledged) <= made <= len(acknowledged) + waiting


async def play_through(players: list[Player], steps: list[Callable[[], Any]]) -> None:
    """Let people play; after every few decisions of each table, take the next step, while they go on."""
    allowance = Allowance()

    def taken() -> int:
        tables = {player.table for player in players}
        return min(sum(len(player.taken) for player in players if player.table == table) for table in tables)

    playing = [asyncio.create_task(player.play(allowance)) for player in players]
    for step in (*steps, lambda: None):
        allowance.raise_to(allowance.decisions + AT_A_TIME)
        await until(lambda: taken() >= allowance.decisions - AT_A_TIME // 2, lambda: str(players))
        await asyncio.to_thread(step)
    for task in playing:
        task.cancel()
    await asyncio.gather(*playing, return_exceptions=True)


@posix
def test_two_servers_are_replaced_one_after_the_other_while_people_play(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    db = postgres.database()
    with contextlib.ExitStack() as stack:
        servers = {
            name: stack.enter_context(serving(tmp_path, "--db", db, "--no-limits")).ready() for name in ("one", "two")
        }
        addresses = [server.address for server in servers.values()]

        def restart(name: str) -> None:
            server = servers[name]
            assert server.stop() == 0
            assert "Traceback" not in server.text
            port = server.address.rpartition(":")[2]
            servers[name] = stack.enter_context(serving(tmp_path, "--db", db, "--no-limits", "--port", port)).ready()

        async def run() -> list[Player]:
            players = await open_tables(addresses[0], addresses[1:])
            await play_through(players, [lambda: restart("one"), lambda: restart("two")])
            return players

        players = asyncio.run(run())
        assert any(player.goodbyes for player in players)  # who was between two connections heard nothing
        assert all(server.stop() == 0 for server in servers.values())
    check_records(db, players)


@posix
def test_every_process_of_a_supervisor_is_replaced_while_people_play(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    db = postgres.database()
    with serving(tmp_path, "--db", db, "--no-limits", "--workers", "2") as server:
        server.ready()

        def replace(name: str) -> None:
            before = server.children()[name]
            os.kill(before, signal.SIGTERM)
            wait_for_next(server, name, before)

        async def run() -> list[Player]:
            players = await open_tables(server.address, [])
            await play_through(players, [lambda: replace("server 1"), lambda: replace("server 2")])
            return players

        players = asyncio.run(run())
        assert [event["exit_code"] for event in server.events("process ended")] == [0, 0]
        assert server.stop() == 0
    check_records(db, players)


def wait_for_next(server: ServerProcess, name: str, before: int) -> None:
    wait_until(lambda: server.children()[name] != before, lambda: server.text)


async def test_a_server_that_stops_says_that_it_is_not_ready(postgres: PostgresServer) -> None:
    async with InProcessServer(postgres.database()) as house:
        visitor = Device(house)
        assert (await visitor.get("/readyz")).status == 200
        code = await visitor.opens("prime-duel")
        house.service.registry.close_subscriptions()
        answer = await visitor.get("/readyz")
        assert answer.status == 503
        assert "stopping" in answer.text
        assert (await visitor.get("/healthz")).status == 200
        late = await visitor.connect(code)  # sent to another server at once
        await until(lambda: late.closed is not None)
        assert late.last["bye"] == "restart"
