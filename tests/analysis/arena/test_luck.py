"""Luck-adjusted results: the mean stays right, the interval shrinks where luck explains much, else it is not used."""

from __future__ import annotations

import random

import pytest

from piste.analysis.arena.luck import adjust


def noisy(seed: int, n: int, weight: float) -> tuple[list[float], list[float]]:
    """Return results with a true mean of 0.6, and luck that explains a part of them."""
    chooser = random.Random(seed)
    luck = [chooser.gauss(0, 0.2) for _ in range(n)]
    return [0.6 + weight * c + chooser.gauss(0, 0.05) for c in luck], luck


def test_luck_that_explains_much_makes_few_games_worth_many() -> None:
    found = adjust(*noisy(1, 200, 0.9))
    assert found is not None
    assert found.used
    assert found.coefficient == pytest.approx(0.9, abs=0.05)
    assert found.factor == pytest.approx(1 + (0.9 * 0.2 / 0.05) ** 2, rel=0.35)
    assert found.adjusted.low <= 0.6 <= found.adjusted.high


def test_luck_that_explains_nothing_is_not_used() -> None:
    used = [adjust(*noisy(seed, 60, 0.0)).used for seed in range(20)]  # type: ignore[union-attr]
    assert sum(used) <= 6  # what it gains then is chance, and next to nothing
    assert adjust([0.5, 1.0] * 20, [0.0] * 40).used is False  # type: ignore[union-attr]


def test_adjusted_intervals_hold_the_truth_as_often_as_they_say() -> None:
    held = 0
    for seed in range(300):
        found = adjust(*noisy(seed, 40, 0.9))
        assert found is not None
        held += found.adjusted.low <= 0.6 <= found.adjusted.high
    assert 0.92 <= held / 300 <= 0.98


def test_luck_that_is_not_fair_is_not_used() -> None:
    results, luck = noisy(3, 100, 0.9)
    found = adjust(results, [c + 0.3 for c in luck])
    assert found is not None
    assert not found.used


def test_too_few_deals_are_not_adjusted() -> None:
    assert adjust([0.5] * 5, [0.1] * 5) is None
