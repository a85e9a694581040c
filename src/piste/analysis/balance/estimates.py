"""Estimates: a number, its interval, and how it is known (exact, bounded, from a model, or measured); histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from piste.compiled.simulate import Z_95, wilson_interval
from piste.core.evaluation import ESTIMATED, EXACT, PROVEN

MEASURED = "measured"  # in games that were played: the interval holds the true number 19 times out of 20
SURE = (PROVEN, EXACT)

Bin = tuple[int, int, float]
"""The shortest and the longest length, and the share of the games."""

TAIL_SHARE = 0.005
"""This share of the games at either end goes into the first and the last bin, however far it lies."""


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


def mean(values: Sequence[float], least: float = 0.0) -> Estimate:
    """Return the mean of a sample of numbers that are no lower than `least`, with its 95 % interval."""
    n = len(values)
    if n == 0:
        return Estimate(0.0, 0.0, 0.0, MEASURED, 0)
    middle = sum(values) / n
    off = Z_95 * sqrt(variance(values) / n)
    return Estimate(middle, max(least, middle - off), middle + off, MEASURED, n)


def variance(values: Sequence[float]) -> float:
    """Return the unbiased sample variance."""
    if len(values) < 2:
        return 0.0
    middle = sum(values) / len(values)
    return sum((value - middle) ** 2 for value in values) / (len(values) - 1)


def bins(lengths: Mapping[int, float], most: int) -> list[Bin]:
    """Return lengths in at most `most` bins of one width, with the tails in the outer bins."""
    whole = sum(lengths.values())
    low, high = first_above_tail(lengths, whole, reverse=False), first_above_tail(lengths, whole, reverse=True)
    wide = -(-(high - low + 1) // most)
    count = -(-(high - low + 1) // wide)
    shares = [0.0] * count
    for length, part in lengths.items():
        shares[min(max(0, (length - low) // wide), count - 1)] += part / whole
    edges = [[low + i * wide, low + (i + 1) * wide - 1] for i in range(count)]
    edges[0][0], edges[-1][1] = min(lengths), max(lengths)
    return [(a, b, part) for (a, b), part in zip(edges, shares, strict=True)]


def first_above_tail(lengths: Mapping[int, float], whole: float, *, reverse: bool) -> int:
    """Return the first length, from below or above, that is not in the tail."""
    seen = 0.0
    for length in sorted(lengths, reverse=reverse):
        seen += lengths[length]
        if seen > TAIL_SHARE * whole:
            return length
    raise AssertionError("all of it is more than a part of it")
