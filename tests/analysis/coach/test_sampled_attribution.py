"""Reviews of Duel, where numbers are estimates: they stay honest about it, for two players and for more."""

from __future__ import annotations

import random

import pytest

from piste.analysis.coach.attribution import RESIGNATION, Attribution
from piste.analysis.coach.evaluator import SamplingEvaluator, evaluator_of
from piste.analysis.coach.labels import Labels, label, margin_of
from piste.analysis.coach.review import review
from piste.analysis.coach.sampled_attribution import attribute
from piste.analysis.coach.timeline import game_states, view_at
from piste.core.belief import retell
from piste.core.dealer import RandomStream
from piste.core.evaluation import WITHIN
from piste.core.game import find
from piste.games.mccoy_duel.solver import evaluator as duel
from piste.games.mccoy_duel.solver import solver
from piste.games.mccoy_duel.solver.evaluator import Evaluator
from tests.analysis.coach.review_cases import many, record_of
from tests.analysis.coach.test_review import gone_on, of_seat
from tests.game_setups import Kind, actions, played

pytestmark = pytest.mark.slow  # compiling Duel's solver takes many seconds

GAME = find("mccoy-duel")
KINDS = (
    Kind("mccoy-duel", {"rounds": 1}),
    Kind("mccoy-duel", {"rounds": 3, "powers": "0247*"}),
    Kind("mccoy-duel", {"rounds": 3, "first": 2, "powers": "0*"}),
    Kind("mccoy-duel", {"players": 3, "rounds": 1, "powers": "0135*"}),
    Kind("mccoy-duel", {"players": 4, "rounds": 3, "powers": "067*"}),
)
BY_KIND = pytest.mark.parametrize("kind", KINDS, ids=str)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duel, "MATCH_PASSES", 120_000)
    monkeypatch.setattr(duel, "MIN_PASSES", 400)
    monkeypatch.setattr(solver, "LEAD_PASSES", 20_000)


def judge(kind: Kind) -> SamplingEvaluator:
    found = evaluator_of(GAME, GAME.options(kind.options))
    assert isinstance(found, SamplingEvaluator)
    return found


def walked(kind: Kind, seed: object, *, resigning: float = 0.0) -> Attribution:
    return attribute(played(kind, seed, resigning=resigning), judge(kind))


@BY_KIND
def test_the_columns_lead_from_the_first_chance_to_the_result(kind: Kind) -> None:
    for seed in range(many(2)):
        found = walked(kind, f"columns {seed}")
        assert all(abs(columns.left) < 1e-9 for columns in found.columns)
        results = [columns.result for columns in found.columns]
        if len(results) == 2:
            assert sorted(results) == [0.0, 1.0]
            assert found.columns[0].own == -found.columns[1].others
            assert found.columns[0].luck == -found.columns[1].luck
            assert found.columns[0].rounds == 0
        else:
            assert sum(results) == found.columns[0].rounds >= 1
            assert all(columns.first <= columns.rounds for columns in found.columns)
        for columns in found.columns:
            assert columns.own == pytest.approx(-sum(d.loss for d in found.decisions if d.seat == columns.seat))


@BY_KIND
def test_a_review_that_was_stopped_ends_as_if_it_had_not_been(kind: Kind) -> None:
    record, whole = record_of(played(kind, "stopped")), {}  # type: ignore[var-annotated]
    made = review(record, evaluations=whole)
    half = dict(list(whole.items())[: len(whole) // 2])
    judged: list[int] = []
    again = review(record, tell=lambda decision, _: judged.append(decision.step), evaluations=half)
    assert again.attribution == made.attribution
    assert judged == [decision.step for decision in made.attribution.decisions]


@BY_KIND
def test_every_decision_is_judged_and_the_best_has_no_loss(kind: Kind) -> None:
    found = review(record_of(played(kind, "judged")))
    for decision in found.attribution.decisions:
        assert {choice.action for choice in decision.evaluation.choices} == set(decision.view.actions)
        assert decision.before >= decision.after >= decision.worst
        if decision.action == decision.best:
            assert decision.loss == 0.0
        for choice in decision.evaluation.choices:
            assert len(found.why(decision, choice.action)) > 20


@BY_KIND
def test_games_that_somebody_left_are_reviewed(kind: Kind) -> None:
    left = 0
    for seed in range(3):
        found = walked(kind, f"left {seed}", resigning=0.15)
        resigned = [decision for decision in found.decisions if decision.action == RESIGNATION]
        left += len(resigned)
        assert all(decision.after == 0.0 for decision in resigned)
        assert all(0.0 <= chance <= 1.0 for chances in found.chances for chance in chances)
    assert left > 0 or kind.options.get("players", 2) != 2


def test_nothing_is_called_a_mistake_inside_the_interval() -> None:
    named = 0
    for seed in range(3):
        for decision in walked(KINDS[0], f"named {seed}").decisions:
            if label(decision, Labels(1, 2, 3)):
                named += 1
                assert decision.loss > margin_of(decision)
    assert named > 0


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[3]], ids=str)
def test_a_verdict_does_not_depend_on_what_the_seat_could_not_know(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Evaluator, "set_budget", lambda *_: None)  # the length of a match decides only the effort
    monkeypatch.setattr(duel, "MAX_PASSES", 400)
    told_apart = 0
    for seed in range(many(2)):
        true = played(kind, f"retold {seed}")
        decisions = attribute(true, judge(kind)).decisions
        last = random.Random(seed).choice(decisions)
        steps = actions(retell(GAME, last.view, RandomStream(b"retold", str(seed))))
        begins = (actions(true.history()[: last.step]), steps)
        told_apart += begins[0] != begins[1]
        one, two = (
            attribute(gone_on(kind, (*steps, last.action), f"{seed} {i}"), judge(kind))
            for i, steps in enumerate(begins)
        )
        assert of_seat(one, last.seat, last.step) == of_seat(two, last.seat, last.step)
    assert told_apart > 0


def test_choices_that_the_search_hardly_tried_are_judged_as_a_solution_judges_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind, off, cards = KINDS[0], [], duel.MAX_CARDS
    judging = judge(kind)
    judging.set_budget(4, 0)
    for seed in range(max(14, many(14))):
        table = played(kind, f"late {seed}")
        for at, state in enumerate(game_states(table)):
            seat = GAME.rules.to_act(state)
            if seat < 0 or sum(map(int.bit_count, state.hands)) > cards or not state.tower.buried:
                continue
            view = view_at(GAME, table.view(seat), state, at)
            solved = judging.evaluate_view(view)
            if solved.known == WITHIN and len(solved.choices) > 1:
                monkeypatch.setattr(duel, "MAX_CARDS", 0)
                tried = judging.evaluate_view(view)
                monkeypatch.setattr(duel, "MAX_CARDS", cards)
                pairs = zip(solved.choices, tried.choices, strict=True)
                off += [abs(one.chances.win - two.chances.win) for one, two in pairs]
    assert len(off) > 10
    assert sum(off) / len(off) < 0.05
