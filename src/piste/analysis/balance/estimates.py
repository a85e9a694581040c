"""A number and how it is known: exact, bounded, from a model, or measured with its 95 % interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from piste.core.evaluation import ESTIMATED, EXACT, PROVEN

MEASURED = "measured"  # in games that were played: the interval holds the true number 19 times out of 20
SURE = (PROVEN, EXACT)
Z = 1.959964


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
    """Return a share of which it is known how far it may be off."""
    return Estimate(value, max(0.0, value - off), min(1.0, value + off), known)


def share(count: int, of: int) -> Estimate:
    """Return a count as a part of all, with Wilson's interval."""
    return points({1.0: count, 0.0: of - count})


def points(counts: Mapping[float, int]) -> Estimate:
    """Return the mean of points between 0 and 1, from how often each was made.

    The interval is Wilson's, with the variance that was found in place of that of wins and losses alone: without
    draws it is the same, and many draws make it narrower.
    """
    of = sum(counts.values())
    if of == 0:
        return Estimate(0.0, 0.0, 1.0, MEASURED, 0)
    p = sum(made * count for made, count in counts.items()) / of
    spread = max(0.0, sum(made * made * count for made, count in counts.items()) / of - p * p)
    middle = (p + Z * Z / (2 * of)) / (1 + Z * Z / of)
    half = Z * sqrt(spread / of + Z * Z / (4 * of * of)) / (1 + Z * Z / of)
    low = 0.0 if p == 0.0 else min(p, max(0.0, middle - half))
    high = 1.0 if p == 1.0 else max(p, min(1.0, middle + half))
    return Estimate(p, low, high, MEASURED, of)


def mean(values: Sequence[float]) -> Estimate:
    """Return the mean of what was counted, with its interval."""
    n = len(values)
    if n == 0:
        return Estimate(0.0, 0.0, 0.0, MEASURED, 0)
    middle = sum(values) / n
    off = Z * sqrt(variance(values) / n)
    return Estimate(middle, max(0.0, middle - off), middle + off, MEASURED, n)


def variance(values: Sequence[float]) -> float:
    """Return the variance that a sample lets expect of all there is."""
    if len(values) < 2:
        return 0.0
    middle = sum(values) / len(values)
    return sum((value - middle) ** 2 for value in values) / (len(values) - 1)
