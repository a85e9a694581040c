"""After the game: everything shown, stepped through with the coach, downloaded and checked; lists of games."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Route, expect

from piste.analysis.coach import review as coach
from piste.analysis.coach.review import review
from piste.core.record import Record
from piste.core.replay import replay
from piste.web.tables.bot_runner import ReviewStatus
from piste.web.views.rendering import PageRenderer
from piste.web.views.replay import costliest, replay_step
from tests.browser.browser_user import OVER, play, two
from tests.browser.conftest import Invite
from tests.browser.server_process import ServerProcess
from tests.game_setups import Kind
from tests.web.test_rendering import last, moments


def test_a_record_can_be_downloaded_and_keeps_the_promise(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada checks")
    ada.open("positive-negative", "steady", top=5)
    ada.waits_for_turn()
    ada.page.click("#fair > summary")
    promise = ada.page.locator("#fair .code").inner_text()
    assert not ada.sees("a[href$='/record']")
    play([ada], bots=True)
    record = Record.parse(ada.record())
    table, _ = replay(record)
    ending = table.ending()
    assert ending is not None
    assert ending.reason in ada.page.locator(OVER).inner_text()
    assert record.head.commitment is not None
    assert record.head.commitment.digest == promise
    assert record.head.seed is not None
    assert record.head.commitment.keeps(record.head.seed)
    expect(ada.page.locator("#fair dd").first).to_contain_text(str(record.head.seed))


@pytest.mark.parametrize("game", ["positive-negative", "prime-duel"])
def test_a_game_is_stepped_through_with_the_coachs_graph(game: str, house: ServerProcess, person: Invite) -> None:
    ada = person(house, f"Ada learns {game}")
    ada.open(game, "steady", **({"top": 4} if game == "positive-negative" else {"target": 12}))
    play([ada], bots=True)
    ada.page.click("a[href$='/replay']")
    where, graph = ada.page.locator(".where"), ada.page.locator(".graph svg[role=img]")
    expect(graph).to_be_visible()  # as soon as the coach is ready
    expect(ada.page.locator("#looking")).to_have_count(0)
    steps = int(where.inner_text().rpartition(" ")[2])
    assert steps > 4
    expect(graph.locator("polyline")).to_have_count(1)
    expect(ada.page.locator(".graph > p")).to_contain_text("Chance of winning, as Ada")
    ada.page.keyboard.press("Home")
    expect(where).to_have_text(f"Step 0 of {steps}")
    ada.page.keyboard.press("ArrowRight")
    expect(where).to_have_text(f"Step 1 of {steps}")
    ada.page.click("#go-next")
    expect(where).to_have_text(f"Step 2 of {steps}")
    ada.page.click("#go-previous")
    expect(where).to_have_text(f"Step 1 of {steps}")
    assert ada.page.url.endswith("step=1")
    spoken = 0
    for step in range(2, steps + 1):
        ada.page.keyboard.press("ArrowRight")
        expect(where).to_have_text(f"Step {step} of {steps}")
        spoken += ada.page.locator(".coach").count()
    assert spoken
    graph.click(position={"x": 1, "y": 20})
    expect(where).to_have_text(f"Step 0 of {steps}")
    ada.page.click("#go-last")
    expect(where).to_have_text(f"Step {steps} of {steps}")
    ada.page.reload()
    expect(where).to_have_text(f"Step {steps} of {steps}")


def test_a_replay_plays_by_itself_until_it_is_paused_and_controls_stay_in_sight(
    house: ServerProcess, person: Invite
) -> None:
    ada = person(house, "Ada watches", viewport={"width": 1366, "height": 640})
    ada.open("positive-negative", "steady", top=4)
    play([ada], bots=True)
    ada.page.goto(f"{ada.page.url.partition('?')[0]}/replay?step=0")
    where, button = ada.page.locator("#where"), ada.page.locator("#play")
    steps = int(where.inner_text().rpartition(" ")[2])
    expect(button).to_have_text("Play")
    for size in ({"width": 1366, "height": 640}, {"width": 390, "height": 844}, {"width": 320, "height": 640}):
        ada.page.set_viewport_size(size)  # type: ignore[arg-type]
        box = button.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= size["height"]
        ada.page.keyboard.press("End")  # the table is higher there, and the buttons stay where they were
        expect(where).to_have_text(f"Step {steps} of {steps}")
        assert button.bounding_box() == box
        ada.page.keyboard.press("Home")
        expect(where).to_have_text(f"Step 0 of {steps}")
    ada.page.keyboard.press("Space")
    expect(button).to_have_text("Pause")
    expect(where).to_have_text(f"Step 2 of {steps}")
    ada.page.keyboard.press("Space")
    expect(button).to_have_text("Play")
    ada.page.keyboard.press("End")
    expect(where).to_have_text(f"Step {steps} of {steps}")
    button.click()
    expect(where).to_have_text(f"Step 1 of {steps}")  # from the beginning
    ada.page.keyboard.press("ArrowLeft")
    expect(button).to_have_text("Play")


def test_the_replay_of_the_grid_begins_at_the_deal_and_marks_what_moved(house: ServerProcess, person: Invite) -> None:
    ada = person(house, "Ada moves")
    ada.open("zero-sum-grid", "steady", turns=4)
    play([ada], bots=True)
    ada.page.click("a[href$='/replay']")
    where, moved = ada.page.locator("#where"), ada.page.locator("td.cell.moved")
    ada.page.keyboard.press("Home")
    expect(where).to_have_text("Step 0 of 5")
    expect(ada.page.locator(".said-then")).to_contain_text("The grid was dealt")
    expect(moved).to_have_count(0)
    ada.page.keyboard.press("End")
    expect(where).to_have_text("Step 5 of 5")
    expect(moved).to_have_count(3)
    ada.page.locator(".graph svg[role=img]").click(position={"x": 1, "y": 20})
    expect(where).to_have_text("Step 0 of 5")


PLACES = """() =>
  [...document.querySelectorAll(".said-then .links, .report, .graph svg[role=img], .viewers, .listed")]
    .map((one) => Math.round(one.getBoundingClientRect().top))"""


@pytest.mark.parametrize("size", [(390, 844), (320, 640), (1366, 640)], ids=str)
def test_nothing_moves_when_the_coach_reports(size: tuple[int, int], house: ServerProcess, person: Invite) -> None:
    # The pages are drawn here, so that the coach reports when the test wants it.
    room = last(moments(Kind("positive-negative", {}), "reports", most=60))
    whole = review(Record.parse(room.record()))
    seats = tuple(range(len(room.seats)))
    document = {**coach.document(whole, seats), "certainty": coach.certainty(whole)}
    step = costliest(document, "1")
    judged = {**document, "decisions": [], "chances": [], "columns": []}
    documents = [judged]
    for many in (1, step, len(document["chances"])):
        decisions = [one for one in document["decisions"] if one["step"] < many]
        documents.append({**judged, "decisions": decisions, "chances": document["chances"][: many + 1]})
    pages = PageRenderer()
    statuses = [ReviewStatus(at, 4, json.dumps(found)) for at, found in enumerate(documents)]
    steps = [replay_step(room, step, 0, None, status, own=0) for status in statuses]
    steps.append(replay_step(room, step, 0, json.dumps(document), own=0))
    first, *others = steps
    answers = iter(others)
    ada = person(house, "Ada waits", viewport={"width": size[0], "height": size[1]})
    ada.page.clock.install()

    def answer(route: Route) -> None:
        part = "part=1" in route.request.url
        page = pages.replay_page(next(answers), part=True) if part else pages.replay_page(first)
        route.fulfill(content_type="text/html", body=page)

    ada.page.route("**/t/CODE/replay?**", answer)
    ada.go(f"/t/CODE/replay?seat=0&step={step}")
    expect(ada.page.locator(".coach h2")).to_have_text("Not judged yet")
    places = [ada.page.evaluate(PLACES)]
    for _ in others:
        with ada.page.expect_response("**/t/CODE/replay?**"):
            ada.page.clock.run_for(2500)
        places.append(ada.page.evaluate(PLACES))
    expect(ada.page.locator("#looking")).to_have_count(0)
    expect(ada.page.locator(".coach")).to_contain_text("cost")
    places.append(ada.page.evaluate(PLACES))
    assert len(places[0]) == 5
    assert places == [places[0]] * len(places)
    ada.page.get_by_role("button", name="Read on").click()
    expect(ada.page.locator(".brief")).to_have_count(0)


def test_after_the_game_every_hand_is_shown(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada shows"), person(house, "Bob shows")
    two(ada, bob, "mccoy-duel", rounds=1)
    play([ada, bob], until=lambda: bob.sees(".panel .card"))
    hand = bob.page.locator(".panel .card .sr").all_inner_texts()
    assert len(hand) > 5
    assert not any(card in ada.page.locator("#part-scene").inner_text() for card in hand)
    bob.resign()
    expect(ada.page.locator(OVER)).to_be_visible()
    for card in hand:
        expect(ada.page.locator("#part-scene")).to_contain_text(card)
    ada.page.click("a[href$='/replay']")
    ada.page.locator(".viewers a", has_text="Bob shows").click()
    expect(ada.page.locator(".viewers [aria-current]")).to_have_text("Bob shows")
    expect(ada.page.locator("#part-board")).to_contain_text("Bob shows")


def test_your_games_and_tables_to_watch_are_listed_and_can_be_deleted(house: ServerProcess, person: Invite) -> None:
    ada, bob, eve = (person(house, name) for name in ("Ada lists", "Bob lists", "Eve lists"))
    ada.open("zero-sum-grid", turns=4)
    ada.page.click("#do-list")
    expect(ada.page.locator("#do-unlist")).to_be_visible()
    eve.go("/watch")
    eve.page.locator("ul.tables a", has_text="Ada lists").click()
    expect(eve.page.locator("#sit-name")).to_be_visible()
    bob.sit(ada.link)
    play([ada, bob])
    expect(eve.page.locator(OVER)).to_be_visible()
    ada.go("/games")
    row = ada.page.locator("ul.tables li", has_text="Bob lists")
    expect(row).to_contain_text("Draw: turn limit")
    row.locator("summary").click()
    row.locator("button.danger").click()
    expect(ada.page.locator("body.home")).to_be_visible()
    ada.go("/games")
    expect(ada.page.locator("h1")).to_have_text("Your games")
    expect(row).to_have_count(0)


def test_a_table_that_is_closed_says_so_to_those_who_wait_there(house: ServerProcess, person: Invite) -> None:
    ada, bob = person(house, "Ada closes"), person(house, "Bob hopes")
    bob.cut_off = True  # that the table is gone is told in the console, too
    ada.open("zero-sum-grid")
    bob.page.goto(ada.link)
    ada.page.click("#offer-delete > summary")
    ada.page.click("#ask-yes")
    expect(ada.page.locator("body.home")).to_be_visible()
    expect(bob.page.locator("body")).to_contain_text("no such table")


def test_a_rematch_is_called_out_to_the_other_and_to_spectators(house: ServerProcess, person: Invite) -> None:
    ada, ben, eve = (person(house, name) for name in ("Ada again", "Ben again", "Eve again"))
    two(ada, ben, "zero-sum-grid", turns=2)
    eve.page.goto(ada.link)
    play([ada, ben])
    expect(ben.page.locator("#rematch-call")).to_have_count(0)
    ada.page.click("#do-rematch")
    expect(ada.page.locator("#part-status")).to_contain_text("Waiting for Ben again.")
    expect(ben.page.locator("#rematch-call")).to_contain_text("Ada again wants a rematch.")
    expect(ben.page.locator("#said")).to_have_text("Ada again wants a rematch.")
    expect(eve.page.locator("#rematch-call")).to_contain_text("Watch the rematch")
    ben.page.click("#successor")
    eve.page.click("#successor")
    play([ada, ben])
    expect(ada.page.locator("#series")).to_have_text("Games together: You 0 – 0 Ben again, 2 drawn")
    expect(eve.page.locator("#series")).to_contain_text("2 drawn")


def test_after_a_game_against_a_bot_its_level_is_changed_or_the_deal_tried_again(
    house: ServerProcess, person: Invite
) -> None:
    ada = person(house, "Ada tries")
    ada.open("positive-negative", "steady", top=3)
    play([ada], bots=True)
    assert re.search(r"\d(–| to )−?\d", ada.page.inner_text(f"{OVER} h2"))
    finished, first = ada.page.url, ada.log
    ada.page.select_option("#again-number", label="from my last decision")
    ada.page.click("#do-again")
    ada.page.wait_for_url(lambda url: url != finished)
    ada.waits_for_turn()
    expect(ada.page.locator("#log")).to_contain_text("The same deal, from your decision")
    assert ada.log[0] == first[0]
    play([ada], bots=True)
    expect(ada.page.locator(OVER)).to_contain_text("This game does not count.")
    ada.page.goto(finished)
    ada.page.select_option("#rematch-bot", "novice")
    ada.page.click("#do-rematch")
    expect(ada.page.locator("#part-people")).to_contain_text("Novice")
