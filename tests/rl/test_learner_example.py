"""examples/learner.py learns what it says, and the same from the same seed."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

from tests import ROOT
from tests.game_setups import games

LINE = r"against (\w+) +([0-9.]+)% \+- ([0-9.]+)%"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("learner", ROOT / "examples" / "learner.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "learner", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_a_few_batches_are_enough_against_random_play_and_the_same_each_time(example: ModuleType) -> None:
    networks = []
    for _ in range(2):
        env = example.VectorEnv("positive-negative", 64)
        networks.append(example.Network(env.encoder))
        for batch in range(60):
            random = np.random.default_rng(batch)
            networks[-1].learn(example.play_batch(env, networks[-1], random, f"test {batch}"))
    one, two = networks
    assert all(np.array_equal(a, b) for a, b in zip(one.weights, two.weights, strict=True))
    share, half = example.measure(env, one, "random", 200, "test")
    assert share - half > 0.55


def test_closed_decisions_are_never_taken(example: ModuleType) -> None:
    env = example.VectorEnv("zero-sum-duel", 32, {"turns": 8})
    batch = example.play_batch(env, example.Network(env.encoder), np.random.default_rng(1), "closed")
    assert batch.masks[np.arange(len(batch.actions)), batch.actions].all()
    assert (batch.masks == 0).any()


@pytest.mark.slow
def test_it_beats_steady_and_is_measured_against_every_level() -> None:
    words = [sys.executable, str(ROOT / "examples" / "learner.py"), "positive-negative", str(games(1000))]
    out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    shares = {level: float(share) - float(half) for level, share, half in re.findall(LINE, out)}
    assert list(shares) == ["random", "novice", "steady", "strong", "perfect"]
    assert shares["steady"] > 50
