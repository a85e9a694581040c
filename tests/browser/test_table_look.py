"""What the eye meets at a table: the strip first, what a card does, what a move would make of the cells of a grid."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Invite
from tests.browser.server_process import ServerProcess

# A finger that stays on a card: the browser sends no click until it is lifted.
PRESS = """(card) => card.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, pointerType: "touch" }))"""
LIFT = """(card) => {
  card.dispatchEvent(new PointerEvent("pointerup", { bubbles: true, pointerType: "touch" }));
  card.click();
}"""
PREVIEW = """() => [...document.querySelectorAll("td.cell")].map((cell) =>
  cell.classList.contains("more") ? cell.dataset.more : cell.classList.contains("less") ? cell.dataset.less : "")"""


@pytest.mark.parametrize("size", [(390, 844), (1366, 640)], ids=str)
def test_the_strip_with_the_scores_is_the_first_and_largest_of_the_table(
    size: tuple[int, int], house: ServerProcess, person: Invite
) -> None:
    ada = person(house, "Ada counts", viewport={"width": size[0], "height": size[1]})
    ada.open("prime-duel", "steady")
    ada.waits_for_turn()
    strip, scene = ada.page.locator(".strip").bounding_box(), ada.page.locator("#part-scene").bounding_box()
    assert strip is not None
    assert scene is not None
    assert strip["y"] + strip["height"] <= scene["y"]
    assert strip["y"] < 80
    large, small = (
        ada.page.locator(where).first.evaluate("(one) => parseFloat(getComputedStyle(one).fontSize)")
        for where in (".points b", "#log")
    )
    assert large >= 2 * small
    expect(ada.page.locator(".side.turn")).to_contain_text("Your turn")


def test_a_card_says_what_it_does_when_pointed_at_focused_or_pressed_long(
    house: ServerProcess, person: Invite
) -> None:
    ada = person(house, "Ada asks", reduced_motion="reduce")
    ada.open("mccoy-duel", "steady", first=1)
    ada.waits_for_turn()
    cards, tip = ada.page.locator(".card.pick"), ada.page.locator(".tip")
    sentence = str(cards.first.get_attribute("title"))
    assert ": " in sentence
    expect(tip).to_be_hidden()
    cards.first.hover()
    expect(tip).to_be_visible()
    expect(tip).to_have_text(sentence)
    ada.page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    ada.page.keyboard.press("ArrowRight")
    expect(tip).to_be_visible()
    ada.page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    cards.first.evaluate(PRESS)
    expect(tip).to_be_visible()
    expect(tip).to_have_text(sentence)
    cards.first.evaluate(LIFT)
    expect(cards.first).to_have_attribute("aria-pressed", "false")  # reading a card does not choose it
    cards.first.click()
    expect(cards.first).to_have_attribute("aria-pressed", "true")


def test_a_move_of_the_grid_shows_what_it_makes_of_the_cells(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada shifts", reduced_motion="reduce")
    ada.open("zero-sum-grid", "steady", first=1)
    ada.waits_for_turn()
    cells = [int(text.replace("−", "-")) for text in ada.page.locator("td.cell").all_inner_texts()]

    def shown() -> list[str]:
        found: list[str] = ada.page.evaluate(PREVIEW)
        return [text.replace("−", "-") for text in found]

    row = [str(cells[at] + 1) if at < 3 else "" for at in range(9)]
    column = [str(cells[at] - 1) if at % 3 == 1 else "" for at in range(9)]
    assert shown() == [""] * 9  # nothing unasked
    ada.page.hover(".handle[value='R1+']")
    assert shown() == row
    ada.page.mouse.move(0, 0)
    assert shown() == [""] * 9
    ada.page.keyboard.press("ArrowRight")
    ada.page.focus(".handle[value='C2-']")
    assert shown() == column
    ada.page.click(".handle[value='R1+']")
    ada.page.mouse.move(0, 0)
    ada.page.evaluate("document.activeElement.blur()")
    assert shown() == row  # as long as it is chosen
    ada.page.keyboard.press("Escape")
    assert shown() == [""] * 9
