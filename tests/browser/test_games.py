"""Each game to its end: between two browsers, and against a bot."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.browser_user import OVER, SHORT, counted, play, two
from tests.browser.conftest import Invite
from tests.browser.server_process import ServerProcess


@pytest.mark.parametrize("game", SHORT)
def test_two_browsers_play_a_game_to_its_end(game: str, house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, f"Ada {game}"), person(house, f"Bob {game}")
    two(ada, bob, game, **SHORT[game])
    made = play([ada, bob])
    assert made > 1
    results = [one.page.locator(OVER).inner_text() for one in (ada, bob)]
    assert "You win" in results[0] or "You win" in results[1] or "A draw" in results[0]
    for one in (ada, bob):
        expect(one.page.locator("#do-rematch")).to_be_visible()
    assert len(ada.log) == len(set(ada.page.locator("#log > li").evaluate_all("all => all.map((one) => one.id)")))


@pytest.mark.parametrize("game", SHORT)
def test_one_browser_plays_a_game_against_a_bot_to_its_end(game: str, house: ServerProcess, person: Invite) -> None:
    ada = person(house, f"Ann {game}")
    ada.open(game, "steady", **SHORT[game])
    play([ada], bots=True)
    expect(ada.page.locator(OVER)).to_be_visible()


def test_four_browsers_play_one_duel(house: ServerProcess, person: Invite) -> None:
    ada, *others = (person(house, name) for name in ("Ada", "Bob", "Cleo", "Dan"))
    ada.open("mccoy-duel", players=4, rounds=1)
    for many, one in enumerate(others, 2):
        one.sit(ada.link)
        expect(ada.page.locator("#part-people")).to_contain_text(one.name)
        assert ada.sees(".areas") == (many == 4)
    everybody = [ada, *others]
    for one in everybody:
        expect(one.page.locator(".areas")).to_be_visible()
    play(everybody)
    results = [one.page.locator(OVER).inner_text() for one in everybody]
    assert sum("You win" in text for text in results) == 1


def test_bots_fill_the_seats_that_nobody_took(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada hosts"), person(house, "Bob visits")
    ada.open("mccoy-duel", players=3, rounds=1)
    bob.sit(ada.link)
    assert not bob.sees("#do-fill")  # only for whoever opened the table
    ada.page.click("#do-fill")
    for one in (ada, bob):
        expect(one.page.locator(".areas")).to_be_visible()
        expect(one.page.locator("li.side")).to_have_count(3)
    play([ada, bob], mixed=True)
    for one in (ada, bob):
        expect(one.page.locator(OVER)).to_be_visible()


def test_who_looks_on_sees_the_game_and_no_hand(house: ServerProcess, person: Invite) -> None:
    ada, bob, eve = (person(house, name) for name in ("Ada plays", "Bob plays", "Eve watches"))
    two(ada, bob, "mccoy-duel", rounds=1)
    eve.page.goto(ada.link)
    expect(eve.page.locator("#part-choices")).to_contain_text("You are watching")
    play([ada, bob, eve], until=counted(3))
    assert not eve.offered()
    assert not eve.sees("#do-hint, #offer-resign, #seat-link")
    play([ada, bob, eve])
    expect(eve.page.locator(OVER)).to_contain_text("wins")
