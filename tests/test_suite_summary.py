"""What the end of a test run says about tests that did not run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.limits import PATIENCE_S

SUITE = """
import pytest
def test_passes(): pass
@pytest.mark.{mark}
def test_marked(): pass
def test_skips():
    if {skips}:
        pytest.skip("nothing to test with here; apt install something")
"""


def run(folder: Path, *words: str, mark: str = "slow", skips: bool = False, ci: str = "") -> tuple[int, str]:
    (folder / "test_it.py").write_text(SUITE.format(mark=mark, skips=skips))
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", str(folder / "none.ini"), str(folder)]
    (folder / "none.ini").write_text(f"[pytest]\nmarkers = {mark}\n")
    done = subprocess.run(
        [*command, *words], cwd=ROOT, env={**os.environ, "CI": ci}, capture_output=True, text=True,
        check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.mark.slow
def test_a_quick_run_says_what_it_left_out_and_which_command_runs_it(tmp_path: Path) -> None:
    code, said = run(tmp_path, "--quick", "-n", "2")
    assert code == 0
    assert "2 passed" in said
    assert "Left out of this run: 1 test (1 that is slow), and larger sizes of others." in said
    assert "`make test-all` runs everything." in said


@pytest.mark.slow
def test_a_whole_run_leaves_nothing_out_and_on_the_build_machine_that_is_well(tmp_path: Path) -> None:
    code, said = run(tmp_path, ci="true")
    assert code == 0
    assert "3 passed" in said
    assert "Left out" not in said
    assert "test-all" not in said


@pytest.mark.slow
def test_what_is_skipped_is_named_and_on_the_build_machine_it_is_a_failure(tmp_path: Path) -> None:
    line = "Skipped: 1 test: nothing to test with here; apt install something"
    code, said = run(tmp_path, skips=True)
    assert code == 0
    assert line in said
    code, said = run(tmp_path, skips=True, ci="true")
    assert code == 1
    assert line in said
    assert "nothing may be skipped" in said
