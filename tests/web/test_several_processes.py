"""Two servers on one PostgreSQL: whoever asks whichever of them sees and changes the same tables."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest
from sqlalchemy import event

from piste.web.storage import schema
from piste.web.storage.schema import PlayerRow, RoomUpdate, StorageError, notify, put
from piste.web.tables import peers
from tests.limits import PATIENCE_S, until
from tests.postgres_server import PostgresServer
from tests.web.failing_storage import storage_fails
from tests.web.in_process_server import Clock, CountedTokens, Device, InProcessServer, table_for
from tests.web.test_storage import Gate


@asynccontextmanager
async def two_servers(
    postgres: PostgresServer, ticks: Clock | None = None
) -> AsyncIterator[tuple[InProcessServer, InProcessServer]]:
    address = postgres.migrated()
    first, second = InProcessServer(address), InProcessServer(address)
    first.ticks = second.ticks = ticks
    second.tokens = CountedTokens(1000)
    async with first, second:
        yield first, second
    postgres.drop(address)


def at(server: InProcessServer, person: Device) -> Device:
    """Return the same person at another server."""
    return Device(server, person.token)


async def test_a_table_opened_at_one_server_is_played_at_two(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "prime-duel")
        people[1] = at(second, people[1])
        sockets = [await person.connect(code) for person in people]
        for _ in range(12):
            number = max(first.room(code).table.number, second.room(code).table.number)  # type: ignore[union-attr]
            server = (first, second)[first.room(code).to_act or 0]
            seat = server.room(code).to_act
            if seat is None:
                break
            decision = server.room(code).table.view(seat).decisions[0]  # type: ignore[union-attr]
            assert (await sockets[seat].ask("decide", decision=decision, number=number))["ok"]
            await until(lambda now=number: all(s.room(code).table.number > now for s in (first, second)))  # type: ignore[misc,union-attr]
        tables = [server.room(code).table for server in (first, second)]
        assert tables[0] is not None
        assert tables[1] is not None
        assert tables[0].record() == tables[1].record()
        for socket in sockets:
            await socket.leave()


async def test_a_server_that_has_not_heard_of_a_question_yet_takes_its_answer(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "positive-negative")
        await at(second, people[0]).page(code)
        assert second.service.peers is not None
        monkeypatch.setattr(second.service.peers, "take", lambda _text: None)
        seat = first.room(code).to_act or 0
        assert (await people[seat].decide(code, "keep", 0))["ok"]
        assert second.room(code).table.number == 0  # type: ignore[union-attr]
        assert (await at(second, people[1 - seat]).decide(code, "keep", 1))["ok"]
        refused = await at(second, people[seat]).decide(code, "keep", 9)
        assert "not open" in refused["said"]


async def test_a_change_that_is_just_being_stored_makes_no_server_read_its_table_again(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_servers(postgres) as (first, _):
        code, _ = await table_for(first, "positive-negative")
        room, registry = first.room(code), first.service.registry
        stored = {code: room.stored_version + 1}
        monkeypatch.setattr(first.storage, "versions", lambda _codes: stored)
        async with registry.lock(code):  # as while it is stored
            comparing = asyncio.ensure_future(registry.compare_versions())
            await first.settle()
            room.stored_version += 1
        await asyncio.wait_for(comparing, PATIENCE_S)
        assert not room.stale
        stored[code] += 1
        await registry.compare_versions()
        assert room.stale


async def test_of_two_answers_to_one_question_one_is_taken_and_the_other_is_told(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "positive-negative")
        seat = first.room(code).to_act
        assert seat is not None
        twin = at(second, people[seat])
        await twin.page(code)
        answers = await asyncio.gather(people[seat].decide(code, "keep", 0), twin.decide(code, "discard", 0))
        assert sorted(answer["ok"] for answer in answers) == [False, True]
        assert "has been answered: you decided" in next(answer["said"] for answer in answers if not answer["ok"])
        stored = first.storage.room(code)
        assert stored is not None
        assert sum('"seat"' in line for line in stored.lines) == 1


async def test_the_same_answer_sent_to_both_is_taken_once_and_told_twice(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "positive-negative")
        seat = first.room(code).to_act
        assert seat is not None
        twin = at(second, people[seat])
        answers = await asyncio.gather(people[seat].decide(code, "keep", 0), twin.decide(code, "keep", 0))
        assert [answer["ok"] for answer in answers] == [True, True]


async def test_who_is_connected_to_another_server_is_here(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "prime-duel")
        elsewhere = at(second, people[1])
        mine, theirs = await people[0].connect(code), await elsewhere.connect(code)
        await until(lambda: any(first.room(code).elsewhere.values()))
        first.clock.now += 3600
        assert first.room(code).here(1, first.clock.now)
        await theirs.leave()
        await until(lambda: not any(first.room(code).elsewhere.values()))
        first.clock.now += 3600
        assert not first.room(code).here(1, first.clock.now)
        await mine.leave()


async def test_a_table_that_is_deleted_is_gone_everywhere(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        person = Device(first, first.tokens.token())
        code = await person.opens("prime-duel")
        assert "Waiting for" in await at(second, person).page(code)
        assert (await person.do(code, "delete"))["ok"]
        await until(lambda: code not in second.service.registry.rooms)
        assert (await at(second, person).get(f"/t/{code}")).status == 404


async def killed(server: InProcessServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """End a server as SIGKILL does, as far as others can tell: it says nothing any more."""
    with monkeypatch.context() as patch:
        patch.setattr(schema, "end_process", lambda _process: lambda _connection: None)
        await server.__aexit__()


@pytest.mark.parametrize("verb", ["claim", "stand-in"])
async def test_a_turn_is_claimed_only_after_the_process_of_its_player_is_gone(
    postgres: PostgresServer, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "RENEWAL_INTERVAL_S", 0.2)
    monkeypatch.setattr(peers, "GONE_AFTER_S", 2.0)
    address = postgres.migrated()
    first, second = InProcessServer(address), InProcessServer(address)
    async with second:
        await first.__aenter__()
        code, people = await table_for(first, "prime-duel")
        away = first.room(code).to_act
        assert away is not None
        await people[away].connect(code)
        mine = at(second, people[1 - away])
        await mine.page(code)
        await until(lambda: any(second.room(code).elsewhere.values()))
        second.clock.now += 3600
        answer = await mine.do(code, verb)
        assert "Nobody is away" in answer["said"]
        await killed(first, monkeypatch)
        await until(lambda: not any(second.room(code).elsewhere.values()))
        assert "Nobody is away" in (await mine.do(code, verb))["said"]  # time for a page to find another server
        second.clock.now += second.settings.patience + 1
        assert (await mine.do(code, verb))["ok"]
        if verb == "stand-in":
            assert second.room(code).seats[away].stand_in == "steady"
            assert (await at(second, people[away]).do(code, "return"))["ok"]
            assert second.room(code).seats[away].stand_in == ""
    postgres.drop(address)


async def test_a_bot_that_stands_in_and_the_return_are_shown_by_every_server(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "prime-duel")
        away = first.room(code).to_act
        assert away is not None
        watching = await at(second, people[1 - away]).connect(code)
        for server in (first, second):
            server.clock.now += 3600
        assert (await people[1 - away].do(code, "stand-in"))["ok"]
        await until(lambda: second.room(code).seats[away].stand_in == "steady")
        assert (await at(second, people[away]).do(code, "return"))["ok"]
        await until(lambda: first.room(code).stale or bool(first.room(code).notices))
        assert "Take my seat back" not in await people[away].page(code)
        await watching.leave()


async def test_players_who_left_while_nothing_could_be_written_are_away_afterwards(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "prime-duel")
        theirs, watching = await people[1].connect(code), await at(second, people[0]).connect(code)
        await until(lambda: any(second.room(code).elsewhere.values()))
        with storage_fails(first):
            await theirs.leave()
        assert any(second.room(code).elsewhere.values())
        first.service.registry.announce_all()  # as after every loss of the connection
        await until(lambda: not any(second.room(code).elsewhere.values()))
        await watching.leave()


async def test_a_table_that_left_the_memory_leaves_nobody_behind(postgres: PostgresServer) -> None:
    """Its pages connect again, perhaps elsewhere: this server must not go on to say that they are here."""
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "prime-duel")
        theirs, watching = await people[1].connect(code), await at(second, people[0]).connect(code)
        await until(lambda: any(second.room(code).elsewhere.values()))
        first.service.registry.remove(code)
        await until(lambda: not any(second.room(code).elsewhere.values()))
        await theirs.leave()
        await watching.leave()


@pytest.mark.parametrize("notice", ["", "x", "x room", "x room a b c", "x here a b", "x room {} 9 [[],{}]", "é left"])
async def test_a_notice_that_cannot_be_read_ends_nothing(postgres: PostgresServer, notice: str) -> None:
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "prime-duel")
        watching = await at(second, people[0]).connect(code)
        first.storage.write(notify(notice.replace("{}", code))).result()
        assert (await people[1].do(code, "resign"))["ok"]
        await until(lambda: second.room(code).over)
        await watching.leave()


async def test_one_locked_table_does_not_fail_what_is_written_with_it(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, _):
        codes = [(await table_for(first, "prime-duel"))[0] for _ in range(3)]
        with psycopg.connect(str(first.settings.db)) as connection:
            connection.execute("SELECT 1 FROM rooms WHERE code = %s FOR UPDATE", [codes[1]])
            versions = first.storage.versions(codes)
            held = Gate()
            event.listen(first.storage._writer, "commit", held.commit)
            one = first.storage.write(put(PlayerRow("first", "First", 0.0)))
            held.reached.wait(PATIENCE_S)
            calls = [first.storage.write(RoomUpdate(code, versions[code], {"listed": True})) for code in codes]
            held.go.set()
            found = await asyncio.to_thread(lambda: [call.exception(PATIENCE_S) for call in (one, *calls)])
            event.remove(first.storage._writer, "commit", held.commit)
        assert [error is None for error in found] == [True, True, False, True]
        assert isinstance(found[2], StorageError)
