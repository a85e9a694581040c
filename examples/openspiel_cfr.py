"""Solve small games twice: with OpenSpiel's counterfactual regret minimisation, and with piste's own solvers.

    python examples/openspiel_cfr.py [ROUNDS]

OpenSpiel knows nothing of our solvers, and they know nothing of it; the two values must agree. Then OpenSpiel works
out what a best answer wins against each.
"""

from __future__ import annotations

import sys

import pyspiel
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability

import piste.rl.openspiel  # noqa: F401 - registers the games
from piste.rl.openspiel_policy import SolverPolicy

GAMES = (
    "python_piste_positive_negative(top=2)",
    "python_piste_zero_sum_duel(top=3,hand=2,turns=5,first=a)",
    "python_piste_mccoy_duel(powers=456*,rounds=1,first=1)",
)


def compare(name: str, rounds: int) -> tuple[float, float, float]:
    """Print and return the value by OpenSpiel, the value by piste, and how far OpenSpiel's play can be exploited."""
    game = pyspiel.load_game(name)
    learner = cfr.CFRPlusSolver(game)
    for _ in range(rounds):
        learner.evaluate_and_update_policy()
    average = learner.average_policy()
    theirs = float(expected_game_score.policy_value(game.new_initial_state(), [average] * 2)[0])
    ours = SolverPolicy(game).value()
    gap = float(exploitability.nash_conv(game, average))
    print(f"{name}\n  CFR+ after {rounds} rounds {theirs:+.4f} (exploitable by {gap:.4f}), piste {ours:+.4f}")
    return theirs, ours, gap


def main(rounds: int = 50) -> None:
    for name in GAMES:
        theirs, ours, gap = compare(name, rounds)
        assert abs(theirs - ours) <= gap + 1e-6, "the two solvers disagree"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
