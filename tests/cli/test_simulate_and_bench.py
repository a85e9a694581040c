"""`piste simulate` and `piste bench` as somebody runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from piste.cli.commands.bench import compile_time, harness, workloads
from piste.cli.commands.bench.compile_time import first_calls
from piste.cli.main import main
from piste.cli.parser import make_parser
from piste.compiled import codegen, compiler
from piste.compiled.simulate import simulate


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def answered(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(said(capsys, *words, "--json"))


def test_simulate_says_results_ends_and_lengths(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "simulate", "zero-sum-duel", "--games", "5000", "--set", "turns=40")
    lines = text.splitlines()
    assert lines[0] == "Zero Sum Duel: 5,000 games"
    assert lines[1].startswith("  A (random) wins 4")
    assert any(line.startswith("  draws ") for line in lines)
    assert any(line.startswith("  sum is zero: ") for line in lines)
    assert any(line.startswith("  turn limit: ") for line in lines)
    assert "  on average " in text


def test_simulate_says_when_no_game_was_finished(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("simulate", "prime-duel", "--games", "1", "--most", "2", "--interpreted")
    assert said(capsys, *words).splitlines() == [
        "Prime Duel: 1 game",
        "No game was finished: each was given up after 2 steps (--most).",
    ]
    found = answered(capsys, *words)
    assert (found["unfinished"]["of"], found["decisions"]["mean"]) == (1, None)


def test_options_may_stand_between_the_words_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("match", "prime-duel", "--games", "2", "steady", "--set", "target=9", "random", "--processes", "1")
    assert "steady against random, 2 games (1 deal, each" in said(capsys, *words)
    given = make_parser().parse_args(["bench", "prime-duel", "--json", "zero-sum-grid"])
    assert (given.game, given.json) == (["prime-duel", "zero-sum-grid"], True)
    for wrong, why in ((["match"], "required: GAME"), (["match", "prime-duel", "--gmaes", "2"], "--gmaes")):
        with pytest.raises(SystemExit):
            main(wrong)
        assert why in capsys.readouterr().err


def test_simulate_for_machines_is_the_same_for_any_threads(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("simulate", "duel", "--set", "players=3", "--games", "3000", "--seed", "x", "--policy", "low")
    one = answered(capsys, *words, "--threads", "1")
    assert answered(capsys, *words, "--threads", "3") == one
    assert one["policies"] == ["low", "low", "low"]
    assert sum(row["of"] for row in one["wins"]) == 3000
    assert sum(one["decisions"]["counts"].values()) == 3000
    assert one["options"]["players"] == 3
    assert one["version"] == 1


@pytest.mark.parametrize("name", ["positive-negative", "zero-sum-grid"])
def test_simulate_for_machines_gives_options_as_texts_and_turns(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    limit = ("--set", "turns=9") if name == "zero-sum-grid" else ()
    found = answered(capsys, "simulate", name, "--games", "300", "--interpreted", *limit)
    assert found["option_texts"]["top"] == str(found["options"]["top"])
    assert found["option_texts"].get("first", "toss") == "toss"
    # In these two games every turn is one decision.
    assert (found["turns"]["mean"], found["turns"]["within"]) == (
        found["decisions"]["mean"],
        found["decisions"]["within"],
    )


def test_simulate_counts_the_turns_that_a_game_counts(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "simulate", "zero-sum-duel", "--games", "300", "--interpreted", "--set", "turns=8")
    assert found["turns"]["mean"] > 6 > found["decisions"]["mean"]  # six turns fill the hands, and ask nothing
    assert found["turns"]["total"] <= 8 * 300


def test_simulate_each_seat_by_its_own_policy(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("simulate", "positive-negative", "--games", "2000")
    found = answered(capsys, *words, "--policy", "average", "--policy", "random")
    assert found["wins"][0]["low"] > found["wins"][1]["high"]


def test_simulate_without_compiled_play_gives_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = answered(capsys, "simulate", "prime-duel", "--games", "50")
    assert answered(capsys, "simulate", "prime-duel", "--games", "50", "--interpreted") == compiled
    monkeypatch.setattr("piste.cli.commands.simulate.can_compile", lambda: False)
    assert "pip install 'piste[fast]'" in said(capsys, "simulate", "prime-duel", "--games", "50")


def test_policies_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "simulate", "prime-duel", "--policies").splitlines()
    assert lines[:2] == ["random: Take any decision, all equally likely.", "keep: Keep every card."]
    assert set(answered(capsys, "simulate", "prime-duel", "--policies")["policies"]) == {
        line.partition(":")[0] for line in lines
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--games", "0"), "--games cannot be '0': it is a whole number from 1 to 1000000000000."),
        (("--games", "many"), "--games cannot be 'many'"),
        (("--threads", "-2"), "--threads cannot be '-2'"),
        (("--most", "x"), "--most cannot be 'x'"),
        (("--policy", "clever"), "There is no policy 'clever' for Zero-Sum Grid. There are: random, nearer."),
        (("--policy", "nearer") * 3, "Give --policy once for all, or once for each of the 2 seats"),
        (("--set", "turns=abc"), "turns"),
    ],
)
def test_bad_requests_get_a_sentence(
    words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("simulate", "zero-sum-grid", *words)) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.slow
def test_bench_measures_every_way(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "RUNS", 1)
    monkeypatch.setattr(harness, "RUN_S", 0.01)
    asked: set[tuple[bool, int]] = set()

    def noted(*given: Any, compiled: bool, threads: int) -> Any:
        asked.add((compiled, threads))
        return simulate(*given, compiled=compiled, threads=threads)

    monkeypatch.setattr(workloads, "simulate", noted)
    found = answered(capsys, "bench", "prime-duel", "zero-sum-grid")
    assert list(found["games"]) == ["prime-duel", "zero-sum-grid"]
    for row in found["games"].values():
        assert list(row) == ["interpreted", "compiled", "all threads", "many together"]
        assert all(way["steps"] > 0 and way["ratio"] > 0 for way in row.values())
    assert asked == {(False, 1), (True, 1), (True, os.cpu_count() or 1)}
    text = said(capsys, "bench", "prime-duel")
    assert text.startswith("Calibration loop: ")
    assert "  compiled " in text


@pytest.mark.slow
def test_bench_compile_measures_an_empty_cache_and_a_full_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before: list[int] = []  # how many compiled functions were there before each run

    def watched(name: str, folder: str) -> dict[str, float]:
        before.append(len(list(Path(folder).rglob("*.nbc"))))
        return first_calls(name, folder)

    monkeypatch.setattr(compile_time, "first_calls", watched)
    rows = answered(capsys, "bench", "positive-negative", "--compile")["cpu_seconds"]["positive-negative"]
    assert set(rows) == {"first", "cached"}
    assert set(rows["first"]) == set(rows["cached"])
    assert before[0] == 0 < before[1]


CHANGED = """
import importlib.util, sys
from pathlib import Path
from piste.compiled import compiler
folder, answer = Path(sys.argv[1]), sys.argv[2]
compiler.cache_folder = lambda: folder / "cache"
(folder / "inner.py").write_text(f"def inner():\\n    return {answer}\\n")
(folder / "outer.py").write_text("def outer():\\n    return inner()\\n")
modules = []
for name in ("inner", "outer"):
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    modules.append(importlib.util.module_from_spec(spec))
    spec.loader.exec_module(modules[-1])
print(compiler.link_modules(*modules, compiled=True).outer())
"""


@pytest.mark.slow
def test_a_changed_source_is_never_answered_from_the_cache(tmp_path: Any) -> None:
    for answer in ("1", "2", "1"):
        done = subprocess.run(
            [sys.executable, "-B", "-c", CHANGED, str(tmp_path), answer], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == answer
    assert len(list((tmp_path / "cache").iterdir())) == 2  # one folder for each digest


def test_the_digest_depends_on_what_is_written_too() -> None:
    one = codegen.module("m", "def f():\n    return 1")
    other = codegen.module("m", "def f():\n    return 2")
    assert compiler.digest((one,)) != compiler.digest((other,))
