"""The line to a table: numbered, complete, only news, the same as polling, and ended with a word."""

from __future__ import annotations

import asyncio
import json

import pytest

from piste.core.game import names
from piste.web.middleware.rate_limits import RATES, Limits
from piste.web.tables.tokens import player_of
from piste.web.views.parts import PARTS
from tests.web.failing_storage import Held, storage_fails
from tests.web.in_process_server import Device, InProcessServer, finish, one_decision, table_for


def record(house: InProcessServer, code: str) -> str:
    table = house.room(code).table
    assert table is not None
    return table.record()


def question(house: InProcessServer, code: str) -> tuple[int, str, int]:
    """Return who is asked, the first decision, and the number of the question."""
    table = house.room(code).table
    assert table is not None
    assert table.to_act is not None
    return table.to_act, table.view(table.to_act).decisions[0], table.number


@pytest.mark.parametrize("game", names())
async def test_messages_are_numbered_and_bring_every_line_once(house: InProcessServer, game: str) -> None:
    code, people = await table_for(house, game)
    sockets = [await who.connect(code) for who in (*people, Device(house))]
    for _ in range(6):
        if house.room(code).to_act is not None:
            await one_decision(house, code, people)
    await people[1].do(code, "resign") if house.room(code).to_act is not None else None
    for who, socket in zip((*people, Device(house)), sockets, strict=True):
        assert [message["n"] for message in socket.messages] == [*range(1, len(socket.sent) + 1)]
        assert [line[0] for line in socket.log] == [*range(len(socket.log))]
        assert socket.last["at"] == len(socket.log)
        told = (await who.get(f"/t/{code}/news")).json
        assert told["log"] == socket.log
        assert set(told["parts"]) == set(PARTS)
        assert all(socket.shown(part) == html for part, html in told["parts"].items())
        await socket.leave()


async def test_a_message_brings_only_parts_that_changed(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    socket = await people[0].connect(code)
    assert set(socket.messages[0]["parts"]) == set(PARTS)
    now = dict(socket.messages[0]["parts"])
    await finish(house, code, people)
    for message in socket.messages[1:]:
        assert all(now[part] != html for part, html in message["parts"].items())
        now |= message["parts"]
    await socket.leave()


async def test_who_comes_back_gets_exactly_what_was_missed_on_either_way(house: InProcessServer) -> None:
    code, people = await table_for(house, "mccoy-duel")
    for who in (people[1], Device(house)):
        first = await who.connect(code)
        await one_decision(house, code, people)
        at, before = first.last["at"], first.log
        await first.leave()
        for _ in range(3):
            await one_decision(house, code, people)
        polled = (await who.get(f"/t/{code}/news?since={at}")).json
        again = await who.connect(code, since=at)
        assert again.messages[0] == {"n": 1, **polled}
        whole = await who.connect(code)
        assert before + again.log == whole.log
        assert again.log
        for since in (at + 10_000, 999_999, 10**9, -5):
            strange = (await who.get(f"/t/{code}/news?since={since}")).json
            assert strange["log"] in ([], whole.log)
        await again.leave()
        await whole.leave()


async def test_a_refresh_and_a_second_window_keep_the_seat(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    seat, decision, number = question(house, code)
    one, two = await people[seat].connect(code), await people[seat].connect(code)
    other = await people[1 - seat].connect(code)
    await one.leave()
    house.clock.now += house.settings.patience + 1
    assert "away" not in other.shown("people")
    assert not (await other.ask("claim"))["ok"]
    assert (await two.ask("decide", decision=decision, number=number))["ok"]
    await two.leave()
    house.clock.now += 11
    house.service.registry.notify(code)
    await house.settle()
    assert "away" in other.shown("people")
    back = await people[seat].connect(code)
    assert "away" not in other.shown("people")
    assert f'data-seat="{seat}"' in await people[seat].page(code)
    await back.leave()
    await other.leave()


async def test_who_sits_down_on_an_open_line_is_there_as_long_as_it_is(house: InProcessServer) -> None:
    host, guest = Device(house, house.tokens.token()), Device(house, house.tokens.token())
    code = await host.opens("prime-duel")
    mine, theirs = await host.connect(code), await guest.connect(code)
    assert (await theirs.ask("sit", name="Ben"))["ok"]
    assert house.room(code).to_act is not None
    seat, decision, number = question(house, code)
    assert (await (mine, theirs)[seat].ask("decide", decision=decision, number=number))["ok"]
    house.clock.now += house.settings.patience + 1
    house.service.registry.notify(code)
    await house.settle()
    assert "away" not in mine.shown("people")
    assert not (await mine.ask("claim"))["ok"]
    await theirs.leave()
    house.clock.now += 11
    house.service.registry.notify(code)
    await house.settle()
    assert "away" in mine.shown("people")
    await mine.leave()


async def test_a_request_is_answered_by_its_id_and_once_if_sent_twice(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    seat, decision, number = question(house, code)
    socket = await people[seat].connect(code)
    before = record(house, code)
    request = json.dumps({"id": "x1", "do": "decide", "decision": decision, "number": number})
    first = [json.loads(text) for text in await socket.raw(request)]
    again = [json.loads(text) for text in await socket.raw(request)]
    assert [m["ok"] for m in first + again if m.get("re") == "x1"] == [True, True]
    after = record(house, code)
    assert after.startswith(before)
    assert after != before
    fresh = await people[seat].connect(code)
    assert (await fresh.ask("decide", decision=decision, number=number))["ok"]
    refused = await fresh.ask("decide", decision="something else", number=number)
    assert not refused["ok"]
    assert "has been answered" in refused["said"]
    assert record(house, code) == after
    await socket.leave()
    await fresh.leave()


async def test_what_was_done_and_not_heard_of_is_answered_the_same_on_the_next_line(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    request = json.dumps({"id": "x2", "do": "resign"})
    answers = []
    for _ in range(2):
        socket = await people[0].connect(code)
        answers += [json.loads(text) for text in await socket.raw(request)]
        await socket.leave()
    assert [message["ok"] for message in answers if message.get("re") == "x2"] == [True, True]
    other = await people[1].connect(code)  # an id is its sender's alone
    asked = [json.loads(text) for text in await other.raw(request)]
    assert [message["ok"] for message in asked if message.get("re") == "x2"] == [False]
    await other.leave()


async def test_what_could_not_be_kept_is_carried_out_when_it_is_asked_for_again(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    seat, decision, number = question(house, code)
    request = json.dumps({"id": "x3", "do": "decide", "decision": decision, "number": number})
    socket = await people[seat].connect(code)
    with storage_fails(house):
        refused = [json.loads(text) for text in await socket.raw(request)]
    await socket.leave()
    fresh = await people[seat].connect(code)
    answered = [json.loads(text) for text in await fresh.raw(request)]
    assert [message["ok"] for message in refused + answered if message.get("re") == "x3"] == [False, True]
    assert question(house, code)[2] == number + 1
    await fresh.leave()


async def test_a_request_that_fails_is_answered_with_an_id_that_is_in_the_log(
    house: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, people = await table_for(house, "prime-duel")
    noted: list[Exception] = []

    def trouble(_event: str, error: Exception) -> str:
        noted.append(error)
        return "abc123"

    monkeypatch.setattr("piste.web.websocket.logs.error", trouble)

    async def breaks(*_: object) -> None:
        raise IndexError("nobody expected this")

    socket = await people[0].connect(code)
    monkeypatch.setattr(house.service, "perform", breaks)
    answer = await socket.ask("resign")
    assert not answer["ok"]
    assert "abc123" in answer["said"]
    assert "expected" not in answer["said"]
    assert [type(error) for error in noted] == [IndexError]
    monkeypatch.undo()
    assert (await socket.ask("ping"))["ok"]  # and the line is still there
    await socket.leave()


async def test_a_ping_is_answered(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    socket = await people[0].connect(code)
    assert (await socket.ask("ping"))["ok"]
    await socket.leave()


async def test_a_server_that_stops_says_goodbye_and_goes_on_where_it_was(house: InProcessServer) -> None:
    code, people = await table_for(house, "mccoy-duel")
    seat, decision, number = await one_decision(house, code, people)
    sockets = [await who.connect(code) for who in (*people, Device(house))]
    at, log = sockets[seat].last["at"], sockets[seat].log
    before = record(house, code)
    house.service.registry.close_subscriptions()
    await house.settle()
    for socket in sockets:
        assert socket.last["bye"] == "restart"
        assert socket.closed == 1012
        await socket.leave()
    await house.restart()
    back = await people[seat].connect(code, since=at)
    assert back.log == []
    assert record(house, code) == before
    assert (await back.ask("decide", decision=decision, number=number))["ok"]
    assert (await people[seat].get(f"/t/{code}/news")).json["log"] == log
    await back.leave()


async def test_a_table_that_is_not_there_is_said_to_be_gone(house: InProcessServer) -> None:
    for code in ("2" * 16, "nothing", "2" * 15 + "!"):
        socket = await Device(house).connect(code)
        assert socket.last["gone"] is True
        assert socket.last["said"].endswith((".", "?"))
        assert socket.closed == 4404
        await socket.leave()


async def test_a_table_that_is_deleted_under_somebody_ends_the_line(house: InProcessServer) -> None:
    code, people = await table_for(house, "mccoy-duel", 2, players="3")
    socket = await people[1].connect(code)
    await people[0].do(code, "delete")
    assert socket.closed is not None
    await socket.leave()
    assert (await people[1].connect(code)).last["gone"] is True


async def test_a_line_that_cannot_be_opened_now_says_so_and_to_come_back(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    await people[0].do(code, "resign")
    following = (await people[0].do(code, "rematch"))["go"].rpartition("/")[2]
    with storage_fails(house):
        socket = await people[1].connect(following)
    assert socket.closed == 1013
    assert "Try again" in socket.last["said"]
    await socket.leave()
    again = await people[1].connect(following)
    assert house.room(following).to_act is not None
    await again.leave()


async def test_too_many_messages_end_the_line_with_a_sentence(house: InProcessServer) -> None:
    house.limits = Limits(clock=lambda: 0.0)
    await house.restart()
    code, people = await table_for(house, "prime-duel")
    socket = await people[0].connect(code)
    for _ in range(int(RATES["messages"].burst)):
        assert (await socket.ask("ping"))["ok"]
    answer = json.loads((await socket.raw('{"do":"ping"}'))[0])
    assert not answer["ok"]
    assert "too fast" in answer["said"]
    assert socket.closed == 1013
    await socket.leave()


async def test_what_somebody_decided_who_no_longer_waits_is_kept_and_told(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    seat, decision, number = question(house, code)
    other = await people[1 - seat].connect(code)
    heard = len(other.sent)
    fields = {"decision": decision, "number": str(number)}
    with Held(house) as held:
        asking = asyncio.ensure_future(house.service.perform(code, player_of(people[seat].token), "decide", fields))
        while not held.begun:
            await asyncio.sleep(0)
        asking.cancel()
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(other.sent) == heard  # nobody is told of what is not kept
    await asyncio.wait({asking})
    await house.settle()
    assert asking.cancelled()
    assert len(other.sent) > heard
    assert not any("bye" in message for message in other.messages)
    await one_decision(house, code, people)
    kept = house.storage.room(code)
    assert kept is not None
    assert record(house, code).splitlines() == list(kept.lines)
    await other.leave()


async def test_an_old_line_that_ends_late_does_not_make_a_new_one_look_away(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    seat, decision, number = question(house, code)
    old, other = await people[1 - seat].connect(code), await people[seat].connect(code)
    old.slow = asyncio.Event()
    with storage_fails(house):
        assert not (await people[seat].decide(code, decision, number))["ok"]
    new = await people[1 - seat].connect(code)
    old.slow.set()
    await old.leave()
    house.clock.now += house.settings.patience + 1
    again = await people[seat].connect(code)
    assert "away" not in again.shown("people")
    for socket in (other, new, again):
        await socket.leave()


async def test_nobody_is_told_before_it_is_kept(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    seat, decision, number = question(house, code)
    other = await people[1 - seat].connect(code)
    heard = len(other.sent)
    with Held(house) as held:
        asking = asyncio.ensure_future(people[seat].decide(code, decision, number))
        while not held.begun:
            await asyncio.sleep(0)
        polling = asyncio.ensure_future(people[1 - seat].get(f"/t/{code}/news"))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not asking.done()
        assert not polling.done()
        assert len(other.sent) == heard
    assert (await asking)["ok"]
    await polling
    assert len(other.sent) > heard
    await other.leave()
