"""Duel's verdicts: what a position is worth, from a table or from text."""

from __future__ import annotations

import pytest

import piste
from piste.core.belief import Belief
from piste.core.contract import WATCHER
from piste.core.dealer import Dealer
from piste.core.game import find
from piste.core.known import Known
from piste.core.verdict import ESTIMATED, WITHIN
from piste.games.mccoy_duel import rules, solve
from tests.kinds import Kind
from tests.solve.duel_plain import late_views, level, views

GAME = find("mccoy-duel")


def test_verdicts_are_the_same_from_a_table_and_from_text() -> None:
    for view in late_views(6, 2):
        known = Known.of(GAME, view)
        found = solve.verdict(known)
        assert found == solve.verdict(Known.parse(str(known)))
        assert found.known == WITHIN
        assert {choice.action for choice in found.choices} <= set(view.actions)
        assert abs(sum(choice.mix for choice in found.choices) - 1) < 1e-9
        mixed = sum(choice.mix * choice.chances.win for choice in found.choices)
        assert mixed >= found.chances.win - 0.02
        action = level("perfect").choose(view, Dealer("verdict").stream("bot"))
        worth = {choice.action: choice.chances.win for choice in found.choices}
        assert worth[action] >= found.chances.win - 0.02


def test_who_looks_on_is_told_a_mean_over_hands_and_no_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "PASSES", 40_000)
    table = piste.open_table("mccoy-duel", {"rounds": 1, "first": 1}, seed="looked on")
    watched = Known.told(GAME, table.view(WATCHER))
    found = solve.verdict(watched)
    assert found.seat == table.to_act
    assert found.choices == ()
    seen = solve.verdict(Known.told(GAME, table.view(found.seat)))
    assert seen.choices
    assert 0.5 < found.chances.win < 0.8


def test_every_phase_has_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "PASSES", 4000)
    monkeypatch.setattr(solve, "LEADS", 20_000)
    solve.lead_chance.cache_clear()
    seen = set()
    for view in views(Kind("mccoy-duel", {"rounds": 3}), "verdict") + views(Kind("mccoy-duel", {"rounds": 3}), 5):
        if view.kind not in seen:
            seen.add(view.kind)
            found = solve.verdict(Known.of(GAME, view))
            assert found.known == ESTIMATED
            assert found.within > 0
            assert 0 <= found.chances.win <= 1
            assert {choice.action for choice in found.choices} <= set(view.actions)
            assert found.choices
    assert seen >= {rules.PICK, rules.PLAY}
    start = Known.of(GAME, piste.open_table("mccoy-duel", {}, seed="verdict").view(0)).base
    dealing = Known(0, start, (), Belief(GAME, start.state, 0))
    assert start.state.phase != rules.REVEAL or abs(solve.verdict(dealing).chances.win - 0.5) < 0.05


def test_a_match_is_worth_what_its_rounds_are() -> None:
    assert solve.match_chance(1, 1, 0.6, 0.6) == pytest.approx(0.6)
    assert solve.match_chance(3, 3, 0.5, 0.5) == pytest.approx(0.5)
    lead = 0.64
    assert solve.match_chance(2, 2, lead, lead) == pytest.approx(
        lead * (1 - lead) + lead * lead * lead + (1 - lead) * lead * (1 - lead)
    )
