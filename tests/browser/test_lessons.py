"""A first game that teaches, on a phone: notes in sight, read aloud, and a way out at any time."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from piste.core.game import find, names
from tests.browser.browser_user import OVER
from tests.browser.conftest import Invite
from tests.browser.page_checks import look
from tests.browser.server_process import ServerProcess

NOTE = "#lesson-note"


def test_a_lesson_is_played_on_a_phone_from_the_home_page_to_a_real_game(
    house: ServerProcess, person: Invite
) -> None:
    ada = person(house, "Ada learns", viewport={"width": 320, "height": 640}, has_touch=True)
    page = ada.go("/")
    page.locator("#positive-negative .teach button").click()
    lesson = find("positive-negative").lesson
    assert lesson is not None
    for decision in lesson.LESSON.suggested:
        ada.waits_for_turn()
        expect(page.locator(NOTE)).to_be_in_viewport(ratio=1)
        expect(page.locator(f"#decide .choice[value='{decision}']")).to_be_in_viewport(ratio=1)
        look(page)
        number, note = ada.number, page.locator(NOTE).inner_text()
        ada.decide(decision)
        ada.waits(number, turn=True)
        expect(page.locator(NOTE)).not_to_have_text(note)
        expect(page.locator("#said")).to_contain_text(page.locator(NOTE).inner_text())
    expect(page.locator(OVER)).to_be_visible()
    expect(page.locator(NOTE)).to_be_in_viewport(ratio=1)
    look(page)
    address = page.url
    page.locator("#do-skip").click()
    expect(page.locator("body.table")).to_be_visible()
    expect(page.locator(NOTE)).to_have_count(0)
    assert page.url != address


@pytest.mark.parametrize("game", [name for name in names() if name != "positive-negative"])
def test_the_first_note_and_the_question_are_in_sight_on_a_phone(
    game: str, house: ServerProcess, person: Invite
) -> None:
    ada = person(house, "Ada begins", viewport={"width": 390, "height": 780}, has_touch=True)
    page = ada.go(f"/rules/{game}")
    page.locator(".teach button").click()
    ada.waits_for_turn()
    for what in (NOTE, "#question", "#do-skip"):
        expect(page.locator(what)).to_be_in_viewport(ratio=1)
    look(page)


@pytest.mark.parametrize("size", [(320, 640), (390, 780), (1366, 640)])
def test_every_move_of_the_grid_is_in_sight_beside_the_note(
    size: tuple[int, int], house: ServerProcess, person: Invite
) -> None:
    ada = person(house, "Ada moves", viewport={"width": size[0], "height": size[1]})
    page = ada.go("/rules/zero-sum-grid")
    page.locator(".teach button").click()
    ada.waits_for_turn()
    expect(page.locator(NOTE)).to_be_in_viewport(ratio=1)
    for one in page.locator("button.handle").all():
        expect(one).to_be_in_viewport(ratio=1)
