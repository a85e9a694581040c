"""Nobody decides by accident, and nothing ends unseen: new questions, one event after another, ends of rounds."""

from __future__ import annotations

import json

from playwright.sync_api import WebSocket, expect

from tests.browser.browser_user import HELD, OVER, Person
from tests.browser.conftest import Invite
from tests.browser.server_process import ServerProcess

STEP, CALM = 650, 400  # milliseconds, as static/step_queue.js has them
CHOICE = "#decide .choice"
SIZES = ((1366, 640), (1280, 800), (390, 664), (360, 640))


def stopped(somebody: Person) -> Person:
    """Stop the clock of somebody's page: time passes there when the test says so."""
    somebody.context.clock.install(time=0)
    somebody.context.clock.pause_at(1000)
    return somebody


def decisions(somebody: Person) -> list[str]:
    """Return what the page sends as decisions, a list that grows."""
    found: list[str] = []

    def sent(text: str | bytes) -> None:
        if json.loads(text)["do"] == "decide":
            found.append(str(text))

    def opened(socket: WebSocket) -> None:
        socket.on("framesent", sent)

    somebody.page.on("websocket", opened)
    return found


def next_question(somebody: Person, number: int) -> int:
    somebody.page.locator(f".panel[data-turn='1']:not([data-number='{number}'])").wait_for()
    return somebody.number


def at_once(somebody: Person) -> None:
    somebody.page.select_option("#pace", "off")


def test_a_new_question_takes_no_click_for_a_moment_but_keys(house: ServerProcess, person: Invite) -> None:
    ada = stopped(person(house, "Ada", paced=True))
    sent = decisions(ada)
    ada.open("positive-negative", "steady")
    page = ada.page
    at_once(ada)
    ada.waits_for_turn()
    page.clock.run_for(CALM)
    page.locator(CHOICE).first.click()
    number = next_question(ada, ada.number if not sent else 0)
    assert len(sent) == 1
    box = page.locator(CHOICE).first.bounding_box()
    assert box is not None
    place = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.clock.run_for(250)
    page.mouse.click(*place)  # the second half of a double click, or a finger that was on its way
    page.clock.run_for(CALM - 251)
    page.mouse.click(*place)
    assert ada.number == number
    page.clock.run_for(1)
    page.mouse.click(*place)
    number = next_question(ada, number)
    assert len(sent) == 2
    page.locator(CHOICE).first.press("Enter")  # whoever uses keys knows what has the focus
    ada.waits(number)
    assert len(sent) == 3


def test_a_key_that_is_held_down_decides_once(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada", paced=True)
    sent = decisions(ada)
    ada.open("positive-negative", "steady")
    at_once(ada)
    ada.waits_for_turn()
    number = ada.number
    ada.page.locator(CHOICE).first.focus()
    ada.page.keyboard.down("Enter")
    number = next_question(ada, number)
    for _ in range(3):
        ada.page.locator(CHOICE).first.focus()
        ada.page.keyboard.down("Enter")  # it repeats by itself
    ada.page.keyboard.up("Enter")
    assert ada.number == number
    ada.page.locator(CHOICE).first.press("Enter")
    ada.waits(number)
    assert len(sent) == 2


def test_the_deal_is_shown_card_by_card_and_an_early_end_is_explained(house: ServerProcess, person: Invite) -> None:
    ada = stopped(person(house, "Ada", paced=True))  # by her name, nobody decides in this game
    ada.open("zero-sum-duel", "steady")
    page = ada.page
    status, cards = page.locator("#part-status"), page.locator(".panel .card, .scene .k-hand .card")
    expect(status).to_have_text("You go first.")
    seen = []
    for _ in range(20):
        if ada.over:
            break
        seen.append((cards.count(), status.inner_text()))
        page.clock.run_for(STEP)
    assert [many for many, _ in seen] == sorted({many for many, _ in seen})
    assert seen[1:], "it came all at once"
    assert "Steady drew a card." in [text for _, text in seen]
    expect(page.locator(OVER)).to_contain_text("The game was over before anybody had to decide.")
    expect(page.locator(OVER)).to_contain_text("sums to zero.")
    page.reload()
    expect(page.locator(OVER)).to_be_visible()  # whoever comes again sees how it stands


def test_what_a_bot_does_comes_step_by_step_and_a_key_skips_it(house: ServerProcess, person: Invite) -> None:
    ada = stopped(person(house, "Bea", paced=True))
    ada.open("mccoy-duel", "steady", players=4)
    page = ada.page
    expect(page.locator("#log > li").last).to_be_visible()
    assert not ada.to_play
    first = page.locator("#log > li").count()
    page.clock.run_for(STEP)
    second = page.locator("#log > li").count()
    assert first < second
    assert not ada.to_play
    page.keyboard.press("Escape")
    assert page.locator("#log > li").count() > second + 1


def test_with_little_motion_everything_is_there_at_once(house: ServerProcess, person: Invite) -> None:
    ada = stopped(person(house, "Ada", paced=True, reduced_motion="reduce"))
    ada.open("zero-sum-duel", "steady")
    expect(ada.page.locator(OVER)).to_be_visible()
    assert ada.page.input_value("#pace") == "off"


def test_the_pace_is_kept_on_the_device(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada", paced=True)
    ada.open("zero-sum-duel")
    assert ada.page.input_value("#pace") == "normal"
    ada.page.select_option("#pace", "fast")
    ada.open("prime-duel")
    assert ada.page.input_value("#pace") == "fast"


# The end of a round


def to_round_end(people: list[Person]) -> None:
    """Play until a round is over."""
    for _ in range(200):
        if any(one.sees(HELD) for one in people):
            return
        actor = next(one for one in people if one.to_play)
        number = actor.number
        actor.decide()
        for one in people:
            one.page.locator(f"{HELD}, .panel:not([data-number='{number}'])").first.wait_for(state="attached")
    raise AssertionError("no round was ever over")


def test_a_round_ends_with_a_card_for_each_player_alone(house: ServerProcess, person: Invite) -> None:
    ada, ben = person(house, "Ada"), person(house, "Ben")
    ada.open("mccoy-duel", "friend")
    ben.sit(ada.link)
    to_round_end([ada, ben])
    for one in (ada, ben):
        card = one.page.locator("#round-end")
        expect(card).to_be_visible()
        expect(card).to_contain_text("round 1.")
        expect(card).to_contain_text("Rounds won, best of 5")
        expect(card).to_contain_text("Buried")
        expect(card.locator("section.k-hand")).to_have_count(2)
        expect(one.page.locator(".scene")).to_be_hidden()
        expect(one.page.locator(".count").filter(visible=True)).to_have_text("Round 1 over")
        expect(one.page.locator("#part-people b", has_text="Your turn").filter(visible=True)).to_have_count(0)
        expect(one.page.locator("#log > li").filter(visible=True).last).to_contain_text("won round 1")
        assert one.page.evaluate("document.activeElement.id") == "round-end"
    ada.page.keyboard.press("Enter")
    expect(ada.page.locator("#log .heading", has_text="Round 2")).to_be_visible()
    expect(ada.page.locator("#round-end")).to_be_hidden()
    expect(ada.page.locator(".scene")).to_be_visible()
    expect(ada.page.locator(".count").filter(visible=True)).to_have_text("Round 2 best of 5")
    expect(ben.page.locator("#round-end")).to_be_visible()
    ben.page.reload()
    expect(ben.page.locator("#round-end")).to_be_visible()
    expect(ben.page.locator("#log .heading", has_text="Round 2")).to_be_hidden()
    ben.tap("#next-round")
    expect(ben.page.locator("#round-end")).to_be_hidden()
    actor, other = (ada, ben) if ada.to_play else (ben, ada)
    number = actor.number
    actor.decide()
    other.waits(number)
    assert not ada.sees(HELD)
    assert not ben.sees(HELD)


def test_the_end_of_a_round_can_be_gone_on_from_on_every_screen(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada")
    ada.open("mccoy-duel", "steady", players=4)
    for _ in range(200):
        ada.page.locator(f"{OVER}, {HELD}, .panel[data-turn='1']").first.wait_for(state="attached")
        if ada.sees(HELD):
            break
        number = ada.number
        ada.decide()
        ada.page.locator(f"{OVER}, {HELD}, .panel:not([data-number='{number}'])").first.wait_for(state="attached")
    for wide, high in SIZES:
        ada.page.set_viewport_size({"width": wide, "height": high})
        ada.page.evaluate("scrollTo(0, 0)")
        box = ada.page.locator("#next-round").bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= high, (wide, high)
        assert ada.page.evaluate("document.documentElement.scrollWidth") <= wide


def test_without_javascript_a_form_goes_on_to_the_next_round(house: ServerProcess, person: Invite) -> None:
    ada, ben = (person(house, name, java_script_enabled=False) for name in ("Ada", "Ben"))
    ada.open("mccoy-duel", "friend")
    ben.sit(ada.link)
    people = [ada, ben]
    for _ in range(200):
        for one in people:
            one.page.goto(one.link)
        if ada.sees(HELD):
            break
        actor = next(one for one in people if one.to_play)
        actor.decide()
    expect(ada.page.locator("#round-end")).to_be_visible()
    expect(ada.page.locator(".scene")).to_be_hidden()
    expect(ada.page.locator("#log .heading", has_text="Round 2")).to_be_hidden()
    ada.page.click("#next-round")
    expect(ada.page.locator("#log .heading", has_text="Round 2")).to_be_visible()
    expect(ada.page.locator("#round-end")).to_have_count(0)
    expect(ada.page.locator(".scene")).to_be_visible()
