"""What every solver owes: one unit for how far it may be off, and nobody's secret taken for common knowledge."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

import piste
from piste.compiled import table_cache
from piste.core.belief import Belief, WrittenEvent, belief, believed
from piste.core.dealer import RandomStream
from piste.core.evaluation import ESTIMATED, Chances, Evaluation
from piste.core.extras import solver_of
from piste.core.game import find
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import SPECTATOR
from piste.core.views import LogEntry, SeatView
from piste.games.positive_negative import rules as pn
from piste.games.positive_negative.solver import solver as pn_solve
from piste.games.zero_sum_duel.solver import monte_carlo
from piste.games.zero_sum_duel.solver import solver as zsd_solve
from tests.game_setups import actions

ZSD, PN = find("zero-sum-duel"), find("positive-negative")


@pytest.fixture(autouse=True, scope="module")
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a person who runs the tests has solved must not change them."""
    place: Path = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_cache, "folder", lambda: place / "solved")
        yield


def decided(name: str, options: dict[str, int | str], seed: str, most: int) -> Iterator[SeatView]:
    """Yield the view of each seat that decides in a game of plain decisions."""
    table = piste.open_table(name, options, seed=seed)
    for number in range(most):
        if table.to_act is None:
            return
        view = table.view(table.to_act)
        yield view
        table.decide(view.seat, view.actions[number % len(view.actions)], view.number)


# How far a verdict may be off


def half_width(chances: Chances, games: int) -> float:
    """Return half of the 95 % interval of the mean of so many games in which a win pays 1 and a draw a half."""
    mean = chances.win + chances.draw / 2
    return 1.96 * sqrt((chances.win + chances.draw / 4 - mean * mean) / games)


@pytest.mark.slow
def test_an_estimate_of_zero_sum_duel_is_off_by_chances_to_win_and_not_by_values() -> None:
    (view,) = decided("zero-sum-duel", {"top": 6, "hand": 3, "turns": 40}, "units", 1)
    found = zsd_solve.evaluate(InformationSet.told(ZSD, view))
    assert found.known == ESTIMATED
    assert found.within == pytest.approx(half_width(found.chances, monte_carlo.SAMPLES))


def test_an_estimate_of_positive_negative_is_off_by_chances_to_win_and_not_by_values() -> None:
    state = pn.start(pn.Options(11))
    found = pn_solve.evaluate(InformationSet(0, Position(PN, state), (), Belief(PN, state, 0)))
    assert found.known == ESTIMATED
    sampling, thumb = half_width(found.chances, pn_solve.ROLLOUTS), 1.96 * pn_solve.HEURISTIC_ERROR / 2
    assert found.within == pytest.approx(sqrt(sampling**2 + thumb**2), rel=1e-3)


# What a watcher may ask


def in_its_place(view: SeatView, wanted: Any) -> InformationSet:
    """Return what the seat to act knows if the state is this one, of those that a watcher holds possible."""
    game, seat = find(view.game), wanted.seat
    held = belief(game, view)
    held.only(lambda state: bool(state == wanted))
    start = state = game.rules.start(view.options)
    log = []
    for step in actions(held.retell(RandomStream(b"any", "way"))):
        event, state = game.rules.tell(state, step, seat), game.rules.apply(state, step)
        log.append(LogEntry(event, game.rules.look(state, seat)))
    events = tuple(WrittenEvent.of(entry.event) for entry in log)
    return InformationSet(seat, Position(game, start), events, believed(game, start, seat, tuple(log)))


@pytest.mark.parametrize(
    ("name", "options"), [("zero-sum-duel", {"top": 4, "hand": 2, "first": "a"}), ("positive-negative", {"top": 3})]
)
def test_a_watcher_hears_the_mean_over_what_the_seat_to_act_may_hold(
    name: str, options: dict[str, int | str]
) -> None:
    table = piste.open_table(name, options, seed="to be watched")
    assert table.to_act == 0
    view = table.view(SPECTATOR)
    solver = solver_of(table.game)
    found: Evaluation = solver.evaluate(InformationSet.of(table.game, view))
    assert (found.seat, found.choices) == (0, ())
    values: dict[Any, float] = {}
    mean = 0.0
    for state, p in belief(table.game, view).states.items():
        seen = table.game.rules.look(state, 0)
        if seen not in values:
            values[seen] = solver.evaluate(in_its_place(view, state)).chances.value
        mean += p * values[seen]
    assert len(values) > 5
    assert found.chances.value == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("zero-sum-duel", {"top": 4, "hand": 2, "turns": 30}),
        ("positive-negative", {"top": 3}),
        ("prime-duel", {"top": 3, "copies": 2, "target": 8}),
        ("zero-sum-grid", {"top": 2, "turns": 12}),
    ],
)
def test_a_watcher_gets_a_verdict_at_every_decision(name: str, options: dict[str, int | str]) -> None:
    game = find(name)
    judged = 0
    for seed in range(4):
        table = piste.open_table(name, options, seed=f"watched {seed}")
        for number in range(10):
            if table.to_act is None:
                break
            view = table.view(table.to_act)
            known = InformationSet.of(game, table.view(SPECTATOR))
            verdict: Evaluation = solver_of(game).evaluate(known)
            assert verdict.seat == table.to_act
            assert sum(verdict.chances) == pytest.approx(1, abs=1e-6)
            hidden = len(known.belief.states) > 1
            assert {choice.action for choice in verdict.choices} == (set() if hidden else set(view.actions))
            table.decide(view.seat, view.actions[number % len(view.actions)], view.number)
            judged += 1
    assert judged > 10


@pytest.mark.slow
def test_a_watcher_gets_an_estimate_where_there_is_no_more() -> None:
    table = piste.open_table("zero-sum-duel", {"top": 5, "hand": 2, "first": "b"}, seed="estimated")
    assert table.to_act == 1
    found = zsd_solve.evaluate(InformationSet.of(ZSD, table.view(SPECTATOR)))
    assert (found.seat, found.choices, found.known) == (1, (), ESTIMATED)


# Whose knowledge it is


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param("zero-sum-duel", {"turns": 40, "first": "a"}, marks=pytest.mark.slow),
        ("zero-sum-duel", {"top": 4, "hand": 3, "turns": 30}),
        ("positive-negative", {"top": 4}),
        pytest.param("mccoy-duel", {"powers": "01*", "rounds": 3}, marks=pytest.mark.slow),
    ],
)
def test_a_verdict_is_the_same_from_the_whole_log_and_from_the_text(name: str, options: dict[str, int | str]) -> None:
    """What a seat alone is sure of must not be what all are sure of."""
    game = find(name)
    solver = solver_of(game)
    for view in decided(name, options, "whose", 12):
        known = InformationSet.of(game, view)
        whole: Evaluation = solver.evaluate(InformationSet.told(game, view))
        for found in (solver.evaluate(known), solver.evaluate(InformationSet.parse(str(known)))):
            assert [choice.action for choice in found.choices] == [choice.action for choice in whole.choices]
            assert found.chances.value == pytest.approx(whole.chances.value, abs=1e-9)


def test_the_bots_of_zero_sum_duel_begin_where_both_players_knew_all() -> None:
    passes = set()
    options: dict[str, int | str] = {"top": 4, "hand": 2, "turns": 40, "first": "b"}
    for view in (view for seed in range(6) for view in decided("zero-sum-duel", options, f"shared {seed}", 20)):
        short, known = zsd_solve.since_shared(view), InformationSet.of(ZSD, view)
        assert short.belief.states.keys() == known.belief.states.keys()
        assert known.events == short.events[len(short.events) - len(known.events) :]
        value = zsd_solve.evaluate(known).chances.value
        assert zsd_solve.evaluate(short).chances.value == pytest.approx(value, abs=1e-9)
        passes.add(short.base)
    assert len(passes) > 2
