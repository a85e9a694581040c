"""Two people ask two servers at the same instant: one of them is first, the other is told, and both see the same.

Both servers are in this process; test_same_instant.py has one in each of two.
"""

from __future__ import annotations

import asyncio
import json
from itertools import combinations_with_replacement
from typing import Any

import psycopg
import pytest

from piste.core.errors import PisteError
from piste.core.record import Record
from piste.core.replay import replay
from piste.core.views import SeatView
from piste.web.tables.service import VERBS
from tests.game_setups import FULL, LISTED, Kind
from tests.limits import until
from tests.postgres_server import PostgresServer
from tests.sizes import sized
from tests.web.in_process_server import SALT, SEED, Device, InProcessServer, RunningClock, table_for
from tests.web.test_several_processes import at, two_servers
from tests.web.test_web_secrecy import seats_of


def followed(code: str, *servers: InProcessServer) -> bool:
    """Whether each of these servers that holds a table has heard of its latest version."""
    version = servers[0].storage.versions([code]).get(code)
    for server in servers:
        room = server.service.registry.rooms.get(code)
        if room is None:
            continue
        heard = max([room.stored_version, *(notice.version for notice in room.notices)])
        if not room.stale and heard != version:
            return False
    return True


# Every pair of verbs

FIELDS: dict[str, dict[str, str]] = {
    "sit": {"name": "Zoe"},
    "fill": {"bot": "novice"},
    "again": {"number": "0"},
    "decide": {"number": "0"},
}


async def waiting_table(first: InProcessServer) -> tuple[str, list[Device]]:
    """One seat is free."""
    code, people = await table_for(first, "mccoy-duel", 2, players="3")
    return code, [*people, Device(first, first.tokens.token())]


async def running_table(first: InProcessServer) -> tuple[str, list[Device]]:
    return await table_for(first, "prime-duel")


async def stand_in_table(first: InProcessServer) -> tuple[str, list[Device]]:
    """A bot plays for somebody who is away, and has nothing to decide just now."""
    code, people = await table_for(first, "prime-duel")
    async with first.service.room(code) as room:
        room.place(1, room.seats[1]._replace(stand_in="steady"))
        await first.service.registry.save(room)
    return code, people


async def finished_table(first: InProcessServer) -> tuple[str, list[Device]]:
    code, people = await table_for(first, "prime-duel")
    assert (await people[1].do(code, "resign"))["ok"]
    return code, people


STAGES = (waiting_table, running_table, stand_in_table, finished_table)
PAIRS = list(combinations_with_replacement(sorted(VERBS), 2))


async def answers_of(code: str, verbs: tuple[str, str], pair: tuple[Device, Device], decision: str) -> Any:
    given = [{**FIELDS.get(verb, {}), **({"decision": decision} if verb == "decide" else {})} for verb in verbs]
    return await asyncio.gather(
        *(one.do(code, verb, **fields) for one, verb, fields in zip(pair, verbs, given, strict=True))
    )


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.__name__)
async def test_any_two_requests_at_once_leave_a_sound_table_that_both_show_alike(
    postgres: PostgresServer, stage: Any
) -> None:
    async with two_servers(postgres) as (first, second):
        for at_pair, verbs in enumerate(PAIRS[:: sized(7, 1)]):
            code, people = await stage(first)
            seats = (at_pair % len(people), (at_pair // 2) % len(people))
            pair = people[seats[0]], at(second, people[seats[1]])
            await pair[1].page(code)
            table = first.room(code).table
            decision = "" if table is None or table.to_act is None else table.view(table.to_act).decisions[0]
            for answer in await answers_of(code, verbs, pair, decision):
                assert answer["status"] in (200, 303, 404, 409), (verbs, answer)
                assert answer["ok"] or answer["said"].endswith((".", "?")), (verbs, answer)
            await until(lambda code=code: followed(code, first, second))  # type: ignore[misc]
            for server in (first, second):
                await server.settle()
            await check_alike(code, people, first, second, verbs)


async def check_alike(
    code: str, people: list[Device], first: InProcessServer, second: InProcessServer, case: object
) -> None:
    """See that what is stored can be replayed, and that both servers show the same to everybody, to the byte."""
    stored = first.storage.room(code)
    if stored is None:
        for server in (first, second):
            assert (await Device(server).get(f"/t/{code}")).status == 404, case
        return
    assert len({player for _, player in stored.sitters}) == len(stored.sitters), case
    if stored.lines:
        replay(Record.parse("".join(f"{line}\n" for line in stored.lines)))
    for person in (*people, Device(first)):
        pages = [(await at(server, person).get(f"/t/{code}")).body for server in (first, second)]
        assert pages[0] == pages[1], case
    if stored.room.successor:
        assert first.storage.room(stored.room.successor) is not None, case


@pytest.mark.parametrize("verb", ["sit", "rematch"])
async def test_of_two_who_want_the_same_one_gets_it_and_the_other_is_told(
    postgres: PostgresServer, verb: str
) -> None:
    async with two_servers(postgres) as (first, second):
        for _ in range(sized(3, 20)):
            if verb == "sit":
                code = await Device(first).opens("prime-duel", name="Ada")
                pair = Device(first, first.tokens.token()), Device(second, second.tokens.token())
                answers = await asyncio.gather(*(one.do(code, "sit", name="Ben") for one in pair))
                assert sorted(answer["ok"] for answer in answers) == [False, True]
                assert "You can watch" in next(answer["said"] for answer in answers if not answer["ok"])
            else:
                code, people = await finished_table(first)
                pair = people[0], at(second, people[1])
                answers = await asyncio.gather(*(one.do(code, "rematch") for one in pair))
                assert answers[0]["go"] == answers[1]["go"]


async def test_a_table_at_which_somebody_sits_down_is_not_deleted(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        for _ in range(sized(5, 40)):
            host, guest = Device(first, first.tokens.token()), Device(second, second.tokens.token())
            code = await host.opens("prime-duel", name="Ada")
            deleted, sat = await asyncio.gather(host.do(code, "delete"), guest.do(code, "sit", name="Ben"))
            assert deleted["ok"] != sat["ok"]
            assert (first.storage.room(code) is None) == deleted["ok"]


async def test_two_who_arrive_for_a_rematch_at_once_both_take_their_seats(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        for _ in range(sized(2, 10)):
            code, people = await table_for(first, "mccoy-duel", 3, players="3")
            for person in people[1:]:
                await person.do(code, "resign")
            following = str((await people[0].do(code, "rematch"))["go"]).rpartition("/")[2]
            arriving = people[1].get(f"/t/{following}"), at(second, people[2]).get(f"/t/{following}")
            assert [got.status for got in await asyncio.gather(*arriving)] == [200, 200]
            stored = first.storage.room(following)
            assert stored is not None
            assert [seat.kind for seat in stored.seats] == ["person"] * 3
            assert stored.lines


async def test_a_notice_that_comes_while_a_table_is_read_is_not_missed(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "prime-duel")
        registry, right = second.service.registry, second.service.registry._load
        seat = first.room(code).to_act
        assert seat is not None
        table = first.room(code).table
        assert table is not None
        decision, loop = table.view(seat).decisions[0], asyncio.get_running_loop()

        def load(wanted: str) -> Any:
            """Read it, and come back with that only when it is out of date and the notice has arrived."""
            room = right(wanted)
            asyncio.run_coroutine_threadsafe(people[seat].decide(code, decision, 0), loop).result()
            while not registry._reading.get(code):
                asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()
            return room

        registry._load = load  # type: ignore[assignment,method-assign]
        socket = await at(second, people[1 - seat]).connect(code)
        registry._load = right  # type: ignore[method-assign]
        await until(lambda: second.room(code).table.number == 1)  # type: ignore[union-attr]
        await socket.leave()


async def test_a_listener_that_was_cut_off_catches_up(postgres: PostgresServer) -> None:
    async with two_servers(postgres) as (first, second):
        code, people = await table_for(first, "prime-duel")
        theirs = [at(second, person) for person in people]
        socket = await theirs[0].connect(code)
        with psycopg.connect(str(second.settings.db), autocommit=True) as connection:
            cut = (
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE query LIKE 'LISTEN%' AND datname = current_database()"
            )
            assert connection.execute(cut).fetchall()
        seat, table = first.room(code).to_act, first.room(code).table
        assert seat is not None
        assert table is not None
        assert (await people[seat].decide(code, table.view(seat).decisions[0], 0))["ok"]
        visitor = await people[1].connect(code)
        await until(lambda: second.room(code).table.number == 1)  # type: ignore[union-attr]
        await until(lambda: any(second.room(code).elsewhere.values()))
        await socket.leave()
        await visitor.leave()


# What processes tell each other


def heard_by(server: InProcessServer) -> list[str]:
    """Return a list that receives every notice from here on."""
    heard: list[str] = []
    right = server.service.peers.take  # type: ignore[union-attr]
    server.service.peers.take = lambda text: (heard.append(text), right(text))[1]  # type: ignore
    return heard


def check_notices(heard: list[str], server: InProcessServer, code: str, people: list[Device]) -> list[dict[str, Any]]:
    """See that no notice holds a secret of the host; return what they say of a table that is shown and not stored."""
    for text in heard:
        assert SEED not in text
        assert SALT.hex() not in text
        assert not any(person.token in text for person in people)
    stored, shown = server.storage.room(code), []
    assert stored is not None
    for text in heard:
        kind, about, rest = [*text.split(" ", 3)[1:], "", ""][:3]
        if (kind, about) == ("show", code):
            shown.append(json.loads(rest))
        elif (kind, about) == ("room", code) and (details := rest.partition(" ")[2]):
            values, lines, *more = json.loads(details)
            assert values.keys() <= {"touched", "ended", "listed"}
            assert set(lines) <= set(stored.lines[1:])
            assert len(more) <= 1
            shown += more
    return shown


@pytest.mark.parametrize("kind", FULL, ids=str)
async def test_notices_hold_nothing_but_lines_of_the_table_and_never_the_first(
    postgres: PostgresServer, kind: Kind
) -> None:
    async with two_servers(postgres) as (first, second):
        heard = heard_by(second)
        options = {f"option-{key}": str(value) for key, value in kind.options.items()}
        code, people = await table_for(first, kind.game, seats_of(kind), **options)
        await people[0].do(code, "list")
        for _ in range(200):
            room = first.room(code)
            if room.to_act is None or room.table is None:
                break
            view = room.table.view(room.to_act)
            assert (await people[room.to_act].decide(code, view.decisions[0], view.number))["ok"]
        else:
            await people[0].do(code, "resign")
        version = first.storage.versions([code])[code]
        await until(lambda: any(f" room {code} {version} " in text for text in heard))
        assert sum(f" room {code} " in text for text in heard) >= 3
        assert check_notices(heard, first, code, people) == []


@pytest.mark.parametrize("kind", LISTED, ids=str)
async def test_notices_of_bots_and_hints_hold_what_the_seat_is_told_and_nothing_else(
    postgres: PostgresServer, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = no_hint = True

    async def think(_game: str, _level: str, view: SeatView) -> int:
        if fails:
            raise PisteError("The bot has stopped here.")
        return view.actions[0]

    async def hint(_game: str, view: SeatView, *_: Any) -> tuple[str, int]:
        if no_hint:
            raise PisteError("The bot knows nothing here.")
        return "perfect", view.actions[-1]

    # What is asked for while the job before it still ends is asked for again later.
    async with two_servers(postgres, RunningClock()) as (first, second):
        heard, hinted = heard_by(second), set[str]()
        person = Device(first, first.tokens.token())
        for server in (first, second):  # either may have the job
            server.bot_workers.choosing, server.bot_workers.steps = think, ((30, 100, ""), (100, 100, ""))
            monkeypatch.setattr(server.bot_workers, "hint", hint)
        options = {f"option-{key}": str(value) for key, value in kind.options.items()}
        code = await person.opens(kind.game, versus="perfect", name="Ada", **options)
        line = await person.connect(code)  # so that what the other server says is followed at once
        for _ in range(200):
            await until(lambda: first.room(code).to_act in (0, None) or bool(first.room(code).stuck))
            await first.settle()
            room = first.room(code)
            if room.stuck:
                fails = False
                await person.page(code)  # whoever arrives lets the bot try again
                continue
            if room.table is None or room.over or len(hinted) == 3:
                break
            view = room.table.view(0)
            if no_hint:
                await person.do(code, "hint")
                await until(lambda: bool(first.room(code).no_hints))
                await first.settle()
                no_hint = False
            await person.do(code, "hint")
            await until(lambda key=(0, view.number): key in first.room(code).hints)  # type: ignore[misc]
            hinted.add((await person.do(code, "hint"))["said"])  # what was noted is told again
            assert (await person.decide(code, view.decisions[0], view.number))["ok"]
        await person.do(code, "resign")
        await line.leave()
        version = first.storage.versions([code])[code]
        await until(lambda: any(f" room {code} {version} " in text for text in heard))
        shown = check_notices(heard, first, code, [person])
        assert {one["hint"] for one in shown if "hint" in one} == hinted
        assert {one["seat"] for one in shown if "seat" in one} == {0}
        assert {one["stuck"] for one in shown if "stuck" in one} == {"The bot has stopped here."}
        assert {one["no_hint"] for one in shown if "no_hint" in one} == {
            "There is no hint: The bot knows nothing here."
        }
        assert {one["preparing"] for one in shown if "preparing" in one} == {30, None}
        assert {key for one in shown for key in one} == {"seat", "number", "hint", "stuck", "no_hint", "preparing"}
