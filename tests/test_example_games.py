"""The games of examples/games, installed beside piste: checked, and played at every place where games are played."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import piste
from piste.check.case import Case
from piste.check.checks import CHECKS, run_checks
from piste.cli.main import main
from piste.rl.encoder import Encoder
from tests import ROOT
from tests.installed_games import EXAMPLES, Install, path_entries
from tests.limits import PATIENCE_S
from tests.sizes import sized

GAMES = tuple(sorted(path.name for path in EXAMPLES.iterdir() if (path / "pyproject.toml").exists()))
MAX_RULES_LINES = 150


@pytest.fixture(params=GAMES)
def game(request: pytest.FixtureRequest, install_game: Install) -> piste.Game:
    install_game(EXAMPLES / request.param)
    return piste.find(request.param)


def test_it_keeps_every_promise(game: piste.Game) -> None:
    left_out = sized(("bench", "twin", "perft"), ("bench",))  # compiling takes longest
    wanted = [name for name in CHECKS if name not in left_out]
    found = [f for f in run_checks(Case(game, games=sized(3, 20)), wanted) if not f.passed or f.skipped]
    assert [finding.sentence for finding in found] == []


def test_its_rules_are_short_and_nothing_of_it_stands_in_piste(game: piste.Game) -> None:
    (path,) = (EXAMPLES / game.name / "src").glob("*/rules.py")
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_RULES_LINES
    for source in (ROOT / "src").rglob("*.py"):
        assert not re.search(
            rf"^ *(from|import) {path.parent.name}", source.read_text(encoding="utf-8"), re.MULTILINE
        )


def test_it_is_played_at_a_terminal(
    game: piste.Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path))
    assert main(["play", game.name, "--seat", "random", "--seat", "random", "--seed", "1"]) == 0
    assert "Player" in capsys.readouterr().out
    assert main(["replay", "last"]) == 0
    assert main(["games"]) == 0
    assert game.name in capsys.readouterr().out
    assert main(["rules", game.name]) == 0
    assert "What is known" not in capsys.readouterr().out  # stands after the options


def test_what_a_learner_sees_stays_within_its_bounds_and_tells_seats_apart(game: piste.Game) -> None:
    encoder = Encoder(game, game.options())
    case = Case(game, games=6)
    for history in case.random_histories():
        for s, _ in case.walked(history):
            lines = [encoder.encode(game.rules.look(s, seat)) for seat in range(2)]
            assert all((encoder.low <= line).all() and (line <= encoder.high).all() for line in lines)
            assert (lines[0] != lines[1]).any()


@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning")
@pytest.mark.slow
def test_it_passes_pettingzoos_tests(game: piste.Game) -> None:
    from pettingzoo.test import api_test, seed_test

    import piste.rl.pettingzoo as adapter

    api_test(adapter.env(game.name), num_cycles=100, verbose_progress=False)
    seed_test(lambda: adapter.env(game.name), num_cycles=20)


@pytest.mark.slow
def test_it_passes_openspiels_simulation_and_is_what_it_claims(game: piste.Game) -> None:
    import pyspiel

    import piste.rl.openspiel as adapter

    adapter.register()
    loaded = pyspiel.load_game(adapter.short_name(game.name))
    hides = game.name != "tic-tac-toe"
    information = pyspiel.GameType.Information
    claimed = information.IMPERFECT_INFORMATION if hides else information.PERFECT_INFORMATION
    assert loaded.get_type().information == claimed
    pyspiel.random_sim_test(loaded, num_sims=sized(2, 20), serialize=True, verbose=False)


@pytest.mark.slow
def test_kuhn_poker_is_worth_what_is_known(install_game: Install) -> None:
    """OpenSpiel's own CFR finds -1/18 through the adapter, though nobody told it whose game it is."""
    import pyspiel
    from open_spiel.python.algorithms import cfr, expected_game_score

    import piste.rl.openspiel as adapter

    install_game(EXAMPLES / "kuhn-poker")
    adapter.register()
    game = pyspiel.load_game("python_piste_kuhn_poker")
    solver = cfr.CFRPlusSolver(game)
    for _ in range(60):
        solver.evaluate_and_update_policy()
    values = expected_game_score.policy_value(game.new_initial_state(), [solver.average_policy()] * 2)
    assert values[0] == pytest.approx(-1 / 18, abs=1e-3)


@pytest.mark.slow
def test_it_installs_with_pip_and_its_tests_pass(game: piste.Game, tmp_path: Path) -> None:
    pip = ("-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", str(tmp_path))
    subprocess.run([sys.executable, *pip, str(EXAMPLES / game.name)], check=True, timeout=PATIENCE_S)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLES / game.name / "tests")],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path,
        capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_entry_point_is_all_that_makes_a_package_a_game(tmp_path: Path) -> None:
    entries = path_entries(EXAMPLES / "kuhn-poker", tmp_path)
    code = "import piste; print(piste.names()[-1], piste.find('kuhn-poker').notation.TITLE)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(entries)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "kuhn-poker Kuhn poker"
    assert importlib.util.find_spec("piste.games.kuhn_poker") is None
