"""ISMCTS on games that are solved: it comes near the truth, and says how near."""

from __future__ import annotations

import pytest

import piste
from piste.core.evaluation import ESTIMATED
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.solvers import ismcts
from tests.solvers.conftest import Example, from_start, without_numba

PASSES = 20_000


def test_a_search_finds_the_draw_of_tic_tac_toe(example: Example) -> None:
    evaluation = ismcts.evaluate(from_start(example("tic-tac-toe")), passes=PASSES)
    assert evaluation.known == ESTIMATED
    assert abs(evaluation.value) / 2 < evaluation.within + 0.05
    assert len(evaluation.choices) == 9


def test_a_search_takes_a_win_and_stops_one(example: Example) -> None:
    game = example("tic-tac-toe")
    for squares, wanted in (((0, 3, 1, 4), 2), ((0, 3, 8, 4), 5)):
        state = game.rules.start(game.options())
        for square in squares:
            state = game.rules.apply(state, square)
        assert ismcts.best_decision(game, {state: 1.0}, 0, 2000, 1) == wanted


def test_nobody_calls_a_bet_with_the_lowest_card_or_gives_up_the_highest(
    example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = example("kuhn-poker")
    without_numba(monkeypatch)
    for card, wanted in ((0, 0), (2, 1)):
        states = {}
        for other in {0, 1, 2} - {card}:
            state = game.rules.start(game.options())
            for action in (other, card, 1):  # the first player bets
                state = game.rules.apply(state, action)
            states[state] = 0.5
        assert ismcts.best_decision(game, states, 1, 50_000, 1) == wanted


def test_the_same_seed_finds_the_same(example: Example) -> None:
    known = from_start(example("tic-tac-toe"))
    assert ismcts.evaluate(known, passes=2000) == ismcts.evaluate(known, passes=2000)


def test_without_numba_it_searches_less(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    game = example("tic-tac-toe")
    without_numba(monkeypatch)
    evaluation = ismcts.evaluate(from_start(game), passes=PASSES)
    assert evaluation.how.startswith("200 sampled games")


def test_a_position_of_which_many_states_are_possible_is_searched_from_a_sample(
    example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = example("leduc-poker")
    without_numba(monkeypatch)
    table = piste.open_table("leduc-poker", {"ranks": 13}, seed="many")
    known = InformationSet.told(game, table.view(0))
    states, weights = ismcts.sampled({(i,): 1.0 for i in range(2 * ismcts.MAX_ROOTS)}, 1)
    assert len(states) == len(weights) == ismcts.MAX_ROOTS
    assert ismcts.evaluate(known, passes=20_000).seat == 0
    assert ismcts.evaluate(InformationSet.common(Position(game, known.base.state)), passes=20_000).choices == ()
