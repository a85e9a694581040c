"""Slow decisions, hints and reviews as jobs of a queue: done once, by any process, whoever dies meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psycopg
import pytest
from sqlalchemy import Connection

from piste.core.errors import PisteError
from piste.core.evaluation import Chances, Choice, Evaluation
from piste.web.storage import jobs
from piste.web.storage.jobs import DECISION, REVIEW, PutJob, QueueFullError
from piste.web.storage.schema import PartialReviewRow
from piste.web.storage.storage import Storage
from piste.web.tables.bot_tasks import BotTask
from piste.web.workers import job_consumer
from piste.web.workers.job_consumer import MAX_ATTEMPTS, JobConsumer
from piste.web.workers.worker_pool import BotWorkers, WorkerFailureError, WorkerTimeoutError
from tests.limits import PATIENCE_S, until
from tests.postgres_server import PostgresServer
from tests.web.in_process_server import Device, InProcessServer, one_decision, record
from tests.web.job_processes import process, thinking

GAME = "positive-negative"  # its players take turns, one decision each


@asynccontextmanager
async def server_alone(address: str) -> AsyncIterator[InProcessServer]:
    """A server that only puts jobs into the queue."""
    async with InProcessServer(address, thinkers=0) as server:
        yield server


async def against(server: InProcessServer, level: str, game: str = GAME) -> tuple[str, Device]:
    person = Device(server, server.tokens.token())
    return await person.opens(game, versus=level, name="Ann"), person


def number(server: InProcessServer, code: str) -> int:
    table = server.room(code).table
    assert table is not None
    return table.number


async def play_once(server: InProcessServer, code: str, person: Device) -> None:
    """Let the person decide; it is their turn."""
    await one_decision(server, code, [person, person])


def waiting(server: InProcessServer) -> dict[tuple[str, str], int]:
    return {(count.kind, count.state): count.jobs for count in server.jobs()}


def rows(address: str, table: str) -> int:
    with psycopg.connect(address) as connection:
        found = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        assert found is not None
        return int(found[0])


# One process that takes jobs


@pytest.mark.parametrize("part", ["_run", "_take"])
async def test_a_server_ends_although_a_library_loses_its_first_cancellation(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    began, lost = asyncio.Event(), 0

    async def loses_one(_consumer: JobConsumer, *_: object) -> None:
        nonlocal lost
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            lost += 1
        await asyncio.Event().wait()

    monkeypatch.setattr(JobConsumer, part, loses_one)
    monkeypatch.setattr(job_consumer, "CANCEL_INTERVAL_S", 0.01)
    async with InProcessServer(postgres.database()):
        await asyncio.wait_for(began.wait(), PATIENCE_S)
    assert lost >= 1


async def test_bots_that_answer_at_once_make_no_job(postgres: PostgresServer) -> None:
    async with server_alone(postgres.database()) as server:
        for level in ("random", "novice", "steady"):
            code, person = await against(server, level)
            await play_once(server, code, person)
            await until(lambda code=code: server.room(code).to_act == 0 and number(server, code) == 2)  # type: ignore[misc]
        assert not server.jobs()


async def test_a_question_is_queued_once_however_often_it_is_asked(postgres: PostgresServer) -> None:
    address = postgres.database()
    async with server_alone(address) as first, InProcessServer(address, thinkers=0) as second:
        code, person = await against(first, "perfect")
        await play_once(first, code, person)
        await first.settle()
        assert waiting(first) == {(DECISION, "waiting"): 1}
        async with second.service.room(code):
            pass
        await asyncio.gather(*(server.service.bot_runner.play_on(code) for server in (first, second) * 5))
        assert waiting(first) == {(DECISION, "waiting"): 1}
        with psycopg.connect(address) as connection:
            found = connection.execute("SELECT args, lock, queueing_lock FROM procrastinate_jobs").fetchone()
        assert found is not None
        args, lock, queueing_lock = found
        assert set(args) == {"room", "number", "seat", "level", "network"}
        assert (args["room"], args["number"], args["seat"], args["level"]) == (code, 1, 1, "perfect")
        assert args["network"].startswith("#")
        assert "192.0.2" not in args["network"]
        assert lock == queueing_lock


async def test_a_job_whose_question_has_been_answered_does_nothing(postgres: PostgresServer) -> None:
    address = postgres.database()
    async with server_alone(address) as server:
        code, person = await against(server, "perfect")
        await play_once(server, code, person)
        await server.settle()
        server.room(code).resign(0)
        async with server.service.room(code) as room:
            await server.service.registry.save(room)
        async with InProcessServer(address) as worker:
            await until(lambda: not server.jobs())
            assert worker.bot_workers.asked == []
        stored = server.storage.room(code)
        assert stored is not None
        assert sum('"seat"' in line for line in stored.lines) == 2


async def test_a_game_against_a_strong_bot_is_the_same_through_jobs_and_in_the_pool(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    records = []
    for db in (postgres.database(), tmp_path / "tables.db"):
        async with InProcessServer(db) as server:
            code, person = await against(server, "perfect")
            while not server.room(code).over:
                if server.room(code).to_act == 0:
                    await play_once(server, code, person)
                await server.settle()
            asked = {call[2:] for call in server.bot_workers.asked}
            records.append((record(server, code), asked))
    assert records[0] == records[1]


async def test_a_bot_that_takes_too_long_is_replaced_wherever_it_thinks(postgres: PostgresServer) -> None:
    address = postgres.database()
    async with server_alone(address) as server, InProcessServer(address) as worker:

        async def slow(_game: str, level: str, view: Any) -> int:
            if level == "perfect":
                raise WorkerTimeoutError("A bot took too long and was stopped.")
            return int(view.actions[0])

        worker.bot_workers.choosing = slow
        code, person = await against(server, "perfect")
        line = await person.connect(code)
        await play_once(server, code, person)
        await until(lambda: server.room(code).seats[1].bot == "steady" and number(server, code) >= 2)
        assert "took too long to decide" in await person.page(code)
        await line.leave()


async def test_why_a_bot_cannot_decide_is_shown_at_every_server(postgres: PostgresServer) -> None:
    address = postgres.database()
    async with server_alone(address) as server, InProcessServer(address) as worker:
        asked = 0

        async def broken(_game: str, _level: str, view: Any) -> int:
            nonlocal asked
            asked += 1
            if asked == 1:
                raise WorkerFailureError("A bot failed at this.")
            return int(view.actions[0])

        worker.bot_workers.choosing = broken
        code, person = await against(server, "perfect")
        line = await person.connect(code)
        await play_once(server, code, person)
        await until(lambda: server.room(code).stuck == "A bot failed at this." and not server.jobs())
        await person.page(code)  # who arrives lets it try again
        await until(lambda: number(server, code) == 2)
        await line.leave()


async def test_how_far_a_bot_is_prepared_is_shown_at_every_server(postgres: PostgresServer) -> None:
    address = postgres.database()
    async with server_alone(address) as server, InProcessServer(address) as worker:
        worker.bot_workers.steps = ((30, 100, "tables"),)
        go_on = asyncio.Event()

        async def wait(_game: str, _level: str, view: Any) -> int:
            await go_on.wait()
            return int(view.actions[0])

        worker.bot_workers.choosing = wait
        code, person = await against(server, "perfect")
        line = await person.connect(code)
        await play_once(server, code, person)
        await until(lambda: server.room(code).preparing == 30)
        assert "Preparing: 30 %" in await person.page(code)
        assert waiting(server) == {(DECISION, "running"): 1}
        go_on.set()
        await until(lambda: number(server, code) == 2)
        assert server.room(code).preparing is None
        await line.leave()


# Hints and reviews


async def test_a_hint_comes_from_a_worker_with_the_words_of_the_server(postgres: PostgresServer) -> None:
    address = postgres.database()
    async with server_alone(address) as server, InProcessServer(address):
        code, person = await against(server, "perfect")
        said = (await person.do(code, "hint"))["said"]
        assert said.startswith("The strongest bot here, ")
        assert "The strongest bot here, " in await person.page(code)
        assert (await person.do(code, "hint"))["said"] == said
        await until(lambda: not server.jobs())
        stored = server.storage.room(code)
        assert stored is not None
        assert sum("hint" in line for line in stored.lines[1:]) == 1


async def test_why_there_is_no_hint_is_told_to_who_asked_and_asking_again_may_help(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres.database()
    async with server_alone(address) as server, InProcessServer(address) as worker:
        hint = worker.bot_workers.hint

        async def fails(*_args: Any, **_more: Any) -> tuple[str, int]:
            raise WorkerTimeoutError("A bot took too long and was stopped.")

        monkeypatch.setattr(worker.bot_workers, "hint", fails)
        code, person = await against(server, "perfect")
        answer = await person.do(code, "hint")
        assert (answer["ok"], answer["said"]) == (False, "A bot took too long and was stopped.")
        assert "There is no hint: A bot took too long and was stopped." in await person.page(code)
        monkeypatch.setattr(worker.bot_workers, "hint", hint)
        assert (await person.do(code, "hint"))["ok"]


async def finished_game(server: InProcessServer) -> tuple[str, Device]:
    code, person = await against(server, "steady")
    while not server.room(code).over:
        if server.room(code).to_act == 0:
            await play_once(server, code, person)
        await until(lambda: server.room(code).to_act in (0, None))
    return code, person


EVALUATION = Evaluation(
    0, Chances(0.5, 0.25, 0.25), (Choice(3, Chances(0.5, 0.0, 0.5), 1.0, "3"),), "exact", 0.0, "So."
)


async def test_a_review_is_made_by_a_worker_and_shown_on_the_way(postgres: PostgresServer) -> None:
    address = postgres.database()
    async with server_alone(address) as server, InProcessServer(address) as worker:
        go_on, shown = asyncio.Event(), json.dumps({"decisions": [], "chances": []})

        async def reviewing(progress: Any) -> None:
            worker.clock.now += 60  # it is stored every few seconds
            progress(3, 4, "step", shown, {(1, 0): EVALUATION})
            await go_on.wait()

        worker.bot_workers.reviewing = reviewing
        code, person = await finished_game(server)
        answer = await person.get(f"/t/{code}/review")
        assert answer.status == 202
        await until(lambda: server.storage.partial_review(code) is not None)
        answer = await person.get(f"/t/{code}/review")
        assert (answer.status, answer.json["done"]) == (202, 0.75)
        assert waiting(server) == {(REVIEW, "running"): 1}
        go_on.set()
        await until(lambda: server.storage.review(code) is not None)
        answer = await person.get(f"/t/{code}/review")
        assert (answer.status, answer.json["certainty"]) == (200, "Nothing is known.")
        assert server.storage.partial_review(code) is None


async def test_a_review_that_was_stopped_goes_on_in_another_process(postgres: PostgresServer) -> None:
    address = postgres.database()
    async with server_alone(address) as server:
        shown = json.dumps({"decisions": [], "chances": []})

        async def stops(progress: Any) -> None:
            progress(3, 4, "step", shown, {(1, 0): EVALUATION})
            raise WorkerTimeoutError("The coach took too long and was stopped.")

        code, person = await finished_game(server)
        async with InProcessServer(address) as worker:
            worker.bot_workers.reviewing = stops
            await person.get(f"/t/{code}/review")
            await until(lambda: (server.storage.partial_review(code) or PartialReviewRow(code)).failed != "")
        answer = await person.get(f"/t/{code}/review")
        assert (answer.status, answer.json["resumable"]) == (200, True)
        async with InProcessServer(address) as other:
            gone_on: list[Any] = []
            review = other.bot_workers.review

            async def notes(record: str, evaluations: Any, progress: Any) -> str:
                gone_on.append(evaluations)
                return await review(record, evaluations, progress)

            other.bot_workers.review = notes  # type: ignore[method-assign]
            assert (await person.post(f"/t/{code}/review")).status == 303
            await until(lambda: server.storage.review(code) is not None)
        assert gone_on == [{(1, 0): EVALUATION}]


# Processes that die


async def test_a_worker_that_is_killed_in_the_middle_of_a_thought_is_replaced_by_another(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    address = postgres.database()
    (tmp_path / "hang").touch()
    async with server_alone(address) as server:
        code, person = await against(server, "perfect")
        line = await person.connect(code)
        with process("worker", address, tmp_path) as first:
            await play_once(server, code, person)
            await until(lambda: thinking(tmp_path) == [first.pid])
            first.kill()
            await asyncio.to_thread(first.wait)
        assert number(server, code) == 1
        (tmp_path / "hang").unlink()
        with process("worker", address, tmp_path) as second:
            await until(lambda: number(server, code) == 2)
            await until(lambda: not server.jobs())
            second.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(second.wait) == 0
        assert rows(address, "procrastinate_workers") == 0
        await line.leave()


async def test_a_worker_that_is_told_to_end_gives_back_what_it_cannot_finish(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    address = postgres.database()
    (tmp_path / "hang").touch()
    async with server_alone(address) as server:
        code, person = await against(server, "perfect")
        line = await person.connect(code)
        with process("worker", address, tmp_path) as first:
            await play_once(server, code, person)
            await until(lambda: thinking(tmp_path) == [first.pid])
            first.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(first.wait) == 0
        assert waiting(server) == {(DECISION, "waiting"): 1}
        (tmp_path / "hang").unlink()
        with process("worker", address, tmp_path):
            await until(lambda: number(server, code) == 2)
        await line.leave()


async def test_a_thought_that_kills_every_worker_is_given_up(postgres: PostgresServer, tmp_path: Path) -> None:
    address = postgres.database()
    (tmp_path / "die").touch()
    async with server_alone(address) as server:
        code, person = await against(server, "perfect")
        line = await person.connect(code)
        await play_once(server, code, person)
        for _ in range(MAX_ATTEMPTS):
            with process("worker", address, tmp_path) as worker:
                assert await asyncio.to_thread(worker.wait) == -signal.SIGKILL
        with process("worker", address, tmp_path):
            await until(lambda: server.room(code).seats[1].bot == "steady")
            await until(lambda: [count for count in server.storage.jobs()[0] if count.state == "failed"] != [])
        server.service.metrics.note_jobs(*server.storage.jobs())
        assert 'piste_jobs{kind="decision",state="failed"} 1.0' in server.service.metrics.text().decode()
        await line.leave()


async def test_a_server_that_is_killed_while_a_worker_thinks_finds_the_decision_taken(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    address = postgres.database()
    (tmp_path / "hang").touch()
    with process("worker", address, tmp_path), process("server", address, tmp_path) as server:
        where = str(server.address)  # type: ignore[attr-defined]
        async with httpx.AsyncClient(
            base_url=where, headers={"origin": where}, trust_env=False, timeout=PATIENCE_S
        ) as client:
            made = await client.post("/new", data={"game": GAME, "versus": "perfect", "name": "Ann"})
            code = made.headers["location"].rpartition("/")[2]
            with Storage(address) as storage:
                first = await client.get(f"/t/{code}")
                assert first.status_code == 200
                async with InProcessServer(address, thinkers=0) as other:
                    async with other.service.room(code) as room:
                        assert room.table is not None
                        decision = room.table.view(0).decisions[0] if room.to_act == 0 else ""
                    if decision:
                        data = {"decision": decision, "number": "0"}
                        assert (await client.post(f"/t/{code}/decide", data=data)).status_code == 303
                await until(lambda: thinking(tmp_path) != [])
                server.kill()
                await asyncio.to_thread(server.wait)
                (tmp_path / "hang").unlink()
                taken = 2 if decision else 1
                await until(lambda: _decisions(storage, code) == taken)


def _decisions(storage: Storage, code: str) -> int:
    stored = storage.room(code)
    assert stored is not None
    return sum('"seat"' in line for line in stored.lines)


# The command


def piste(*args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "piste", *args], capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        env={**{key: value for key, value in os.environ.items() if key != "PISTE_DB"}, **environ},
    )  # fmt: skip


def test_a_worker_without_a_shared_database_is_refused_with_what_to_do(tmp_path: Path) -> None:
    for args in ((), ("--db", str(tmp_path / "tables.db"))):
        done = piste("worker", *args)
        assert done.returncode == 2
        assert "needs --db with the address of the PostgreSQL" in done.stderr
    done = piste("worker", "--bot-workers", "none", PISTE_DB="postgresql://piste@127.0.0.1:1/piste")
    assert "bot-workers" in done.stderr
    done = piste("worker", PISTE_DB="postgresql://piste@127.0.0.1:1/piste")
    assert done.returncode == 1
    assert "cannot be opened" in done.stderr


async def three_turns(server: InProcessServer) -> tuple[Any, ...]:
    """Play three turns against a real bot, and return what was decided and dealt."""
    server.bot_workers = BotWorkers(server.settings.thinkers, 50)  # type: ignore[assignment]
    async with server:
        code, person = await against(server, "strong")
        line = await person.connect(code)
        for _ in range(3):
            await until(lambda: server.room(code).to_act in (0, None))
            await one_decision(server, code, [person, person])
        await until(lambda: server.room(code).to_act in (0, None))
        table = server.room(code).table
        assert table is not None
        await line.leave()
        return table.history()


async def test_a_real_bot_decides_in_a_real_worker_as_it_does_in_the_pool(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    """The whole way: `piste worker` in a process of its own, whose bot workers are processes, too."""
    address = postgres.database()
    worker = subprocess.Popen(
        [sys.executable, "-m", "piste", "worker", "--db", address, "--bot-workers", "1", "--no-prepare"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        through_jobs = await three_turns(InProcessServer(address, thinkers=0))
        worker.send_signal(signal.SIGTERM)
        out, err = await asyncio.to_thread(worker.communicate)
    finally:
        worker.kill()
        worker.wait()
    assert worker.returncode == 0, err
    assert "Stopped." in out
    assert [json.loads(line)["event"] for line in err.splitlines()] == ["working", "stopped"]
    assert through_jobs == await three_turns(InProcessServer(tmp_path / "tables.db"))


# The queue itself


def put_job(storage: Storage, room: str, network: str, most: int = 50) -> None:
    thought = BotTask(DECISION, room, 1, 1, "perfect")
    ids = {key: value for key, value in thought._asdict().items() if key != "kind"}
    storage.write(PutJob(DECISION, thought.lock, ids, network, most)).result(PATIENCE_S)


def test_networks_take_turns_in_the_queue_and_none_may_fill_it(postgres: PostgresServer) -> None:
    address = postgres.database()
    with Storage(address) as storage:
        for room in range(3):
            put_job(storage, f"a{room}", "#a")
        put_job(storage, "b0", "#b")
        with pytest.raises(QueueFullError):
            put_job(storage, "a3", "#a", most=3)
        put_job(storage, "a1", "#a", most=3)  # that is there already
    with psycopg.connect(address) as connection:
        taken = []
        while True:
            found = connection.execute("SELECT args FROM procrastinate_fetch_job_v2(NULL, NULL)").fetchone()
            if found is None or found[0] is None:
                break
            taken.append(found[0]["room"])
    assert taken == ["a0", "b0", "a1", "a2"]


async def test_the_tables_of_the_queue_are_made_once_by_processes_that_start_together(
    postgres: PostgresServer,
) -> None:
    address = postgres.database()

    def start() -> str:
        try:
            with Storage(address):
                return ""
        except PisteError as e:
            return str(e)

    assert await asyncio.gather(*(asyncio.to_thread(start) for _ in range(4))) == [""] * 4
    assert rows(address, "procrastinate_jobs") == 0


def test_steps_of_a_newer_queue_are_taken_when_they_may_be(postgres: PostgresServer, tmp_path: Path) -> None:
    for name in ("03.04.00_01_post_old", "90.00.00_01_pre_new", "90.00.00_50_post_new"):
        (tmp_path / f"{name}.sql").write_text(f"CREATE TABLE step_{name[-8:]} (at int)")

    def tables(connection: Connection) -> set[str]:
        found = connection.exec_driver_sql("SELECT relname FROM pg_class WHERE relname LIKE 'step_%%'")
        return {name for (name,) in found}

    with Storage(postgres.database()) as storage:
        for _ in range(2):  # the second time there is nothing to do
            with storage._writer.begin() as connection:
                jobs.upgrade(connection, tmp_path)
                assert tables(connection) == {"step__pre_new"}
        (tmp_path / "91.00.00_01_pre_more.sql").write_text("CREATE TABLE step_pre_more (at int)")
        with storage._writer.begin() as connection:
            jobs.upgrade(connection, tmp_path)
            assert tables(connection) == {"step__pre_new", "step_post_new", "step_pre_more"}


async def test_after_fifty_games_the_queue_is_empty_and_its_tables_are_small(postgres: PostgresServer) -> None:
    address = postgres.database()
    async with InProcessServer(address) as server:

        async def one_game() -> None:
            code, person = await against(server, "perfect")
            line = await person.connect(code)
            while not server.room(code).over:
                if server.room(code).to_act == 0:
                    await play_once(server, code, person)
                await until(lambda: server.room(code).to_act in (0, None))
            await line.leave()

        for _ in range(5):
            await asyncio.gather(*(one_game() for _ in range(10)))
        await until(lambda: not server.jobs())
        thoughts = len(server.bot_workers.asked)
    assert thoughts >= 50
    assert rows(address, "procrastinate_jobs") == rows(address, "procrastinate_events") == 0
    assert rows(address, "procrastinate_workers") == rows(address, "procrastinate_periodic_defers") == 0


async def test_metrics_tell_what_waits_and_what_runs(postgres: PostgresServer) -> None:
    async with InProcessServer(postgres.database(), thinkers=0, open_metrics=True) as server:
        code, person = await against(server, "perfect")
        await play_once(server, code, person)
        await server.settle()
        page = (await person.get("/metrics")).text
        assert 'piste_jobs{kind="decision",state="waiting"} 1.0' in page
        assert 'piste_jobs{kind="hint",state="running"} 0.0' in page
        assert 'piste_jobs_retried{kind="review"} 0.0' in page
        assert 'piste_jobs_oldest_seconds{kind="decision",state="waiting"}' in page
        assert code not in page
