"""First games that teach, through the application: opened, played, skipped, kept over a restart, counted nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from piste import bots
from piste.core.dealer import Dealer
from piste.core.game import find, names
from piste.core.record import Record
from piste.core.views import SeatView
from piste.web.network import Root
from piste.web.tables.lessons import lesson_at
from piste.web.views.view_models import RenderContext, Viewer, steps, view_model
from piste.web.workers.worker_pool import seed_of_bots
from tests.web.in_process_server import Device, InProcessServer, actor

NOTE = re.compile(r'<p id="lesson-note">(.*?)</p>')


async def begun(house: InProcessServer, game: str, **fields: str) -> tuple[str, Device]:
    """Open a lesson against the bot that plays it and return its table and the learner."""

    async def think(name: str, level: str, view: SeatView) -> int:
        head = house.room(code).head if code else None
        bot = bots.find(level, find(name))
        return bot.choose(view, Dealer(seed_of_bots(head)).stream(bots.stream_name(view)))

    code = ""
    house.bot_workers.choosing = think
    learner = Device(house)
    code = await learner.opens(game, "lesson", **fields)
    return code, learner


def note_on(page: str) -> str:
    found = NOTE.search(page)
    return found.group(1) if found else ""


@pytest.mark.parametrize("game", names())
async def test_a_lesson_is_played_to_its_end_on_pages_without_a_script(tmp_path: Path, game: str) -> None:
    async with InProcessServer(tmp_path / "db") as house:
        code, learner = await begun(house, game, name="Ada")
        lesson = lesson_at(house.room(code))
        assert lesson is not None
        notes = []
        for number, decision in enumerate(lesson.suggested):
            page = await learner.page(code)
            notes.append(note_on(page))
            assert "Practice game</b> with fixed cards" in page
            assert "Rematch" not in page
            table = house.room(code).table
            assert table is not None
            assert (await learner.decide(code, decision, table.number))["ok"], (number, decision)
        page = await learner.page(code)
        notes.append(note_on(page))
        assert house.room(code).over
        assert "You win" in page
        assert "Play a real game" in page
        assert all(notes)
        assert len(set(notes)) == len(notes)
        assert "-" not in "".join(re.findall(r"[-−]\d", "".join(notes)))  # a true minus sign


async def test_the_note_comes_with_the_news_of_a_socket(tmp_path: Path) -> None:
    async with InProcessServer(tmp_path / "db") as house:
        code, learner = await begun(house, "positive-negative")
        socket = await learner.connect(code)
        first = note_on(socket.shown("choices"))
        await socket.ask("decide", decision="keep", number=0)
        assert first != note_on(socket.shown("choices")) != ""
        await socket.leave()


async def test_a_lesson_goes_on_after_a_restart_with_the_same_note(tmp_path: Path) -> None:
    async with InProcessServer(tmp_path / "db") as house:
        code, learner = await begun(house, "positive-negative")
        await learner.decide(code, "keep", 0)
        before = note_on(await learner.page(code))
        assert before
        await house.restart()
        page = await learner.page(code)
        assert note_on(page) == before
        assert "Practice game</b> with fixed cards" in page


async def test_a_lesson_does_not_count(tmp_path: Path) -> None:
    async with InProcessServer(tmp_path / "db") as house:
        code, learner = await begun(house, "positive-negative")
        for decision in ("keep", "discard", "keep", "discard"):
            table = house.room(code).table
            assert table is not None
            await learner.decide(code, decision, table.number)
        record = (await learner.get(f"/t/{code}/record")).text
        assert not Record.parse(record).head.counts
        real = await learner.opens("positive-negative", "novice")
        assert (await learner.do(real, "resign"))["ok"]
        progress = (await learner.get("/progress")).text
        assert "looking at 1 game of yours" in progress
        assert code not in progress


@pytest.mark.parametrize("game", names())
async def test_a_running_lesson_tells_neither_its_deal_nor_its_seed(tmp_path: Path, game: str) -> None:
    async with InProcessServer(tmp_path / "db") as house:
        code, learner = await begun(house, game)
        head = house.room(code).head
        assert head is not None
        news = (await learner.get(f"/t/{code}/news?since=0&step=0")).text
        for shown in (await learner.page(code), news):
            assert str(head.seed) not in shown
            assert head.commitment is not None
            assert head.commitment.salt not in shown
            assert head.laid not in shown or len(head.laid) < 4


async def test_skipping_leads_to_a_real_game_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with InProcessServer(tmp_path / "db") as house:
        code, learner = await begun(house, "prime-duel", name="Ada")
        answer = await learner.post(f"/t/{code}/skip")
        await house.settle()
        assert answer.status == 303
        room = house.room(answer.code)
        assert lesson_at(room) is None
        assert room.head is not None
        assert room.head.counts
        assert room.names()[0] == "Ada"
        assert not room.options
        assert (await learner.get(f"/t/{code}")).status == 404
        assert code not in (await learner.get("/games")).text


async def test_only_the_learner_can_skip_and_only_a_lesson(tmp_path: Path) -> None:
    async with InProcessServer(tmp_path / "db") as house:
        code, learner = await begun(house, "prime-duel")
        stranger = Device(house, house.tokens.token())
        assert (await stranger.do(code, "skip"))["status"] == 409
        real = await learner.opens("prime-duel", "novice")
        refused = await learner.do(real, "skip")
        assert not refused["ok"]
        assert "nothing to skip" in refused["said"]


async def test_a_spectator_sees_no_note(tmp_path: Path) -> None:
    async with InProcessServer(tmp_path / "db") as house:
        code, _ = await begun(house, "zero-sum-duel")
        assert actor(house, code) == 0
        page = await Device(house).page(code)
        assert note_on(page) == ""
        assert "do-skip" not in page


async def test_a_game_without_a_lesson_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find("prime-duel"), "lesson", None)
    async with InProcessServer(tmp_path / "db") as house:
        got = await Device(house).post("/new", {"game": "prime-duel", "versus": "lesson"})
        assert got.status == 422
        assert "no first game that teaches" in got.text
        assert 'value="lesson"' not in (await Device(house).get("/rules/prime-duel")).text


@pytest.mark.parametrize("game", names())
async def test_a_lesson_can_be_begun_at_home_on_the_game_page_and_on_the_rules_page(
    tmp_path: Path, game: str
) -> None:
    async with InProcessServer(tmp_path / "db") as house:
        for address in ("/", f"/g/{game}", f"/rules/{game}"):
            page = (await Device(house).get(address)).text
            assert f'name="game" value="{game}"><input type="hidden" name="versus" value="lesson"' in page


async def test_a_lesson_shows_the_goal_from_the_first_picture_on_and_no_limit_of_turns(tmp_path: Path) -> None:
    async with InProcessServer(tmp_path / "db") as house:
        code, _ = await begun(house, "zero-sum-duel")
        room = house.room(code)
        latest = view_model(room, Viewer(0), RenderContext(0.0, 60.0, Root("http://cards.test")))
        pictures = steps(room, Viewer(0), latest, 0)
        assert len(pictures) > 3  # cards were drawn before the first decision
        assert {one.lesson for one in pictures} == {latest.line}
        assert "sum to zero" in latest.line
        assert latest.standing.label == "Turn"
        assert {one.standing.note for one in (latest, *pictures)} == {""}
