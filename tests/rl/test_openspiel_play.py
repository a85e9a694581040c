"""OpenSpiel's algorithms on our games, and our solvers under OpenSpiel's eyes."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import policy  # noqa: E402
from open_spiel.python.algorithms import cfr, exploitability, ismcts, mcts  # noqa: E402

from piste.core.bits import count, nth  # noqa: E402
from piste.core.protocols import SPECTATOR  # noqa: E402
from piste.games.mccoy_duel.solver import cfr as ending  # noqa: E402
from piste.games.mccoy_duel.solver import infoset_kernels, infosets, solutions  # noqa: E402
from piste.rl import openspiel  # noqa: E402
from piste.rl.openspiel_policy import SolverPolicy  # noqa: E402
from tests import ROOT  # noqa: E402
from tests.game_setups import games  # noqa: E402

EXAMPLE = ROOT / "examples" / "openspiel_cfr.py"
LARGE = games(1) >= 10  # the sizes of a proof
BAR = 1e-3


def played(game: Any, bots: list[Any]) -> list[float]:
    """Return what a game between these bots paid."""
    state, chooser = game.new_initial_state(), np.random.RandomState(1)
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, likely = zip(*state.chance_outcomes(), strict=True)
            action = chooser.choice(outcomes, p=likely)
        else:
            action = bots[state.current_player()].step(state)
        for bot in bots:
            bot.inform_action(state, state.current_player(), action)
        state.apply_action(action)
    found: list[float] = state.returns()
    return found


@pytest.mark.parametrize("text", ["prime_duel(target=12,turns=20)", "zero_sum_grid(top=2,turns=10)"])
def test_mcts_plays_where_everything_is_open(text: str) -> None:
    game = pyspiel.load_game(f"python_piste_{text}")
    bots = [
        mcts.MCTSBot(game, 2.0, 10, mcts.RandomRolloutEvaluator(1, np.random.RandomState(i)), random_state=chooser)
        for i, chooser in enumerate((np.random.RandomState(3), np.random.RandomState(4)))
    ]
    assert sum(played(game, bots)) == 0


def searcher(game: Any, seed: int, passes: int, worlds: int = -1) -> Any:
    found = ismcts.ISMCTSBot(
        game=game,
        evaluator=mcts.RandomRolloutEvaluator(1, np.random.RandomState(seed)),
        uct_c=2.0,
        max_simulations=passes,
        max_world_samples=worlds,
        random_state=np.random.RandomState(seed),
    )
    found.set_resampler(openspiel.Resampler(f"seed {seed}"))
    return found


@pytest.mark.parametrize(
    "text",
    [
        "mccoy_duel(rounds=1)",
        "mccoy_duel(players=3,powers=0267*,rounds=1)",
        "mccoy_duel(players=4,powers=05*,rounds=1)",
        "positive_negative(top=4)",
        "zero_sum_duel(turns=20)",
    ],
)
def test_ismcts_plays_with_retold_games(text: str) -> None:
    game = pyspiel.load_game(f"python_piste_{text}")
    assert sum(played(game, [searcher(game, seed, 30) for seed in range(game.num_players())])) == 0


def test_ismcts_takes_the_win_that_is_there() -> None:
    """Zero Sum Duel: with -3, +1, +2 and another card in hand, the other card goes, whatever else is hidden."""
    game = pyspiel.load_game("python_piste_zero_sum_duel(first=a,turns=9)")
    state = game.new_initial_state()
    for name in ("-3", "+5", "+1", "-4", "+4", "+3", "+2"):
        state.apply_action(state.string_to_action(name))
    assert state.action_to_string(searcher(game, 1, 200).step(state)) == "+4"


def test_a_seeded_resampler_draws_the_same_games() -> None:
    game = pyspiel.load_game("python_piste_zero_sum_duel")
    state = game.new_initial_state()
    for action in (0, 0, 3, 5, 9, 7, 1, 2):
        state.apply_action(action)
    drawers = [openspiel.Resampler(seed) for seed in ("one", "one", "other")]
    drawn = [[drawer(state, 0).history() for _ in range(10)] for drawer in drawers]
    assert drawn[0] == drawn[1] != drawn[2]
    assert openspiel.resampler(state, 0).information_state_string(0) == state.information_state_string(0)


def test_the_cfr_of_openspiels_core_agrees_with_the_one_in_python() -> None:
    game = pyspiel.load_game("python_piste_positive_negative(top=1)")
    core, plain = pyspiel.CFRPlusSolver(game), cfr.CFRPlusSolver(game)
    for _ in range(100):
        core.evaluate_and_update_policy()
        plain.evaluate_and_update_policy()
    one = pyspiel.nash_conv(game, core.average_policy())
    assert one == pytest.approx(exploitability.nash_conv(game, plain.average_policy()), abs=1e-6)
    assert one < BAR


@pytest.mark.slow
def test_the_example_agrees_with_our_solvers(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("openspiel_cfr", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.main(10)
    assert capsys.readouterr().out.count("piste +") + 1 == len(example.GAMES)


def gain(game: Any, player: SolverPolicy) -> float:
    """Return what both seats together gain by their best answers, by OpenSpiel's own account."""
    mixes = policy.tabular_policy_from_callable(game, player.action_probabilities)
    return float(exploitability.nash_conv(game, mixes))


@pytest.mark.parametrize(
    "text",
    [
        "positive_negative(top=1)",
        "positive_negative(top=2)",
        "zero_sum_duel(top=3,hand=2,turns=5,first=a)",
        "zero_sum_duel(top=3,hand=2,turns=6,first=b)",
        *(["zero_sum_duel(top=4,hand=2,turns=6,first=a)"] if LARGE else []),
    ],
)
def test_nobody_gains_against_our_solver(text: str) -> None:
    game = pyspiel.load_game(f"python_piste_{text}")
    assert gain(game, SolverPolicy(game)) < BAR


class OneSolution(SolverPolicy):
    """Duel as solved once, from its first play on: mixes of one solution fit together, those of several need not."""

    gap = 1.0

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        seat = state.current_player() if player_id is None else player_id
        start, told = infosets.observed_round(state.node.view(seat))
        assert start is not None
        known = infosets.possible_states(start, told[:2], SPECTATOR)  # what all know when both have buried a card
        solved = self.solution(start.options, known)
        mine = infosets.possible_states(start, told, seat)
        left = infoset_kernels.distinct_choices(infoset_kernels.unpack(start.options, mine.rows[0]))
        found = dict.fromkeys(state.legal_actions(seat), 0.0)
        if count(left) == 1:
            return {**found, nth(left, 0): 1.0}
        key = int(mine.rows[0, infoset_kernels.KEY_COLUMN + seat])
        spot = solved.infoset(key)
        mix = solved.choice_probabilities(spot)
        if spot < 0 or not mix.any():  # neither the solution nor any best answer to it comes here
            return super().action_probabilities(state, player_id)
        return {**found, **{nth(left, i): float(mix[i] / mix.sum()) for i in range(count(left))}}

    def solution(self, options: Any, known: infosets.PossibleStates) -> Any:
        found = ending.solve(options, known, 100_000)
        assert found is not None
        if self.gap == 1.0:
            proof = ending.best_responses(options, known, found)
            assert proof is not None
            self.gap = proof.nash_conv
        return found


class WholeRound(SolverPolicy):
    """Duel as its solution of the whole round has it; where neither strategy comes to, any decision will do."""

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        seat = state.current_player() if player_id is None else player_id
        start, told = infosets.observed_round(state.node.view(seat))
        assert start is not None
        legal, known = state.legal_actions(seat), solutions.look_up(start, told, seat)
        if known is None:
            return {action: float(action == legal[0]) for action in legal}
        mix = dict(zip(known[1].actions, known[1].probabilities.tolist(), strict=True))
        return {action: mix.get(action, 0.0) for action in legal}


def solved_anew(monkeypatch: pytest.MonkeyPatch, powers: str, passes: int) -> tuple[float, float]:
    """Return what OpenSpiel's best answers gain against a solution of Duel, and what the solution says they gain."""
    monkeypatch.setattr(ending, "_solved", type(ending._solved)())
    monkeypatch.setattr(ending, "MIN_ITERATIONS", passes)
    monkeypatch.setattr(ending, "MAX_ITERATIONS", passes)
    game = pyspiel.load_game(f"python_piste_mccoy_duel(powers='{powers}',rounds=1,first=1)")
    player = OneSolution(game)
    return gain(game, player), 2 * player.gap  # a share of wins is worth two points: from lost to won


@pytest.mark.slow
@pytest.mark.parametrize("powers", ["05*", "247", "0136", "456*", "017*"])
def test_nobody_gains_against_our_solution_of_duel(powers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 456* and 017* both seats have to mix."""
    found, claimed = solved_anew(monkeypatch, powers, 200)
    assert found < BAR
    assert found == pytest.approx(claimed, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("powers", ["05*", "247", "456*", "017*", *(["0136", "0257*"] if LARGE else [])])
def test_openspiel_finds_the_bound_of_whole_rounds_of_duel(powers: str) -> None:
    game = pyspiel.load_game(f"python_piste_mccoy_duel(powers='{powers}',rounds=1,first=1)")
    solution = solutions.find(game.new_initial_state().node.view(0).options)
    assert solution is not None
    assert gain(game, WholeRound(game)) == pytest.approx(2 * solution.bound, abs=1e-6)


def test_openspiel_finds_the_gap_that_an_unfinished_solution_of_duel_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    found, claimed = solved_anew(monkeypatch, "456*", 10)
    assert found > BAR
    assert found == pytest.approx(claimed, abs=1e-9)
