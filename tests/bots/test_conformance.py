"""`piste check-bot`: a program that keeps to the protocol passes, and each thing that one can do wrong is named."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from piste.bots.conformance import Check, Conformance, Report
from piste.cli.main import main
from piste.core.game import find, names
from tests import ROOT
from tests.limits import PATIENCE_S

EXAMPLE = re.findall(r"```python\n(#!.*?)```", (ROOT / "docs" / "bots.md").read_text(encoding="utf-8"), re.DOTALL)[0]
SHORT = 0.2  # for what never comes
START = "import json, sys, time\n"
LOOP = START + "for line in sys.stdin:\n    message = json.loads(line)\n"
ANSWER = "print(json.dumps({'decision': message['decisions'][0]}), flush=True)\n"
GOOD = LOOP + f"    if message['type'] == 'decide': {ANSWER}"


def command(tmp_path: Path, code: str) -> str:
    path = tmp_path / "bot.py"
    path.write_text(code, encoding="utf-8")
    return shlex.join([sys.executable, "-I", "-S", str(path)])


def tried(tmp_path: Path, code: str, *, limit: float = PATIENCE_S, grace: float = PATIENCE_S) -> Report:
    return Conformance(command(tmp_path, code), limit=limit, grace=grace).run([find("prime-duel")])


def failed(report: Report) -> dict[str, str]:
    return {check.name: check.detail for check in report.checks if not check.passed}


def test_a_program_that_keeps_to_it_passes_in_every_game_and_phase(tmp_path: Path) -> None:
    program = Conformance(command(tmp_path, EXAMPLE), limit=PATIENCE_S, grace=PATIENCE_S)
    told: list[str] = []
    report = program.run([find(name) for name in names()], told.append)
    assert failed(report) == {}
    assert report.passed
    duel = [game for game in report.games if game.game == "mccoy-duel"]
    assert [game.seats for game in duel] == [2, 3, 4]
    assert {"play", "pick", "kill", "give", "take", "copy"} <= set(duel[0].asked)
    assert {game.options.get("variant") for game in report.games if game.game == "zero-sum-grid"} == {None, "harvest"}
    for game in report.games:
        assert game.games >= game.seats
        assert sum(game.asked.values()) == len(game.seconds) + len(game.starts)
    assert len(told) == 1 + len(report.games)


@pytest.mark.parametrize(
    ("code", "where", "sentence"),
    [
        ("", {"handshake", "whole games turns=60"}, "ended with exit code 0"),
        (START + "raise SystemExit(3)", {"handshake"}, "ended with exit code 3"),
        (LOOP + f"    if message['type'] != 'decide': print('ready', flush=True)\n    else: {ANSWER}",
         {"handshake"}, "spoke before it was asked|answered more than once|not JSON"),
        (LOOP + "    if message['type'] == 'decide': print('garbage', flush=True)", {"handshake"}, "is not JSON"),
        (LOOP + "    if message['type'] == 'decide': print('{\"decision\": \"fold\"}', flush=True)",
         {"handshake"}, "'fold', which is not open"),
        (LOOP + "    if message['type'] == 'decide': print('{\"decision\": \"keep\", \"number\": 99}', flush=True)",
         {"handshake"}, r"question \d was asked"),
        (LOOP + "    if message['type'] == 'decide': print('x' * 5000, flush=True)", {"handshake"}, "more than 4096"),
        (LOOP + f"    if message['type'] == 'hello': continue\n    if message['type'] == 'end': break\n    {ANSWER}",
         {"unknown messages"}, "ended with exit code 1"),
        (LOOP + f"    if message['type'] == 'hello': continue\n    if message['type'] == 'end': print('bye'); break\n"
         f"    if message['type'] == 'decide': {ANSWER}", {"end of the game"}, "'bye' when nothing was asked"),
        (LOOP + "    if message['type'] == 'decide':\n        assert len(message['log']) < 5, 'too much'\n"
         f"        {ANSWER}",
         {"taken up again"}, "AssertionError: too much"),
    ],
)  # fmt: skip
def test_what_a_program_does_wrong_is_named(tmp_path: Path, code: str, where: set[str], sentence: str) -> None:
    report = tried(tmp_path, code)
    assert not report.passed
    found = failed(report)
    assert where <= set(found), found
    assert re.search(sentence, found[min(where)])


def test_a_program_that_does_not_answer_in_time_is_named(tmp_path: Path) -> None:
    report = tried(tmp_path, LOOP + "    pass", limit=SHORT)
    assert "gave no answer within 0.2 seconds" in failed(report)["handshake"]


def test_a_program_that_does_not_leave_is_named(tmp_path: Path) -> None:
    report = tried(tmp_path, GOOD + "while True: time.sleep(60)", grace=SHORT)
    assert set(failed(report)) == {"end of the game", "input closed"}
    assert "did not leave within 0.2 seconds" in failed(report)["input closed"]


def test_the_command_prints_a_report_and_returns_whether_it_passed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("piste.bots.conformance.EXIT_TIMEOUT_S", PATIENCE_S)
    words = ["check-bot", f"cmd:{command(tmp_path, GOOD)}", "--game", "prime-duel", "--limit", str(PATIENCE_S)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "ok    Handshake: It started" in out
    assert "ok    Prime Duel, whole games turns=60: 2 games" in out
    assert "ms on average" in out
    assert out.endswith("It keeps to the protocol.\n")
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["passed"]
    assert document["games"][0]["asked"]["decide"] > 0
    assert document["games"][0]["missing"] == []
    bad = ["check-bot", f"cmd:{command(tmp_path, LOOP + '    print(1, flush=True)')}", "--game", "prime-duel"]
    assert main(bad) == 1
    out = capsys.readouterr().out
    assert "FAIL  Handshake: The bot" in out
    assert "It does not keep to the protocol: Handshake" in out
    assert main([*bad, "--json"]) == 1
    assert not json.loads(capsys.readouterr().out)["passed"]


@pytest.mark.parametrize(
    ("words", "sentence", "code"),
    [
        (["steady"], "is no program: write cmd:", 2),
        (["cmd:./no-such-program"], "is not there, or may not be run", 1),
        (["cmd:"], "needs a command line", 1),
        (["cmd:true", "--game", "poker"], "There is no game 'poker'", 2),
        (["cmd:true", "--limit", "0"], "--limit cannot be '0'", 2),
    ],
)
def test_what_cannot_be_tried_is_refused(
    words: list[str], sentence: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check-bot", *words]) == code
    assert sentence in capsys.readouterr().err


def test_a_report_passes_only_if_every_check_does() -> None:
    good, bad = Check("one", True, "Good."), Check("two", False, "Bad.")
    assert Report("cmd:x", [good], []).passed
    assert not Report("cmd:x", [good, bad], []).passed
