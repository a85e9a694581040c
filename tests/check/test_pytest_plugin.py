"""The checks as tests of somebody else's package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.bare_game import bare_game
from tests.installed_games import Install, path_entries

TESTS = """
import pytest


@pytest.mark.piste_game("bare-game", stake=3, games=2)
def test_game(piste_check):
    piste_check()


def test_unnamed(piste_check):
    piste_check()
"""


def test_each_check_is_a_test(tmp_path: Path, install_game: Install) -> None:
    bare_game(tmp_path, install_game)
    (tmp_path / "test_bare.py").write_text(TESTS, encoding="utf-8")
    path = os.pathsep.join(path_entries(tmp_path / "bare-game", tmp_path / "site"))
    words = (
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "piste.check.pytest_plugin",
        "-q",
        "-rA",
        "--strict-markers",
        "-k",
        "secrecy or contract",
    )
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "PASSED test_bare.py::test_game[secrecy]" in done.stdout, done.stdout + done.stderr
    assert "PASSED test_bare.py::test_game[contract]" in done.stdout
    assert "Name the game that piste_check checks" in done.stdout
