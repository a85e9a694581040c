"""Two servers, each a process of its own, are asked at the same instant to decide one question, each otherwise.

One decision is taken, and whoever asked for the other is told. PISTE_RACES says how often.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psycopg
from websockets.asyncio.client import ClientConnection, connect

from piste.web.storage.storage import Storage
from tests.limits import PATIENCE_S, PATIENT
from tests.postgres_server import PostgresServer
from tests.sizes import sized
from tests.web.server_process import serving
from tests.web.test_kills import REFUSALS
from tests.web.test_rolling_restart import Page

RACES = int(os.environ.get("PISTE_RACES", sized(20, 100)))
ENOUGH = 1000  # races after which chance alone explains no figure of 0
GAME = {"game": "zero-sum-grid", "versus": "friend", "option-turns": "400"}
TOLD = re.compile(r"That question has been answered: you decided (.*)\. Look again")
COUNT_COLLISIONS = """
    CREATE SEQUENCE collisions;
    CREATE FUNCTION count_collision() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NOT EXISTS (SELECT FROM updated) THEN PERFORM nextval('collisions'); END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER count_collisions AFTER UPDATE ON rooms REFERENCING NEW TABLE AS updated
        FOR EACH STATEMENT EXECUTE FUNCTION count_collision();
"""
"""Counts what was to be written to a table after another process had written; a rollback leaves sequences alone."""


class Tab:
    """A page that somebody has open at one of the servers."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.page = Page()

    async def hear(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE_S):
            message: dict[str, Any] = json.loads(await self._socket.recv())
        for frame in (*message.get("steps", ()), message):
            self.page.show(frame)
        return message

    async def shows(self, number: int) -> None:
        """Wait for a question, or for the end of the game."""
        while self.page.number() < number and not self.page.over():
            await self.hear()

    async def decide(self, decision: str, number: int) -> dict[str, Any]:
        """Decide, and ask again where the server says so: a busy machine may be too slow for the database."""
        mark = f"q{number}"
        while True:
            await self._socket.send(json.dumps({"id": mark, "do": "decide", "decision": decision, "number": number}))
            while (message := await self.hear()).get("re") != mark:
                pass
            if message["ok"] or not REFUSALS.search(message["said"]):
                return message


@asynccontextmanager
async def table_at(addresses: list[str]) -> AsyncIterator[tuple[str, list[list[Tab]]]]:
    """Open a table for two people, and yield its path and the pages of each, one at each server."""
    async with AsyncExitStack() as stack:
        cookies, path = [], ""
        for name in ("Ann", "Bo"):
            async with httpx.AsyncClient(
                base_url=addresses[0], headers={"origin": addresses[0]}, trust_env=False, timeout=PATIENCE_S
            ) as client:
                if path:
                    await client.post(f"{path}/sit", data={"name": name})
                else:
                    path = (await client.post("/new", data={**GAME, "name": name})).headers["location"]
                cookies.append(f"piste={client.cookies['piste']}")
        people: list[list[Tab]] = []
        for cookie in cookies:
            people.append([])
            for address in addresses:
                where = f"ws{address.removeprefix('http')}{path}/socket?since=0"
                headers = {"Cookie": cookie, "Origin": address}
                socket = await stack.enter_async_context(
                    connect(where, additional_headers=headers, proxy=None, **PATIENT)
                )
                people[-1].append(Tab(socket))
        yield path, people


async def test_of_two_decisions_at_the_same_instant_exactly_one_is_taken(
    postgres: PostgresServer, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    db = postgres.migrated()
    with psycopg.connect(db, autocommit=True) as connection:
        connection.execute(COUNT_COLLISIONS)
    taken: dict[str, list[str]] = {}  # by the path of the table
    won: Counter[int] = Counter()
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(tmp_path, "--db", db, "--no-limits")) for _ in range(2)]
        addresses = [server.ready().address for server in servers]
        while won.total() < RACES:
            async with table_at(addresses) as (path, people):
                taken[path] = []
                await play(people, taken[path], won)
        assert not [server.text for server in servers if '"error"' in server.text or "Traceback" in server.text]
    with psycopg.connect(db) as connection:
        (collisions,) = connection.execute("SELECT nextval('collisions') - 1").fetchone() or (0,)
    with Storage(db) as storage:
        for path, decisions in taken.items():
            stored = storage.room(path.rpartition("/")[2])
            assert stored is not None
            steps = [step for step in map(json.loads, stored.lines) if "seat" in step]
            assert [decided_in(step) for step in steps] == decisions
    record_property("figure", f"taken at each server {won[0]:,} and {won[1]:,}, {collisions:,} written too late")
    if RACES >= ENOUGH:
        assert all((won[0], won[1], collisions))


def decided_in(step: dict[str, str]) -> str:
    return next(step[key] for key in step if key not in ("n", "seat", "check"))


async def play(people: list[list[Tab]], taken: list[str], won: Counter[int]) -> None:
    """Play at a table until the game is over or there were enough races."""
    while won.total() < RACES:
        number = len(taken)
        await asyncio.gather(*(tab.shows(number) for tabs in people for tab in tabs))
        if people[0][0].page.over():
            return
        (tabs,) = (tabs for tabs in people if tabs[0].page.decisions())
        offered = tabs[0].page.decisions()
        assert tabs[1].page.decisions() == offered
        if len(offered) == 1:
            assert (await tabs[0].decide(offered[0], number))["ok"]
            taken.append(offered[0])
            continue
        # Sent one right after the other, by turns to either server first.
        asked = [(0, offered[0]), (1, offered[-1])][:: 1 if number % 2 else -1]
        answers = await asyncio.gather(*(tabs[at].decide(decision, number) for at, decision in asked))
        ((at, decision),) = (one for one, answer in zip(asked, answers, strict=True) if answer["ok"])
        (refused,) = (answer["said"] for answer in answers if not answer["ok"])
        told = TOLD.search(refused)
        assert told is not None, refused
        assert told[1] == decision
        taken.append(decision)
        won[at] += 1
