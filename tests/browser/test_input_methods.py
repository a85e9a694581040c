"""Ways to play: by forms alone, by keys alone, by typing; hints, resigning, rematches; and how few taps it takes."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.browser_user import MINE, OVER, SHORT, Person, play, two
from tests.browser.conftest import Invite
from tests.browser.server_process import ServerProcess


def test_one_tap_from_home_to_the_first_card_against_a_bot(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada is quick")
    ada.go("/")
    ada.tap("#prime-duel form.bot button")
    expect(ada.page.locator(".card").first).to_be_visible()
    assert ada.taps <= 2


def test_two_friends_see_the_first_card_after_at_most_two_taps_each(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada invites"), person(house, "Bob comes")
    ada.go("/")
    ada.tap("#positive-negative form.friend button")
    expect(ada.page.locator(".invite input").first).to_be_visible()
    bob.page.goto(ada.link)
    bob.tap("form.sit button.main")
    expect(ada.page.locator(".panel .card").first).to_be_visible()  # the card that Ada drew, which Bob may not see
    expect(bob.page.locator(".areas")).to_be_visible()
    assert max(ada.taps, bob.taps) <= 2


def test_a_name_given_once_is_kept(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada Lovelace")
    ada.go("/")
    ada.page.fill("#name", ada.name)
    ada.tap("#prime-duel form.bot button")
    expect(ada.page.locator("li.side.you")).to_contain_text("Ada Lovelace")
    ada.go("/")
    assert ada.page.input_value("#name") == "Ada Lovelace"


@pytest.mark.parametrize("game", ["mccoy-duel", "zero-sum-grid", "prime-duel"])
def test_without_javascript_a_game_is_played_by_forms(game: str, house: ServerProcess, person: Invite) -> None:
    ada = person(house, f"Ada forms {game}", java_script_enabled=False)
    ada.open(game, "steady", **SHORT[game])
    for _ in range(200):
        if ada.over:
            break
        if ada.to_play:
            ada.click(ada.chooser.choice(ada.offered()))
        else:
            ada.page.reload()  # a bot is still thinking
    expect(ada.page.locator(OVER)).to_be_visible()
    ada.page.click("a[href$='/replay']")
    ada.page.click("#go-first")
    expect(ada.page.locator(".where")).to_contain_text("Step 0 of")
    ada.page.click("#go-next")
    expect(ada.page.locator(".where")).to_contain_text("Step 1 of")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "forms"])
@pytest.mark.parametrize("game", SHORT)
def test_fewer_than_twelve_keys_lead_from_home_into_any_game(
    game: str, scripts: bool, house: ServerProcess, person: Invite
) -> None:
    """With Tab and Enter alone, by the link to the main part and the list of games."""
    ada = person(house, f"Ada tabs to {game}", java_script_enabled=scripts)
    ada.go("/")
    pressed = ["Tab", "Enter"]
    for key in pressed:
        ada.page.keyboard.press(key)
    while not ada.page.locator(f".jump a[href='#play-{game}']:focus").count():
        ada.page.keyboard.press("Tab")
        pressed.append("Tab")
        assert len(pressed) < 12
    for key in ("Enter", "Enter"):
        ada.page.keyboard.press(key)
        pressed.append(key)
    expect(ada.page.locator("body.table")).to_be_visible()
    assert len(pressed) < 12


def test_on_the_first_page_the_number_of_a_game_leads_to_it(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada counts")
    ada.go("/")
    shown = ada.page.locator(".game").nth(4)
    expect(shown.locator("kbd")).to_have_text("5")
    ada.page.keyboard.press("5")
    expect(shown.locator("form.bot button")).to_be_focused()
    ada.page.keyboard.press("Enter")
    expect(ada.page.locator("body.table")).to_be_visible()


def test_the_key_that_a_button_shows_takes_it(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada has keys")
    ada.open("positive-negative", "steady")
    for key in ("k", "n"):  # what the button shows, and what the sheet says
        ada.waits_for_turn()
        ada.page.locator("main:not(.click-guard)").wait_for()
        assert ada.page.locator("#decide kbd").all_inner_texts() == ["K", "D"]
        number = ada.number
        ada.page.keyboard.press(key)
        ada.waits(number)
    ada.waits_for_turn()
    number = ada.number
    ada.page.click("#typing > summary")
    ada.page.click("#show-keys")
    ada.page.uncheck("#keys-on")
    ada.page.keyboard.press("Escape")
    expect(ada.page.locator("#decide kbd").first).to_be_hidden()
    ada.page.keyboard.press("k")
    ada.page.keyboard.press("/")
    expect(ada.page.locator("#typed-decision")).not_to_be_focused()
    assert ada.number == number


def test_a_line_of_the_grid_is_chosen_key_by_key(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada spells")
    ada.open("zero-sum-grid", "steady", first="1")
    ada.waits_for_turn()
    for key in "c2-":
        ada.page.keyboard.press(key)
    expect(ada.page.locator(".pick[aria-pressed=true]")).to_have_attribute("value", "C2-")
    number = ada.number
    ada.page.keyboard.press("Enter")
    ada.waits(number)


def tab_to(one: Person, what: str, most: int = 80) -> None:
    """Press Tab until something of this kind has the focus."""
    for _ in range(most):
        if one.page.evaluate("what => document.activeElement.matches(what)", what):
            return
        one.page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {what}")


def decided_by_keys(one: Person) -> None:
    """Go to some choice with the arrows and decide it."""
    keys = one.page.keyboard
    if not one.page.evaluate("document.activeElement.matches('.pick, .choice')"):
        keys.press("ArrowRight")
    for _ in range(one.chooser.randrange(3)):
        keys.press(one.chooser.choice(["ArrowRight", "ArrowDown", "ArrowLeft"]))
    expect(one.page.locator(".pick:focus, .choice:focus")).to_have_count(1)
    card = one.page.locator(".pick:focus").count()
    keys.press("Enter")
    if card:
        expect(one.page.locator("#confirm")).to_be_visible()
        keys.press("Enter")


@pytest.mark.parametrize("game", SHORT)
def test_a_game_is_played_to_its_end_with_the_keyboard_alone(game: str, house: ServerProcess, person: Invite) -> None:
    """From the home page, by way of the options, to the last decision; then a rematch, and resigning that."""
    ada = person(house, f"Ada keys {game}")
    ada.go("/")
    tab_to(ada, f"#{game} .links a[href='/g/{game}']")
    ada.page.keyboard.press("Enter")
    expect(ada.page.locator("#options")).to_be_attached()
    tab_to(ada, "#options > summary")
    ada.page.keyboard.press("Enter")
    for option, value in SHORT[game].items():
        tab_to(ada, f"#option-{option}")
        named = ada.page.locator(f"#option-{option} option[value='{value}']")
        if named.count():  # chosen by what it is called
            ada.page.keyboard.type(str(named.text_content()))
        else:
            ada.page.keyboard.press("Control+a")
            ada.page.keyboard.type(str(value))
    tab_to(ada, "button.main")
    ada.page.keyboard.press("Enter")
    expect(ada.page.locator("body.table")).to_be_visible()
    for _ in range(60):
        ada.waits_for_turn()
        if ada.over:
            break
        number = ada.number
        decided_by_keys(ada)
        ada.waits(number)
    expect(ada.page.locator(OVER)).to_be_visible()
    tab_to(ada, "#do-rematch")
    ada.page.keyboard.press("Enter")
    expect(ada.page.locator(OVER)).to_have_count(0)
    expect(ada.page.locator("body.table")).to_be_visible()
    tab_to(ada, "#offer-resign > summary")
    ada.page.keyboard.press("Enter")
    expect(ada.page.locator("#ask-dialog")).to_be_visible()
    tab_to(ada, "#ask-yes")
    ada.page.keyboard.press("Enter")
    expect(ada.page.locator(OVER)).to_be_visible()


def test_focus_stays_among_the_choices_from_question_to_question(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada focuses")
    ada.open("prime-duel", "steady")
    ada.waits_for_turn()
    for _ in range(3):
        number = ada.number
        tab_to(ada, "#decide .choice")
        ada.page.keyboard.press("Enter")
        ada.waits(number, turn=True)
        if ada.over:
            return
        inside = ada.page.evaluate("document.getElementById('part-choices').contains(document.activeElement)")
        assert inside


def test_a_game_is_played_by_typed_decisions_alone(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada types")
    ada.open("zero-sum-duel", "steady", turns=10)
    for _ in range(40):
        ada.waits_for_turn()
        if ada.over:
            break
        number = ada.number
        ada.page.keyboard.press("/")
        ada.page.keyboard.type(ada.chooser.choice(ada.offered()))
        ada.page.keyboard.press("Enter")
        ada.waits(number, turn=True)
        ada.page.keyboard.press("Escape")
    expect(ada.page.locator(OVER)).to_be_visible()


def test_what_cannot_be_read_is_answered_with_a_sentence_and_changes_nothing(
    house: ServerProcess, person: Invite
) -> None:
    ada = person(house, "Ada mistypes")
    ada.open("prime-duel", "steady")
    ada.waits_for_turn()
    number = ada.number
    ada.page.keyboard.press("/")
    ada.page.fill("#typed-decision", "banana")
    ada.page.click("#typed-send")
    expect(ada.page.locator("#refusal")).to_contain_text("banana")
    assert ada.number == number
    assert ada.page.input_value("#typed-decision") == "banana"


def test_a_choice_can_be_taken_back_before_it_is_confirmed(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada hesitates")
    ada.open("zero-sum-grid", "steady")
    ada.waits_for_turn()
    number = ada.number
    first, second = ada.page.locator(".pick").nth(0), ada.page.locator(".pick").nth(1)
    first.click()
    expect(first).to_have_attribute("aria-pressed", "true")
    second.click()
    expect(first).to_have_attribute("aria-pressed", "false")
    expect(ada.page.locator("#confirm")).to_be_visible()
    ada.page.keyboard.press("Escape")
    expect(ada.page.locator("#confirm")).to_be_hidden()
    assert ada.number == number


def test_a_hint_is_shown_and_noted(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada asks")
    ada.open("positive-negative", "steady")
    ada.waits_for_turn()
    ada.page.click("#do-hint")
    expect(ada.page.locator(".advice")).to_contain_text("The strongest bot here")
    ada.page.reload()
    expect(ada.page.locator(".advice")).to_contain_text("The strongest bot here")
    ada.resign()
    assert "hint for seat" in ada.record()


def test_no_hint_is_offered_where_people_play_each_other(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada alone"), person(house, "Bob alone")
    two(ada, bob, "positive-negative")
    for one in (ada, bob):
        assert not one.sees("#do-hint")


def test_resigning_asks_first(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada gives up"), person(house, "Bob wins")
    two(ada, bob, "mccoy-duel")
    ada.page.click("#offer-resign > summary")
    expect(ada.page.locator("#ask-dialog")).to_contain_text("Resign this game?")
    ada.page.click("#ask-no")
    expect(ada.page.locator("#ask-dialog")).to_be_hidden()
    assert not bob.over
    ada.resign()
    expect(bob.page.locator(OVER)).to_contain_text("You win")
    expect(ada.page.locator(OVER)).to_contain_text("Bob wins wins")


def test_a_rematch_swaps_the_seats_and_takes_both_along(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada again"), person(house, "Bob again")
    two(ada, bob, "positive-negative", top=3)
    play([ada, bob])
    old = ada.link
    ada.page.click("#do-rematch")
    expect(ada.page).not_to_have_url(old)
    expect(ada.page.locator("#part-status")).to_contain_text("Waiting for Bob again")
    bob.page.click("#successor")
    expect(bob.page).to_have_url(ada.page.url)
    expect(ada.page.locator(".areas")).to_be_visible()
    bob.waits_for_turn()  # the first seat begins, and it is Bob's now
    assert bob.sees(MINE)
    assert ada.page.locator("li.side .who").all_inner_texts() == [
        "Ada again",
        "Bob again",
    ]  # who looks is on the left
    play([ada, bob])


def test_the_rules_open_beside_the_game(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada reads")
    ada.open("prime-duel", "steady")
    address = ada.page.url
    ada.page.click(".rules-link")
    expect(ada.page.locator("#rules-dialog h2, #rules-dialog h3").first).to_be_visible()
    ada.page.keyboard.press("Escape")
    expect(ada.page.locator("#rules-dialog")).to_be_hidden()
    assert ada.page.url == address
    ada.waits_for_turn()
    assert ada.sees(MINE)
