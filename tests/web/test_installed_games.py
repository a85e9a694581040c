"""A game of an installed package at a table in the browser, with nothing but its rules and its names."""

from __future__ import annotations

import re

import pytest

from tests.installed_games import EXAMPLES, Install
from tests.web.in_process_server import Device, InProcessServer


@pytest.fixture(autouse=True)
def installed(install_game: Install) -> None:
    for name in ("kuhn-poker", "tic-tac-toe"):
        install_game(EXAMPLES / name)


async def test_it_is_offered_and_two_people_play_it_with_their_own_cards(house: InProcessServer) -> None:
    ada, ben = Device(house), Device(house)
    home = (await ada.get("/")).text
    assert 'id="play-kuhn-poker"' in home
    assert "<h1>Duels of numbers and cards</h1>" in home
    code = await ada.opens("kuhn-poker", name="Ada")
    await ben.do(code, "sit", name="Ben")
    pages = [(await device.get(f"/t/{code}")).text for device in (ada, ben)]
    cards = [re.findall(r"Your cards.*?<span class=\"sr\">([JQK])</span>", page, re.DOTALL) for page in pages]
    assert len(cards[0]) == len(cards[1]) == 1
    assert cards[0] != cards[1]
    assert all("1 card face down" in page for page in pages)
    assert "Betting: pass or bet" in pages[0]
    assert "Betting" not in pages[1]
    await ada.do(code, "decide", decision="bet", number="0")
    await ben.do(code, "decide", decision="pass", number="1")
    over = (await ada.get(f"/t/{code}")).text
    assert over.count("You, betting: bet.") == 1
    assert ">bet</li>" not in over  # the line above says it
    assert "folded" in over
    assert "1 card face down" not in over


async def test_squares_of_a_board_can_be_chosen(house: InProcessServer) -> None:
    ada, ben = Device(house), Device(house)
    code = await ada.opens("tic-tac-toe", name="Ada")
    await ben.do(code, "sit", name="Ben")
    page = (await ada.get(f"/t/{code}")).text
    assert page.count('class="place pick"') == 9
    assert "Choose a square, then confirm it here." in page
    assert re.findall(r'<th scope="\w+"><span aria-hidden="true">(\w+)<', page) == ["a", "b", "c", "3", "2", "1"]
    assert 'aria-label="b2 empty"' in page
    await ada.do(code, "decide", decision="b2", number="0")
    page = (await ben.get(f"/t/{code}")).text
    assert page.count('class="place pick"') == 8
    assert 't-a"><span>X</span>' in page


async def test_its_rules_are_a_page(house: InProcessServer) -> None:
    page = (await Device(house).get("/rules/kuhn-poker")).text
    assert "Each player puts one chip into the pot" in page
