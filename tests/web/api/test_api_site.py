"""The API: a program opens a table, sits, sees, decides and resigns, and every refusal is a problem document."""

from __future__ import annotations

from typing import Any

import pytest

from piste.core.game import find, names
from piste.web.api.problems import PROBLEMS, ROOT
from tests.web.api.program_client import API, Program, two_programs
from tests.web.in_process_server import OURS, Device, Got, InProcessServer, scope_of, table_for


def kind_of(got: Got) -> str:
    """Return what kind of refusal an answer is; it must be a whole problem document."""
    assert got.header("content-type") == "application/problem+json", got.text
    problem = got.json
    kind = problem["type"].removeprefix(f"{ROOT}/problems#")
    assert problem["status"] == got.status == PROBLEMS[kind].status
    assert problem["title"] == PROBLEMS[kind].title
    assert problem["hint"] == PROBLEMS[kind].hint
    assert problem["detail"].endswith((".", "?"))
    return str(kind)


async def play_on(code: str, programs: list[Program]) -> dict[str, Any]:
    """Play to the end and return what the first program is told then."""
    for _ in range(2000):
        for program in programs:
            seen = await program.sees(code)
            if seen["now"]["type"] == "end":
                return seen
            if seen["now"]["type"] == "decide":
                now = seen["now"]
                assert (
                    await program.decides(code, now["decisions"][now["random"] % 2 - 1], now["number"])
                ).status == 200
    raise AssertionError("the game does not end")


@pytest.mark.parametrize("game", names())
async def test_two_programs_play_a_whole_game(house: InProcessServer, game: str) -> None:
    options = {"turns": 10} if any(option.name == "turns" for option in find(game).notation.OPTIONS) else {}
    code, programs = await two_programs(house, game, options=options)
    seen = await play_on(code, programs)
    assert seen["table"]["stage"] == "over"
    assert seen["now"]["reason"] in find(game).notation.REASONS.values()
    assert (await programs[1].sees(code))["now"]["winner"] == seen["now"]["winner"]
    record = await programs[0].get(f"/tables/{code}/record")
    assert record.status == 200
    assert record.text.splitlines()[0].count("program") == 2  # who sat on the two seats


async def test_a_program_plays_against_a_bot(house: InProcessServer) -> None:
    program = Program(house)
    code = await program.opens("prime-duel", "steady", name="Mine")
    seen = await play_on(code, [program])
    kinds = {one["name"]: one["kind"] for one in seen["table"]["people"]}
    assert kinds == {"Mine": "program", "Steady": "bot"}


async def test_what_a_seat_is_told_is_what_a_program_on_this_computer_is_told(house: InProcessServer) -> None:
    code, (ada, _) = await two_programs(house, "prime-duel", options={"first": 1})
    seen = await ada.sees(code)
    assert set(seen["hello"]) == {"type", "piste", "game", "options", "origin", "kinds", "seat", "seats"}
    assert set(seen["now"]) == {"type", "number", "decisions", "view", "log", "random"}
    assert seen["now"]["type"] == "decide"
    assert seen["hello"]["seat"] == "1"
    assert (await ada.get(f"/tables/{code}?since=1")).json["now"]["log"] == seen["now"]["log"][1:]
    assert (await ada.sees(code)) == seen  # the number to take luck from is the same, too


async def test_a_decision_is_taken_once_and_a_stale_one_is_refused(house: InProcessServer) -> None:
    code, (ada, _) = await two_programs(house, "prime-duel", options={"first": 1})
    now = (await ada.sees(code))["now"]
    first = await ada.decides(code, "keep", now["number"])
    assert first.json["taken"] == {"do": "decide", "number": now["number"], "decision": "keep"}
    again = await ada.decides(code, "keep", now["number"])
    assert again.status == 200
    assert again.json["taken"] == first.json["taken"]
    assert house.room(code).table is not None
    assert len(house.room(code).transcript.answers) == 1  # type: ignore[union-attr]
    assert kind_of(await ada.decides(code, "discard", now["number"])) == "stale-decision"
    assert kind_of(await ada.decides(code, "keep", 99)) == "stale-decision"


async def test_what_cannot_be_decided_is_refused(house: InProcessServer) -> None:
    code, (ada, ben) = await two_programs(house, "prime-duel", options={"first": 1})
    number = (await ada.sees(code))["now"]["number"]
    assert kind_of(await ada.decides(code, "fold", number)) == "unreadable-decision"
    assert kind_of(await ada.decides(code, "", number)) == "unreadable-decision"
    assert kind_of(await ada.decides(code, "k" * 500, number)) == "unreadable-decision"
    assert kind_of(await ben.decides(code, "keep", number)) == "not-now"
    assert kind_of(await Program(house).decides(code, "keep", number)) == "no-token"
    assert kind_of(await Program(house, "w" * 43).decides(code, "keep", number)) == "not-your-seat"


async def test_resigning_twice_is_resigning_once(house: InProcessServer) -> None:
    code, (ada, ben) = await two_programs(house, "prime-duel")
    for _ in range(2):
        got = await ada.post(f"/tables/{code}/resign")
        assert got.json["taken"] == {"do": "resign"}
        assert got.json["now"]["reason"] == "resigned"
    assert kind_of(await ben.post(f"/tables/{code}/resign")) == "not-now"


async def test_the_turn_of_a_program_that_is_gone_can_be_claimed(house: InProcessServer) -> None:
    code, (ada, ben) = await two_programs(house, "prime-duel", options={"first": 1})
    assert (await ben.sees(code))["table"]["away"] is None
    assert kind_of(await ben.post(f"/tables/{code}/claim")) == "not-now"
    house.clock.now += house.settings.patience + 1
    assert (await ben.sees(code))["table"]["away"] == 0
    assert (await ben.post(f"/tables/{code}/claim")).json["now"]["type"] == "end"
    assert (await ada.sees(code))["now"]["winner"] == "2"


async def test_a_seat_that_a_bot_stood_in_for_is_taken_back(house: InProcessServer) -> None:
    program, friend = Program(house), Device(house)
    code = await program.opens("prime-duel", options={"first": 1})
    await friend.do(code, "sit", name="Eve")
    house.clock.now += house.settings.patience + 1
    house.bot_workers.choosing = wait_for_ever
    assert (await friend.do(code, "stand-in"))["ok"]
    assert (await program.sees(code))["now"]["type"] == "told"
    assert (await program.post(f"/tables/{code}/return")).json["now"]["type"] == "decide"


async def wait_for_ever(*_: object) -> int:
    from piste.core.errors import PisteError

    raise PisteError("The bot has stopped here.")


async def test_a_program_without_a_token_gets_one_for_its_seat_alone(house: InProcessServer) -> None:
    program = Program(house)
    code = await program.opens("prime-duel")
    assert program.token.startswith("seat_")
    assert kind_of(await program.post("/tables", {"game": "prime-duel"})) == "not-your-seat"
    other = await Program(house).opens("prime-duel")
    assert kind_of(await program.post(f"/tables/{other}/seats", {})) == "not-your-seat"
    again = await program.post(f"/tables/{code}/seats", {})
    assert again.status == 200  # it sits here already
    assert "token" not in again.json


async def test_the_token_of_a_device_has_seats_at_many_tables(house: InProcessServer) -> None:
    token = (await Program(house).post("/tokens")).json
    assert token["scope"] == "device"
    program = Program(house, token["token"])
    codes = [await program.opens("prime-duel") for _ in range(2)]
    assert [(await program.sees(code))["table"]["seat"] for code in codes] == [0, 0]
    assert program.token == token["token"]


async def test_a_person_connects_a_program_over_the_api(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    person = Program(house, people[0].token)  # a browser's token is one of a device
    got = await person.post(f"/tables/{code}/tokens")
    assert got.status == 201
    assert got.json["scope"] == "seat"
    helper = Program(house, got.json["token"])
    seen = await helper.sees(code)
    assert seen["table"]["seat"] == 0
    assert [one["kind"] for one in seen["table"]["people"]] == ["program", "person"]
    assert kind_of(await Program(house, "w" * 43).post(f"/tables/{code}/tokens")) == "not-your-seat"
    assert (await people[0].do(code, "new-link"))["ok"]  # takes it away again
    assert (await helper.sees(code))["table"]["seat"] is None
    assert (await person.sees(code))["table"]["people"][0]["kind"] == "person"


async def test_a_private_link_seats_a_program(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    page = await people[0].page(code)
    link = page.partition(f"/s/{code}/0/")[2].partition('"')[0]
    program = Program(house)
    wrong = await program.post(f"/tables/{code}/seats", {"seat": 0, "link": "no" + link[2:]})
    assert kind_of(wrong) == "no-such-table"
    got = await program.post(f"/tables/{code}/seats", {"seat": 0, "link": link})
    assert got.status == 201
    assert got.json["table"]["seat"] == 0
    assert (await program.sees(code))["table"]["people"][0]["kind"] == "program"


async def test_one_seat_has_a_limited_number_of_tokens(house: InProcessServer) -> None:
    program = Program(house)
    code = await program.opens("prime-duel")
    answers = [await program.post(f"/tables/{code}/tokens") for _ in range(20)]
    assert [got.status for got in answers] == [201] * 19 + [409]


async def test_whoever_has_no_seat_sees_what_everybody_may_see(house: InProcessServer) -> None:
    code, _ = await two_programs(house, "zero-sum-duel")
    seen = await Program(house).sees(code)
    assert seen["table"]["seat"] is None
    assert seen["hello"]["seat"] == "watcher"
    assert seen["now"]["type"] == "told"
    assert seen["now"]["view"]["hand"] == 0


async def test_a_table_that_waits_says_so(house: InProcessServer) -> None:
    program = Program(house)
    code = await program.opens("prime-duel")
    seen = await program.sees(code)
    assert seen["now"] == {"type": "waiting"}
    assert seen["hello"] is None
    assert seen["table"]["status"] == "Waiting for 1 more player."
    assert kind_of(await program.get(f"/tables/{code}/history")) == "not-now"
    assert kind_of(await program.get(f"/tables/{code}/record")) == "not-now"


async def test_a_table_that_is_asked_for_twice_with_one_key_is_opened_once(house: InProcessServer) -> None:
    program = Program(house, "d" * 43)
    fields = {"game": "prime-duel", "options": {"target": 30}}
    first, second = [await program.post("/tables", fields, **{"idempotency-key": "one"}) for _ in range(2)]
    assert first.status == second.status == 201
    assert first.json["table"]["code"] == second.json["table"]["code"]
    other = await program.post("/tables", fields, **{"idempotency-key": "two"})
    assert other.json["table"]["code"] != first.json["table"]["code"]
    changed = await program.post("/tables", {"game": "prime-duel"}, **{"idempotency-key": "one"})
    assert kind_of(changed) == "other-request"
    await house.restart()
    again = await program.post("/tables", fields, **{"idempotency-key": "one"})
    assert again.json["table"]["code"] == first.json["table"]["code"]
    assert kind_of(await program.post("/tables", fields, **{"idempotency-key": "k" * 201})) == "unreadable-request"


async def test_games_options_and_rules_are_told(house: InProcessServer) -> None:
    program = Program(house)
    games = (await program.get("/games")).json["games"]
    assert [game["name"] for game in games] == list(names())
    one = (await program.get("/games/prime-duel")).json
    assert one == next(game for game in games if game["name"] == "prime-duel")
    target = next(option for option in one["options"] if option["name"] == "target")
    assert target["default"] == "50"
    assert [bot["name"] for bot in one["bots"]][:3] == ["random", "novice", "steady"]
    rules = await program.get("/games/prime-duel/rules")
    assert rules.header("content-type") == "text/markdown; charset=utf-8"
    assert rules.text.startswith("# Prime Duel")
    assert "## In Python" not in rules.text
    assert kind_of(await program.get("/games/poker")) == "no-such-name"
    index = (await program.get("")).json
    assert f"{API}/tables" in index["addresses"]
    assert {one["type"].partition("#")[2] for one in (await program.get("/problems")).json["problems"]} == set(
        PROBLEMS
    )


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"game": "poker"}, "no-such-name"),
        ({}, "no-such-name"),
        ({"game": "prime-duel", "versus": "nobody"}, "no-such-name"),
        ({"game": "prime-duel", "versus": "lesson"}, "no-such-name"),
        ({"game": "prime-duel", "options": {"target": 100000}}, "wrong-options"),
        ({"game": "prime-duel", "options": {"nothing": 1}}, "wrong-options"),
        ({"game": "prime-duel", "options": {"target": None}}, "unreadable-request"),
        ({"game": "prime-duel", "name": "n" * 25}, "wrong-options"),
        ({"game": 5}, "unreadable-request"),
        ({"game": "prime-duel", "seed": "mine"}, "unreadable-request"),
        ([], "unreadable-request"),
        (b"{", "unreadable-request"),
        (b'{"game": "\\ud800"}', "unreadable-request"),
        (b"[" * 4000, "unreadable-request"),
        (b"x" * 9000, "too-large"),
    ],
)
async def test_a_table_that_cannot_be_opened_is_refused(house: InProcessServer, fields: Any, kind: str) -> None:
    assert kind_of(await Program(house).post("/tables", fields)) == kind
    assert not house.service.registry.rooms


async def test_what_is_not_there_or_not_possible_is_refused(house: InProcessServer) -> None:
    program = Program(house)
    code = await program.opens("prime-duel")
    assert kind_of(await program.get("/nothing")) == "no-such-address"
    assert kind_of(await program.get("/tables/2222222222222222")) == "no-such-table"
    assert kind_of(await program.get("/tables/nothing/events")) == "no-such-table"
    wrong = await program.get("/tables")
    assert kind_of(wrong) == "wrong-method"
    assert wrong.header("allow") == "POST"
    got = await program.post(f"/tables/{code}/decisions", b"number=0", **{"content-type": "text/plain"})
    assert kind_of(got) == "unreadable-request"
    assert kind_of(await program.post(f"/tables/{code}/decisions", {"number": 0})) == "unreadable-request"
    assert (
        kind_of(await program.post(f"/tables/{code}/decisions", {"number": -1, "decision": "keep"}))
        == "unreadable-request"
    )
    assert kind_of(await program.post(f"/tables/{code}/resign", {"sure": "yes"})) == "unreadable-request"
    for header in ("Bearer", "Bearer short", f"Basic {'a' * 43}", f"Bearer {'ü' * 43}", f"Bearer seat_{'a' * 42}"):
        refused = await Program(house).get(f"/tables/{code}", authorization=header)
        assert kind_of(refused) == "no-token"
        assert refused.header("www-authenticate").startswith("Bearer")


async def test_pages_of_other_sites_cannot_use_it_and_cookies_are_not_read(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    program = Program(house)
    foreign = await program.post("/tables", {"game": "prime-duel"}, origin="https://elsewhere.example")
    assert kind_of(foreign) == "foreign-page"
    assert (await program.post("/tables", {"game": "prime-duel"}, **OURS)).status == 201
    with_cookie = await Program(house).get(f"/tables/{code}", cookie=f"piste={people[0].token}")
    assert with_cookie.json["table"]["seat"] is None
    # A token of the API is none of a page.
    scope = scope_of("http", f"/t/{code}", {"host": "table.example", "authorization": f"Bearer {people[0].token}"})
    assert "Your turn" not in (await house.http(scope)).text


async def test_seats_of_programs_are_kept_over_a_restart(house: InProcessServer) -> None:
    code, (ada, _) = await two_programs(house, "prime-duel", options={"first": 1})
    before = await ada.sees(code)
    await house.restart()
    assert await ada.sees(code) == before
    assert (await ada.decides_first(code)).status == 200
