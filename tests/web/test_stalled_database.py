"""A network between server and database that falls silent: sentences, no wrong acknowledgement, and all goes on.

PISTE_STALL says for how many seconds it is silent at least, for servers that wait for it as long as they usually do.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from piste.web.storage import storage as storages
from tests.limits import pause, until
from tests.postgres_server import PostgresServer
from tests.web.failing_storage import room_count
from tests.web.in_process_server import CountedTokens, Device, InProcessServer, table_for
from tests.web.stalling_proxy import StallingProxy

STALL_S = float(os.environ.get("PISTE_STALL", "0"))
USUAL = storages.READ_TIMEOUT_S
SOON = 0.4  # how long the servers of these tests wait for a database, unless its silence is given


@contextmanager
def impatience(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let servers give up soon what they would wait for 10 seconds: for requests that nothing will answer."""
    with monkeypatch.context() as patch:
        for name in ("WRITE_TIMEOUT_S", "READ_TIMEOUT_S"):
            patch.setattr(storages, name, USUAL if STALL_S else SOON)
        yield


@asynccontextmanager
async def servers(postgres: PostgresServer) -> AsyncIterator[tuple[StallingProxy, InProcessServer, InProcessServer]]:
    """One server behind a proxy, and one beside it that reaches the database directly."""
    address = postgres.migrated()
    with StallingProxy(address) as proxy:
        behind, beside = InProcessServer(proxy.url), InProcessServer(address)
        beside.tokens = CountedTokens(1000)
        async with behind, beside:
            yield proxy, behind, beside
            proxy.flow()
    postgres.drop(address)


def numbers(code: str, *servers: InProcessServer) -> list[int]:
    """Return how many decisions each server knows of."""
    tables = [server.room(code).table for server in servers if code in server.service.registry.rooms]
    return [table.number for table in tables if table is not None]


def decided(server: InProcessServer, code: str) -> int:
    """Return how many decisions are stored."""
    stored = server.storage.room(code)
    assert stored is not None
    return sum('"seat"' in line for line in stored.lines)


async def ready(server: InProcessServer) -> None:
    """Wait until a server says that it is ready, as a load balancer does."""
    status = 0

    async def ask() -> None:
        nonlocal status
        while status != 200:
            status = (await Device(server).get("/readyz")).status

    asking = asyncio.ensure_future(ask())
    await until(asking.done)
    asking.result()


@pytest.mark.parametrize("asks", [True, False], ids=["silent both ways", "answers are lost"])
async def test_while_the_database_does_not_answer_nothing_is_said_that_is_not_so(
    postgres: PostgresServer, asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with servers(postgres) as (proxy, behind, beside):
        code, people = await table_for(behind, "positive-negative")
        seat = behind.room(code).to_act
        assert seat is not None
        theirs = [Device(beside, person.token) for person in people]
        watching = await theirs[1 - seat].connect(code)
        proxy.stall(asks=asks)
        silence = asyncio.ensure_future(pause(STALL_S))
        with impatience(monkeypatch):
            answer = await people[seat].decide(code, "keep", 0)
            got = await people[0].get("/healthz")
            ready_then = await people[0].get("/readyz")
            page = await people[0].get(f"/t/{code}")
            while not silence.done():
                refused = await people[seat].decide(code, "keep", 0)
                assert not refused["ok"]
                assert "The database does not answer" in refused["said"]
        assert not answer["ok"]
        # Whether it was sent depends on what else was being written.
        sent = "not known yet whether this was kept" in answer["said"]
        assert sent or "could not be kept, so it has not happened" in answer["said"]
        assert (got.status, got.text) == (200, "ok\n")
        assert ready_then.status == 503
        assert page.status == 503
        assert "The database does not answer just now. Nothing is lost" in page.text
        assert (await Device(beside).get("/readyz")).status == 200  # a server beside it is not affected
        elsewhere = await Device(beside).opens("prime-duel", "friend")
        assert beside.storage.room(elsewhere) is not None
        proxy.flow()
        await ready(behind)
        if not sent:
            assert decided(beside, code) == 0
        again = await people[seat].decide(code, "keep", 0)
        assert again["ok"], again
        await until(lambda: numbers(code, behind, beside) == [1, 1])
        assert decided(beside, code) == 1
        await until(lambda: len(watching.log) > 0)
        other = beside.room(code).to_act
        assert other is not None
        table = beside.room(code).table
        assert table is not None
        assert (await theirs[other].decide(code, table.view(other).decisions[0], 1))["ok"]
        await until(lambda: numbers(code, behind, beside) == [2, 2] or bool(behind.room(code).notices))
        assert (await people[0].page(code)).count("data-stage") == 1
        assert numbers(code, behind) == [2]
        await watching.leave()


async def test_a_change_that_is_written_after_all_is_shown_without_being_asked_for(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with servers(postgres) as (proxy, behind, _):
        code, people = await table_for(behind, "positive-negative")
        seat = behind.room(code).to_act
        assert seat is not None
        proxy.stall_commit_of(code)
        with impatience(monkeypatch):
            answer = await people[seat].decide(code, "keep", 0)
        assert "not known yet whether this was kept" in answer["said"]
        proxy.flow()
        await ready(behind)
        socket = await people[1 - seat].connect(code)
        await until(lambda: numbers(code, behind) == [1])
        assert (await people[seat].decide(code, "keep", 0))["ok"]
        await socket.leave()


@pytest.mark.parametrize("verb", ["decide", "resign", "rematch", "open"])
async def test_a_commit_whose_answer_was_lost_is_acknowledged_once_that_is_known(
    postgres: PostgresServer, verb: str
) -> None:
    """The connection breaks when the database has committed, and before it could say so."""
    async with servers(postgres) as (proxy, behind, beside):
        person = Device(behind)
        code = await person.opens("prime-duel", "steady", name="Ada")
        if verb == "rematch":
            assert (await person.do(code, "resign"))["ok"]
        await behind.settle()
        before, rooms = behind.storage.versions([code])[code], room_count(beside.storage)
        table = behind.room(code).table
        assert table is not None
        proxy.stall_commit_of("Zoe" if verb == "open" else code)
        if verb == "open":
            wanted = {"game": "prime-duel", "versus": "steady", "name": "Zoe"}
            asked = asyncio.ensure_future(person.post("/new", wanted, accept="application/json"))
        else:
            decisions = table.view(0).decisions
            fields = {"decision": decisions[0], "number": str(table.number)} if verb == "decide" else {}
            asked = asyncio.ensure_future(person.post(f"/t/{code}/{verb}", fields, accept="application/json"))
        await until(
            lambda: beside.storage.versions([code])[code] > before or room_count(beside.storage) > rooms,
            lambda: "nothing was committed",
        )
        proxy.cut()  # before anything flows: the answer is lost for good
        proxy.flow()
        got = (await asked).json
        assert got["ok"], got
        await behind.settle()
        assert room_count(beside.storage) == rooms + (verb in ("rematch", "open"))
