"""How pages look and what they weigh: small phones, thumbs, screen readers, day and night, motion, bytes."""

from __future__ import annotations

import pytest
from playwright.sync_api import Response, expect

from piste.core.game import names
from tests.browser.browser_user import OVER, Person, counted, play, two
from tests.browser.conftest import Invite
from tests.browser.page_checks import look, sideways, touched
from tests.browser.server_process import ServerProcess

PHONE = {"viewport": {"width": 320, "height": 640}}
LONGER: dict[str, dict[str, int | str]] = {"zero-sum-duel": {"top": 12, "hand": 6}}  # not over after a few clicks
HEAVIEST = 100_000


@pytest.mark.parametrize("game", names())
def test_a_table_fits_a_small_phone_and_everybody_can_use_it(game: str, house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada's phone", **PHONE), person(house, "Bob's phone", **PHONE)
    two(ada, bob, game, **LONGER.get(game, {}))
    play([ada, bob], until=counted(3))
    actor, other = (ada, bob) if ada.to_play else (bob, ada)
    look(actor.page)
    look(other.page)
    actor.page.locator(".pick, .choice").first.focus()
    if actor.sees(".pick"):
        actor.page.locator(".pick").first.click()
        expect(actor.page.locator("#confirm")).to_be_visible()
        sideways(actor.page)
        touched(actor.page)
    if not ada.over:
        actor.resign()
    expect(other.page.locator(OVER)).to_be_visible()
    look(other.page)


@pytest.mark.parametrize("players", [3, 4])
def test_a_duel_of_more_fits_a_small_phone(players: int, house: ServerProcess, person: Invite) -> None:
    ada = person(house, "A name of 24 letters wow", **PHONE)
    ada.open("mccoy-duel", "steady", players=players, rounds=1)
    for _ in range(3):
        ada.waits_for_turn()
        sideways(ada.page)
        touched(ada.page)
        if ada.over:
            break
        number = ada.number
        ada.decide()
        ada.waits(number, turn=True)


def test_an_invitation_fits_a_small_phone_on_both_sides(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada asks in", **PHONE), person(house, "Bob at the door", **PHONE)
    ada.open("mccoy-duel", players=4)
    look(ada.page)
    bob.page.goto(ada.link)
    look(bob.page)


@pytest.mark.parametrize(
    "path", ["/", "/g/mccoy-duel", "/g/prime-duel", "/games", "/watch", "/offline", "/no-such-page"]
)
def test_a_page_fits_a_small_phone_and_everybody_can_use_it(path: str, house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada looks around", **PHONE)
    if path in ("/", "/games"):  # with a game to go on with
        ada.open("prime-duel", "steady")
    ada.cut_off = path == "/no-such-page"
    ada.go(path)
    for fold in ada.page.locator("main details > summary").all():
        fold.click()
    look(ada.page)


@pytest.mark.parametrize("game", names())
def test_rules_fit_a_small_phone_and_everybody_can_read_them(game: str, house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada reads on", **PHONE)
    ada.go(f"/rules/{game}")
    look(ada.page)


def test_a_replay_fits_a_small_phone_and_everybody_can_use_it(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada looks back", **PHONE)
    ada.open("positive-negative", "steady", top=4)
    play([ada], bots=True)
    ada.page.click("a[href$='/replay']")
    expect(ada.page.locator(".graph")).to_be_visible()
    look(ada.page)
    ada.page.click("#go-last")
    steps = str(ada.page.get_attribute("#slider", "max"))
    expect(ada.page.locator(".where")).to_have_text(f"Step {steps} of {steps}")
    look(ada.page)


@pytest.mark.parametrize("wide", [768, 1440])
def test_nothing_scrolls_sideways_on_larger_screens(wide: int, house: ServerProcess, person: Invite) -> None:
    ada = person(house, f"Ada {wide}", viewport={"width": wide, "height": 900})
    for path in ("/", "/g/mccoy-duel", "/rules/zero-sum-grid"):
        ada.go(path)
        sideways(ada.page)
    for game in names():
        ada.open(game, "steady")
        ada.waits_for_turn()
        sideways(ada.page)


@pytest.mark.parametrize("path", ["/", "table"])
def test_a_first_view_weighs_less_than_100_kb(path: str, house: ServerProcess, person: Invite) -> None:
    answers: list[Response] = []
    ada = person(house, "Ada saves")
    if path == "table":
        ada.open("mccoy-duel", "steady")
        ada, path = again(ada, house, person)
    ada.page.on("response", lambda answer: answers.extend([answer]))
    ada.page.goto(house.address + path, wait_until="networkidle")
    weights = {
        answer.url.removeprefix(house.address): answer.request.sizes()["responseBodySize"] for answer in answers
    }
    assert len(weights) > 2
    assert sum(weights.values()) < HEAVIEST, weights


def again(one: Person, house: ServerProcess, person: Invite) -> tuple[Person, str]:
    """Return the same seat in a browser that has not seen any of our files yet, and the table's path."""
    other = person(house, one.name)
    other.context.add_cookies([{**cookie, "url": house.address} for cookie in bare(one)])  # type: ignore[typeddict-item]
    return other, one.link.removeprefix(house.address)


def bare(one: Person) -> list[dict[str, str]]:
    return [{"name": str(c["name"]), "value": str(c["value"])} for c in one.context.cookies()]


MOVES = """() => {
  window.moved = [];
  const note = (event) => {
    const style = getComputedStyle(event.target);
    const lasts = event.type === "animationstart" ? style.animationDuration : style.transitionDuration;
    if (Math.max(...lasts.split(",").map(parseFloat)) > 0.05) moved.push(`${event.type} ${event.target.className}`);
  };
  for (const kind of ["animationstart", "transitionrun"]) addEventListener(kind, note, true);
}"""


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_little_motion_is_honoured(motion: str, house: ServerProcess, person: Invite) -> None:
    ada = person(house, f"Ada {motion}", reduced_motion=motion)
    ada.open("zero-sum-grid", "steady", turns=6)
    ada.page.evaluate(MOVES)
    play([ada], bots=True)
    ada.page.hover("#do-rematch")
    moved = ada.page.evaluate("() => window.moved")
    assert bool(moved) == (motion == "no-preference"), moved


def test_what_somebody_changed_is_marked_for_both_until_the_next_change(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada changes"), person(house, "Bob notices")
    two(ada, bob, "zero-sum-grid")

    def cells(one: Person) -> list[str]:
        return one.page.locator("td.cell").all_inner_texts()

    def fresh(one: Person) -> list[bool]:
        found: list[bool] = one.page.evaluate(
            "() => [...document.querySelectorAll('td.cell')].map((one) => one.classList.contains('is-new'))"
        )
        return found

    for _ in range(3):  # the deal is new to both, too, until the first move
        before = cells(ada)
        play([ada, bob], until=counted(1))
        changed = [old != new for old, new in zip(before, cells(ada), strict=True)]
        assert sum(changed) == 3
        assert fresh(ada) == changed
        assert fresh(bob) == changed


def test_every_answer_carries_the_policy_and_nothing_comes_from_elsewhere(
    house: ServerProcess, person: Invite
) -> None:
    ada = person(house, "Ada trusts")  # whatever is asked of another host, or against the policy, fails any test here
    answers: list[Response] = []
    ada.page.on("response", lambda answer: answers.extend([answer]))
    ada.open("mccoy-duel")
    ada.go("/rules/mccoy-duel")
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.url.startswith(house.address)
