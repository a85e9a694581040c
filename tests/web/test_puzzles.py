"""Puzzles in the browser: by game and level, answered on the board, with streaks of the device and one of the day."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from piste.core.errors import OptionError
from piste.core.evaluation import Progress
from piste.core.game import find, names
from piste.web.middleware.rate_limits import RATES, Limits, Rate
from piste.web.study import runner, tasks
from piste.web.study.site import COOKIE, MAX_STREAKS
from piste.web.tables.transcript import minus
from piste.web.views.study import Streak
from piste.web.workers.worker_pool import WorkersBusyError
from tests.web.in_process_server import Device, InProcessServer, buttons

DAY_S = 86400.0
GRID = "/puzzles/zero-sum-grid/easy"
MAYBE = "/puzzles/positive-negative"


class Solver(Device):
    """A device that keeps the cookie of its streaks."""

    streaks = ""

    def headers(self) -> dict[str, str]:
        found = super().headers()
        if self.streaks:
            found["cookie"] = "; ".join(filter(None, (found.get("cookie"), f"{COOKIE}={self.streaks}")))
        return found

    async def answer(self, path: str, decision: str) -> str:
        """Answer a puzzle and return where that leads."""
        got = await self.post(path, {"decision": decision})
        assert got.status == 303, got.text
        cookie = re.search(rf"{COOKIE}=([^;]*)", got.header("set-cookie"))
        if cookie is not None:
            self.streaks = cookie[1]
        return got.header("location")


def best(game: str, level: str, number: int) -> tuple[str, str]:
    """Return the best and the worst decision of a puzzle."""
    choices = sorted(tasks.puzzle(game, level, number).evaluation.choices, key=lambda one: -one.chances.value)
    return choices[0].name, choices[-1].name


async def test_every_game_is_listed_with_its_levels_and_the_puzzle_of_the_day(house: InProcessServer) -> None:
    page = (await Device(house).get("/puzzles")).text
    for game in ("zero-sum-duel", "positive-negative", "zero-sum-grid", "prime-duel", "mccoy-duel"):
        for level in tasks.LEVELS:
            there = game != "zero-sum-grid" or level == "easy"  # where each decision is certain
            assert (f'href="/puzzles/{game}/{level}"' in page) == there
    assert 'href="/puzzles/today"' in page
    only = (await Device(house).get("/puzzles/prime-duel")).text
    assert "/puzzles/prime-duel/hard" in only
    assert "/puzzles/zero-sum-duel/hard" not in only


async def test_a_puzzle_is_played_on_the_board_and_answered_with_every_value(house: InProcessServer) -> None:
    one = Solver(house)
    assert (await one.get(GRID)).header("location") == f"{GRID}/1"
    page = (await one.get(f"{GRID}/1")).text
    right, wrong = best("zero-sum-grid", "easy", 1)
    assert {right, wrong} <= set(buttons(page))
    assert f'action="{GRID}/1"' in page
    leads = await one.answer(f"{GRID}/1", right)
    assert leads == f"{GRID}/1?answer={quote(right)}"
    answered = (await one.get(leads)).text
    assert "<h1>Right: " in answered
    assert answered.count('<li class="best') == 1
    assert "Proven: how" in answered
    assert "leaves nothing but zeros and wins" in answered
    assert "Right in a row (easy): <b>1</b>" in answered
    assert f'href="{GRID}/2"' in answered
    assert "/analysis/zero-sum-grid?position=zero-sum-grid" in answered
    assert (await one.get(GRID)).header("location") == f"{GRID}/2"


async def test_an_answer_names_the_decision_gives_each_reason_once_and_nobody_is_to_play(
    house: InProcessServer,
) -> None:
    one, path = Solver(house), "/puzzles/zero-sum-duel/easy/1"
    right, _ = best("zero-sum-duel", "easy", 1)
    page = (await one.get(path)).text
    assert 'class="below' not in page, "what a discard leaves is for the solver to find"
    assert "you win" not in page
    answered = (await one.get(await one.answer(path, right))).text
    assert f"<h1>Right: discard {right}</h1>".replace("-", "−") in answered
    assert "Your turn" in page
    assert "Your turn" not in answered
    sides = [re.findall(r'<span class="who"><bdi>([^<]*)', text) for text in (page, answered)]
    assert sides[0] == sides[1], "nobody changes sides with the answer"
    assert sides[0][0] == "You"
    made = tasks.puzzle("zero-sum-duel", "easy", 1)
    for reason in made.reasons:
        assert answered.count(str(minus(reason).replace(" %", "\u00a0%"))) == 1


async def test_nothing_of_a_solution_stands_in_the_page_before_it_is_answered(house: InProcessServer) -> None:
    """The page is drawn from the view of the seat: with any other values it is the same, byte for byte."""
    one = Device(house)
    for game, level in (("zero-sum-grid", "easy"), ("positive-negative", "medium"), ("prime-duel", "easy")):
        path = f"/puzzles/{game}/{level}/1"
        page = (await one.get(path)).body
        made = tasks.puzzle(game, level, 1)
        backwards = tuple(
            choice._replace(chances=other.chances, mix=0.0)
            for choice, other in zip(made.evaluation.choices, reversed(made.evaluation.choices), strict=True)
        )
        other = made.evaluation._replace(choices=backwards, known="exact", how="quite otherwise", within=0.0)
        results = house.app.state.study._results
        results["puzzle", game, level, 1] = made._replace(evaluation=other, reasons=("because",) * len(backwards))
        assert (await one.get(path)).body == page
        for hidden in (made.evaluation.how, *made.reasons, "/analysis/"):
            assert hidden.encode() not in page


async def test_streaks_count_each_puzzle_once_and_a_wrong_answer_ends_the_row(house: InProcessServer) -> None:
    one = Solver(house)
    for number in (1, 2):
        await one.answer(f"{MAYBE}/easy/{number}", best("positive-negative", "easy", number)[0])
    await one.answer(f"{MAYBE}/easy/2", best("positive-negative", "easy", 2)[1])
    assert "not counted again" in (await one.get(f"{MAYBE}/easy/2")).text
    assert one.streaks == "positive-negative.easy.2.2.2.2.2"
    leads = await one.answer(f"{MAYBE}/easy/3", best("positive-negative", "easy", 3)[1])
    page = (await one.get(leads)).text
    assert "<h1>No, better: " in page
    assert "% of winning chance." in page
    assert ">Try it again</a>" in page
    assert one.streaks == "positive-negative.easy.3.2.0.2.3"
    leads = await one.answer(f"{MAYBE}/medium/1", "")
    assert leads.endswith("?answer=none")
    assert "<h1>The answer: " in (await one.get(leads)).text
    assert "positive-negative.medium.1.0.0.0.1" in one.streaks
    assert "2 of 3 right, 0 in a row" in (await one.get("/puzzles")).text


async def test_a_cookie_that_makes_no_sense_counts_as_nothing(house: InProcessServer) -> None:
    one = Solver(house)
    garbage = (
        "positive-negative.easy.1.2.x.4.5",
        "....",
        "a.b",
        "positive-negative.easy.99999999999.1.1.1.1",
        "_" * 900,
    )
    for one.streaks in garbage:
        assert (await one.get("/puzzles")).status == 200
        assert (await one.get(f"{MAYBE}/easy")).header("location") == f"{MAYBE}/easy/1"
    one.streaks = "_".join(f"game-{i}.easy.1.1.1.1.1" for i in range(2 * MAX_STREAKS))
    await one.answer(f"{MAYBE}/easy/1", "keep")
    assert one.streaks.count("_") == MAX_STREAKS


async def test_the_puzzle_of_the_day_is_the_same_for_everybody_and_after_a_restart(house: InProcessServer) -> None:
    house.clock.now, titles = 20_000 * DAY_S + 5, []
    for _ in range(len(names())):
        shown = re.search(r'<p>([^,<]*), <span class="date">\d{4}-', (await Device(house).get("/puzzles")).text)
        assert shown is not None
        titles.append(shown[1])
        house.clock.now += DAY_S
    assert sorted(titles) == sorted(find(name).notation.TITLE for name in names()), "each game in turn"
    house.clock.now += DAY_S * titles.index("Positive-Negative")  # one that takes no time
    page = await Device(house).get("/puzzles/today")
    assert page.status == 200
    assert (await Device(house).get("/puzzles/today")).body == page.body
    assert (await Device(house).get("/puzzle/today")).header("location") == "/puzzles/today"
    house.clock.now += 3600
    await house.restart()
    assert (await Device(house).get("/puzzles/today")).body == page.body
    one = Solver(house)
    await one.answer("/puzzles/today", "keep")
    day = house.clock.now // DAY_S
    assert re.fullmatch(rf"today\.1\.([01])\.\1\.\1\.{day:.0f}", one.streaks)
    assert "Look at it again" in (await one.get("/puzzles")).text


def test_a_day_that_is_left_out_ends_the_row_of_days() -> None:
    streak = Streak().after(10, True, every=True).after(11, True, every=True)
    assert (streak.row, streak.best) == (2, 2)
    assert streak.after(12, True, every=True).row == 3
    assert streak.after(13, True, every=True).row == 1
    assert streak.after(13, True).row == 3


async def test_what_is_no_puzzle_gets_a_sentence(house: InProcessServer) -> None:
    one = Device(house)
    for path in ("/puzzles/chess", "/puzzles/chess/easy", f"{MAYBE}/golden", f"{MAYBE}/easy/0", f"{MAYBE}/easy/x"):
        assert (await one.get(path)).status == 404, path
    assert (await one.get(f"{MAYBE}/easy/{10**7}")).status == 404
    none = await one.get("/puzzles/zero-sum-grid/hard/1")
    assert none.status == 404
    assert "Such puzzles are easy ones" in none.text
    assert 'href="/puzzles/zero-sum-grid/easy"' in none.text
    stale = await one.post(f"{GRID}/1", {"decision": "R9*"})
    assert stale.status == 409
    assert "is not a decision here" in stale.text
    assert (await one.get(f"{GRID}/1?answer={'x' * 3000}")).status == 409
    assert (await one.post(f"{GRID}/1", {"decision": "R1+"}, origin="http://elsewhere.example")).status == 403


async def test_a_puzzle_that_takes_long_is_prepared_while_its_page_waits(
    house: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "WAIT_S", 0.0)
    begun, may = asyncio.Event(), asyncio.Event()

    async def studying(progress: Progress) -> None:
        progress(1, 4, "looking")
        begun.set()
        await may.wait()

    house.bot_workers.studying = studying
    one = Solver(house)
    first = await one.get(f"{GRID}/1")
    await begun.wait()
    page = (await one.get(f"{GRID}/1")).text
    assert "It appears here as soon as it is ready" in first.text
    assert 'data-pending="1"' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    assert 'value="0.250"' in page
    assert await one.answer(f"{GRID}/1", "R1+") == f"{GRID}/1"
    assert house.bot_workers.asked.count(("", "study", "puzzle")) == 1
    may.set()
    await asyncio.gather(*house.app.state.study._tasks)
    assert 'data-pending="1"' not in (await one.get(f"{GRID}/1")).text


async def test_when_the_workers_are_busy_a_sentence_says_so(house: InProcessServer) -> None:
    async def busy(_progress: Progress) -> None:
        raise WorkersBusyError("The bots are busy.")

    async def failing(_progress: Progress) -> None:
        raise OptionError("It cannot be made.")

    house.bot_workers.studying = busy
    got = await Device(house).get(f"{GRID}/1")
    assert got.status == 503
    assert "busy with other puzzles" in got.text
    house.bot_workers.studying = failing
    assert "It cannot be made." in (await Device(house).get(f"{GRID}/1")).text
    house.bot_workers.studying = None
    assert (await Device(house).get(f"{GRID}/1")).status == 200


async def test_a_network_that_has_many_puzzles_made_has_to_wait_and_others_do_not(tmp_path: Path) -> None:
    server = InProcessServer(tmp_path / "tables.db")
    server.limits = Limits(clock=server.clock, rates={**RATES, "studies": Rate(2, 0.1)})
    async with server:
        one, other = Device(server), Device(server, client="10.0.0.9")
        statuses = [(await one.get(f"{MAYBE}/easy/{number}")).status for number in (1, 5, 9)]
        assert statuses == [200, 200, 429]
        assert "many puzzles and positions" in (await one.get(f"{MAYBE}/easy/9")).text
        assert (await one.get(f"{MAYBE}/easy/5")).status == 200, "what is made is shown"
        assert (await other.get(f"{MAYBE}/easy/9")).status == 200
