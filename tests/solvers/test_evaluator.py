"""Coach, puzzles, hints and balance of games without a solver of their own; in payoffs where chances say less."""

from __future__ import annotations

import io
import random

import pytest

import piste
from piste import bots
from piste.analysis.balance.report import BEST, balance_report
from piste.analysis.coach.evaluator import evaluator_of
from piste.analysis.coach.puzzles import puzzle
from piste.analysis.coach.review import Review, document, review
from piste.analysis.coach.timeline import evaluations_text, read_evaluations
from piste.cli.commands import puzzle as puzzle_command
from piste.cli.commands import review as review_command
from piste.cli.commands import solve as solve_command
from piste.cli.terminal import Terminal
from piste.core.evaluation import Unit
from piste.core.record import Record
from piste.solvers import evaluator, solver
from tests.solvers.conftest import Example, from_start, without_numba


def reviewed(name: str, seed: str, **options: int | str) -> Review:
    """Review a game of random decisions."""
    table, chance = piste.open_table(name, options, seed=seed), random.Random(seed)
    while table.to_act is not None:
        view = table.view(table.to_act)
        table.decide(view.seat, chance.choice(view.actions), view.number)
    return review(Record.parse(table.record()))


@pytest.mark.parametrize("name", ["kuhn-poker", "leduc-poker", "tic-tac-toe"])
def test_the_columns_of_a_review_add_up(example: Example, name: str) -> None:
    example(name)
    for number in range(4):
        made = reviewed(name, f"columns {number}")
        assert len(made.attribution.columns) == 2
        for column in made.attribution.columns:
            assert abs(column.left) < 1e-6
        assert made.attribution.columns[0].result == pytest.approx(1 - made.attribution.columns[1].result)


def test_a_review_of_poker_speaks_of_payoff(example: Example) -> None:
    example("leduc-poker")
    made = reviewed("leduc-poker", "speaks")
    assert made.unit == Unit(13.0)
    text = io.StringIO()
    review_command.show(made, (0, 1), Terminal(out=text))
    assert "expected payoff, as Player 1 saw it" in text.getvalue()
    assert "chance" not in text.getvalue()
    first = made.attribution.columns[0]
    assert f"from -0.09 to {13 * (2 * first.result - 1):+.2f}" in text.getvalue()
    assert document(made, (0, 1))["largest_payoff"] == 13.0


def test_a_bound_is_written_without_a_power_of_ten() -> None:
    for within, said in ((0.0, "0"), (2.3e-5, "0.000046"), (4e-8, "0.00000008"), (0.06, "0.12"), (70.0, "140")):
        assert Unit(1.0).bound(within) == said
    assert Unit().bound(4e-9) == "0.0000004 points"


def test_a_review_that_was_stopped_is_read_again_with_its_payoffs(example: Example) -> None:
    game = example("kuhn-poker")
    evaluations = {(0, 0): game.solver.evaluate(from_start(game))}
    assert read_evaluations(evaluations_text(evaluations)) == evaluations


def test_a_game_too_large_to_solve_is_reviewed_by_samples(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    game = example("kuhn-poker")
    without_numba(monkeypatch)
    monkeypatch.setattr(solver, "max_nodes", lambda: 10)
    assert isinstance(evaluator_of(game, game.options()), evaluator.SamplingEvaluator)
    made = reviewed("kuhn-poker", "samples")
    assert made.attribution.known == ("estimated",)
    results = [column.result for column in made.attribution.columns]
    assert sum(results) == pytest.approx(1)
    assert made.unit == Unit(2.0)


def test_a_puzzle_of_poker_has_one_decision_that_pays_clearly_more(example: Example) -> None:
    game = example("leduc-poker")
    found = puzzle(game, game.options(), "clear", 1, "easy")
    assert found.margin > 0.15
    assert "(margin " in puzzle_command.solution_text(game, found)
    assert "%" not in puzzle_command.solution_text(game, found)
    assert "can expect" in puzzle_command.hint(game, found)


def test_solve_tells_the_expected_payoff(example: Example) -> None:
    game = example("kuhn-poker")
    evaluation = game.solver.evaluate(from_start(game))
    assert solve_command.worth_text(evaluation).startswith("expects -0.0556: wins ")
    game = example("tic-tac-toe")
    assert solve_command.worth_text(game.solver.evaluate(from_start(game))) == (
        "wins 0.00 %, draws 100.00 %, loses 0.00 %"
    )


def test_a_balance_report_has_payoffs_where_they_are_not_win_and_loss(
    example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_numba(monkeypatch)  # compiling the search takes longer than both reports
    game = example("kuhn-poker")
    report = balance_report(game, games=4)
    assert report.payoffs[BEST].value == pytest.approx(-1 / 18, abs=1e-6)
    assert {"novice", "steady", "strong", "perfect"} <= set(report.payoffs)
    assert -2 <= report.payoffs["novice"].value <= 2
    game = example("tic-tac-toe")
    assert balance_report(game, games=2).payoffs == {}


def test_the_best_bot_is_asked_for_a_hint(example: Example) -> None:
    assert bots.best(example("kuhn-poker")).name == "perfect"


@pytest.mark.slow
def test_openspiel_finds_no_better_answer_to_the_solution_than_the_bound(example: Example) -> None:
    pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms import exploitability

    from piste.rl.openspiel import PisteGame
    from piste.rl.openspiel_policy import SolverPolicy

    example("kuhn-poker")
    game = type("PisteKuhnPoker", (PisteGame,), {"NAME": "kuhn-poker"})()
    policy = SolverPolicy(game)
    assert policy.value() == pytest.approx(-1 / 18, abs=1e-6)
    assert exploitability.nash_conv(game, policy) == pytest.approx(0, abs=1e-6)
