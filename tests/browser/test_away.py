"""Somebody is away: others see it, and may claim the turn or let a bot play on, when it is the absent player's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.browser_user import OVER, Person, play, two
from tests.browser.conftest import Invite
from tests.browser.server_process import ServerProcess

OFFERED = "#offer-claim, #do-claim"


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that waits for nobody longer than a moment."""
    with ServerProcess(tmp_path_factory.mktemp("hasty"), patience=1.0) as found:
        yield found
        found.check()


@pytest.fixture
def leaving(
    browser: Browser, hasty: ServerProcess, person: Invite, request: pytest.FixtureRequest
) -> tuple[Person, Person]:
    """Two people at a table; it is for the second to decide."""
    del browser
    name = request.node.name
    ada, bob = person(hasty, f"Ada {len(name)}"), person(hasty, f"Bob {len(name)}")
    two(ada, bob, "zero-sum-grid", turns=8)
    play([ada, bob], until=lambda: bob.to_play)
    return ada, bob


def test_who_is_away_is_shown_and_the_turn_can_be_claimed(leaving: tuple[Person, Person]) -> None:
    ada, bob = leaving
    assert not ada.sees(OFFERED)
    bob.page.goto("about:blank")
    expect(ada.page.locator("li.side", has_text=bob.name)).to_contain_text("away")
    expect(ada.page.locator("#part-status")).to_contain_text(f"{bob.name} is away")
    ada.page.click("#offer-claim > summary")
    ada.page.click("#ask-yes")
    expect(ada.page.locator(OVER)).to_contain_text("You win")


def test_nothing_can_be_claimed_on_ones_own_turn(leaving: tuple[Person, Person]) -> None:
    ada, bob = leaving
    ada.page.goto("about:blank")
    expect(bob.page.locator("li.side", has_text=ada.name)).to_contain_text("away")
    assert bob.to_play
    assert not bob.sees(OFFERED)
    number = bob.number
    bob.decide()
    bob.waits(number)
    expect(bob.page.locator("#offer-claim")).to_be_visible()  # now it is the absent player's turn
    ada.page.go_back()
    expect(ada.page.locator(".panel[data-turn='1']")).to_be_visible()
    expect(bob.page.locator("#offer-claim")).to_have_count(0)
    expect(bob.page.locator("li.side", has_text=ada.name)).to_contain_text("here")


def test_a_bot_plays_on_until_its_player_is_back(leaving: tuple[Person, Person]) -> None:
    ada, bob = leaving
    address = bob.page.url
    bob.page.goto("about:blank")
    number = ada.number
    ada.page.click("#do-stand-in")
    ada.waits(number, turn=True)  # the bot has decided
    expect(ada.page.locator("li.side", has_text=bob.name)).to_contain_text("plays")
    bob.page.goto(address)
    bob.page.click("#do-return")
    expect(bob.page.locator("#do-return")).to_have_count(0)
    play([ada, bob])
    assert bob.over
