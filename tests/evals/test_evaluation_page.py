"""Every command on the page of evaluations runs, as it stands there, one after the other in one folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from piste.bots.answers import FAULTS
from piste.bots.prompts import CHOICES
from piste.cli.main import main
from tests import ROOT
from tests.limits import PATIENCE_S

TEXT = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S) for line in block.splitlines()]


def test_the_page_lists_every_fault_and_every_argument() -> None:
    for fault in FAULTS:
        assert f"\n| {fault} |" in TEXT
    source = (ROOT / "src" / "piste" / "evals" / "games_task.py").read_text(encoding="utf-8")
    for name in (*re.findall(r"^        (\w+): [A-Z]", source, re.M), "positions", "level", *CHOICES):
        assert f"\n| `{name}` |" in TEXT


@pytest.mark.slow
def test_every_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PISTE_HOME", str(tmp_path / "home"))
    assert len(COMMANDS) >= 8
    for command in COMMANDS:
        program, *words = shlex.split(command)
        if program == "piste":
            assert main(words) == 0, command
        else:
            assert program == "inspect"
            subprocess.run([sys.executable, "-m", "inspect_ai", *words], check=True, timeout=PATIENCE_S)
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
