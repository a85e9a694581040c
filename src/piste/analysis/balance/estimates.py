"""Estimates: a number, its interval, and how it is known (exact, bounded, from a model, or measured)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from piste.compiled.simulate import Z_95, wilson_interval
from piste.core.evaluation import ESTIMATED, EXACT, PROVEN

MEASURED = "measured"  # in games that were played: the interval holds the true number 19 times out of 20
SURE = (PROVEN, EXACT)


class Estimate(NamedTuple):
    """A number, the interval it lies in, and how that is known."""

    value: float
    low: float
    high: float
    known: str  # PROVEN, EXACT, WITHIN, ESTIMATED or MEASURED
    of: int = 0  # games or decisions it was measured in

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def times(self, factor: float) -> Estimate:
        return self._replace(value=factor * self.value, low=factor * self.low, high=factor * self.high)


def sure(value: float, known: str = EXACT) -> Estimate:
    return Estimate(value, value, value, known)


def about(value: float, off: float, known: str = ESTIMATED) -> Estimate:
    """Return a share with a known error bound."""
    return Estimate(value, max(0.0, value - off), min(1.0, value + off), known)


def share(count: int, of: int) -> Estimate:
    """Return a count as a share of all, with Wilson's interval."""
    return points({1.0: count, 0.0: of - count})


def points(counts: Mapping[float, int]) -> Estimate:
    """Return the mean of points between 0 and 1, from how often each was made, with Wilson's interval."""
    of = sum(counts.values())
    if of == 0:
        return Estimate(0.0, 0.0, 1.0, MEASURED, 0)
    p = sum(made * count for made, count in counts.items()) / of
    squares = sum(made * made * count for made, count in counts.items()) / of
    return Estimate(p, *wilson_interval(p, max(0.0, squares - p * p), of), MEASURED, of)


def mean(values: Sequence[float]) -> Estimate:
    """Return the mean of a sample, with its 95 % interval."""
    n = len(values)
    if n == 0:
        return Estimate(0.0, 0.0, 0.0, MEASURED, 0)
    middle = sum(values) / n
    off = Z_95 * sqrt(variance(values) / n)
    return Estimate(middle, max(0.0, middle - off), middle + off, MEASURED, n)


def variance(values: Sequence[float]) -> float:
    """Return the unbiased sample variance."""
    if len(values) < 2:
        return 0.0
    middle = sum(values) / len(values)
    return sum((value - middle) ** 2 for value in values) / (len(values) - 1)
