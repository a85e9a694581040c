"""Trees of games: their sizes are known or counted otherwise, and compiled and interpreted ones are the same."""

from __future__ import annotations

import numpy as np
import pytest

from piste.core.game import find
from piste.core.protocols import OVER
from piste.solvers.tree import Tree, build, estimate
from tests.solvers.conftest import Example, without_numba


def whole(built: Tree | None) -> Tree:
    assert built is not None
    return built


def test_the_states_and_the_histories_of_tic_tac_toe_are_as_many_as_is_known(example: Example) -> None:
    game = example("tic-tac-toe")
    start = game.rules.start(game.options())
    states = whole(build(game, start, histories=False))
    assert states.nodes == 5478
    assert states.sees_all
    assert states.zero_sum
    assert whole(build(game, start, histories=True)).nodes == 549_946


def test_an_estimate_of_the_tree_is_near_the_truth_and_says_how_far_off_it_may_be(example: Example) -> None:
    game = example("leduc-poker")
    start = game.rules.start(game.options())
    histories = whole(build(game, start, histories=True)).nodes
    measured = estimate(game, start)
    assert abs(measured.nodes - histories) < 2 * measured.error < histories
    assert (measured.scale.largest, measured.scale.plain, measured.zero_sum) == (13, False, True)


def test_what_a_seat_does_not_see_is_noticed(example: Example) -> None:
    game = example("kuhn-poker")
    hidden = whole(build(game, game.rules.start(game.options()), histories=False))
    assert not hidden.sees_all
    game = find("positive-negative")  # the card drawn is hidden, but only until it matters to the other
    assert whole(build(game, game.rules.start(game.options({"top": 2})), histories=False)).sees_all


def test_a_tree_that_is_too_large_is_given_up() -> None:
    game = find("mccoy-duel")
    assert build(game, game.rules.start(game.options()), histories=True, most=1000) is None


@pytest.mark.parametrize("histories", [False, True])
def test_compiled_and_interpreted_trees_are_the_same(
    example: Example, monkeypatch: pytest.MonkeyPatch, histories: bool
) -> None:
    game = example("leduc-poker")
    start = game.rules.start(game.options({"ranks": 4}))
    compiled = whole(build(game, start, histories=histories))
    without_numba(monkeypatch)
    plain = whole(build(game, start, histories=histories))
    assert all(np.array_equal(one, other) for one, other in zip(compiled, plain, strict=True))


def test_chance_adds_up_and_ends_have_no_edges(example: Example) -> None:
    game = example("leduc-poker")
    built = whole(build(game, game.rules.start(game.options()), histories=True))
    sums = np.add.reduceat(built.share, built.first[:-1][~built.ends])
    assert np.allclose(sums[built.actors[~built.ends] == -1], 1)
    assert (built.ends == (built.actors == OVER)).all()
