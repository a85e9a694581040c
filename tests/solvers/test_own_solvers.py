"""The solvers for any game agree with the games' own solvers, to 1e-6, on sizes that both can do."""

from __future__ import annotations

import pytest

from piste.core.extras import solver_of
from piste.core.game import find
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import CHANCE, OVER
from piste.solvers.solver import GameSolver
from tests.solvers.conftest import from_start

QUICK = (
    ("positive-negative", {"top": 1}),
    ("positive-negative", {"top": 2}),
    ("zero-sum-duel", {"first": "a", "top": 3, "hand": 2, "turns": 4}),
    ("zero-sum-duel", {"first": "b", "top": 4, "hand": 3, "turns": 3}),
    ("zero-sum-grid", {"first": 1, "top": 1, "turns": 1}),
    ("zero-sum-grid", {"variant": "harvest", "first": 1, "top": 1, "turns": 2}),
    ("prime-duel", {"first": 1, "top": 2, "copies": 1, "target": 4, "turns": 6}),
    ("prime-duel", {"first": 1, "top": 3, "copies": 1, "target": 6, "turns": 8}),
)
SLOW = (
    ("positive-negative", {"top": 4}),
    ("zero-sum-duel", {"first": "a", "top": 3, "hand": 2, "turns": 8}),
    ("zero-sum-duel", {"first": "a", "top": 4, "hand": 2, "turns": 5}),
    ("zero-sum-grid", {"first": 1, "top": 1, "turns": 3}),
    ("mccoy-duel", {"first": 1, "rounds": 1, "powers": "0*"}),
    ("mccoy-duel", {"first": 1, "rounds": 1, "powers": "04*"}),
    ("mccoy-duel", {"first": 1, "rounds": 1, "powers": "0146"}),
    ("mccoy-duel", {"first": 1, "rounds": 1, "powers": "014*"}),
)


@pytest.mark.parametrize(
    ("name", "options"),
    [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)],
    ids=lambda part: part if isinstance(part, str) else ",".join(f"{key}={value}" for key, value in part.items()),
)
def test_the_start_of_a_small_game_is_worth_what_its_own_solver_says(
    name: str, options: dict[str, int | str]
) -> None:
    game = find(name)
    known = from_start(game, 0, **options)
    own = solver_of(game, known.base.state.options).evaluate(known)
    solution = GameSolver(game).solve(known.base.state, 2_000_000).solution
    assert solution is not None
    evaluation = solution.evaluate(known)
    assert evaluation is not None
    assert evaluation.value == pytest.approx(own.chances.value, abs=1e-6)
    assert evaluation.chances.draw == pytest.approx(own.chances.draw, abs=1e-6)
    assert solution.bound <= 1e-6


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("positive-negative", {"top": 2}),
        ("zero-sum-duel", {"first": "a", "top": 3, "hand": 2, "turns": 4}),
        ("prime-duel", {"first": 1, "top": 2, "copies": 1, "target": 4, "turns": 6}),
    ],
)
def test_every_decision_of_a_small_game_is_worth_what_its_own_solver_says(
    name: str, options: dict[str, int | str]
) -> None:
    game = find(name)
    rules, start = game.rules, game.rules.start(game.options(options))
    own, solution = solver_of(game, start.options), GameSolver(game).solve(start, 2_000_000).solution
    assert solution is not None
    seen, left = set(), [start]
    while left:
        state = left.pop()
        actor = rules.to_act(state)
        if state in seen or actor == OVER:
            continue
        seen.add(state)
        actions = rules.outcomes(state) if actor == CHANCE else rules.legal(state)
        left += [rules.apply(state, action) for action in range(actions.bit_length()) if actions >> action & 1]
        if actor >= 0:
            known = InformationSet.common(Position(game, state), actor)
            evaluation, expected = solution.evaluate(known), own.evaluate(known)
            if evaluation is not None:
                theirs = {choice.action: choice.chances.value for choice in expected.choices}
                for choice in evaluation.choices:
                    assert choice.value == pytest.approx(theirs.get(choice.action, expected.chances.value), abs=1e-6)
