"""The solver of a game that has none: which way it takes, what it keeps, and what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

import piste
from piste import bots
from piste.core.dealer import RandomStream
from piste.core.evaluation import ESTIMATED, EXACT, WITHIN, Basis
from piste.core.extras import solver_of
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.solvers import cfr, induction, solver
from piste.solvers.solution import GraphSolution, TreeSolution
from tests.solvers.conftest import Example, from_start, without_numba


def test_games_that_have_a_solver_keep_it() -> None:
    for name in piste.names():
        game = piste.find(name)
        assert game.has_own_solver
        assert game.solver.__name__ == f"{game.package}.solver.solver"
        assert set(game.levels(bots.LEVELS)) == set(bots.LEVELS)


def test_the_way_is_chosen_by_the_tree(example: Example) -> None:
    kinds = {}
    for name in ("tic-tac-toe", "kuhn-poker"):
        game = example(name)
        kinds[name] = type(game.solver.whole(game.options()).solution)
    assert kinds == {"tic-tac-toe": GraphSolution, "kuhn-poker": TreeSolution}


def test_a_tree_that_is_too_large_is_searched_until_what_is_left_is_small(example: Example) -> None:
    game = example("tic-tac-toe")
    start = from_start(game, size=5)
    assert game.solver.whole(start.base.state.options).solution is None
    assert "searched by sampled play" in game.solver.solve_fully(start.base.state.options)
    state = start.base.state
    for square in (0, 5, 1, 6, 2, 7, 3, 8, 10, 4, 9, 11, 12, 14, 13, 15, 17, 16):
        state = game.rules.apply(state, square)
    late = game.solver.evaluate(InformationSet.common(Position(game, state)))
    assert late.known == EXACT


def test_a_search_says_that_it_is_one(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    game = example("kuhn-poker")
    without_numba(monkeypatch)
    monkeypatch.setattr(solver, "max_nodes", lambda: 10)
    evaluation = game.solver.evaluate(from_start(game), passes=20_000)
    assert evaluation.known == ESTIMATED
    assert evaluation.payoff is not None
    assert evaluation.payoff.largest == 2


def test_what_was_solved_is_kept_and_read_again(
    example: Example, private_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, module in (("tic-tac-toe", induction), ("kuhn-poker", cfr)):
        game = example(name)
        evaluation = game.solver.evaluate(from_start(game))
        assert any(private_cache.iterdir())
        solver._kept.clear()
        with monkeypatch.context() as patch:
            patch.setattr(module, "solve", None)  # it would fail to solve the game again
            assert game.solver.evaluate(from_start(game)) == evaluation


def test_a_damaged_table_is_solved_again(example: Example, private_cache: Path) -> None:
    game = example("kuhn-poker")
    evaluation = game.solver.evaluate(from_start(game))
    (place,) = private_cache.iterdir()
    (place / "worth0.bin").write_bytes(bytes((place / "worth0.bin").stat().st_size))
    solver._kept.clear()
    assert game.solver.evaluate(from_start(game)) == evaluation


def test_a_changed_rule_makes_another_table(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    game = example("kuhn-poker")
    before = game.solver.stamp
    monkeypatch.setattr(game.rules, "VERSION", 2)
    assert game.solver.stamp != before


def test_levels_say_how_their_play_is_known(example: Example) -> None:
    game = example("kuhn-poker")
    assert [bots.described(game, level) for level in bots.names(game)] == [
        "random", "novice (estimated)", "steady (estimated)", "strong (searched)", "expert (within a bound)",
    ]  # fmt: skip
    game = example("tic-tac-toe")
    assert bots.basis(game, "perfect") == Basis.SEARCHED  # until it was solved
    game.solver.prepare(game.options())
    assert bots.described(game, "perfect") == "perfect (exact)"


@pytest.mark.parametrize("name", ["tic-tac-toe", "kuhn-poker"])
def test_every_level_plays_to_the_end(example: Example, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    if name == "kuhn-poker":  # one game is enough to see that the search is compiled
        without_numba(monkeypatch)
    game = example(name)
    for level in bots.LEVELS:
        bot = bots.find(level, game)
        bots.prepare(bot, game.options(), lambda *_: None)
        table = piste.open_table(name, seed=f"levels {level}")
        while table.to_act is not None:
            view = table.view(table.to_act)
            stream = piste.Dealer("levels").stream(bots.stream_name(view))
            table.decide(view.seat, bot.choose(view.complete(), stream), view.number)


def test_perfect_never_loses_tic_tac_toe_and_takes_a_win(example: Example) -> None:
    game = example("tic-tac-toe")
    bot, lost = bots.find("perfect", game), 0
    for number in range(40):
        table = piste.open_table("tic-tac-toe", seed=f"perfect {number}")
        stream, own = RandomStream(b"piste test", str(number)), number % 2
        while table.to_act is not None:
            view = table.view(table.to_act)
            action = bot.choose(view, stream) if view.seat == own else view.actions[stream.below(len(view.actions))]
            table.decide(view.seat, action, view.number)
        ending = table.ending()
        assert ending is not None
        lost += ending.winner == 1 - own
    assert lost == 0


def test_perfect_mixes_as_the_solution_does(example: Example) -> None:
    """In every equilibrium of Kuhn poker the second player calls a bet with the middle card one time in three."""
    game = example("kuhn-poker")
    tables = (piste.open_table("kuhn-poker", seed=f"mix {number}") for number in range(100))
    table = next(table for table in tables if table.view(1).position.cards[1] == 1)
    table.decide(0, 1, table.view(0).number)
    evaluation = game.solver.evaluate(InformationSet.told(game, table.view(1)))
    mixes = {choice.action: choice.mix for choice in evaluation.choices}
    assert mixes[1] == pytest.approx(1 / 3, abs=1e-3)
    view = table.view(1).complete()
    calls = sum(game.solver.choose(view, RandomStream(b"piste test", str(n))) for n in range(600))
    assert 150 < calls < 250


def test_how_a_verdict_is_known_depends_on_the_way(example: Example) -> None:
    known = {}
    for name in ("tic-tac-toe", "kuhn-poker"):
        game = example(name)
        known[name] = solver_of(game).evaluate(from_start(game)).known
    assert known == {"tic-tac-toe": EXACT, "kuhn-poker": WITHIN}


def test_an_end_is_worth_what_was_paid_also_after_a_resignation(example: Example) -> None:
    example("kuhn-poker")
    table = piste.open_table("kuhn-poker", seed="resigned")
    table.resign(0)
    evaluation = table.game.solver.evaluate(InformationSet.told(table.game, table.view(0)))
    assert evaluation.payoff is not None
    assert (evaluation.payoff.mean, evaluation.known) == (-1, EXACT)


def test_options_are_kept_apart(example: Example) -> None:
    game = example("kuhn-poker")
    values = [game.solver.evaluate(from_start(game, cards=cards)).payoff.mean for cards in (3, 4, 5)]
    assert len({round(value, 4) for value in values}) == 3
