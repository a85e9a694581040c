"""Backward induction and value iteration against values that are known or worked out otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

import piste
from piste.core.evaluation import EXACT
from piste.core.game import find
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.solvers import induction
from piste.solvers.solution import GraphSolution
from piste.solvers.tree import build
from tests.sizes import slow_if
from tests.solvers.conftest import Example, from_start
from tests.solvers.small_games import PIG, TUG, first_player_wins

Written = Callable[[str, str], piste.Game]
PUBLISHED = {100: 0.5306}
"""How often the first player of Pig wins: Neller and Presser, Optimal Play of the Dice Game Pig (2004)."""
PIG_TARGETS = sorted({5, 10, int(os.environ.get("PISTE_PIG_TARGET", "10"))})
"""A proof plays to 100, which takes minutes."""


def solved(game: piste.Game, **options: int | str) -> GraphSolution:
    graph = build(game, game.rules.start(game.options(options)), histories=False, most=3_000_000)
    assert graph is not None
    solution = induction.solve(game, graph)
    assert solution is not None
    return solution


def test_tic_tac_toe_is_a_draw_whatever_is_marked_first(example: Example) -> None:
    game = example("tic-tac-toe")
    evaluation = solved(game).evaluate(from_start(game))
    assert evaluation is not None
    assert (evaluation.known, evaluation.chances) == (EXACT, (0.0, 1.0, 0.0))
    assert [choice.chances.draw for choice in evaluation.choices] == [1.0] * 9
    assert evaluation.payoff is None


def test_a_fork_in_tic_tac_toe_wins(example: Example) -> None:
    game = example("tic-tac-toe")
    state = game.rules.start(game.options())
    for square in (0, 1, 4):  # corner, edge, centre: the corner and the centre are two threats already
        state = game.rules.apply(state, square)
    evaluation = solved(game).evaluate(InformationSet.common(Position(game, state)))
    assert evaluation is not None
    assert evaluation.chances.loss == 1.0


def test_chances_of_a_game_with_chance_are_those_of_its_own_solver() -> None:
    game = find("positive-negative")
    evaluation = solved(game, top=2).evaluate(from_start(game, top=2))
    assert evaluation is not None
    assert evaluation.chances.value == pytest.approx(-1 / 12, abs=1e-12)


@pytest.mark.parametrize("target", slow_if(lambda target: target > 5, PIG_TARGETS))
def test_pig_is_worth_what_value_iteration_on_its_scores_says(written: Written, target: int) -> None:
    game = written("pig-dice", PIG)
    solution = solved(game, target=target)
    evaluation = solution.evaluate(from_start(game, target=target))
    assert evaluation is not None
    if target in PUBLISHED:
        assert evaluation.chances.win == pytest.approx(PUBLISHED[target], abs=5e-5)
    else:
        assert evaluation.chances.win == pytest.approx(first_player_wins(target), abs=1e-9)
    assert evaluation.chances.draw == 0.0
    assert solution.bound < 1e-9


def test_what_goes_on_for_ever_pays_nothing_and_a_win_is_not_put_off_for_ever(written: Written) -> None:
    game = written("tug-of-one", TUG)
    solution = solved(game)
    values = {}
    for token in range(1, 6):
        for seat in range(2):
            state = game.rules.State(game.options(), seat, token)
            evaluation = solution.evaluate(InformationSet.common(Position(game, state), 0))
            assert evaluation is not None
            assert evaluation.known == EXACT
            values[token, seat] = 0.0 if evaluation.payoff is None else evaluation.payoff.mean
            if (token, seat) in ((5, 0), (1, 1)):
                assert solution.best(state) == (2 if token == 5 else 0)
    assert {place: value for place, value in values.items() if value} == {(5, 0): 3.0, (1, 1): -2.0}
