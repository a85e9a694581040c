"""`piste bench --peers` at its smallest: what is there is measured, what is not is left out with a sentence."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import pytest

from piste.cli.commands.bench import harness, peers
from piste.cli.main import main
from piste.compiled.simulate import simulate
from piste.core.game import find

GAME = "zero-sum-duel"
ANSWER = {"empty cache": {"seconds": 2.0, "mib": 100.0}, "all kept": {"seconds": 0.5, "mib": 90.0}}


@pytest.fixture(autouse=True)
def smallest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "RUN_S", 1e-9)
    monkeypatch.setattr(harness, "CALIBRATION_ROUNDS", 2000)
    monkeypatch.setattr(peers, "RUNS", 1)
    monkeypatch.setattr(peers, "BATCH_SIZES", (4,))
    monkeypatch.setattr(peers, "PGX_GAMES", ())
    monkeypatch.setattr(peers, "first_answers", lambda _name: ANSWER)


def measured(capsys: pytest.CaptureFixture[str]) -> Any:
    assert main(["bench", GAME, "--peers", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_every_way_to_play_is_measured_beside_what_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    document = measured(capsys)
    ours = [kind for kind, sides in document["speeds"].items() if list(sides["piste"]) == [GAME]]
    assert ours[:4] == [
        "one game, compiled steps",
        "one game, the rules' own functions",
        "one game, positions by number",
        "one game, positions by name",
    ]
    assert {"games in bulk", "one game at a table", "4 games for learners"} <= {*ours[4:]}
    rows = [speed for sides in document["speeds"].values() for side in sides.values() for speed in side.values()]
    assert all(speed["ratio"] > 0 for speed in rows)
    assert document["first_answers"][GAME] == ANSWER
    assert document["solutions"] == {}
    assert (document["runs"], document["version"]) == (1, 1)


def test_without_any_peer_each_is_left_out_with_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("shutil.which", lambda _name: None)
    monkeypatch.setattr(peers, "find_spec", lambda _name: None)
    document = measured(capsys)
    assert document["left_out"][0] == "C is left out: there is no compiler."
    assert [sentence.partition(" is left out")[0] for sentence in document["left_out"]] == [
        "C", "OpenSpiel", "PettingZoo", "PettingZoo's tic-tac-toe", "pgx",
    ]  # fmt: skip
    assert not any(sides["peers"] for sides in document["speeds"].values())
    assert main(["bench", GAME, "--peers"]) == 0
    assert "pgx is left out: jax and pgx cannot be imported." in capsys.readouterr().out


def test_the_games_in_c_are_the_games_of_the_rules(tmp_path: Path) -> None:
    compiled_c = peers.look_for_peers(tmp_path).compiled_c
    if compiled_c is None:
        return  # there is no compiler: the sentence that says so is looked at above
    count = 20_000
    for name, functions in peers.C_GAMES.items():
        game = find(name)
        tally = simulate(game, game.options({"first": 1}), count)
        for function in functions:
            peers.c_games(compiled_c, function)
            first_wins = ctypes.c_int64()
            steps = getattr(compiled_c, function)(count, 1, ctypes.byref(first_wins))
            assert first_wins.value / count == pytest.approx(tally.wins[0] / count, abs=0.015)
            assert steps / count == pytest.approx(tally.steps / count, rel=0.02)
