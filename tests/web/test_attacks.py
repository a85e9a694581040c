"""Attackers beside innocents (tests/web/attacks.py): whatever one network asks for, others play on."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from piste.web.server import SHUTDOWN_TIMEOUT_S
from tests import ROOT
from tests.limits import PATIENCE_S

pytestmark = pytest.mark.slow

SIZE = os.environ.get("PISTE_ATTACK", "0.05")
# What is asserted at full size (PISTE_ATTACK=1); at a smaller one nothing is said about time:
# - unreadable: 99 in 100 decisions of the innocents are told within 250 ms;
# - thinkers: somebody else's `steady` answers within a second, and somebody else's `perfect` within twice its usual
#   time and the attacker's turn, which is what one of its tables takes alone;
# - reviews: somebody else's review is made within twice its usual time and the attacker's turn, one review alone;
# - stopping: a server that is told to stop ends within its drain, and a little to write what there is.
LONGEST_MS = {"unreadable": 250, "thinkers": 1000}
IN_TURN = {"thinkers": "perfect", "reviews": "review"}
DRAIN_MS = 1000 * (SHUTDOWN_TIMEOUT_S + 5)


@pytest.mark.parametrize(
    "attack", ["unreadable", "resets", "pictures", "rematches", "silent", "thinkers", "reviews", "stopping"]
)
def test_innocents_play_on_beside(attack: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.web.attacks", SIZE, attack],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    print(row)
    assert row["ended"] == 0
    assert row["decisions"] >= 5
    if float(SIZE) < 1:
        return
    if attack in LONGEST_MS:
        assert row["p99_ms"] < LONGEST_MS[attack]
    if attack in IN_TURN:
        what = IN_TURN[attack]
        assert row[f"{what}_ms"] <= 2 * row[f"{what}_usual_ms"] + row["turn_ms"]
    if attack == "stopping":
        assert row["stopping_ms"] < DRAIN_MS
