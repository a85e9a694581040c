"""CFR+ against published values, with bounds that hold, and against a best response written without it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import piste
from piste.analysis.best_response import best_response
from piste.core.evaluation import WITHIN
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import SPECTATOR
from piste.core.views import SeatView
from piste.solvers import cfr
from piste.solvers.solution import TreeSolution
from piste.solvers.tree import Tree, build
from tests.solvers.conftest import Example, from_start


def histories(game: piste.Game, **options: int | str) -> Tree:
    tree = build(game, game.rules.start(game.options(options)), histories=True)
    assert tree is not None
    return tree


def solved(game: piste.Game, **options: int | str) -> TreeSolution:
    solution = cfr.solve(game, histories(game, **options))
    assert solution is not None
    return solution


def payoff(solution: TreeSolution, known: InformationSet) -> float:
    evaluation = solution.evaluate(known)
    assert evaluation is not None
    assert evaluation.payoff is not None
    return evaluation.payoff.mean


def test_kuhn_poker_costs_the_first_player_an_eighteenth(example: Example) -> None:
    game = example("kuhn-poker")
    solution = solved(game)
    evaluation = solution.evaluate(from_start(game))
    assert evaluation is not None
    assert payoff(solution, from_start(game)) == pytest.approx(-1 / 18, abs=solution.gap)
    assert payoff(solution, from_start(game, 1)) == pytest.approx(1 / 18, abs=solution.gap)
    assert solution.gap <= 1e-7 * 2
    assert (evaluation.known, evaluation.within) == (WITHIN, solution.bound / 2)


def test_leduc_poker_is_worth_what_is_published(example: Example) -> None:
    """The value -0.0856 is that of many papers; OpenSpiel's game has it too."""
    game = example("leduc-poker")
    solution = solved(game)
    assert payoff(solution, from_start(game)) == pytest.approx(-0.085606, abs=1e-6)
    assert solution.gap <= 1e-7 * 13


def test_nobody_gains_more_than_the_gap_against_the_solution(example: Example) -> None:
    """The best response here goes over every history by the rules, and knows nothing of trees or sequences."""
    game = example("kuhn-poker")
    solution = solved(game)

    def policy(view: SeatView) -> Mapping[str, float]:
        evaluation = solution.evaluate(InformationSet.told(game, view))
        assert evaluation is not None
        mixes = {choice.action: choice.mix for choice in evaluation.choices}
        return {name: mixes[action] for name, action in zip(view.decisions, view.actions, strict=True)}

    start = Position(game, game.rules.start(game.options()))
    gain = sum(best_response(start, policy, seat).value for seat in range(2))
    assert gain == pytest.approx(solution.gap, abs=1e-12)


def test_what_a_seat_knows_is_worth_the_mean_of_what_may_come_next(example: Example) -> None:
    """Luck in the coach's account is the difference to that mean."""
    game = example("leduc-poker")
    solution = solved(game)
    table = piste.open_table("leduc-poker", seed="mean")
    while table.to_act is not None:
        for seat in range(2):
            evaluation = solution.evaluate(InformationSet.told(game, table.view(seat)))
            assert evaluation is not None
            if evaluation.choices:
                mean = sum(choice.mix * choice.value for choice in evaluation.choices)
                assert mean == pytest.approx(evaluation.value, abs=1e-9)
        view = table.view(table.to_act)
        known = solution.evaluate(InformationSet.told(game, view))
        assert known is not None
        call = next(choice for choice in known.choices if choice.action == 1)
        table.decide(view.seat, 1, view.number)
        if table.to_act is not None and len(table.view(view.seat).log) == len(view.log) + 1:
            after = solution.evaluate(InformationSet.told(game, table.view(view.seat)))
            assert after is not None
            assert after.value == pytest.approx(call.value, abs=1e-9)


def test_a_watcher_gets_what_everybody_can_see(example: Example) -> None:
    game = example("kuhn-poker")
    solution = solved(game)
    table = piste.open_table("kuhn-poker", seed="watched")
    watched = InformationSet.told(game, table.view(SPECTATOR))
    evaluation = solution.evaluate(watched)
    assert evaluation is not None
    assert evaluation.choices == ()
    assert payoff(solution, watched) == pytest.approx(-1 / 18, abs=1e-6)


def test_compiled_and_interpreted_solutions_are_the_same(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    game = example("leduc-poker")
    form = cfr.sequence_form(histories(game))
    assert form is not None
    monkeypatch.setattr(cfr, "MAX_ITERATIONS", 60)
    monkeypatch.setattr(cfr, "MIN_COMPILED_WORK", 0)
    compiled = cfr.strategies(form, 1e-12)
    monkeypatch.setattr(cfr, "MIN_COMPILED_WORK", 1 << 60)
    plain = cfr.strategies(form, 1e-12)
    assert compiled.iterations == plain.iterations
    for seat in range(2):
        assert np.allclose(compiled.shares[seat], plain.shares[seat], rtol=0, atol=1e-9)


def test_it_can_be_stopped_between_two_iterations(example: Example) -> None:
    game = example("kuhn-poker")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cfr.solve(game, histories(game), stop)
