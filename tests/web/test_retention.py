"""What is kept of tables, for how long, and when what is secret is shown."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from collections.abc import Callable

import pytest

import piste
from piste.core.dealer import Commitment
from piste.core.errors import PisteError
from piste.core.evaluation import Chances, Evaluation
from piste.core.game import find, names
from piste.web.tables.registry import IDLE_TIMEOUT_S
from piste.web.workers.worker_pool import WorkersBusyError, WorkerTimeoutError
from tests.limits import PATIENCE_S
from tests.web.failing_storage import room_count, storage_fails
from tests.web.in_process_server import (
    SALT,
    SEED,
    Device,
    InProcessServer,
    actor,
    finish,
    one_decision,
    record,
    seeded,
    table_for,
)

DAY = 86400.0


@pytest.mark.parametrize("game", names())
async def test_a_decision_sent_again_after_a_restart_is_taken_once(house: InProcessServer, game: str) -> None:
    code, people = await table_for(house, game)
    seat, decision, number = await one_decision(house, code, people)
    before = record(house, code)
    for _ in range(2):
        assert (await people[seat].decide(code, decision, number)) == {
            "ok": True, "said": decision, "go": f"/t/{code}", "status": 200,
        }  # fmt: skip
        await house.restart()
    refused = await people[seat].decide(code, f"{decision}x", number)
    assert not refused["ok"]
    assert "has been answered" in refused["said"]
    assert record(house, code) == before


async def test_every_page_is_the_same_after_a_restart(house: InProcessServer) -> None:
    for game in names():
        code, people = await table_for(house, game)
        for _ in range(3):
            if house.room(code).to_act is not None:
                await one_decision(house, code, people)
        pages = [await who.page(code) for who in (*people, Device(house))]
        await house.restart()
        assert [await who.page(code) for who in (*people, Device(house))] == pages


async def test_what_cannot_be_kept_has_not_happened_and_can_be_sent_again(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    before, seat = record(house, code), actor(house, code)
    table = house.room(code).table
    assert table is not None
    decision, number = table.view(seat).decisions[0], table.number
    watcher = await people[1 - seat].connect(code)
    heard = len(watcher.sent)
    with storage_fails(house):
        answer = await people[seat].decide(code, decision, number)
    assert (answer["ok"], answer["status"]) == (False, 409)
    assert "has not happened" in answer["said"]
    assert "disk" not in answer["said"]
    assert watcher.messages[heard:] == [{"n": heard + 1, "bye": "restart"}]
    assert (await people[1 - seat].get(f"/t/{code}")).status == 200
    assert record(house, code) == before
    assert (await people[seat].decide(code, decision, number))["ok"]
    assert len(record(house, code)) > len(before)


async def test_a_table_that_cannot_be_kept_is_not_opened(house: InProcessServer) -> None:
    person = Device(house)
    with storage_fails(house):
        got = await person.post("/new", {"game": "prime-duel", "versus": "steady"}, accept="application/json")
    assert got.status == 409
    assert house.service.registry.rooms == {}
    assert room_count(house.storage) == 0


async def test_a_finished_table_leaves_the_memory_with_its_last_client(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    sockets = [await person.connect(code) for person in people]
    await people[0].post(f"/t/{code}/resign", {})
    page, finished = await people[0].page(code), weakref.ref(house.room(code))
    assert house.room(code).over
    await sockets[0].leave()
    await house.settle()
    assert code in house.service.registry.rooms  # somebody still looks at it
    gc.disable()  # it must not depend on when garbage is looked for
    try:
        await sockets[1].leave()
        await house.settle()
        assert code not in house.service.registry.rooms
        assert finished() is None
    finally:
        gc.enable()
    assert await people[0].page(code) == page


async def test_idle_tables_leave_the_memory_and_come_back_the_same(house: InProcessServer) -> None:
    code, people = await table_for(house, "mccoy-duel")
    await one_decision(house, code, people)
    page, before = await people[0].page(code), record(house, code)
    await people[1].page(code)
    socket = await Device(house).connect(code)
    house.clock.now += IDLE_TIMEOUT_S
    house.service.registry.release_idle()
    assert code in house.service.registry.rooms  # somebody looks on
    await socket.leave()
    await people[0].get(f"/t/{code}/news")
    house.service.registry.release_idle()
    assert code in house.service.registry.rooms  # somebody asked just now
    house.clock.now += IDLE_TIMEOUT_S
    house.service.registry.release_idle()
    assert code not in house.service.registry.rooms
    assert await people[0].page(code) == page
    assert record(house, code) == before


async def test_old_tables_are_deleted_and_younger_ones_are_not(house: InProcessServer) -> None:
    old, people = await table_for(house, "prime-duel")
    house.clock.now += (house.settings.keep_days - 1) * DAY
    young, _ = await table_for(house, "prime-duel")
    assert await house.service.expire() == 0
    house.clock.now += 2 * DAY
    assert await house.service.expire() == 1
    assert (await people[0].get(f"/t/{old}")).status == 404
    assert (await people[0].get(f"/t/{young}")).status == 200


# Deleting


async def test_a_running_game_is_not_deleted_and_the_last_of_the_players_deletes_it_for_good(
    house: InProcessServer,
) -> None:
    code, people = await table_for(house, "prime-duel")
    stranger = Device(house)
    for who in (*people, stranger):
        assert not (await who.do(code, "delete"))["ok"]
    await people[0].do(code, "resign")
    assert not (await stranger.do(code, "delete"))["ok"]
    assert code in (await people[0].get("/games")).text
    assert (await people[0].do(code, "delete"))["ok"]
    assert code not in (await people[0].get("/games")).text
    assert code in (await people[1].get("/games")).text
    assert house.storage.room(code) is not None
    assert (await people[1].do(code, "delete"))["ok"]
    assert house.storage.room(code) is None
    assert (await people[1].get(f"/t/{code}")).status == 404


async def test_only_the_host_closes_a_table_that_has_not_begun(house: InProcessServer) -> None:
    code, people = await table_for(house, "mccoy-duel", 2, players="3")
    assert not (await people[1].do(code, "delete"))["ok"]
    assert (await people[0].do(code, "delete"))["ok"]
    assert house.storage.room(code) is None


# What is shown when


async def test_a_table_is_listed_only_while_the_host_wants_it(house: InProcessServer) -> None:
    host, guest = Device(house), Device(house)
    code = await host.opens("prime-duel")
    assert code not in (await guest.get("/watch")).text
    assert not (await guest.do(code, "list"))["ok"]
    assert code not in (await guest.get("/watch")).text
    assert (await host.do(code, "list"))["ok"]
    assert code in (await guest.get("/watch")).text
    assert (await host.do(code, "unlist"))["ok"]
    assert code not in (await guest.get("/watch")).text


@pytest.mark.parametrize("game", names())
async def test_seed_and_salt_leave_the_house_only_when_the_game_is_over(house: InProcessServer, game: str) -> None:
    code, people = await table_for(house, game)
    await people[0].do(code, "list")
    promise = Commitment.to(SEED, SALT)
    everybody = (*people, Device(house))
    sockets = [await who.connect(code) for who in everybody]
    addresses = [f"/t/{code}{what}" for what in ("", "/news", "/qr.svg", "/record", "/replay", "/review")]
    addresses += ["/", "/watch", "/games", f"/g/{game}", "/metrics", "/readyz"]
    told: list[str] = []
    for left in (2, 1, 0):
        told += [repr(await who.get(address)) for who in everybody for address in addresses]
        told.append(repr(await people[0].do(code, "decide", decision="no such thing", number="0")))
        for who in everybody:
            assert promise.digest in await who.page(code)
        if left and house.room(code).to_act is not None:
            await one_decision(house, code, people)
        if house.room(code).to_act is None:
            break
        told += [text for socket in sockets for text in socket.sent]
    else:
        await people[0].do(code, "resign")
    assert not any(secret in text for text in told for secret in (SEED, promise.salt))
    for who, socket in zip(everybody, sockets, strict=True):
        page = await who.page(code)
        assert SEED in page
        assert promise.salt in page
        assert SEED in socket.shown("fair")
        got = await who.get(f"/t/{code}/record")
        assert got.header("content-type").startswith("application/x-ndjson")
        table, _ = piste.core.replay.replay(piste.Record.parse(got.body))
        assert table.commitment == promise.digest
        await socket.leave()
    assert Commitment(promise.digest, promise.salt).keeps(SEED)


async def test_a_review_is_shown_as_far_as_it_is(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    going, done = asyncio.Event(), asyncio.Event()

    async def half(progress: Callable[..., None]) -> None:
        begun = {"chances": [{"step": 0, "1": 0.5, "2": 0.5}], "decisions": []}
        progress(5, 20, "judging", json.dumps(begun))
        progress(8, 20, "judging")  # and what was found stays
        going.set()
        await done.wait()

    house.bot_workers.reviewing = half
    await people[0].do(code, "resign")
    page = await people[0].get(f"/t/{code}/replay")
    assert 'id="looking"' in page.text
    await going.wait()
    page = await people[0].get(f"/t/{code}/replay")
    assert 'value="0.400" max="1"' in page.text
    assert "<polyline" in page.text
    answer = await people[0].get(f"/t/{code}/review")
    assert (answer.status, answer.json["done"]) == (202, 0.4)
    done.set()
    await house.settle()
    assert 'id="looking"' not in (await people[0].get(f"/t/{code}/replay")).text


async def test_a_review_that_takes_too_long_keeps_its_verdicts_and_can_go_on(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    evaluation = Evaluation(0, Chances(0.5, 0.0, 0.5), (), "exact", 0.0, "It was computed.")
    judged = {"step": 1, "seat": "1", "decision": "keep", "best": "keep", "loss": 0.0, "label": None}

    async def stops(progress: Callable[..., None]) -> None:
        begun = {"chances": [{"step": 0, "1": 0.5, "2": 0.5}], "decisions": [judged]}
        progress(5, 20, "judging", json.dumps(begun), {(1, 0): evaluation})
        raise WorkerTimeoutError("The coach took too long and was stopped. What it has judged is kept.")

    async def refuses(_progress: Callable[..., None]) -> None:
        raise WorkersBusyError("The bots here are very busy.")

    shown = asyncio.Event()

    async def waits(_progress: Callable[..., None]) -> None:
        await asyncio.wait_for(shown.wait(), PATIENCE_S)

    house.bot_workers.reviewing = stops
    await people[0].do(code, "resign")
    await people[0].get(f"/t/{code}/replay")
    await house.settle()
    page = (await people[0].get(f"/t/{code}/replay?step=2")).text
    assert 'id="looking"' not in page
    assert "The coach took too long and was stopped. What it has judged is kept. 1 decision judged so far." in page
    assert "Well chosen" in page
    assert "<polyline" in page
    document = (await people[0].get(f"/t/{code}/review")).json
    assert (document["resumable"], document["decisions"]) == (True, [judged])
    assert "The coach took too long" in (await people[0].get("/progress")).text  # and no accuracy of a half
    for reviewing in (stops, refuses, waits):
        shown.clear()
        house.bot_workers.reviewing = reviewing
        assert "Go on with the review" in (await people[1].get(f"/t/{code}/replay")).text
        answer = await people[0].post(f"/t/{code}/review", {"seat": "0", "step": "2"})
        assert (answer.status, dict(answer.headers)[b"location"]) == (303, f"/t/{code}/replay?seat=0&step=2".encode())
        page = (await people[0].get(f"/t/{code}/replay?step=2")).text
        assert "Well chosen" in page  # while it goes on, too
        shown.set()
        await house.settle()
        assert house.bot_workers.evaluations == {(1, 0): evaluation}
    page = (await people[0].get(f"/t/{code}/replay")).text
    assert "Nothing is known." in page
    assert "do-review" not in page
    await people[0].post(f"/t/{code}/review", {})
    assert "Nothing is known." in (await people[0].get(f"/t/{code}/replay")).text


async def test_a_game_without_a_decision_needs_no_reviewer(house: InProcessServer) -> None:
    seeds = (f"early {i}" for i in range(100))
    house.opener = seeded(next(s for s in seeds if piste.open_table("zero-sum-duel", seed=s).to_act is None))
    person = Device(house)
    code = await person.opens("zero-sum-duel", "steady")
    assert house.room(code).over
    page = (await person.get(f"/t/{code}/replay")).text
    assert 'id="looking"' not in page
    assert "Nobody had anything to decide" in page
    assert not any("review" in asked for asked in house.bot_workers.asked)


async def test_replay_and_review_come_after_the_end(house: InProcessServer) -> None:
    code, people = await table_for(house, "zero-sum-duel")
    for what in ("record", "replay", "review"):
        got = await people[0].get(f"/t/{code}/{what}", accept="application/json")
        assert got.status == 409
        assert "not over" in got.json["said"]
    await finish(house, code, people)
    await people[0].get(f"/t/{code}/review")
    await house.settle()
    assert (await people[0].get(f"/t/{code}/review")).json["certainty"] == "Nothing is known."
    for step in ("0", "3", "999999", "-1", "x", "9" * 40):
        for seat in ("0", "1", "-1", "7", ""):
            assert (await people[0].get(f"/t/{code}/replay?step={step}&seat={seat}")).status == 200


async def test_a_game_that_is_over_with_its_deal_is_a_game_like_others(house: InProcessServer) -> None:
    game = find("zero-sum-duel")
    seed = next(str(n) for n in range(1000) if piste.open_table(game.name, seed=str(n)).to_act is None)
    house.opener = seeded(seed)
    code, people = await table_for(house, game.name)
    assert house.room(code).over
    assert 'data-stage="over"' in await people[0].page(code)
    assert (await people[0].get(f"/t/{code}/record")).status == 200


async def test_your_games_say_how_each_one_ended(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    await people[0].do(code, "resign")
    assert "Ben won by resignation" in (await people[0].get("/games")).text
    assert "You won by resignation" in (await people[1].get("/games")).text
    running, others = await table_for(house, "prime-duel")
    assert f"/t/{running}/delete" not in (await others[0].get("/games")).text


async def test_a_game_that_cannot_be_read_does_not_hide_the_others(
    house: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Device(house)
    for game in ("prime-duel", "positive-negative"):
        await person.opens(game, name="Ada")
        await person.opens(game, "steady", name="Ada")
    await house.restart()

    def refuses(*_: object) -> None:
        raise PisteError("The record is damaged.")

    monkeypatch.setattr("piste.web.tables.room.Room.restore", refuses)
    page = (await person.get("/games")).text
    assert page.count("<b>Prime Duel</b>") == page.count("<b>Positive-Negative</b>") == 2
