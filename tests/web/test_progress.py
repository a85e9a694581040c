"""Progress in the browser: one's own finished games, reviewed in the workers, as a chart and a table."""

from __future__ import annotations

import json

import pytest

from piste.analysis.coach.progress import GameProgress
from piste.web.storage.schema import ReviewRow, put
from piste.web.study.site import MAX_REVIEWS_BEGUN
from piste.web.views.study import PlayedGame, game_charts
from tests.web.in_process_server import Device, InProcessServer, finish, table_for


def review(accuracy: float | None, *losses: float) -> str:
    """Return as much of a review as progress is made of; the other seat is always perfect."""
    return json.dumps({
        "columns": [{"seat": "1", "accuracy": accuracy}, {"seat": "2", "accuracy": 100.0}],
        "decisions": [{"seat": "1", "loss": loss} for loss in losses] + [{"seat": "2", "loss": 0.0}],
        "chances": [],
    })  # fmt: skip


async def test_who_has_no_finished_game_is_shown_where_to_begin(house: InProcessServer) -> None:
    assert "no finished game of yours" in (await Device(house).get("/progress")).text
    code, people = await table_for(house, "zero-sum-grid", 2, **{"option-turns": "4"})
    assert "no finished game of yours" in (await people[0].get("/progress")).text
    await finish(house, code, people)
    assert "no finished game of yours" not in (await people[0].get("/progress")).text
    assert "no finished game of yours" in (await Device(house).get("/progress")).text


async def test_each_finished_game_of_ones_own_is_a_point_of_the_chart_and_a_row(house: InProcessServer) -> None:
    first, people = await table_for(house, "zero-sum-grid", 2, **{"option-turns": "4"})
    await finish(house, first, people)
    house.storage.write(put(ReviewRow(first, review(50.0, 0.2, 0.1)))).result()
    house.clock.now += 86400
    second = await people[0].opens("zero-sum-grid", name="Ada", **{"option-turns": "4"})
    assert (await people[1].do(second, "sit", name="Ben"))["ok"]
    await finish(house, second, people)
    house.storage.write(put(ReviewRow(second, review(90.0, 0.05)))).result()
    page = (await people[0].get("/progress")).text
    assert (
        "At first <b>50 %</b>, 15.0&nbsp;% of winning chance lost a decision; lately <b>90 %</b>, 5.0&nbsp;%." in page
    )
    assert 'points="0.0,50.0 1000.0,10.0"' in page
    assert page.index(f"/t/{second}/replay") < page.index(f"/t/{first}/replay"), "the newest game first"
    assert "data-pending" not in page
    other = (await people[1].get("/progress")).text
    assert "At first <b>100 %</b>" in other


async def test_games_are_reviewed_a_few_at_a_time_and_the_page_says_so(house: InProcessServer) -> None:
    one = Device(house)
    for _ in range(MAX_REVIEWS_BEGUN + 1):
        code = await one.opens("zero-sum-grid", versus="steady", **{"option-turns": "2"})
        await finish(house, code, [one, one])
    house.bot_workers.asked.clear()
    page = (await one.get("/progress")).text
    assert f"The coach is looking at {MAX_REVIEWS_BEGUN + 1} games of yours." in page
    assert 'data-pending="1"' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    await house.settle()
    assert sum(asked[1] == "review" for asked in house.bot_workers.asked) == MAX_REVIEWS_BEGUN


async def test_a_game_that_cannot_be_reviewed_says_why(house: InProcessServer) -> None:
    code, people = await table_for(house, "zero-sum-grid", 2, **{"option-turns": "4"})
    await finish(house, code, people)
    house.storage.write(put(ReviewRow(code, json.dumps({"failed": "It took too long."})))).result()
    assert "It took too long." in (await people[0].get("/progress")).text


@pytest.mark.parametrize("accuracies", [(None,), (None, 40.0), (40.0, None, 60.0)])
def test_a_chart_leaves_out_games_in_which_nothing_could_be_lost(accuracies: tuple[float | None, ...]) -> None:
    played = [
        PlayedGame(f"c{at}", "prime-duel", 0.0, "You won", GameProgress(accuracy, 1.0, 3))
        for at, accuracy in enumerate(accuracies)
    ]
    charts = game_charts(played)
    judged = [accuracy for accuracy in accuracies if accuracy is not None]
    assert len(charts) == bool(judged)
    for chart in charts:
        assert [100 - y for _, y in chart.points] == judged
        assert len(chart.games) == len(accuracies)
