"""Attackers beside innocents (tools/attacks.py): whatever one network asks for, others play on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from piste.web.serving import GRACE
from tests.limits import PATIENCE_S

pytestmark = pytest.mark.slow

SIZE = os.environ.get("PISTE_ATTACK", "0.05")
ROOT = Path(__file__).parents[2]
LONGEST_MS = {"unreadable": 250, "thinkers": 1000}
"""What was to be reached at full size; at a smaller one nothing is said about time."""
DRAIN_MS = 1000 * (GRACE + 5)
"""A server that is told to stop ends within its drain, and a little to write what there is."""


@pytest.mark.parametrize(
    "attack", ["unreadable", "resets", "pictures", "rematches", "silent", "thinkers", "stopping"]
)
def test_innocents_play_on_beside(attack: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.attacks", SIZE, attack],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    print(found)
    assert found["ended"] == 0
    assert found["decisions"] >= 5
    if float(SIZE) >= 1 and attack in LONGEST_MS:
        assert found["p99_ms"] < LONGEST_MS[attack]
    if float(SIZE) >= 1 and attack == "stopping":
        assert found["stopping_ms"] < DRAIN_MS
