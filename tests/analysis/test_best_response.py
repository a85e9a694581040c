"""A best response is exact: held against values by hand, against OpenSpiel's, and against equilibria."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import piste
from piste.analysis import best_response as module

HIDDEN_CARDS: dict[str, int | str] = {"top": 3, "hand": 2, "turns": 5, "first": "a"}


def uniform(view: piste.SeatView) -> dict[str, float]:
    return {name: 1 / len(view.decisions) for name in view.decisions}


def equilibrium(view: piste.SeatView) -> dict[str, float]:
    return piste.evaluate(view).policy


def test_with_two_cards_the_values_are_those_by_hand() -> None:
    # Player 1 ends with the +1 by keeping it, or by discarding the -1. At random that happens half of the time, and
    # Player 2 then loses, else wins.
    start = piste.Position.start("positive-negative", {"top": 1})
    assert piste.best_response(start, uniform, 0).value == 1.0
    assert piste.best_response(str(start), uniform, 1).value == 0.0


@pytest.mark.parametrize(
    ("name", "options"),
    [("positive-negative", {"top": 2}), pytest.param("zero-sum-duel", HIDDEN_CARDS, marks=pytest.mark.slow)],
)
def test_nothing_is_gained_against_an_equilibrium(name: str, options: dict[str, int | str]) -> None:
    start = piste.Position.start(name, options)
    values = [piste.best_response(start, equilibrium, seat).value for seat in (0, 1)]
    worth = piste.evaluate(start, seat=0).chances.value
    assert values == pytest.approx([worth, -worth], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("positive-negative", {"top": 2}),
        ("zero-sum-duel", HIDDEN_CARDS),
        ("prime-duel", {"top": 2, "copies": 1, "target": 4, "turns": 3, "first": 1}),
        ("mccoy-duel", {"powers": "05", "rounds": 1, "first": 1}),
    ],
)
def test_openspiel_finds_the_same_gain_against_random_play(name: str, options: dict[str, int | str]) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python import policy
    from open_spiel.python.algorithms import exploitability

    from piste.rl import openspiel

    game = piste.find(name)
    other = pyspiel.load_game(openspiel.short_name(name), openspiel.parameters(game, game.options(options)))
    gain = exploitability.nash_conv(other, policy.UniformRandomPolicy(other))
    start = piste.Position.start(name, options)
    assert sum(piste.best_response(start, uniform, seat).value for seat in (0, 1)) == pytest.approx(gain, abs=1e-9)


def test_the_play_that_is_found_wins_what_it_says() -> None:
    start = piste.Position.start("prime-duel", {"top": 2, "copies": 1, "target": 4, "turns": 3, "first": 1})
    response = piste.best_response(start, uniform, 0)

    def either(view: piste.SeatView) -> Mapping[str, float]:
        return {response.decide(view): 1.0}

    # Whoever answers that play at best holds it to what it can be held to; random play does no better than that.
    assert piste.best_response(start, either, 1).value >= -response.value
    table = piste.open_table("prime-duel", {"top": 2, "copies": 1, "target": 4, "turns": 3, "first": 1}, seed="x")
    assert response.decide(table.view(0)) in table.view(0).decisions
    with pytest.raises(piste.PisteError, match="There is no best response here"):
        response.decide(table.view(1))


def test_from_a_position_the_logs_are_those_of_a_table_from_there() -> None:
    position = piste.Position.parse("zero-sum-grid{turns=3} cells=1,1,1/1,1,1/1,1,1 to=1 phase=move turns=0")
    response = piste.best_response(position, uniform, 0)
    table = piste.open_table(position=position, seed="x")
    assert response.decide(table.view(0)) in ("R1-", "R2-", "R3-", "C1-", "C2-", "C3-")
    assert 0 < response.value < 1


def test_a_game_that_is_too_large_is_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_HISTORIES", 2000)
    with pytest.raises(piste.PisteError, match=r"more than 2000 histories.*Choose a smaller form"):
        piste.best_response(piste.Position.start("prime-duel"), uniform, 0)


@pytest.mark.parametrize("answer", [{"keep": 0.5}, {"keep": 2.0, "discard": -1.0}, {"stay": 1.0}, {}])
def test_a_policy_that_is_none_is_refused_with_a_sentence(answer: Any) -> None:
    start = piste.Position.start("positive-negative", {"top": 1})
    with pytest.raises(piste.PisteError, match="a probability, and they add up to 1"):
        piste.best_response(start, lambda _: answer, 1)


def test_there_is_no_response_for_a_seat_that_is_not_there() -> None:
    with pytest.raises(piste.PisteError, match="There is no seat 2 here"):
        piste.best_response(piste.Position.start("positive-negative"), uniform, 2)
