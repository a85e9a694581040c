"""Bots in processes of their own: they answer, are replaced when they die, end with the server, and know no seed."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import piste
from piste import bots
from piste.analysis.coach.timeline import Timeline
from piste.core.dealer import Commitment, Dealer
from piste.core.errors import PisteError
from piste.core.evaluation import Evaluation, Progress
from piste.core.game import find
from piste.core.replay import new_head
from piste.core.views import SeatView
from piste.web.workers.worker_pool import (
    BotWorkers,
    PreparationTimeoutError,
    WorkersBusyError,
    WorkerTimeoutError,
    _review,
    seed_of_bots,
)
from tests.analysis.coach.review_cases import record_of
from tests.game_setups import Kind, played
from tests.limits import PATIENCE_S
from tests.web.in_process_server import SALT, SEED, Device, InProcessServer, finish

FOREVER = 3600


@asynccontextmanager
async def bot_workers(thinkers: int = 1, most: int = 10) -> AsyncIterator[BotWorkers]:
    made = BotWorkers(thinkers, most)
    try:
        yield made
    finally:
        made.close()


def dies_once(mark: str) -> int:
    """What a worker is given that is killed in the middle of its first thought."""
    path = Path(mark)
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


async def test_a_bot_answers_from_a_worker_as_it_would_here() -> None:
    view = piste.open_table("prime-duel", seed="x").view(0)
    bot = bots.find("novice", find("prime-duel"))
    async with bot_workers() as made:
        chosen = await made.choose("prime-duel", "novice", view, "seed", "stream")
        assert chosen == bot.choose(view, Dealer("seed").stream("stream"))
        assert await made._run(made._decisions, os.getpid) != os.getpid()


async def test_a_worker_that_is_killed_in_mid_thought_is_replaced(tmp_path: Path) -> None:
    async with bot_workers() as made:
        others = [asyncio.ensure_future(made._run(made._decisions, os.getpid)) for _ in range(3)]
        assert await made._run(made._decisions, dies_once, str(tmp_path / "died")) != os.getpid()
        assert all(os.getpid() != pid for pid in await asyncio.gather(*others))


async def test_who_waits_behind_a_thought_that_is_given_up_is_answered_all_the_same() -> None:
    async with bot_workers() as made:
        made._decisions.timeout_s = 0.0
        endless = asyncio.ensure_future(made._run(made._decisions, time.sleep, FOREVER))
        waiting = [asyncio.ensure_future(made._run(made._decisions, os.getpid)) for _ in range(5)]
        while not made._decisions.queue.locked:
            await asyncio.sleep(0)
        made._decisions.timeout_s = PATIENCE_S
        with pytest.raises(WorkerTimeoutError):
            await endless
        assert os.getpid() not in await asyncio.gather(*waiting)


async def test_only_the_worker_that_took_too_long_is_ended() -> None:
    async with bot_workers(thinkers=2) as made:
        async with made._decisions.worker() as other:
            before = await asyncio.wrap_future(other.submit(os.getpid))
            made._decisions.timeout_s = 0.0
            with pytest.raises(WorkerTimeoutError):
                await made._run(made._decisions, time.sleep, FOREVER)
        assert await asyncio.wrap_future(other.submit(os.getpid)) == before


def prepares(mark: str, _level: str, _options: object, progress: Progress) -> None:
    """What a worker is given in place of what bots need."""
    if Path(mark).exists():
        return  # it is in the cache
    Path(mark).touch()
    for done in range(4):
        progress(done, 4, f"step {done}")


async def test_what_many_wait_for_is_prepared_once_and_told_to_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("piste.bots.tasks.prepare", prepares)
    monkeypatch.setattr("piste.web.workers.worker_pool.find", lambda _: find("prime-duel"))
    told: list[list[int]] = [[], [], []]
    async with bot_workers() as made:
        need = (str(tmp_path / "mark"), "perfect", find("prime-duel").options())
        await asyncio.gather(*(made.prepare(*need, lambda n, *_, to=to: to.append(n)) for to in told))
        await made.prepare(*need)
    assert told == [[0, 0, 1, 2, 3]] * 3


async def test_preparing_does_not_count_against_the_time_of_a_decision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("piste.bots.tasks.prepare", prepares)
    monkeypatch.setattr("piste.web.workers.worker_pool.find", lambda _: find("prime-duel"))
    told: list[str] = []
    async with bot_workers() as made:
        made._decisions.timeout_s = 0.0
        need = (str(tmp_path / "mark"), "perfect", find("prime-duel").options())
        with pytest.raises(WorkerTimeoutError) as tired:
            await made._run(
                made._decisions, time.sleep, FOREVER, need=need, progress=lambda *how: told.append(how[2])
            )
        assert not isinstance(tired.value, PreparationTimeoutError)
        assert told == ["", "step 0", "step 1", "step 2", "step 3", ""]
        monkeypatch.setattr("piste.web.workers.worker_pool.PREPARE_TIMEOUT_S", 0.0)
        with pytest.raises(PreparationTimeoutError):
            await made._run(made._decisions, os.getpid, need=(*need[:2], need[2]._replace(turns=9)))


async def test_a_review_goes_on_from_the_evaluations_that_it_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("piste.web.workers.worker_pool.REVIEW_UPDATE_INTERVAL_S", 0.0)
    text = record_of(played(Kind("zero-sum-grid", {"turns": 8}), "a review")).text
    reported: list[tuple[Any, ...]] = []
    whole = _review(text, {}, lambda *step: reported.append(step))
    updates = [step for step in reported if len(step) > 3]
    news = [node for *_, new in updates for node in new]
    assert len(news) == len(set(news)) > 8  # each once
    half: dict[Any, Any] = {}
    for *_, new in updates[:4]:
        half |= new
    evaluated: list[tuple[int, int]] = []
    compute = Timeline._compute

    def counting(self: Timeline, at: int, seat: int) -> Evaluation:
        evaluated.append((at, seat))
        return compute(self, at, seat)

    monkeypatch.setattr(Timeline, "_compute", counting)
    again = _review(text, dict(half), lambda *_: None)
    timeless = [{**json.loads(text), "time": 0, "cpu": 0} for text in (whole, again)]
    assert timeless[0] == timeless[1]
    assert set(news) - set(evaluated) == set(half) < set(news)


def read(pipe: Path) -> str:
    """What a worker is given that waits until somebody writes."""
    return pipe.read_text()


async def test_a_thought_that_nobody_waits_for_any_more_has_its_worker_until_it_is_done(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    async with bot_workers() as made:
        asked = asyncio.ensure_future(made._run(made._decisions, read, pipe))
        while not made._decisions.queue.locked:
            await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait({asked})
        following = asyncio.ensure_future(made._run(made._decisions, os.getpid))
        for _ in range(10):
            await asyncio.sleep(0)
        assert made._decisions.queue.locked
        assert made._decisions.queue.count("") == 2
        await asyncio.to_thread(pipe.write_text, "go on")
        assert await following != os.getpid()
        assert not made._decisions.queue.locked


async def test_a_thought_that_takes_too_long_is_given_up_with_a_sentence() -> None:
    async with bot_workers() as made:
        made._decisions.timeout_s = 0.0
        with pytest.raises(PisteError, match="took too long"):
            await made._run(made._decisions, time.sleep, FOREVER)
        made._decisions.timeout_s = PATIENCE_S
        assert await made._run(made._decisions, os.getpid) != os.getpid()


async def test_too_many_thoughts_are_refused_and_reviews_do_not_count_among_them() -> None:
    async with bot_workers(most=1) as made:
        endless = asyncio.ensure_future(made._run(made._reviews, time.sleep, FOREVER))
        while not made._reviews.queue.count(""):
            await asyncio.sleep(0)
        with pytest.raises(WorkersBusyError, match="busy"):
            await made._run(made._reviews, os.getpid)
        assert await made._run(made._decisions, os.getpid) != os.getpid()
        endless.cancel()
        await asyncio.wait({endless})


async def test_nothing_is_begun_once_the_minds_are_closed() -> None:
    async with bot_workers() as made:
        endless = asyncio.ensure_future(made._run(made._decisions, time.sleep, FOREVER))
        await asyncio.sleep(0)
        made.close()
        with pytest.raises(PisteError):
            await endless
        with pytest.raises(PisteError, match="stops"):
            await made._run(made._decisions, os.getpid)


SERVER = """
import asyncio, os, time
from piste.web.workers.worker_pool import BotWorkers

async def main():
    bot_workers = BotWorkers(1, 10)
    for pool in (bot_workers._decisions, bot_workers._reviews):
        print(await bot_workers._run(pool, os.getpid), end=" ", flush=True)
    print(flush=True)
    await bot_workers._run(bot_workers._decisions, time.sleep, 3600)

if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs a system that can wait for any process")
def test_workers_end_when_their_server_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        workers = [os.pidfd_open(int(pid)) for pid in server.stdout.readline().split()]
        assert len(workers) == 2
        server.kill()
        for worker in workers:
            assert select.select([worker], [], [], 60)[0], "a worker goes on without its server"
            os.close(worker)


async def test_whoever_thinks_is_given_neither_seed_nor_salt(house: InProcessServer) -> None:
    given: list[bytes] = []

    async def choose(game: str, level: str, view: SeatView) -> int:
        given.append(pickle.dumps((game, level, view)))
        return view.actions[0]

    house.bot_workers.choosing = choose
    person = Device(house)
    code = await person.opens("mccoy-duel", "steady")
    await finish(house, code, [person])
    promise = Commitment.to(SEED, SALT)
    assert given
    for secret in (SEED, promise.salt):
        assert not any(secret.encode() in what for what in given)
        assert secret not in repr(house.bot_workers.asked)
    head = new_head("prime-duel", {}, seed=SEED)
    assert seed_of_bots(head) != seed_of_bots(head._replace(seed="another"))
    assert SEED not in seed_of_bots(head)
