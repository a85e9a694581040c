"""The tutorial, followed to the letter: its files are written, its commands run, its fault is found."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import piste
from piste.check.case import Case
from piste.check.checks import CHECKS, run_checks
from piste.cli.main import main
from piste.cli.parser import make_parser
from piste.core.game import REQUIRED_RULES
from piste.core.protocols import Rules
from tests import ROOT
from tests.installed_games import Install, path_entries
from tests.limits import PATIENCE_S
from tools.game_sizes import PARTS, sizes

PAGE = (ROOT / "docs" / "add-a-game.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for kind, _, text in BLOCKS if kind == "sh" for line in text.splitlines()]
LONG = ("balance", "match", "puzzle")
"""Commands that play whole games of every level: left to the whole run."""


def file(name: str) -> str:
    """Return a file of the tutorial: its parts, one after the other."""
    return "\n\n".join(text for kind, target, text in BLOCKS if kind == "python" and target == name)


def written(folder: Path, monkeypatch: pytest.MonkeyPatch, rules: str) -> Path:
    monkeypatch.chdir(folder)
    assert main(shlex.split(COMMANDS[0])[1:]) == 0
    package = folder / "blind-swap" / "src" / "blind_swap"
    (package / "rules.py").write_text(rules, encoding="utf-8")
    (package / "notation.py").write_text(file("notation.py"), encoding="utf-8")
    (folder / "blind-swap" / "tests" / "test_blind_swap.py").write_text(file("test_blind_swap.py"), encoding="utf-8")
    return folder / "blind-swap"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, install_game: Install) -> Path:
    folder = written(tmp_path, monkeypatch, file("rules.py"))
    install_game(folder)
    monkeypatch.setenv("PISTE_HOME", str(tmp_path / "home"))
    return folder


def test_every_block_is_run_by_a_test() -> None:
    known = {
        ("python", "rules.py"),
        ("python", "notation.py"),
        ("python", "test_blind_swap.py"),
        ("sh", ""),
        ("fault", ""),
    }
    assert {(kind, target) for kind, target, _ in BLOCKS} == known
    assert PAGE.count("```") == 2 * len(BLOCKS)


@pytest.mark.usefixtures("project")
def test_the_game_of_the_page_keeps_every_promise() -> None:
    wanted = [name for name in CHECKS if name not in ("twin", "perft", "bench")]
    assert [f.sentence for f in run_checks(Case("blind-swap", games=5), wanted) if not f.passed] == []


def test_its_own_example_passes(project: Path) -> None:
    path = project / "tests" / "test_blind_swap.py"
    spec = importlib.util.spec_from_file_location("test_blind_swap", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.test_who_kept_wins_two_points()


def test_its_files_are_formatted_linted_and_typed(project: Path) -> None:
    for words in (("ruff", "format", "--check"), ("ruff", "check")):
        done = subprocess.run(
            [sys.executable, "-m", *words, "--config", str(ROOT / "pyproject.toml"), str(project)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.usefixtures("project", "worker_here")
@pytest.mark.parametrize("command", [line for line in COMMANDS if line.split()[1] in ("play", "simulate", "solve")])
def test_a_command_runs_as_it_stands_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(command)[1:]
    if words[0] == "play":
        words += ["--seat", "random", "--seat", "random"]  # nobody is at the keyboard
    if words[0] == "simulate":
        words = [*words[:2], "--games", "200", "--interpreted"]
    assert main(words) == 0
    assert capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("command", [line for line in COMMANDS if line.split()[1] in (*LONG, "check", "simulate")])
def test_a_long_command_runs_as_it_stands_there(project: Path, command: str, tmp_path: Path) -> None:
    entries = os.pathsep.join(path_entries(project, tmp_path / "site"))
    done = subprocess.run(
        [sys.executable, "-m", "piste", *shlex.split(command)[1:]], env={**os.environ, "PYTHONPATH": entries},
        capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_commands_that_stay_open_are_commands() -> None:
    for command in COMMANDS:
        program, *words = shlex.split(command)
        assert program in ("piste", "pip", "pytest")
        if program == "piste":
            make_parser(words).parse_args(words)


def test_the_page_of_the_contract_names_every_function_and_counts_as_the_tool_does() -> None:
    page = (ROOT / "docs" / "game-contract.md").read_text(encoding="utf-8")
    functions = [name for name in vars(Rules) if name.islower() and name[0] != "_"]
    assert [name for name in functions if f"| `{name}(" not in page] == []
    required = [name for name in REQUIRED_RULES if name.islower()]
    assert f"Of the {len(functions)} functions of the rules {len(required)} have to be written" in page
    packages = {
        "Positive-Negative": ROOT / "src" / "piste" / "games" / "positive_negative",
        "Kuhn poker": ROOT / "examples" / "games" / "kuhn-poker" / "src" / "kuhn_poker",
    }
    for package in packages.values():
        counted = [sizes(package, names) for names in PARTS.values()]
        for row in (*(one for one in counted if one[0]), tuple(map(sum, zip(*counted, strict=True)))):
            assert re.search(r"\| \**{}\** \| \**{}\** \| \**{:,}\** \|".format(*row), page), row


def test_the_fault_of_the_page_is_found_as_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, install_game: Install
) -> None:
    (fault,) = (text for kind, _, text in BLOCKS if kind == "fault")
    before, after = (line.split(": ", 1)[1] for line in fault.splitlines()[:2])
    sentence = fault.splitlines()[2]
    rules = file("rules.py")
    assert before in rules
    folder = written(tmp_path, monkeypatch, rules.replace(before, after))
    text = (folder / "pyproject.toml").read_text(encoding="utf-8").replace("\nblind-swap =", "\nblind-leak =")
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    for name in ("rules", "notation"):  # another package, so that no other test meets its modules
        path = folder / "src" / "blind_swap" / f"{name}.py"
        path.write_text(path.read_text(encoding="utf-8").replace("blind_swap", "blind_leak"), encoding="utf-8")
    (folder / "src" / "blind_swap").rename(folder / "src" / "blind_leak")
    (folder / "pyproject.toml").write_text(text.replace('"blind_swap"', '"blind_leak"'), encoding="utf-8")
    install_game(folder)
    found = [
        f for f in run_checks(Case(piste.find("blind-leak")), ["contract", "property", "secrecy"]) if not f.passed
    ]
    assert [finding.sentence for finding in found] == [sentence]
