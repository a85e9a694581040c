"""Networks take turns: at the thinkers, at the reviewer, and at everything else that is asked for."""

from __future__ import annotations

import asyncio
import json
import sys
import time

import pytest

import piste
from piste.web.middleware.fair_queue import NETWORK, FairQueue
from piste.web.middleware.rate_limits import RATES, Limits, Rate
from piste.web.workers.worker_pool import BotWorkers, WorkerPool, WorkerTimeoutError
from tests.limits import PATIENCE_S
from tests.web.failing_storage import Held
from tests.web.in_process_server import Clock, Device, InProcessServer, table_for

OTHER = "198.51.100.9"
FOREVER = 3600.0


async def in_order(turns: FairQueue, asked: list[str]) -> list[str]:
    """Let networks ask for a place in this order, while somebody has all of them; return who got one when."""
    got: list[str] = []
    begun = asyncio.Event()

    async def work(network: str) -> None:
        async with turns.slot(network):
            got.append(network)
            await begun.wait()
            await asyncio.sleep(0)

    tasks = []
    for network in asked:
        tasks.append(asyncio.ensure_future(work(network)))
        await asyncio.sleep(0)
    begun.set()
    await asyncio.gather(*tasks)
    return got


async def test_who_asks_for_much_does_not_keep_others_waiting() -> None:
    assert await in_order(FairQueue(1), ["a"] * 60 + ["b", "c", "b"]) == ["a", "a", "b", "c", "a", "b"] + ["a"] * 57


async def test_no_network_has_every_place() -> None:
    turns = FairQueue(3)
    tasks = [asyncio.ensure_future(in_order(turns, ["a"] * 9))]
    for _ in range(30):
        await asyncio.sleep(0)
        assert turns._held["a"] <= 2
    async with asyncio.timeout(PATIENCE_S), turns.slot("b"):
        pass
    await asyncio.gather(*tasks)


async def test_who_gives_up_waiting_leaves_nothing_behind() -> None:
    turns = FairQueue(1)
    async with turns.slot("a"):
        waiting = [asyncio.ensure_future(in_order(turns, ["b"])) for _ in range(3)]
        for _ in range(5):
            await asyncio.sleep(0)
        assert turns.others_wait("a")
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for _ in range(5):
            await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE_S), turns.slot("c"):
        assert turns.locked


async def test_quick_bots_do_not_wait_behind_those_that_search() -> None:
    bot_workers = BotWorkers(1, 10)
    endless = [asyncio.ensure_future(bot_workers._run(bot_workers._decisions, time.sleep, FOREVER)) for _ in range(3)]
    try:
        view = piste.open_table("prime-duel", seed="x").view(0)
        async with asyncio.timeout(PATIENCE_S):
            for level in ("random", "novice", "steady"):
                assert await bot_workers.choose("prime-duel", level, view, "seed", "stream") in view.actions
        assert not any(task.done() for task in endless)
    finally:
        bot_workers.close()
        await asyncio.gather(*endless, return_exceptions=True)


async def test_another_networks_thought_or_review_comes_next() -> None:
    bot_workers = BotWorkers(1, 50)
    done: list[str] = []

    async def asks(network: str, pool: WorkerPool) -> None:
        NETWORK.set(network)
        await bot_workers._run(pool, time.sleep, 0)
        done.append(network)

    try:
        for pool in (bot_workers._decisions, bot_workers._reviews):
            done.clear()
            tasks = [asyncio.ensure_future(asks("many", pool)) for _ in range(20)]
            await asyncio.sleep(0)
            tasks.append(asyncio.ensure_future(asks("one", pool)))
            await asyncio.gather(*tasks)
            assert done.index("one") <= 2
    finally:
        bot_workers.close()


async def test_what_takes_more_than_its_share_ends_when_somebody_else_waits() -> None:
    bot_workers = BotWorkers(1, 10)
    bot_workers._decisions.share_s, bot_workers._decisions.timeout_s = 0.0, FOREVER

    async def asks(network: str, seconds: float) -> None:
        NETWORK.set(network)
        await bot_workers._run(bot_workers._decisions, time.sleep, seconds)

    try:
        endless = asyncio.ensure_future(asks("many", FOREVER))
        while not bot_workers._decisions.queue.locked:
            await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE_S):
            await asks("one", 0)
        with pytest.raises(WorkerTimeoutError):
            await endless
    finally:
        bot_workers.close()


def takes(size: int) -> int:
    return len(bytearray(size))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux holds a process to this")
async def test_a_worker_takes_no_more_memory_than_it_may() -> None:
    bot_workers = BotWorkers(1, 10)
    try:
        assert await bot_workers._run(bot_workers._decisions, takes, 1 << 20) == 1 << 20
        with pytest.raises(WorkerTimeoutError, match="memory"):
            await bot_workers._run(bot_workers._decisions, takes, 8 << 30)
        assert await bot_workers._run(bot_workers._decisions, takes, 1 << 20) == 1 << 20
    finally:
        bot_workers.close()


# Requests and messages


async def test_somebody_elses_message_comes_between_those_that_were_sent_at_once(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    mine, theirs = await people[0].connect(code), await people[1].connect(code)
    before = len(theirs.sent)
    for at in range(30):
        theirs.put(json.dumps({"id": f"z{at}", "do": "ping"}))
    mine.put(json.dumps({"id": "mine", "do": "ping"}))
    heard = len(mine.sent)
    async with asyncio.timeout(PATIENCE_S):
        while len(mine.sent) == heard:
            await asyncio.sleep(0)
    assert len(theirs.sent) - before < 30
    await mine.leave()
    await theirs.leave()


async def test_a_network_is_worked_for_a_few_times_at_once_and_others_beside_it(house: InProcessServer) -> None:
    house.limits = Limits(Clock())
    await house.restart()
    tables = [await table_for(house, "prime-duel") for _ in range(8)]
    other = Device(house, house.tokens.token(), OTHER)
    with Held(house) as held:
        asking = [asyncio.ensure_future(people[0].do(code, "resign")) for code, people in tables]
        while held.begun < 4:
            await asyncio.sleep(0)
        for _ in range(200):
            await asyncio.sleep(0)
        assert held.begun == 4
        opening = asyncio.ensure_future(other.post("/new", {"game": "prime-duel", "versus": "friend"}))
        while held.begun < 5:
            assert not opening.done()
            await asyncio.sleep(0)
    await asyncio.gather(*asking, opening)


async def test_tables_are_counted_by_whatever_way_they_are_asked_for(house: InProcessServer) -> None:
    house.limits = Limits(Clock(), {**RATES, "rooms": Rate(2, 0.1)})
    await house.restart()
    code, people = await table_for(house, "prime-duel")
    await people[0].do(code, "resign")
    socket = await people[0].connect(code)
    assert (await socket.ask("rematch"))["ok"]
    following = house.room(code).successor
    assert following is not None
    assert (await socket.ask("rematch"))["ok"]  # the same one
    await people[1].get(f"/t/{following}")
    await people[1].do(following, "resign")
    line = await people[0].connect(following)
    refused = await line.ask("rematch")
    assert not refused["ok"]
    assert "opened many tables" in refused["said"]
    assert (await people[0].do(following, "rematch"))["status"] == 429
    assert (await people[0].post("/new", {"game": "prime-duel"})).status == 429
    assert (await people[0].post("/new", {"game": "prime-duel"})).header("retry-after") == "10"
    assert not house.room(following).successor
    assert (await Device(house, house.tokens.token(), OTHER).post("/new", {"game": "prime-duel"})).status == 303
    for one in (socket, line):
        await one.leave()


async def test_answers_that_cannot_be_read_ask_the_game_once(
    house: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _ = await table_for(house, "mccoy-duel")
    words = house.room(code).game.text
    asked, right = [], words.ask

    def ask(*given: object) -> object:
        asked.append(given)
        return right(*given)  # type: ignore[arg-type]

    table = house.room(code).table
    assert table is not None
    assert table.to_act is not None
    fields = {"number": str(table.number)}
    monkeypatch.setattr(words, "ask", ask)
    for at in range(50):
        with pytest.raises(piste.core.errors.PisteError, match="no answer here"):
            house.room(code).decide(table.to_act, f"zz{at}qq", int(fields["number"]))
    assert len(asked) == 1
