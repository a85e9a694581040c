"""OpenSpiel's own tests, on every game and every number of players.

The golden playthroughs are read in review as a player would read them. To write them anew:

    PISTE_WRITE=1 python -m pytest tests/rl/test_openspiel_suites.py -k playthrough
"""

from __future__ import annotations

import os
import unittest
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from absl import flags  # noqa: E402
from open_spiel.integration_tests import api_test  # noqa: E402
from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import generate_playthrough  # noqa: E402
from open_spiel.python.tests import games_sim_test  # noqa: E402

import piste.rl.openspiel  # noqa: E402, F401
from tests.game_setups import games  # noqa: E402
from tests.sizes import sized  # noqa: E402

if not flags.FLAGS.is_parsed():
    flags.FLAGS(["tests"])

PLAYTHROUGHS = Path(__file__).parent / "playthroughs"

# As they are played, with as many players as there may be.
WHOLE = (
    "python_piste_mccoy_duel",
    "python_piste_mccoy_duel(players=3)",
    "python_piste_mccoy_duel(players=4)",
    "python_piste_positive_negative",
    "python_piste_prime_duel",
    "python_piste_zero_sum_duel",
    "python_piste_zero_sum_grid(turns=50)",  # random play all but never ends it sooner
)

# Small enough for a walk through the whole tree: (chance, decisions, ends), and what who decides can tell apart.
TINY = {
    "python_piste_mccoy_duel(powers=05*,rounds=1,first=1)": ((4, 33, 20), 16),
    "python_piste_mccoy_duel(players=3,powers=0*,rounds=1,first=1)": ((7, 16, 8), 8),
    "python_piste_positive_negative(top=2)": ((165, 136, 192), 136),
    "python_piste_prime_duel(top=2,copies=1,target=3,turns=4,first=1)": ((184, 67, 143), 67),
    "python_piste_zero_sum_duel(top=3,hand=2,turns=5,first=a)": ((373, 480, 1512), 96),
    "python_piste_zero_sum_grid(top=1,turns=1,first=1)": ((25, 14, 168), 14),
}

TOLD = {
    "mccoy_duel": "python_piste_mccoy_duel(first=1,powers=0257*,rounds=3)",
    "mccoy_duel_3": "python_piste_mccoy_duel(players=3,powers=05*,rounds=1)",
    "mccoy_duel_4": "python_piste_mccoy_duel(first=1,players=4,powers=05*,rounds=1)",
    "positive_negative": "python_piste_positive_negative(top=3)",
    "prime_duel": "python_piste_prime_duel(copies=1,target=7,top=4,turns=4)",
    "zero_sum_duel": "python_piste_zero_sum_duel(hand=2,top=3,turns=8)",
    "zero_sum_grid": "python_piste_zero_sum_grid(top=2,turns=4)",
}


def passed(base: type[Any], game: str) -> None:
    """Run the tests of one of OpenSpiel's classes on a game."""
    case = type(base.__name__, (base,), {"game": pyspiel.load_game(game), "game_name": game})
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.testsRun > 4
    assert not result.skipped
    assert [text for _, text in result.failures + result.errors] == []


@pytest.mark.parametrize("game", WHOLE)
def test_random_games_keep_openspiels_rules(game: str) -> None:
    pyspiel.random_sim_test(
        pyspiel.load_game(game), num_sims=min(games(sized(5, 20)), 200), serialize=True, verbose=False
    )


@pytest.mark.parametrize("game", WHOLE)
def test_part_of_the_tree_keeps_the_api(game: str) -> None:
    np.random.seed(1)
    passed(api_test.EnforceAPIOnPartialTreeBase, game)


@pytest.mark.parametrize("game", TINY)
def test_the_whole_tree_keeps_the_api_and_recalls_everything(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, told_apart = TINY[game]
    monkeypatch.setitem(api_test.TOTAL_NUM_STATES, game, nodes)
    monkeypatch.setitem(api_test.PERFECT_RECALL_NUM_STATES, game, told_apart)
    passed(api_test.EnforceAPIOnFullTreeBase, game)


@pytest.mark.parametrize("game", WHOLE)
def test_games_states_and_types_go_through_a_pickle(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    np.random.seed(1)
    games_sim_test.GamesSimTest().sim_game(pyspiel.load_game(game))
    assert "terminated with" in capsys.readouterr().out


@pytest.mark.parametrize("name", TOLD)
def test_playthroughs_replay_as_they_were_written(name: str) -> None:
    file = PLAYTHROUGHS / f"{name}.txt"
    if os.environ.get("PISTE_WRITE"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(generate_playthrough.playthrough(TOLD[name], None, seed=1), encoding="utf-8")
    written, replayed = generate_playthrough.replay(str(file))
    assert written.startswith(f"game: {TOLD[name]}\n")
    assert replayed == written


def test_every_playthrough_on_file_is_replayed() -> None:
    assert {f"{name}.txt" for name in TOLD} == {file.name for file in PLAYTHROUGHS.iterdir()}


@pytest.mark.parametrize("game", WHOLE)
def test_the_environment_for_learners_plays_a_game(game: str) -> None:
    environment = rl_environment.Environment(game, chance_event_sampler=rl_environment.ChanceEventSampler(seed=1))
    chooser = np.random.default_rng(1)
    step = environment.reset()
    decisions = 0
    while not step.last():
        seat = step.observations["current_player"]
        assert len(step.observations["info_state"][seat]) == environment.observation_spec()["info_state"][0]
        step = environment.step([chooser.choice(step.observations["legal_actions"][seat])])
        decisions += 1
    assert decisions > 1
    assert sum(step.rewards) == 0


@pytest.mark.parametrize("game", [game for game in WHOLE if "zero_sum_duel" not in game])
def test_shimmy_makes_it_an_environment_of_pettingzoo(game: str) -> None:
    """Not Zero Sum Duel: the first cards alone may end it, and Shimmy then looks for a player who is to act."""
    compatibility = pytest.importorskip("shimmy.openspiel_compatibility")
    from pettingzoo.test import api_test as pettingzoo_test

    given = pyspiel.game_parameters_from_string(game)
    name = given.pop("name", game)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*observation space value is -?infinity")  # Shimmy's own bounds
        wrapped = compatibility.OpenSpielCompatibilityV0(game_name=name, config=given or None)
        pettingzoo_test(wrapped, num_cycles=1000)
