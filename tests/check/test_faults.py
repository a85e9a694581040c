"""Faults planted into a small game are found, and explained in one sentence with the shortest history to show it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from piste.check import soundness
from piste.check.case import Case
from piste.check.checks import CHECKS, Finding, run_checks
from piste.cli.main import main
from tests.bare_game import BARE, bare_game
from tests.installed_games import Install
from tests.sizes import sized, slow_if

PLANTED = {
    "leaking-view": (
        "one = s.coins[0] if shown or seat == 0 else HIDDEN",
        "one = s.coins[0]",
        "secrecy: look: a view leaks: `coins` shows a spectator what `tell` did not. It is (0, -1) there, and "
        "(1, -1) after chance 1. After: chance 0.",
    ),
    "weight-of-0": (
        "def apply(",
        "def weight(s: State, outcome: int) -> int:\n    return outcome\n\n\ndef apply(",
        "property: weight: it returns 0 for 0, and each of `outcomes` weighs 1 or more. After: the start.",
    ),
    "empty-legal-set": (
        "def legal(s: State) -> int:\n    return 0b11",
        "def legal(s: State) -> int:\n    return 0b11 if s.coins[0] == s.coins[1] else 0",
        "property: legal: it returns 0, the empty set, although a seat is to act. After: chance 0, chance 1.",
    ),
    "list-in-state": (
        "return State(s.options, 0, 1, (action, HIDDEN), HIDDEN)",
        "return State(s.options, 0, 1, [action, HIDDEN], HIDDEN)",
        "contract: apply: State.coins is [0, -1], not a tuple of 2; rules that numba compiles have whole numbers, "
        "NamedTuples and tuples of a fixed length.",
    ),
    "none-in-state": (
        "return State(options, 0, 0, (HIDDEN, HIDDEN), HIDDEN)",
        "return State(options, 0, 0, (HIDDEN, HIDDEN), None)",
        "contract: start: State.winner is a NoneType, not a whole number; rules that numba compiles have whole "
        "numbers, NamedTuples and tuples of a fixed length.",
    ),
    "not-deterministic": (
        "right = (s.coins[0] == s.coins[1]) == (action == 0)",
        "right = next(TURN) % 2 == 0",
        "property: apply: it is not deterministic: the same arguments gave other results. Chance is what `outcomes` "
        "and `weight` say. After: chance 0, chance 0, decision 0.",
    ),
    "endless-game": (
        "    right = ",
        "    if s.coins[0] == 1:\n        return State(s.options, 1, 1 - s.seat, s.coins, HIDDEN)\n    right = ",
        "property: apply: the game is endless: from here no line of play comes to an end. After: chance 1.",
    ),
    "counts-for-ever": (
        "    right = ",
        "    if s.coins[0] >= 0:\n        return State(s.options, 1, 0, (s.coins[0] + 1, 0), HIDDEN)\n    right = ",
        "property: apply: random games do not end within 2,000 steps: they need a limit.",
    ),
    "decision-by-secret": (
        "def legal(s: State) -> int:\n    return 0b11",
        "def legal(s: State) -> int:\n    return 0b11 if s.coins[1] == 0 else 0b01",
        "secrecy: legal: it depends on what Player 1 cannot see: it is 11 there, and 1 after chance 0, chance 1. "
        "After: chance 0, chance 0.",
    ),
    "spectator-knows-more": (
        "action if seat == s.seat else HIDDEN",
        "action if seat == s.seat or seat < 0 else HIDDEN",
        "secrecy: tell: a spectator is told the what of an event that Player 2 is not told. After: the start.",
    ),
    "unbalanced-payoff": (
        "return s.options.stake if s.winner == seat else -s.options.stake",
        "return s.options.stake if s.winner == seat else 0",
        "property: payoff: it pays the seats [2, 0], which does not sum to 0. After: chance 0, chance 0, decision 0.",
    ),
    "taken-name": (
        "def apply(",
        "def lane(s: State) -> int:\n    return s.seat\n\n\ndef apply(",
        "twin: rules: `lane` is defined both in piste.core.bits and in taken_name.rules. These are compiled "
        "together: give it another name.",
    ),
    "uncompilable": (
        "    right = (s.coins[0] == s.coins[1]) == (action == 0)",
        "    right = s._replace(stage=2).coins[0] == action",
        "twin: apply: numba cannot compile it",
    ),
}


def planted(name: str, folder: Path, install: Install) -> Case:
    old, new, _ = PLANTED[name]
    assert old in BARE
    text = BARE.replace(old, new, 1).replace("from typing", "from itertools import count as counting\nfrom typing")
    text = text.replace("class Options", "TURN = counting()\n\n\nclass Options")
    return Case(bare_game(folder, install, text, name))


def faults(case: Case, names: list[str]) -> list[Finding]:
    return [finding for finding in run_checks(case, names) if not finding.passed]


@pytest.mark.parametrize("name", slow_if(lambda name: name == "uncompilable", PLANTED))
def test_a_planted_fault_is_found_and_explained(
    name: str, tmp_path: Path, install_game: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soundness, "MAX_DECISIONS", 2_000)  # 50,000 take seconds
    wanted = ["contract", "property", "secrecy", *(["twin"] if name in ("uncompilable", "taken-name") else [])]
    found = faults(planted(name, tmp_path, install_game), wanted)
    assert len(found) == 1
    if name == "uncompilable":
        assert found[0].sentence.startswith(PLANTED[name][2])
    else:
        assert found[0].sentence == PLANTED[name][2]


def test_a_game_without_faults_passes_every_check(tmp_path: Path, install_game: Install) -> None:
    left_out = sized(("bench", "twin", "perft"), ("bench",))  # compiling takes longest
    wanted = [name for name in CHECKS if name not in left_out]
    findings = list(run_checks(Case(bare_game(tmp_path, install_game)), wanted))
    assert [finding.sentence for finding in findings if not finding.passed or finding.skipped] == []


def test_the_command_names_the_function_and_the_history(
    tmp_path: Path, install_game: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    planted("leaking-view", tmp_path, install_game)
    assert main(["check", "leaking-view", "--only", "secrecy"]) == 1
    shown = capsys.readouterr()
    assert "FAULT: look: a view leaks" in shown.out
    assert "After: chance 0" in shown.out
    assert main(["check", "leaking-view", "--only", "secrecy", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["passed"], document["checks"][0]["function"]) == (False, "look")
    assert main(["check", "leaking-view", "--only", "colour"]) == 2
    assert "There is no check 'colour'" in capsys.readouterr().err
