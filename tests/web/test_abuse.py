"""What somebody could do to a table or to the server by asking for it in an unlucky or unkind way."""

from __future__ import annotations

import asyncio
import contextlib
import re
from pathlib import Path

import httpx2 as httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

import piste
from piste.core.views import SeatView
from piste.web.network import Root
from piste.web.views.rendering import PageRenderer
from piste.web.workers.worker_pool import WorkerTimeoutError
from tests.limits import PATIENCE_S, PATIENT
from tests.web.in_process_server import Device, InProcessServer, finish, one_decision, table_for
from tests.web.test_server_process import Running

DAY = 86400.0


async def test_a_bot_on_a_kept_place_is_nobodys_after_a_restart(house: InProcessServer) -> None:
    code, (host, friend) = await table_for(house, "zero-sum-duel")
    await host.do(code, "resign")
    following = (await host.do(code, "rematch"))["go"].rpartition("/")[2]
    assert (await host.do(following, "fill", bot="steady"))["ok"]
    for again in (False, True):
        if again:
            await house.restart()
        page = await friend.page(following)
        assert "Your hand" not in page
        assert not (await friend.do(following, "resign"))["ok"]


async def test_a_hint_asked_for_many_times_at_once_is_thought_and_noted_once(house: InProcessServer) -> None:
    person = Device(house)
    code = await person.opens("prime-duel", "steady")
    answers = await asyncio.gather(*(person.do(code, "hint") for _ in range(20)))
    assert any(answer["ok"] for answer in answers)
    assert all(answer["ok"] or "on its way" in answer["said"] for answer in answers)
    await person.do(code, "hint")
    assert sum(asked[1] == "hint" for asked in house.bot_workers.asked) == 1
    table = house.room(code).table
    assert table is not None
    assert table.record().count('"mark": "hint') == 1


async def test_g11_who_has_resigned_claims_nothing(house: InProcessServer) -> None:
    code, people = await table_for(house, "mccoy-duel", 3, players="3")
    table = house.room(code).table
    assert table is not None
    at = table.to_act
    assert at is not None
    resigned = (at + 1) % 3
    await people[resigned].do(code, "resign")
    house.clock.now += house.settings.patience + 1
    table = house.room(code).table
    assert table is not None
    assert table.to_act == at
    for verb in ("claim", "stand-in"):
        assert "resigned" in (await people[resigned].do(code, verb))["said"]
    assert "Claim the turn" not in await people[resigned].page(code)
    assert house.room(code).to_act is not None


async def test_g11_a_claim_sent_twice_takes_one_turn(house: InProcessServer) -> None:
    code, people = await table_for(house, "mccoy-duel", 4, players="4")
    table = house.room(code).table
    assert table is not None
    assert table.to_act is not None
    here = next(i for i in range(4) if i != table.to_act)
    house.clock.now += house.settings.patience + 1
    found = re.search(r'/claim".*?name="number" value="(\d+)"', await people[here].page(code), re.DOTALL)
    assert found
    first = await people[here].do(code, "claim", number=found[1])
    again = await people[here].do(code, "claim", number=found[1])
    assert (first["ok"], again["ok"]) == (True, False)
    assert table.record().count('"resigns"') == 1


async def test_a_bot_that_needs_too_long_is_relieved_by_an_easier_one(house: InProcessServer) -> None:
    async def tires(_game: str, level: str, view: SeatView) -> int:
        if level == "perfect":
            raise WorkerTimeoutError("A bot took too long and was stopped. The game is kept.")
        return view.actions[0]

    house.bot_workers.choosing = tires
    person = Device(house)
    code = await person.opens("prime-duel", "perfect", name="Ada")
    await finish(house, code, [person])
    text = (await person.get(f"/t/{code}/record")).text
    assert "From here on the bot steady plays for Expert, which took too long to decide." in text
    page = await person.page(code)
    assert re.search(r"<bdi>Steady for Expert</bdi>", page)
    piste.core.replay.replay(piste.Record.parse(text))


async def test_lines_after_a_relief_name_who_plays_and_older_ones_do_not_change(house: InProcessServer) -> None:
    async def tires_later(_game: str, level: str, view: SeatView) -> int:
        if level == "perfect" and view.number > 3:
            raise WorkerTimeoutError("A bot took too long and was stopped. The game is kept.")
        return view.actions[0]

    house.bot_workers.choosing = tires_later
    person = Device(house)
    code = await person.opens("prime-duel", "perfect", name="Ada")
    await finish(house, code, [person])

    def told(audience: int) -> list[str]:
        story = house.room(code).transcript
        assert story is not None
        return [entry.text for entry in story.entries(audience)]

    lines = told(0)
    at = next(i for i, line in enumerate(lines) if line.startswith("From here on the bot steady plays for Expert, "))
    before, after = lines[:at], lines[at + 1 :]
    assert any("Expert" in line for line in before)
    assert not any("Steady for Expert" in line for line in before)
    assert any("Steady for Expert" in line for line in after)
    assert not any("Expert" in line.replace("Steady for Expert", "") for line in after)
    await house.restart()
    await person.page(code)
    assert told(0) == lines
    story, table = house.room(code).transcript, house.room(code).table
    assert story is not None
    assert table is not None
    steps = [line for step in range(len(table.view(0).log) + 1) for line in story.lines_at(0, step)]
    named = [line for line in before + after if "Expert" in line]
    assert [line for line in steps if line in named] == named  # steps also have lines that the log does not keep


async def test_a_table_carries_so_many_decisions_and_says_so(
    house: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Device(house)
    refused = await person.post("/new", {"game": "zero-sum-grid", "versus": "friend", "option-turns": "5000"})
    assert refused.status == 422
    assert "2000" in refused.text
    monkeypatch.setattr("piste.web.tables.room.MAX_DECISIONS", 2)
    code, people = await table_for(house, "zero-sum-grid")
    for _ in range(2):
        await one_decision(house, code, people)
    table = house.room(code).table
    assert table is not None
    assert table.to_act is not None
    assert "no more" in (await people[table.to_act].decide(code, "R1+", 2))["said"]
    assert (await people[0].do(code, "resign"))["ok"]


async def test_people_are_forgotten_with_their_last_game(house: InProcessServer) -> None:
    ada, ben = Device(house), Device(house)
    await ada.opens("prime-duel", name="Ada")
    house.clock.now += (house.settings.keep_days - 1) * DAY
    await ben.opens("prime-duel", name="Ben")
    house.clock.now += 2 * DAY
    await house.service.expire()
    assert 'value="Ada"' not in (await ada.get("/")).text
    assert 'value="Ben"' in (await ben.get("/")).text


async def test_a_host_longer_than_any_name_is_refused(house: InProcessServer) -> None:
    person = Device(house)
    code = await person.opens("prime-duel")
    assert (await person.get(f"/t/{code}/qr.svg", host="x" * 100)).status == 200
    for host in ("x" * 101, "x" * 255, "x" * 3000):
        assert (await person.get(f"/t/{code}/qr.svg", host=host)).status == 400


async def test_after_a_restart_your_games_know_whose_turn_it_is(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    table = house.room(code).table
    assert table is not None
    assert table.to_act is not None
    at = table.to_act
    await house.restart()
    assert "Your turn" in (await people[at].get("/games")).text


def to_the_end(connection: ClientConnection) -> None:
    while True:
        connection.recv(timeout=PATIENCE_S)


PONG = b"\x8a\x80\x00\x00\x00\x00"


def test_a_flood_below_the_messages_is_cut_off_and_others_are_served(tmp_path: Path) -> None:
    server = Running(tmp_path)
    try:
        with httpx.Client(
            base_url=server.address, headers={"origin": server.address}, trust_env=False, timeout=PATIENCE_S
        ) as client:
            made = client.post("/new", data={"game": "prime-duel", "versus": "friend"})
            place = f"ws{server.address.removeprefix('http')}{made.headers['location']}/socket?since=0"
            with connect(place, additional_headers={"Origin": server.address}, proxy=None, **PATIENT) as flood:
                flood.recv(timeout=PATIENCE_S)
                with contextlib.suppress(OSError):
                    flood.socket.sendall(PONG * 100_000)
                with pytest.raises((ConnectionClosed, OSError)):
                    to_the_end(flood)
            assert client.get("/healthz").text == "ok\n"
    finally:
        server.process.kill()
        server.process.communicate()


async def test_a_table_tells_that_a_bot_is_being_prepared_and_how_far(house: InProcessServer) -> None:
    shown: list[str] = []

    async def look(_game: str, _level: str, view: SeatView) -> int:
        model = house.service.view_model(house.room(code), "", Root(""))
        shown.append(PageRenderer().parts(model)["status"])
        return view.actions[0]

    house.bot_workers.choosing, house.bot_workers.steps = look, ((0, 8, "compiling"), (3, 8, "compiling"))
    person = Device(house)
    code = await person.opens("prime-duel", "perfect")
    assert house.bot_workers.prepared == [("prime-duel", "perfect")]
    await finish(house, code, [person])
    assert shown
    for status in shown:
        assert "Expert is being prepared, first time only." in status
        assert 'value="37"' in status
        assert "thinking" not in status
    assert house.room(code).preparing is None
