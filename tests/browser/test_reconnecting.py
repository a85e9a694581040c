"""Refresh, another tab, another device, no network, no server: the same seat, and nothing missed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.browser_user import OVER, Person, counted, play, two
from tests.browser.conftest import Invite
from tests.browser.server_process import ServerProcess, WebSocketProtocol

GAME = "zero-sum-grid"  # it does not end before its time, however people click
OPTIONS: dict[str, int | str] = {"turns": 10}


@pytest.fixture
def wires() -> Iterator[list[WebSocketProtocol]]:
    """Wires that are taken down in the end."""
    found: list[WebSocketProtocol] = []
    yield found
    for one in found:
        one.close()


@pytest.fixture
def own_house(tmp_path: Path, browser: Browser) -> Iterator[ServerProcess]:
    """A server of this test alone, as `piste serve` runs it, to be stopped and killed."""
    del browser
    with ServerProcess(tmp_path, real=True) as found:
        yield found


def same(people: list[Person]) -> None:
    """Everybody's page shows what a page that is loaded anew shows."""
    for one in people:
        shown = {part: one.page.locator(part).inner_text() for part in ("#part-scene", "#part-choices", "#log")}
        one.page.reload()
        for part, text in shown.items():
            assert one.page.locator(part).inner_text() == text, part


def test_who_refreshes_in_mid_game_keeps_the_seat_and_the_log(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada refreshes"), person(house, "Bob waits")
    two(ada, bob, GAME, **OPTIONS)
    for _ in range(3):
        play([ada, bob], until=counted(2))
        log = ada.log
        ada.page.reload()
        assert ada.log == log
        expect(ada.page.locator("li.side.you")).to_contain_text(ada.name)
    play([ada, bob])
    same([ada, bob])


def test_a_second_tab_shows_the_same_game_and_can_play_it(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada has two tabs"), person(house, "Bob has one")
    two(ada, bob, GAME, **OPTIONS)
    tab = ada.another_tab()
    play([ada, bob, tab], until=counted(4))
    tab.chooser.seed(1)
    play([tab, bob, ada])
    for one in (ada, tab):
        expect(one.page.locator(OVER)).to_be_visible()
    assert tab.log == ada.log


def test_the_private_link_of_a_seat_opens_it_on_another_device(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada moves over"), person(house, "Bob stays")
    two(ada, bob, GAME, **OPTIONS)
    play([ada, bob], until=counted(2))
    ada.page.click("#device > summary")
    link = ada.page.input_value("#seat-link")
    phone = person(house, "Ada's phone")
    phone.page.goto(link)
    expect(phone.page.locator("main form button")).to_have_text(f"Go on here as {ada.name}")
    phone.page.click("main form button")
    expect(phone.page.locator("li.side.you")).to_contain_text(ada.name)
    play([phone, bob, ada])
    assert phone.log == ada.log


def test_a_link_with_another_token_opens_nothing(house: ServerProcess, person: Invite) -> None:
    ada, eve = person(house, "Ada is careful"), person(house, "Eve guesses")
    ada.open(GAME, "steady", **OPTIONS)
    ada.page.click("#device > summary")
    link = ada.page.input_value("#seat-link")
    eve.cut_off = True  # a refusal is told in the console, too
    answer = eve.page.goto(link[:-4] + ("AAAA" if link[-4:] != "AAAA" else "BBBB"))
    assert answer is not None
    assert answer.status == 404
    expect(eve.page.locator("h1")).to_contain_text("private link")


@pytest.mark.parametrize("how", ["wire", "offline"])
def test_after_a_network_cut_nothing_is_missed(
    how: str, house: ServerProcess, person: Invite, wires: list[WebSocketProtocol]
) -> None:
    wires.append(WebSocketProtocol(house.port))
    ada, bob = person(house, "Ada is online"), person(wires[0], f"Bob loses the {how}")
    bob.cut_off = True
    two(ada, bob, GAME, **OPTIONS)
    play([ada, bob], until=lambda: ada.to_play)
    lines = len(bob.log)
    banner = bob.page.locator("#banner")
    if how == "offline":
        bob.context.set_offline(True)
    wires[0].cut()
    expect(banner).to_be_visible()
    expect(banner).to_contain_text("Reconnecting")
    number = ada.number
    ada.decide()
    ada.waits(number)
    assert len(bob.log) == lines
    wires[0].mend()
    if how == "offline":
        bob.context.set_offline(False)
    bob.waits(number)
    expect(banner).to_contain_text("While you were away")
    play([ada, bob])
    expect(bob.page.locator("#log > li")).to_have_count(len(bob.log))
    same([ada, bob])


def test_a_network_that_only_blinked_is_not_called_lost_for_long(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada stays on"), person(house, "Bob blinks")
    bob.cut_off = True
    two(ada, bob, GAME, **OPTIONS)
    play([ada, bob], until=counted(1))
    banner = bob.page.locator("#banner")
    bob.context.set_offline(True)
    expect(banner).to_contain_text("Reconnecting")
    bob.context.set_offline(False)
    expect(banner).not_to_contain_text("Reconnecting")
    play([ada, bob])


def test_a_line_that_died_in_silence_is_noticed(
    house: ServerProcess, person: Invite, wires: list[WebSocketProtocol]
) -> None:
    wires.append(WebSocketProtocol(house.port))
    ada, bob = person(house, "Ada stays"), person(wires[0], "Bob leaves the house")
    bob.cut_off = True
    two(ada, bob, GAME, **OPTIONS)
    play([ada, bob], until=lambda: ada.to_play)
    bob.page.clock.install()
    frames: list[str | bytes] = []
    bob.page.on("websocket", lambda one: one.on("framereceived", lambda frame: frames.extend([frame])))
    with bob.page.expect_websocket() as opened:
        bob.page.reload()
    if not frames:
        opened.value.wait_for_event("framereceived")
    with opened.value.expect_event("framereceived", lambda frame: "-ping" in str(frame)):
        bob.page.clock.run_for(21_000)
    wires[0].hold()
    number = ada.number
    ada.decide()
    ada.waits(number)
    assert bob.number == number
    bob.page.clock.run_for(21_000)  # asks whether anybody is there
    bob.page.clock.run_for(11_000)  # and has waited long enough
    expect(bob.page.locator("#banner")).to_contain_text("Reconnecting")
    wires[0].mend()
    bob.page.clock.resume()
    bob.waits(number)
    play([ada, bob])
    same([ada, bob])


def test_a_decision_made_without_network_is_sent_when_it_is_back(
    house: ServerProcess, person: Invite, wires: list[WebSocketProtocol]
) -> None:
    wires.append(WebSocketProtocol(house.port))
    ada, bob = person(house, "Ada is patient"), person(wires[0], "Bob is in a tunnel")
    bob.cut_off = True
    two(ada, bob, GAME, **OPTIONS)
    play([ada, bob], until=lambda: bob.to_play)
    wires[0].cut()
    expect(bob.page.locator("#banner")).to_be_visible()
    number = bob.number
    bob.decide()
    assert ada.number == number
    wires[0].mend()
    for one in (ada, bob):
        one.waits(number)
    play([ada, bob])
    same([ada, bob])


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_a_server_that_comes_back_finds_every_game_and_every_player(
    how: str, own_house: ServerProcess, person: Invite
) -> None:
    ada, bob, eve = (person(own_house, name) for name in ("Ada", "Bob", "Eve"))
    for one in (ada, bob, eve):
        one.cut_off = True
    two(ada, bob, GAME, **OPTIONS)
    eve.open("positive-negative", "steady")
    play([ada, bob], until=counted(4))
    play([eve], bots=True, until=counted(1))
    before = [one.log for one in (ada, bob, eve)]
    if how == "stopped":
        own_house.stop()
    else:
        own_house.kill()
    for one in (ada, bob, eve):
        expect(one.page.locator("#banner")).to_be_visible()
    own_house.start()
    for one, log in zip((ada, bob, eve), before, strict=True):
        expect(one.page.locator("#banner")).to_be_hidden()
        assert one.log[: len(log)] == log
    play([ada, bob])
    play([eve], bots=True)
    same([ada, bob])


def test_where_websockets_are_blocked_the_page_asks_for_news(
    house: ServerProcess, person: Invite, wires: list[WebSocketProtocol]
) -> None:
    wires.append(WebSocketProtocol(house.port, sockets=False))
    ada, bob = person(house, "Ada is at home"), person(wires[0], "Bob is at the office")
    bob.cut_off = True
    two(ada, bob, GAME, turns=6)
    expect(bob.page.locator("#banner")).to_contain_text("blocked")
    play([ada, bob])
    expect(bob.page.locator(OVER)).to_be_visible()
    assert len(bob.log) == len(set(bob.page.locator("#log > li").evaluate_all("all => all.map((one) => one.id)")))
