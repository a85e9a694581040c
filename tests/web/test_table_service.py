"""All that people do at tables, through the addresses of the server: what happens, what is kept, who is told."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

import piste
from piste import bots
from piste.compiled import table_cache
from piste.core.evaluation import Basis
from piste.core.game import names
from piste.games.prime_duel import guarantees
from piste.web.tables.again import decision_after, own_decisions
from piste.web.tables.tokens import player_of
from piste.web.workers.worker_pool import WorkerTimeoutError
from tests.web.failing_storage import storage_fails
from tests.web.in_process_server import (
    SALT,
    SEED,
    Device,
    InProcessServer,
    actor,
    buttons,
    finish,
    one_decision,
    record,
    table_for,
)

DAY = 86400.0


async def seat_link(device: Device, code: str) -> str:
    found = re.search(r'id="seat-link" readonly value="http://[^/"]*(/s/[^"]*)"', await device.page(code))
    assert found
    return unescape(found[1])


# Sitting down


async def test_a_guest_gets_a_token_once_and_the_server_keeps_only_its_digest(house: InProcessServer) -> None:
    guest = Device(house)
    assert (await guest.get("/")).header("set-cookie") == ""
    code = await guest.opens("prime-duel", name="Ada")
    assert len(guest.token) == 43
    kept = house.storage.room(code)
    assert kept is not None
    assert guest.token not in repr(kept)
    got = await guest.post(f"/t/{code}/unlist")
    assert (got.status, got.header("set-cookie")) == (303, "")


async def test_a_bots_seat_says_how_its_play_is_known_and_duel_has_no_perfect_bot(house: InProcessServer) -> None:
    person = Device(house)
    home = (await person.get("/")).text
    assert re.search(r'<option value="perfect"[^>]*>Expert \(searched\)</option>', home)
    assert "<b>Expert</b> (searched)" in (await person.get("/g/mccoy-duel")).text
    duel = await person.page(await person.opens("mccoy-duel", "perfect"))
    assert "<bdi>Expert</bdi>" in duel
    assert "Expert bot (searched)" in duel
    assert "Perfect" not in duel
    grid = await person.page(await person.opens("zero-sum-grid", "perfect"))
    assert "<bdi>Perfect</bdi>" in grid
    assert "Perfect bot (proven)" in grid
    code = await person.opens("positive-negative", **{"option-top": "12"})
    assert ">Expert (partly solved)</option>" in await person.page(code)


async def test_a_running_server_follows_a_full_solution_that_is_made_meanwhile(
    house: InProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path / "solved")
    person = Device(house)
    size = {"option-target": "51"}  # what is needed of the solution of the sheet's size is in the package
    waiting = await person.opens("prime-duel", **size)
    playing = await person.opens("prime-duel", "perfect", **size)

    async def told(word: str) -> list[int]:
        """Return how often each page says so of the level."""
        said = {
            f"/t/{waiting}": f">Expert ({word})</option>",
            f"/t/{playing}": f"bot ({word})",
        }
        return [(await person.get(path)).text.count(text) for path, text in said.items()]

    assert (await told(Basis.PARTLY), await told(Basis.ESTIMATED)) == ([0, 0], [1, 1])
    options = guarantees.value_options(piste.find("prime-duel").options({"target": 51}))
    table_cache.save(guarantees.name(options), guarantees.stamp(), {})
    assert (await told(Basis.PARTLY), await told(Basis.ESTIMATED)) == ([1, 1], [0, 0])


def test_only_games_whose_bots_depend_on_the_disk_are_looked_up_there(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []

    def last_modified() -> int:
        looks.append(1)
        return 1

    monkeypatch.setattr(table_cache, "last_modified", last_modified)
    assert {name: bots.made(piste.find(name)) for name in names()} == {
        name: int(name == "prime-duel") for name in names()
    }
    assert len(looks) == 1


async def test_the_cookie_is_closed_to_scripts_and_to_other_sites(house: InProcessServer) -> None:
    got = await Device(house).post("/new", {"game": "prime-duel", "versus": "friend"})
    cookie = got.header("set-cookie").lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "secure" not in cookie  # nobody could play in a household's network, where there is only http


@pytest.mark.parametrize("count", [2, 3, 4])
async def test_friends_sit_down_and_the_last_one_begins_the_game(house: InProcessServer, count: int) -> None:
    host = Device(house)
    code = await host.opens("mccoy-duel", players=str(count), name="Ada")
    for at in range(1, count):
        assert house.room(code).table is None
        assert "Waiting for" in await host.page(code)
        guest = Device(house)
        assert "Sit down" in await guest.page(code)
        assert (await guest.do(code, "sit", name=f"Guest {at}"))["ok"]
    assert house.room(code).to_act is not None
    late = Device(house)
    answer = await late.do(code, "sit", name="Late")
    assert (answer["ok"], answer["status"]) == (False, 409)
    assert "watch" in answer["said"]
    assert "You are watching" in await late.page(code)


@pytest.mark.parametrize("name", ["x" * 25, "\u200b", "\x07"])
async def test_a_name_that_cannot_be_is_refused_at_the_door_and_when_opening(
    house: InProcessServer, name: str
) -> None:
    code = await Device(house).opens("prime-duel")
    answer = await Device(house).do(code, "sit", name=name)
    assert not answer["ok"]
    assert "1 to 24 letters" in answer["said"]
    assert house.room(code).table is None
    got = await Device(house).post("/new", {"game": "prime-duel", "versus": "friend", "name": name})
    assert got.status == 422
    assert "1 to 24 letters" in got.text


async def test_a_hostile_name_is_text_everywhere(house: InProcessServer) -> None:
    name = "<img src=x onerror=e()>"
    people = [Device(house, house.tokens.token()) for _ in range(2)]
    code = await people[0].opens("prime-duel", name=name)
    await people[1].do(code, "sit", name='"><script>')
    await people[0].do(code, "list")
    await people[0].do(code, "resign")
    for who in (*people, Device(house)):
        socket = await who.connect(code)
        shown = [await who.page(code), socket.shown("people"), (await who.get("/watch")).text]
        shown += [
            (await who.get("/games")).text,
            (await who.get(f"/t/{code}/replay")).text,
            (await who.get("/")).text,
        ]
        assert not any("<img src=x" in text or "<script>" in text for text in shown)
        await socket.leave()


async def test_two_of_the_same_name_can_be_told_apart(house: InProcessServer) -> None:
    for name in ("Ada", "Player 2", "player 2"):
        people = [Device(house, house.tokens.token()) for _ in range(2)]
        code = await people[0].opens("prime-duel", name=name)
        await people[1].do(code, "sit", name="" if "2" in name else name)
        first, second = house.room(code).names()
        assert first.casefold() != second.casefold()


# Bots


@pytest.mark.parametrize("game", names())
async def test_one_person_plays_a_bot_through_forms_alone(house: InProcessServer, game: str) -> None:
    """Without JavaScript: buttons of forms, redirects, pages; from the first page to the record."""
    person = Device(house)
    assert game in (await person.get("/")).text
    code = await person.opens(game, "steady", name="Ada")
    for _ in range(2000):
        page = await person.page(code)
        if 'data-stage="over"' in page:
            break
        number = re.search(r'name="number" value="(\d+)"', page)
        assert number
        decision = unescape(buttons(page)[0])
        got = await person.post(f"/t/{code}/decide", {"decision": decision, "number": number[1]})
        assert (got.status, got.header("location")) == (303, f"/t/{code}")
        await house.settle()
    assert "Replay and review" in page
    text = (await person.get(f"/t/{code}/record")).text
    table, _ = piste.core.replay.replay(piste.Record.parse(text))
    assert table.to_act is None
    assert json.loads(text.splitlines()[0])["notes"] == {"seat 1": "you", "seat 2": "steady"}


async def test_bots_fill_free_seats_when_the_host_wants_it(house: InProcessServer) -> None:
    code, people = await table_for(house, "mccoy-duel", 2, players="4")
    assert not (await people[1].do(code, "fill", bot="steady"))["ok"]
    assert not (await people[0].do(code, "fill", bot="god"))["ok"]
    assert house.room(code).table is None
    assert (await people[0].do(code, "fill", bot="novice"))["ok"]
    room = house.room(code)
    assert room.to_act is not None
    assert [seat.bot for seat in room.seats] == ["", "", "novice", "novice"]
    await finish(house, code, people)
    assert {asked[1] for asked in house.bot_workers.asked} == {"novice"}


async def test_what_bots_are_given_holds_neither_the_seed_nor_the_salt(house: InProcessServer) -> None:
    person = Device(house)
    code = await person.opens("mccoy-duel", "steady")
    await person.do(code, "hint")
    await finish(house, code, [person])
    assert len(house.bot_workers.asked) > 2
    assert SEED not in repr(house.bot_workers.asked)
    assert SALT.hex() not in repr(house.bot_workers.asked)


async def test_a_hint_is_for_games_against_bots_and_is_on_record(house: InProcessServer) -> None:
    person = Device(house)
    code = await person.opens("prime-duel", "steady")
    answer = await person.do(code, "hint")
    assert answer["ok"]
    assert re.fullmatch(r"The strongest bot here, Expert, would (keep|discard) \d+\.", answer["said"])
    assert (await person.do(code, "hint"))["said"] == answer["said"]
    assert record(house, code).count("hint for seat 1") == 1
    assert answer["said"] in unescape(await person.page(code))
    assert answer["said"] not in unescape(await Device(house).page(code))
    assert not (await Device(house).do(code, "hint"))["ok"]
    await house.restart()
    assert "The hint was" in await person.page(code)
    friends, people = await table_for(house, "prime-duel")
    answer = await people[0].do(friends, "hint")
    assert not answer["ok"]
    assert "people play each other" in answer["said"]
    assert "hint" not in record(house, friends)


async def test_a_hint_that_fails_says_so_at_the_table_and_can_be_asked_for_again(
    house: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise WorkerTimeoutError("A bot took too long.")

    person = Device(house)
    code = await person.opens("prime-duel", "steady")
    with monkeypatch.context() as patch:
        patch.setattr(house.bot_workers, "hint", fail)
        assert not (await person.do(code, "hint"))["ok"]
    assert "There is no hint: A bot took too long." in await person.page(code)
    assert "There is no hint" not in await Device(house).page(code)
    answer = await person.do(code, "hint")
    assert answer["said"] in unescape(await person.page(code))
    assert "There is no hint" not in await person.page(code)


# Away and back


async def test_a_turn_is_claimed_only_from_somebody_who_has_been_away_for_long(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    away = actor(house, code)
    mine, other = people[1 - away], people[away]
    await other.page(code)
    house.clock.now += house.settings.patience - 1
    for verb in ("claim", "stand-in"):
        assert not (await mine.do(code, verb))["ok"]
    assert "is away" in await mine.page(code)
    house.clock.now += 2
    assert not (await other.do(code, "claim"))["ok"]  # one's own turn cannot be claimed
    house.clock.now += house.settings.patience + 1
    assert not (await Device(house).do(code, "claim"))["ok"]
    assert "Claim the turn" in await mine.page(code)
    assert (await mine.do(code, "claim"))["ok"]
    assert house.room(code).over
    assert "wins" in await Device(house).page(code)


async def test_a_bot_stands_in_and_goes_when_the_person_is_back(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    away = actor(house, code)
    number = house.room(code).table.number  # type: ignore[union-attr]
    house.clock.now += house.settings.patience + 1
    assert (await people[1 - away].do(code, "stand-in"))["ok"]
    room = house.room(code)
    assert room.seats[away].stand_in == "steady"
    assert room.table is not None
    assert room.table.number > number
    await house.restart()
    assert "Take my seat back" in await people[away].page(code)
    assert house.room(code).seats[away].stand_in == "steady"
    assert (await people[away].do(code, "return"))["ok"]
    assert house.room(code).seats[away].stand_in == ""
    await finish(house, code, people)
    text = (await people[0].get(f"/t/{code}/record")).text
    assert "plays on for" in text
    assert "Back again" in text
    piste.core.replay.replay(piste.Record.parse(text))


# Rematch


@pytest.mark.parametrize("count", [2, 3, 4])
async def test_a_rematch_keeps_places_one_seat_on(house: InProcessServer, count: int) -> None:
    code, people = await table_for(house, "mccoy-duel", count, players=str(count))
    assert not (await people[0].do(code, "rematch"))["ok"]
    for person in people[1:]:
        await person.do(code, "resign")
    assert not (await Device(house).do(code, "rematch"))["ok"]
    answer = await people[1].do(code, "rematch")
    following = answer["go"].rpartition("/")[2]
    assert (await people[0].do(code, "rematch"))["go"] == answer["go"]
    assert answer["go"] in await people[0].page(code)
    room = house.room(following)
    assert room.table is None
    assert room.names() == tuple(("Ada", "Ben", "Cleo", "Dan")[:count][(i + 1) % count] for i in range(count))
    assert not (await Device(house).do(following, "sit", name="Thief"))["ok"]
    await house.restart()
    for person in people:
        await person.page(following)
    room = house.room(following)
    assert room.to_act is not None
    assert [room.seat_of(seat) for seat in (next(iter(s.players)) for s in room.seats)] == list(range(count))


async def test_a_rematch_that_cannot_be_kept_is_none_and_can_be_asked_for_again(house: InProcessServer) -> None:
    person = Device(house)
    code = await person.opens("prime-duel", "steady", name="Ada")
    await person.do(code, "resign")
    with storage_fails(house):
        assert not (await person.do(code, "rematch"))["ok"]
    assert house.room(code).successor is None
    first = await person.do(code, "rematch")
    assert first["ok"]
    await house.restart()
    assert (await person.do(code, "rematch"))["go"] == first["go"]


async def test_a_rematch_against_a_bot_begins_at_once_with_seats_swapped(house: InProcessServer) -> None:
    person = Device(house)
    code = await person.opens("prime-duel", "steady", name="Ada")
    await person.do(code, "resign")
    following = (await person.do(code, "rematch"))["go"].rpartition("/")[2]
    assert house.room(following).names() == ("Steady", "Ada")
    assert house.room(following).to_act is not None


async def rematch_of(device: Device, code: str, **fields: str) -> str:
    answer = await device.do(code, "rematch", **fields)
    assert answer["ok"], answer
    return str(answer["go"]).rpartition("/")[2]


async def test_whoever_has_asked_for_a_rematch_and_deletes_the_game_is_not_named_any_more(
    house: InProcessServer,
) -> None:
    code, (ada, ben) = await table_for(house, "prime-duel")
    await ada.do(code, "resign")
    following = await rematch_of(ada, code)
    assert (await ada.do(code, "delete"))["ok"]
    page = await ben.page(code)
    assert "Ada wants a rematch" not in page
    assert f"/t/{following}" in page
    house.service.registry.remove(code)
    assert await ben.page(code) == page


async def test_a_rematch_is_announced_at_once_to_the_other_player_and_to_spectators(house: InProcessServer) -> None:
    code, (ada, ben) = await table_for(house, "prime-duel")
    await ben.do(code, "resign")
    sockets = {name: await device.connect(code) for name, device in (("Ben", ben), ("Eve", Device(house)))}
    following = await rematch_of(ada, code)
    for _ in range(2):
        assert "rematch-call" not in await ada.page(code)
        assert "Ada wants a rematch." in await ben.page(code)
        assert "Your opponent wants a rematch" in (await ben.get("/games")).text
        assert "Your opponent wants a rematch" not in (await ada.get("/games")).text
        watching = await Device(house).page(code)
        assert "Ada and Ben play again." in watching
        assert "Watch the rematch" in watching
        await house.restart()  # who asked is found again
    assert "Ada wants a rematch." in sockets["Ben"].shown("status")
    assert f'href="/t/{following}"' in sockets["Ben"].shown("status")
    assert "Watch the rematch" in sockets["Eve"].shown("status")
    await ben.page(following)
    assert house.room(following).to_act is not None


async def test_a_rematch_that_is_closed_can_be_asked_for_again(house: InProcessServer) -> None:
    code, (ada, ben) = await table_for(house, "prime-duel")
    await ben.do(code, "resign")
    first = await rematch_of(ada, code)
    assert (await ada.do(first, "delete"))["ok"]
    assert "rematch-call" not in await ben.page(code)
    second = await rematch_of(ben, code)
    assert second != first
    assert "Ben wants a rematch." in await ada.page(code)


def series(page: str) -> str:
    found = re.search(r'id="series">Games together: <b>(.*?)</b>', page)
    return unescape(found[1]) if found else ""


async def test_wins_and_draws_are_counted_over_rematches_and_survive_a_restart(house: InProcessServer) -> None:
    code, people = await table_for(house, "zero-sum-grid", 2, **{"option-turns": "2"})
    ada, ben = people
    await ben.do(code, "resign")
    assert series(await ada.page(code)) == ""  # one game is no series
    for at, (loser, said) in enumerate(
        [
            (ada, "You 1 – 1 Ben"),
            (ben, "You 2 – 1 Ben"),
            (None, "You 2 – 1 Ben, 1 drawn"),
            (ben, "You 3 – 1 Ben, 1 drawn"),
        ]
    ):
        code = await rematch_of((ada, ben)[at % 2], code)
        await (ben, ada)[at % 2].page(code)
        if at == 1:
            await house.restart()
        running = await ada.page(code)
        assert "Games together so far" in running
        if loser is None:
            while house.room(code).to_act is not None:
                seats = [house.room(code).seat_of(player_of(one.token)) for one in people]
                await one_decision(house, code, [people[seats.index(0)], people[seats.index(1)]])
        else:
            await loser.do(code, "resign")
        assert series(await ada.page(code)) == said
        await house.restart()
        assert series(await ada.page(code)) == said
    assert series(await ben.page(code)) == "You 1 – 3 Ada, 1 drawn"
    assert series(await Device(house).page(code)) in ("Ada 3 – 1 Ben, 1 drawn", "Ben 1 – 3 Ada, 1 drawn")


async def test_another_level_begins_a_new_score_and_is_for_games_against_bots(house: InProcessServer) -> None:
    person = Device(house)
    first = await person.opens("prime-duel", "steady", name="Ada")
    await person.do(first, "resign")
    page = await person.page(first)
    assert re.search(r'<select id="rematch-bot" name="bot">.*<option value="steady"[^>]* selected>', page, re.DOTALL)
    same = await rematch_of(person, first, bot="steady")
    assert house.room(same).names() == ("Steady", "Ada")
    await person.do(same, "resign")
    assert series(await person.page(same)) == "You 0 – 2 Steady"
    refused = await person.do(same, "rematch", bot="god")
    assert not refused["ok"]
    assert "There is no bot 'god'" in refused["said"]
    assert house.room(same).successor is None
    easier = await rematch_of(person, same, bot="novice")
    assert house.room(easier).names() == ("Ada", "Novice")
    assert [seat.bot for seat in house.room(easier).seats] == ["", "novice"]
    await person.do(easier, "resign")
    assert series(await person.page(easier)) == ""
    last = await rematch_of(person, easier)
    await person.do(last, "resign")
    for _ in range(2):
        assert series(await person.page(last)) == "You 0 – 2 Novice"
        await house.restart()
    code, (ada, ben) = await table_for(house, "prime-duel")
    await ben.do(code, "resign")
    assert "rematch-bot" not in await ada.page(code)
    refused = await ada.do(code, "rematch", bot="novice")
    assert not refused["ok"]
    assert "no level to choose" in refused["said"]
    assert house.room(code).successor is None


async def test_games_that_do_not_count_are_in_no_running_score(house: InProcessServer) -> None:
    code, person = await lost_to_a_bot(house, "prime-duel")
    again = str((await person.do(code, "again", number="0"))["go"]).rpartition("/")[2]
    await person.do(again, "resign")
    assert series(await person.page(again)) == ""
    following = await rematch_of(person, again)
    await person.do(following, "resign")
    for _ in range(2):
        assert series(await person.page(following)) == ""
        assert "does not count" not in await person.page(following)
        await house.restart()


async def test_a_place_that_somebody_left_begins_a_new_score(house: InProcessServer) -> None:
    code, (ada, ben) = await table_for(house, "prime-duel")
    await ben.do(code, "resign")
    assert (await ben.do(code, "delete"))["ok"]
    following = await rematch_of(ada, code)
    await Device(house).do(following, "sit", name="Ben")
    await ada.do(following, "resign")
    for _ in range(2):
        assert series(await ada.page(following)) == ""
        await house.restart()


# Going back


async def lost_to_a_bot(house: InProcessServer, game: str) -> tuple[str, Device]:
    """Play a game against a bot to its end, with decisions of one's own, and return its code and the person."""
    person = Device(house)
    limit = {"option-turns": "16"} if game in ("zero-sum-duel", "zero-sum-grid") else {}
    code = await person.opens(game, "steady", name="Ada", **limit)
    while (room := house.room(code)).to_act is not None:
        assert room.table is not None
        view = room.table.view(0)
        assert (await person.decide(code, view.decisions[-1], view.number))["ok"]
    return code, person


@pytest.mark.parametrize("game", names())
async def test_a_player_goes_back_to_any_decision_of_a_finished_game_against_bots(
    house: InProcessServer, game: str
) -> None:
    code, person = await lost_to_a_bot(house, game)
    room, before = house.room(code), record(house, code)
    assert room.table is not None
    assert room.transcript is not None
    assert room.head is not None
    own = own_decisions(room, 0)
    assert own
    steps = [step for step in range(len(room.transcript.deciders)) if decision_after(room, 0, step) is not None]
    assert [decision_after(room, 0, step) for step in steps] == own
    for at in (0, len(own) - 1):
        answer = await person.do(code, "again", number=str(own[at]))
        again = house.room(answer["go"].rpartition("/")[2])
        other = await person.do(code, "again", step=str(steps[at]))
        assert again.table is not None
        assert (again.to_act, again.table.number) == (0, own[at])
        assert again.names() == room.names()
        kept = record(house, again.code)
        assert again.table.history() == room.table.history()[: steps[at]]
        assert record(house, other["go"].rpartition("/")[2]) == kept
        head = again.head
        assert head is not None
        assert head.seed == room.head.seed
        assert not head.counts
        page = await person.page(again.code)
        assert "does not count" in page
        assert "same deal" in page
        assert str(head.seed) not in page
    assert record(house, code) == before
    await house.restart()
    page = await person.page(again.code)
    assert "does not count" in page
    restored = house.room(again.code)
    assert restored.table is not None
    assert record(house, again.code) == kept
    view = restored.table.view(0)
    assert (await person.decide(again.code, view.decisions[0], view.number))["ok"]


async def test_nobody_goes_back_against_people_in_a_running_game_or_from_anothers_seat(
    house: InProcessServer,
) -> None:
    code, people = await table_for(house, "prime-duel")
    await one_decision(house, code, people)
    tables = set(house.service.registry.rooms)

    async def refused(device: Device, at: str, why: str, **fields: str) -> None:
        answer = await device.do(at, "again", **fields)
        assert (answer["ok"], answer["status"]) == (False, 409)
        assert why in answer["said"]

    await refused(people[0], code, "not over", number="0")
    await people[1].do(code, "resign")
    await refused(people[0], code, "Only against bots", number="0")
    await refused(people[0], code, "Only against bots", step="1")
    bots, person = await lost_to_a_bot(house, "prime-duel")
    tables.add(bots)
    room = house.room(bots)
    assert room.transcript is not None
    theirs = next(i for i, answer in enumerate(room.transcript.answers) if answer.seat == 1)
    for number in (str(theirs), "99999", "-1", "", "x"):
        await refused(person, bots, "", number=number)
        await refused(person, bots, "", step="0" if number == str(theirs) else number)
    await refused(people[0], bots, "look on", number="0")
    await refused(Device(house), bots, "look on", number="0")
    assert set(house.service.registry.rooms) == tables
    running = await person.opens("prime-duel", "steady", name="Ada")
    await refused(person, running, "not over", number="0")


# Devices


async def test_the_private_link_gives_the_seat_to_a_second_device_and_asks_first(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    link = await seat_link(people[0], code)
    phone = Device(house)
    asked = await phone.get(link)
    assert asked.status == 200
    assert "Ada" in asked.text
    assert phone.token == ""  # a preview of the link does nothing
    assert 'data-seat="0"' not in await phone.page(code)
    assert (await phone.post(link)).header("location") == f"/t/{code}"
    assert 'data-seat="0"' in await phone.page(code)
    await house.restart()
    assert 'data-seat="0"' in await phone.page(code)
    people[0] = phone
    await one_decision(house, code, people)


async def test_an_altered_link_gives_nothing(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    other, _ = await table_for(house, "prime-duel")
    link = await seat_link(people[0], code)
    token = link.rpartition("/")[2]
    before = house.storage.room(code)
    for wrong in (
        link[:-1] + ("A" if link[-1] != "A" else "B"),
        link[:-1],
        f"/s/{code}/1/{token}",
        f"/s/{code}/2/{token}",
        f"/s/{code}/99999999999999999999/{token}",
        f"/s/{other}/0/{token}",
        f"/s/{code}/0/é",
    ):
        stranger = Device(house)
        assert (await stranger.get(wrong)).status == 404
        assert (await stranger.post(wrong)).status == 404
        assert stranger.token == ""
    assert house.storage.room(code) == before


async def test_who_has_a_seat_already_gets_no_second_one_by_a_link(house: InProcessServer) -> None:
    code, people = await table_for(house, "prime-duel")
    got = await people[1].post(await seat_link(people[0], code), accept="application/json")
    assert got.status == 409
    assert "another seat" in got.json["said"]
