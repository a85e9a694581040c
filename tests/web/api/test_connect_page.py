"""“Connect a program” at a table's page, and what others at the table are shown of a program."""

from __future__ import annotations

import re

import pytest

from tests.web.api.program_client import Program
from tests.web.in_process_server import Device, InProcessServer, finish, record, table_for


async def connected(device: Device, code: str) -> Program:
    """Connect a program on the page, and return it with the token that is shown."""
    got = await device.post(f"/t/{code}/connect")
    assert got.status == 200, got.text
    assert got.header("cache-control") == "no-store"
    (token,) = re.findall(r'value="(seat_[\w-]{43})"', got.text)
    return Program(device.house, token)


async def test_a_program_plays_the_seat_of_the_person_who_connected_it(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel", 2, **{"option-first": "1"})
    assert "Connect a program" in await people[0].page(code)
    program = await connected(people[0], code)
    assert (await program.decides_first(code)).status == 200
    table = house.room(code).table
    assert table is not None
    assert table.number == 1
    assert 'data-seat="0"' in await people[0].page(code)  # the person still has it, too


async def test_everybody_is_shown_that_a_program_plays(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    socket = await people[1].connect(code)
    assert "program" not in socket.shown("people")
    await connected(people[0], code)
    await house.settle()
    assert "program, here" in socket.shown("people")
    assert '<span class="what">program' in (await Device(house).page(code)).replace(" idle", "")
    note = "From here on a program plays for Ada."
    assert note in [text for _, _, text in socket.log]
    await connected(people[0], code)
    await house.settle()
    assert [text for _, _, text in socket.log].count(note) == 1
    assert note in record(house, code)
    await socket.leave()
    opener = Program(house)
    other = await opener.opens("prime-duel", name="Robot")
    assert "program, here" in await Device(house).page(other)


async def test_a_program_that_sat_down_alone_is_shown_as_one_after_a_restart(house: InProcessServer) -> None:
    program = Program(house)
    code = await program.opens("prime-duel", name="Robot")
    await house.restart()
    assert "program, " in await Device(house).page(code)


async def test_the_page_has_the_commands_and_the_token_once(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    text = (await people[0].post(f"/t/{code}/connect")).text
    (token,) = set(re.findall(r"seat_[\w-]{43}", text))
    assert f"piste join http://table.example/t/{code} --bot steady" in text
    assert f"http://table.example/api/v1/tables/{code}" in text
    assert not re.search(rf'(href|src|action)="[^"]*{token}', text)  # in no address
    for page in (f"/t/{code}", f"/t/{code}/news", "/games"):
        assert token not in (await people[0].get(page)).text


async def test_only_whoever_sits_there_can_connect_a_program(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    for stranger in (Device(house), Device(house, "w" * 43)):
        got = await stranger.post(f"/t/{code}/connect", accept="application/json")
        assert got.status == 409
        assert "token" not in got.json
    got = await people[0].post(f"/t/{code}/connect", accept="application/json")
    assert got.json["token"].startswith("seat_")
    foreign = await people[0].post(f"/t/{code}/connect", origin="https://elsewhere.example")
    assert foreign.status == 403


async def test_after_the_game_no_program_can_be_connected(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    await finish(house, code, people)
    assert "Connect a program" not in await people[0].page(code)
    assert (await people[0].post(f"/t/{code}/connect")).status == 409


@pytest.mark.parametrize("seat", [0, 1])
async def test_a_token_is_no_cookie_of_a_page(house: InProcessServer, seat: int) -> None:
    code, people = await table_for(house, "prime-duel")
    program = await connected(people[seat], code)
    assert 'data-seat="-3"' in await Device(house, program.token).page(code)
