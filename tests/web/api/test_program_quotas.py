"""What programs may use of a server: games without a person have quotas of their own."""

from __future__ import annotations

from pathlib import Path

from piste.web.middleware.rate_limits import RATES, Limits, Rate
from tests.web.api.program_client import Program
from tests.web.in_process_server import Clock, Device, Got, InProcessServer, table_for

FULL = "/api/v1/problems#too-many"
GAME = "prime-duel"


def limited(path: Path, program_games: int, **rates: Rate) -> InProcessServer:
    house = InProcessServer(path / "tables.db", limits=True, program_games=program_games)
    clock = Clock()
    house.limits = Limits(clock, rates={**RATES, **{name.replace("_", " "): rate for name, rate in rates.items()}})
    return house


async def opened(house: InProcessServer, client: str = "192.0.2.7", versus: str = "random") -> Got:
    return await Program(house, client=client).post("/tables", {"game": GAME, "versus": versus})


def is_full(got: Got) -> bool:
    if got.status != 429:
        return False
    assert got.json["type"] == FULL
    assert int(got.header("retry-after")) == got.json["retry_after"] >= 1
    assert got.json["detail"].endswith(".")
    return True


async def test_a_network_has_a_quarter_of_the_games_without_a_person(tmp_path: Path) -> None:
    async with limited(tmp_path, 8) as house:
        assert [(await opened(house)).status for _ in range(2)] == [201, 201]
        assert is_full(await opened(house))
        assert (await opened(house, "198.51.100.1")).status == 201
        assert (await opened(house, versus="friend")).status == 201  # a person may come


async def test_all_networks_together_have_so_many(tmp_path: Path) -> None:
    async with limited(tmp_path, 4) as house:
        for number in range(4):
            assert (await opened(house, f"198.51.100.{number}")).status == 201
        assert is_full(await opened(house, "198.51.100.9"))


async def test_a_game_that_is_over_makes_room(tmp_path: Path) -> None:
    async with limited(tmp_path, 4) as house:
        program = Program(house)
        code = await program.opens(GAME, "random")
        assert is_full(await opened(house))
        await program.post(f"/tables/{code}/resign")
        assert (await opened(house)).status == 201


async def test_the_second_program_at_a_table_counts_it(tmp_path: Path) -> None:
    async with limited(tmp_path, 4) as house:
        waiting = await Program(house).opens(GAME)
        assert (await opened(house)).status == 201
        second = Program(house)
        assert is_full(await second.post(f"/tables/{waiting}/seats"))
        assert house.room(waiting).seats[1].kind == "open"  # nothing has happened
        person = Device(house)
        assert (await person.do(waiting, "sit", name="Eve"))["ok"]
        assert house.room(waiting).table is not None


async def test_a_program_in_place_of_the_only_person_counts(tmp_path: Path) -> None:
    async with limited(tmp_path, 4) as house:
        person = Device(house)
        code = await person.opens(GAME, "steady")
        assert (await opened(house)).status == 201
        got = await person.post(f"/t/{code}/connect", accept="application/json")
        assert got.status == 429
        assert int(got.header("retry-after")) >= 1
        both, people = await table_for(house, GAME)
        assert (await people[0].post(f"/t/{both}/connect")).status == 200  # another person plays there


async def test_a_server_can_refuse_games_without_a_person(tmp_path: Path) -> None:
    async with limited(tmp_path, 0) as house:
        refused = await opened(house)
        assert refused.status == 403
        assert refused.json["type"].endswith("#no-program-games")
        assert (await opened(house, versus="friend")).status == 201


async def test_tables_of_programs_are_limited_in_rate_apart_from_those_of_people(tmp_path: Path) -> None:
    async with limited(tmp_path, 400, program_rooms=Rate(2, 0.1), rooms=Rate(2, 0.1)) as house:
        assert [(await opened(house, versus="friend")).status for _ in range(2)] == [201, 201]
        assert is_full(await opened(house, versus="friend"))
        person = Device(house)
        assert await person.opens(GAME)  # people in the same network open theirs
        assert await person.opens(GAME)
        assert (await person.post("/new", {"game": GAME, "versus": "friend"})).status == 429


async def test_requests_of_programs_are_limited_like_those_of_pages(tmp_path: Path) -> None:
    async with limited(tmp_path, 4, posts=Rate(2, 0.1), requests=Rate(5, 0.1), sockets=Rate(1, 0.1)) as house:
        program = Program(house)
        assert [(await program.post("/tokens")).status for _ in range(3)] == [201, 201, 429]
        assert [(await program.get("/games/prime-duel")).status for _ in range(3)] == [200, 200, 429]
        assert is_full(await program.get("/games/prime-duel"))
        missing = "/tables/2222222222222222/events"
        assert (await program.get(missing)).status == 404
        assert is_full(await program.get(missing))


async def test_streams_that_are_held_open_are_limited_in_number(tmp_path: Path) -> None:
    house = InProcessServer(tmp_path / "tables.db")
    house.limits = Limits(Clock(), max_sockets=2)
    async with house:
        program = Program(house)
        code = await program.opens(GAME)
        lines = [await program.listens(code) for _ in range(2)]
        assert is_full(await program.get(f"/tables/{code}/events"))
        assert (await program.connect(code)).refused[0]["status"] == 429
        await lines[0].leave()
        again = await program.listens(code)
        assert again.status == 200
        for stream in (lines[1], again):
            await stream.leave()
