"""What the eye meets at a table: the strip first, what a card does, what a move would make of the cells of a grid."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.browser_user import play, two
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


LOOK = """one => {
  const style = getComputedStyle(one);
  const colour = one.className === "lamp" ? style.borderTopColor : style.backgroundColor;
  const [red, green] = colour.match(/[\\d.]+/g).map(Number);
  return { round: style.borderRadius === "50%", hue: red > green ? "red" : "green" };
}"""


def test_a_player_has_one_colour_and_shape_in_the_strip_and_on_the_track(
    house: ServerProcess, person: Invite
) -> None:
    ada, ben, eve = person(house, "Ada races"), person(house, "Ben races"), person(house, "Eve looks on")
    two(ada, ben, "prime-duel")
    eve.page.goto(ada.link)
    for one, first in ((ada, "You"), (ben, "You"), (eve, "Ada races")):
        for scheme in ("light", "dark"):
            one.page.emulate_media(color_scheme=scheme)
            lamps = [lamp.evaluate(LOOK) for lamp in one.page.locator("#part-people .lamp").all()]
            for at, token in enumerate(one.page.locator(".legend li:has(.token)").all()):
                left = token.inner_text().startswith(first)
                assert token.locator(".token").evaluate(LOOK) == lamps[0 if left else 1], (one.name, at, scheme)
            assert lamps == [{"round": True, "hue": "red"}, {"round": False, "hue": "green"}]


@pytest.mark.parametrize(("size", "lines"), [((390, 844), 4), ((320, 640), 1)], ids=str)
@pytest.mark.parametrize("kind", ["open", "closed"])
def test_a_tall_tower_leaves_the_log_on_a_phone(
    kind: str, size: tuple[int, int], lines: int, house: ServerProcess, person: Invite
) -> None:
    ada = person(house, "Ada builds", viewport={"width": size[0], "height": size[1]})
    ada.open("mccoy-duel", "steady")
    play([ada], bots=True, until=lambda: ada.page.locator("#part-scene .k-tower .card").count() > 0)
    ada.page.evaluate(
        """kind => {
          const cards = document.querySelector(".k-tower .cards");
          while (cards.children.length < 11) cards.append(cards.children[0].cloneNode(true));
          cards.classList.toggle("open", kind === "open");
        }""",
        kind,
    )
    scene, log = ada.page.locator("#part-scene"), ada.page.locator("#log > li").last
    if size[1] > 700:  # on the smallest screens the table may scroll
        assert scene.evaluate("one => one.scrollHeight <= one.clientHeight + 1")
    box, badge, table = log.bounding_box(), ada.page.locator(".badge b").bounding_box(), scene.bounding_box()
    assert box is not None
    assert badge is not None
    assert table is not None
    assert badge["y"] + badge["height"] <= table["y"] + table["height"]
    assert ada.page.locator("#log-box").evaluate("one => one.clientHeight") > lines * 20
    assert box["y"] + box["height"] <= ada.page.locator(".panel").bounding_box()["y"]  # type: ignore[index]
