"""Reviews of tournaments: games are worked out again as they were, losses are the coach's, puzzles are real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from piste.analysis.arena import results as files
from piste.analysis.arena.losses import losses
from piste.analysis.arena.luck import adjusted_pairings
from piste.analysis.arena.report import document, report, text
from piste.analysis.arena.results import Results
from piste.analysis.coach.attribution import attribute
from piste.analysis.coach.evaluator import evaluator_of
from piste.analysis.coach.tournament_review import costliest, rebuild, review_game, review_tournament
from piste.analysis.engine import open_engine
from tests.analysis.arena.entrants import HERE
from tests.analysis.arena.test_tournament import planned, played
from tests.game_setups import games
from tests.sizes import sized
from tools import known_truth

SMALL = planned("positive-negative", "random", "perfect", given={"top": 4}, games=40)


@pytest.fixture(scope="module")
def reviewed() -> Results:
    results = played(SMALL)
    with open_engine() as engine:
        review_tournament(results, engine)
    return results


def test_a_game_is_worked_out_again_as_it_was(reviewed: Results) -> None:
    for deal in reviewed.deals.values():
        for game in deal.games:
            table = rebuild(SMALL, deal, game)
            ending = table.ending()
            assert ending is not None
            assert ending.winner == game.winner
            assert len(rebuild(SMALL, deal, game, 2).view(0).log) < len(table.view(0).log)


def test_losses_and_luck_are_those_of_the_coach(reviewed: Results) -> None:
    evaluator = evaluator_of(SMALL.game, SMALL.options)
    deal, review = reviewed.deals[0, 0], reviewed.reviews[0, 0]
    for game, found in zip(deal.games, review.games, strict=True):
        wanted = attribute(rebuild(SMALL, deal, game), evaluator)
        assert found.exact
        assert found.luck == pytest.approx([columns.luck for columns in wanted.columns])
        by_seat = [sum(one.loss for one in found.decisions if one.seat == seat) for seat in (0, 1)]
        assert by_seat == pytest.approx([sum(d.loss for d in wanted.decisions if d.seat == seat) for seat in (0, 1)])


def test_perfect_play_loses_nothing_and_random_play_does(reviewed: Results) -> None:
    random, perfect = losses(reviewed, 0), losses(reviewed, 1)
    assert perfect.known["", ""].mean.value == pytest.approx(0, abs=1e-9)
    assert random.known["", ""].mean.value > 0.01
    assert not random.estimated
    phases = [random.known[phase, ""] for phase in ("early", "middle", "late")]
    assert sum(loss.decisions for loss in phases) == random.known["", ""].decisions
    lines = "\n".join(text(report(reviewed)))
    assert "loss a decision" in lines
    assert "luck taken off" in lines


def test_adjusted_and_raw_agree(reviewed: Results) -> None:
    (found,) = adjusted_pairings(reviewed).values()
    assert found.used
    assert found.factor > 1.2
    assert abs(found.raw.value - found.adjusted.value) <= found.raw.half + found.adjusted.half
    assert found.mean_luck.low <= 0 <= found.mean_luck.high


@pytest.mark.slow
def test_where_the_truth_is_known_exactly_adjusted_results_hold_it() -> None:
    plan = planned(known_truth.GAME, *known_truth.ENTRANTS, given=known_truth.OPTIONS, games=games(sized(100, 600)))
    results = played(plan)
    with open_engine() as engine:
        review_tournament(results, engine)
    (found,) = adjusted_pairings(results).values()
    truth = known_truth.true_share()
    assert found.used
    assert 0 < found.adjusted.half < 0.8 * found.raw.half
    for interval in (found.raw, found.adjusted):  # three standard errors, not two: this is one of many tests
        assert abs(interval.value - truth) <= 1.53 * interval.half


def test_where_hands_are_hidden_luck_is_not_taken_off() -> None:
    """What a seat thinks possible is then right against perfect players only, and so is the mean over it."""
    small: dict[str, int | str] = {"top": 3, "hand": 2, "turns": 5}
    results = played(planned("zero-sum-duel", "random", "steady", given=small, games=4))
    with open_engine() as engine:
        review_tournament(results, engine)
    assert not all(game.exact for deal in results.reviews.values() for game in deal.games)
    assert adjusted_pairings(results) == {}


def test_the_costliest_positions_are_puzzles(reviewed: Results) -> None:
    found = list(costliest(reviewed, 0, 3))
    assert len(found) == 3
    assert [one.loss for one in found] == sorted((one.loss for one in found), reverse=True)
    for one in found:
        choices = {c.action: c.chances.win + c.chances.draw / 2 for c in one.puzzle.evaluation.choices}
        names = dict(zip(one.puzzle.view.decisions, one.puzzle.view.actions, strict=True))
        assert max(choices.values()) - choices[names[one.chosen]] == pytest.approx(one.loss)
    assert list(costliest(reviewed, 1, 3)) == []  # perfect play


def test_what_is_estimated_is_told_apart() -> None:
    results = played(planned("prime-duel", "random", "steady", games=2, given={"top": 4, "target": 12}))
    reviews = review_game(results.plan, results.deals[0, 0], results.deals[0, 0].games[0])
    assert {one.known for one in reviews.decisions} <= {"estimated", "exact", "within"}
    with open_engine() as engine:
        review_tournament(results, engine)
    lost = losses(results, 0)
    seen = [one.known for deal in results.reviews.values() for game in deal.games for one in game.decisions]
    assert bool(lost.estimated) == ("estimated" in seen)


def test_a_forfeit_is_no_decision() -> None:
    results = played(planned("positive-negative", f"bad={HERE}:Raises", "random", given={"top": 4}, games=2))
    with open_engine() as engine:
        review_tournament(results, engine)
    for key, deal in results.deals.items():
        for game, review in zip(deal.games, results.reviews[key].games, strict=True):
            assert all(one.number < len(game.moves) for one in review.decisions)


def test_reviews_are_kept_and_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    results = files.create(SMALL, path)
    with open_engine() as engine:
        engine_results = played(SMALL)
        results.add(engine_results.deals[key] for key in sorted(engine_results.deals))
        review_tournament(results, engine)
    results.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: int(0.9 * len(whole))])
    again = files.read(path)
    assert 0 < len(again.reviews) < len(again.deals)
    again.reopen()
    with open_engine() as engine:
        review_tournament(again, engine)
    again.close()
    assert document(report(files.read(path))) == document(report(results))
