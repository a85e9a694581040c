"""Duel's verdicts: what a position is worth, from a table or from text."""

from __future__ import annotations

import pytest

import piste
from piste.core.belief import Belief
from piste.core.dealer import Dealer
from piste.core.evaluation import ESTIMATED, WITHIN
from piste.core.game import find
from piste.core.information_set import InformationSet
from piste.core.protocols import SPECTATOR
from piste.games.mccoy_duel import notation, rules
from piste.games.mccoy_duel.solver import book, solver
from tests.game_setups import Kind
from tests.games.solver.mccoy_duel_plain_cfr import late_views, level, views

pytestmark = pytest.mark.slow  # compiling Duel's solver takes many seconds

GAME = find("mccoy-duel")


def test_verdicts_are_the_same_from_a_table_and_from_text() -> None:
    for view in late_views(6, 2):
        known = InformationSet.of(GAME, view)
        evaluation = solver.evaluate(known)
        assert evaluation == solver.evaluate(InformationSet.parse(str(known)))
        assert evaluation.known == WITHIN
        assert {choice.action for choice in evaluation.choices} <= set(view.actions)
        assert abs(sum(choice.mix for choice in evaluation.choices) - 1) < 1e-9
        mixed = sum(choice.mix * choice.chances.win for choice in evaluation.choices)
        assert mixed >= evaluation.chances.win - 0.02
        action = level("perfect").choose(view, Dealer("verdict").stream("bot"))
        worth = {choice.action: choice.chances.win for choice in evaluation.choices}
        assert worth[action] >= evaluation.chances.win - 0.02


def test_who_looks_on_is_told_a_mean_over_hands_and_no_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "EVALUATION_PASSES", 40_000)
    table = piste.open_table("mccoy-duel", {"rounds": 1, "first": 1}, seed="looked on")
    watched = InformationSet.told(GAME, table.view(SPECTATOR))
    evaluation = solver.evaluate(watched)
    assert evaluation.seat == table.to_act
    assert evaluation.choices == ()
    seen = solver.evaluate(InformationSet.told(GAME, table.view(evaluation.seat)))
    assert seen.choices
    assert 0.5 < evaluation.chances.win < 0.8


def test_every_phase_has_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "EVALUATION_PASSES", 4000)
    monkeypatch.setattr(solver, "LEAD_PASSES", 20_000)
    solver.lead_chance.cache_clear()
    seen = set()
    for view in views(Kind("mccoy-duel", {"rounds": 3}), "verdict") + views(Kind("mccoy-duel", {"rounds": 3}), 5):
        if view.kind not in seen:
            seen.add(view.kind)
            evaluation = solver.evaluate(InformationSet.of(GAME, view))
            assert evaluation.known == ESTIMATED
            assert evaluation.within > 0
            assert 0 <= evaluation.chances.win <= 1
            assert {choice.action for choice in evaluation.choices} <= set(view.actions)
            assert evaluation.choices
    assert seen >= {rules.PICK, rules.PLAY}
    start = InformationSet.of(GAME, piste.open_table("mccoy-duel", {}, seed="verdict").view(0)).base
    dealing = InformationSet(0, start, (), Belief(GAME, start.state, 0))
    assert start.state.phase != rules.REVEAL or abs(solver.evaluate(dealing).chances.win - 0.5) < 0.05


def test_before_the_deal_it_is_said_where_the_chance_of_the_leader_comes_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(solver, "LEAD_PASSES", 20_000)
    solver.lead_chance.cache_clear()
    said = {
        powers: solver.evaluate_before_deal(rules.start(rules.Options(powers=notation.read_powers(powers))), 0).how
        for powers in (notation.POWERS, "0123567*", "0257*")
    }
    solver.lead_chance.cache_clear()
    lead = f"{book.shipped().leader:.1%}"
    assert said[notation.POWERS].startswith(
        f"The one who leads wins about {lead} of rounds (within 1.0%) by the open"
    )
    assert f"ing book. {solver.BOOK_TEXT}" in said[notation.POWERS]
    assert "by long sampled play. The interval" in said["0123567*"]
    assert "by a solution of the whole round." in said["0257*"]


def test_a_match_is_worth_what_its_rounds_are() -> None:
    assert solver.match_chance(1, 1, 0.6, 0.6) == pytest.approx(0.6)
    assert solver.match_chance(3, 3, 0.5, 0.5) == pytest.approx(0.5)
    lead = 0.64
    assert solver.match_chance(2, 2, lead, lead) == pytest.approx(
        lead * (1 - lead) + lead * lead * lead + (1 - lead) * lead * (1 - lead)
    )
