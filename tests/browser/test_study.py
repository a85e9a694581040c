"""Puzzles, progress and the analysis board in a browser: by mouse, by keys, without a script, on a small phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from piste.web.study import tasks
from tests.browser.browser_user import play
from tests.browser.conftest import Invite
from tests.browser.page_checks import look, sideways
from tests.browser.server_process import ServerProcess

PHONE = {"viewport": {"width": 320, "height": 640}}


def test_a_puzzle_is_solved_on_the_board_and_the_next_one_follows(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada solves", **PHONE)
    ada.go("/puzzles")
    look(ada.page)
    ada.go("/puzzles/zero-sum-grid/easy")
    right = tasks.puzzle("zero-sum-grid", "easy", 1).evaluation.best.name
    pick = ada.page.locator(f".pick[value='{right}']")
    expect(pick).to_be_visible()
    look(ada.page)
    pick.click()
    expect(ada.page.locator("#confirm")).to_be_visible()
    ada.page.locator("#confirm").click()
    expect(ada.page.locator("h1")).to_contain_text("Right: ")
    expect(ada.page.locator(".streak b")).to_have_text("1")
    look(ada.page)
    ada.page.click("#next-puzzle")
    expect(ada.page.locator(".now")).to_contain_text("Puzzle 2")
    ada.page.keyboard.press("ArrowRight")
    ada.page.keyboard.press("Enter")
    ada.page.keyboard.press("Enter")
    expect(ada.page.locator(".values .chosen")).to_have_count(1)
    ada.page.click("#analyse")
    expect(ada.page.locator("h1")).to_contain_text("analysis")
    look(ada.page)


def test_a_position_is_played_on_by_touching_the_board(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada analyses", viewport={"width": 1366, "height": 640})
    ada.go("/analysis")
    look(ada.page)
    ada.page.fill("#position", "zero-sum-grid cells=-1,-1,-1/0,0,0/0,0,0 to=1 phase=move turns=51")
    ada.page.locator(".position button").click()
    expect(ada.page.locator(".values li")).to_have_count(12)
    ada.page.locator(".pick[value='R2+']").click()
    expect(ada.page.locator("#position")).to_have_value(
        "zero-sum-grid cells=-1,-1,-1/1,1,1/0,0,0 to=2 phase=move turns=52"
    )
    ada.page.locator(".values a").first.click()
    expect(ada.page.locator("#position")).not_to_have_value(
        "zero-sum-grid cells=-1,-1,-1/1,1,1/0,0,0 to=2 phase=move turns=52"
    )


def test_progress_shows_a_chart_as_soon_as_the_coach_has_looked(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada grows", **PHONE)
    ada.open("positive-negative", "steady", top=4)
    play([ada], bots=True)
    ada.go("/progress")
    expect(ada.page.locator(".chart svg, main > p").first).to_be_visible()
    expect(ada.page.locator(".looking")).to_have_count(0)
    ada.page.locator("details summary").first.click()
    look(ada.page)


@pytest.mark.parametrize("path", ["/puzzles/positive-negative/easy/1", "/analysis/positive-negative"])
def test_without_a_script_the_pages_are_forms(path: str, house: ServerProcess, person: Invite) -> None:
    ada = person(house, f"Ada plain {path}", java_script_enabled=False)
    ada.go(path)
    sideways(ada.page)
    ada.page.locator("button[value='keep'], a:text('Keep')").first.click()
    expect(ada.page.locator("h1, h2").first).to_be_visible()
    assert "answer=keep" in ada.page.url or "position=" in ada.page.url
