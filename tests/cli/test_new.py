"""`piste new` writes a package that plays, keeps every promise, and whose own tests pass."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import piste
from piste.check.case import Case
from piste.check.checks import CHECKS, run_checks
from piste.cli.main import main
from tests import ROOT
from tests.installed_games import Install
from tests.limits import PATIENCE_S

KINDS = {
    "new-open": (),
    "new-open-four": ("--players", "4"),
    "new-hidden": ("--hidden",),
    "new-hidden-three": ("--hidden", "--players", "3"),
}


@pytest.fixture(params=KINDS)
def project(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["new", request.param, *KINDS[request.param]]) == 0
    return tmp_path / str(request.param)


def test_the_new_game_keeps_every_promise(project: Path, install_game: Install) -> None:
    install_game(project)
    cheap = [name for name in CHECKS if name not in ("twin", "perft", "bench")]
    assert [f.sentence for f in run_checks(Case(project.name, games=4), cheap) if not f.passed] == []


def test_its_own_example_passes(project: Path, install_game: Install) -> None:
    install_game(project)
    (path,) = (project / "tests").iterdir()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.test_an_example_of_the_rule_sheet()


def test_it_is_played_at_a_terminal(
    project: Path, install_game: Install, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install_game(project)
    monkeypatch.setenv("PISTE_HOME", str(project / "home"))
    words = ["simulate", project.name, "--games", "50", "--interpreted"]
    assert main(words) == 0
    bots = [word for _ in range(piste.find(project.name).rules.seats(None)) for word in ("--seat", "random")]
    assert main(["play", project.name, "--seed", "1", *bots]) == 0
    assert "wins:" in capsys.readouterr().out
    assert main(["rules", project.name]) == 0
    assert "Write the rules here" in capsys.readouterr().out


def test_its_files_satisfy_formatter_linter_and_types(project: Path) -> None:
    for words in (("ruff", "format", "--check"), ("ruff", "check")):
        done = subprocess.run(
            [sys.executable, "-m", *words, "--config", str(ROOT / "pyproject.toml"), str(project)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


def test_names_that_cannot_be_taken_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    for words, code, why in (
        (["High Card"], 2, "small letters, digits and hyphens"),
        (["random"], 2, "Python has a module"),
        (["prime-duel"], 2, "There is a game 'prime-duel' already"),
        (["taken"], 1, "here already: nothing was written"),
        (["other", "--players", "5"], 2, "whole number from 2 to 4"),
    ):
        assert main(["new", *words]) == code
        assert why in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.slow
def test_a_new_package_installs_with_pip_and_its_tests_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "with-pip", "--hidden"]) == 0
    pip = ("-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", "site", "./with-pip")
    subprocess.run([sys.executable, *pip], check=True, timeout=PATIENCE_S)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "with-pip/tests"],
        env={**os.environ, "PYTHONPATH": "site"}, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
