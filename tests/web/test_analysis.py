"""The analysis board: any position from its text, what each decision is worth, and how to go on from there."""

from __future__ import annotations

import asyncio
import re
from html import unescape
from urllib.parse import quote

import pytest

from piste.core.evaluation import Progress
from piste.core.game import find, names
from piste.web.study import runner
from piste.web.study.site import MAX_POSITION_CHARS
from tests.web.in_process_server import Device, InProcessServer, finish, table_for

GRID = "zero-sum-grid cells=-1,-1,-1/0,0,0/0,0,0 to=1 phase=move turns=51"
SEEN = "positive-negative 1=-3 2=- pile=- to=2 phase=draw | 2 | draw@2:9 | 2"


def address(game: str, position: str, **more: str) -> str:
    return f"/analysis/{game}?position={quote(position)}" + "".join(f"&{k}={quote(v)}" for k, v in more.items())


def shown_text(page: str) -> str:
    found = re.search(r"<textarea[^>]*>([^<]*)</textarea>", page)
    assert found is not None
    return unescape(found[1])


async def test_a_position_is_drawn_with_the_value_of_every_decision_and_how_it_is_known(
    house: InProcessServer,
) -> None:
    page = (await Device(house).get(address("zero-sum-grid", GRID))).text
    assert page.count('class="handle pick"') == 12
    assert page.count('<svg class="worth"') == 12
    assert "Proven: how" in page
    assert "<strong>Win</strong>" in page
    assert "leaves nothing but zeros and wins" in page
    assert "Player 1 is to decide." in page
    seen = (await Device(house).get(address("positive-negative", SEEN))).text
    assert "Exact: how" in seen
    assert "draws" in seen
    assert shown_text(seen) == SEEN.replace("  ", " ")
    level = (await Device(house).get(address("zero-sum-grid", GRID.replace("-1,-1,-1", "3,2,-1")))).text
    assert "with best play on both sides: <b>a draw</b>" in level


async def test_one_goes_on_by_a_decision_and_by_what_chance_brings(house: InProcessServer) -> None:
    one = Device(house)
    after = await one.get(address("zero-sum-grid", GRID, decision="R1+"))
    assert after.status == 303
    page = (await one.get(after.header("location"))).text
    assert "Player 1 wins: grid is zero." in page
    after = await one.get(address("positive-negative", SEEN, decision="keep"))
    page = (await one.get(after.header("location"))).text
    assert "Chance is next" in page
    assert "draw 5 (1 in 18)" in page
    after = await one.get(address("positive-negative", shown_text(page), decision="5"))
    assert "Player 1 is to decide." in (await one.get(after.header("location"))).text


@pytest.mark.parametrize("name", names())
async def test_every_game_has_a_board_to_begin_with(house: InProcessServer, name: str) -> None:
    if name == "mccoy-duel":
        house.bot_workers.studying = no_values(house)  # searching takes long
    page = (await Device(house).get(f"/analysis/{name}")).text
    assert f"{find(name).notation.TITLE}: analysis" in page
    assert shown_text(page).startswith(name)
    assert "is to decide." in page
    assert (await Device(house).get("/analysis")).text.count(f'href="/analysis/{name}"') == 1


def no_values(house: InProcessServer):  # type: ignore[no-untyped-def]
    async def studying(_progress: Progress) -> None:
        if house.bot_workers.asked[-1][2] == "evaluate":
            await asyncio.Event().wait()

    return studying


async def test_names_and_the_way_back_are_passed_on_from_a_replay(house: InProcessServer) -> None:
    one = Device(house)
    code = await one.opens("zero-sum-duel", versus="steady", name="")
    await finish(house, code, [one, one])
    room = house.room(code)
    seat, deciders = room.seat_of(room.host), room.transcript.deciders  # type: ignore[union-attr]
    at = deciders.index(1 - seat)
    link = re.search(r'id="analyse" href="([^"]*)"', (await one.get(f"/t/{code}/replay?step={at + 1}")).text)
    assert link is not None
    board = (await one.get(unescape(link[1]))).header("location")
    page = (await one.get(board)).text
    assert "Steady is to decide." in page
    assert "those of Steady" in page
    assert "<bdi>You</bdi>" in page
    assert f'id="back" href="/t/{code}/replay?step={at}"' in page
    go = re.search(r'<b><a href="(/analysis/[^"]*decision=[^"]*)"', page)
    assert go is not None
    after = (await one.get((await one.get(unescape(go[1]))).header("location"))).text
    assert "<bdi>You</bdi>" in after
    assert f'href="/t/{code}/replay?step={at}"' in after


async def test_names_in_an_address_are_only_text(house: InProcessServer) -> None:
    more = "&name=<b>&name=Ben\n&replay=//evil.example/x.1&replay=a.1"
    page = (await Device(house).get(address("zero-sum-grid", GRID) + more)).text
    assert "<bdi>&lt;b&gt;</bdi>" in page
    assert "evil" not in page
    one_name = (await Device(house).get(address("zero-sum-grid", GRID) + "&name=Ada")).text
    assert "Player 1 is to decide." in one_name


async def test_hands_that_everybody_knows_lie_open(house: InProcessServer) -> None:
    text = "zero-sum-duel{first=a} A=-5,-3,-1,+2 B=-4,-2,+1 pile=- to=A phase=discard turns=6"
    page = (await Device(house).get(address("zero-sum-duel", text))).text
    hand = page.partition("Player B&#39;s hand")[2].partition("</section>")[0]
    assert [card in hand for card in ("minus 4", "minus 2", "plus 1", "face down")] == [True, True, True, False]


async def test_an_address_of_another_game_leads_to_the_right_one(house: InProcessServer) -> None:
    one = Device(house)
    assert (await one.get(address("prime-duel", GRID))).header("location").startswith("/analysis/zero-sum-grid?")
    general = await one.get(f"/analysis?position={quote(GRID)}")
    assert general.header("location") == address("zero-sum-grid", GRID).replace("/", "/").replace(
        quote(GRID), quote(GRID, safe="")
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("zero-sum-grid cells=1", "cells"),
        ("zero-sum-grid{top=99} cells=1", "top"),
        (f"{GRID} | 1", "four parts"),
        (f"{GRID} extra=1", "does not belong here"),
        ("zero-sum-grid " + "x" * MAX_POSITION_CHARS, "at most"),
        ("zero-sum-grid <script>alert(1)</script>", "is not written as"),
    ],
)
async def test_text_that_is_no_position_gets_a_sentence_and_stays_to_be_changed(
    house: InProcessServer, text: str, why: str
) -> None:
    got = await Device(house).get(address("zero-sum-grid", text))
    assert got.status == 422
    assert why in unescape(got.text)
    assert "<script>alert" not in got.text
    assert shown_text(got.text) == text


async def test_what_names_no_game_or_no_step_is_refused(house: InProcessServer) -> None:
    one = Device(house)
    assert (await one.get("/analysis/chess")).status == 404
    assert (await one.get("/analysis?position=chess")).status == 422
    wrong = await one.get(address("zero-sum-grid", GRID, decision="Q7"))
    assert wrong.status == 422
    assert "is not a decision here" in unescape(wrong.text)


async def test_the_board_is_shown_while_its_values_are_computed(
    house: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.bot_workers.studying = no_values(house)
    one = Device(house)
    await one.get(address("zero-sum-grid", GRID))
    monkeypatch.setattr(runner, "WAIT_S", 0.0)
    page = (await one.get(address("zero-sum-grid", GRID))).text
    assert 'class="handle pick"' in page
    assert "values are being computed" in page
    assert 'data-pending="1"' in page


async def test_a_step_of_a_finished_game_leads_to_the_board_and_one_of_a_running_game_does_not(
    house: InProcessServer,
) -> None:
    code, people = await table_for(house, "zero-sum-duel", 2, **{"option-turns": "10"})
    for who in (*people, Device(house)):
        for query in ("", "?step=3", "?step=3&seat=0", "?step=3&seat=1"):
            running = await who.get(f"/t/{code}/analyse{query}")
            assert running.status == 409
            assert "/analysis" not in running.text
        assert "/analys" not in (await who.get(f"/t/{code}")).text
    await finish(house, code, people)
    leads = await people[0].get(f"/t/{code}/analyse?step=8&seat=0")
    assert leads.header("location").startswith("/analysis/zero-sum-duel?position=zero-sum-duel")
    assert "%7C%20A%20%7C" in leads.header("location")
    for query in ("?step=999999&seat=9", "?step=x&seat=-1", "?step=-4"):
        assert (await people[0].get(f"/t/{code}/analyse{query}")).status == 303
    assert (await people[0].get("/t/nothing/analyse")).status == 404
