"""Pairs: a deal that two players played from both sides. Results and intervals of a tournament come from them.

The games of a pair share their cards, so they are no two trials; the pair is one. A pair is worth 0, 1/4, 1/2, 3/4 or
1 to its first player: two losses, ..., two wins, a draw as half a win. How often each of the five occurred is called
pentanomial. The intervals are those of the mean of independent pairs.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import erf, inf, log, log10, sqrt
from typing import NamedTuple

from piste.compiled.simulate import wilson_interval

ELO = 400 / log(10)
"""One unit of log-odds, in points of Elo."""

VALUES = (0.0, 0.25, 0.5, 0.75, 1.0)

PRIOR = 0.5
"""What is added to the pairs won twice and to those lost twice for LOS: with none it would be certain of anything."""


class Interval(NamedTuple):
    """A number and where the true one lies 19 times out of 20."""

    value: float
    low: float
    high: float

    @property
    def half(self) -> float:
        return (self.high - self.low) / 2


class Pairs(NamedTuple):
    """How often a pair was worth 0, 1/4, 1/2, 3/4 and 1 to its first player."""

    counts: tuple[int, int, int, int, int]

    @staticmethod
    def of(scores: Iterable[float]) -> Pairs:
        """Count pairs by what the first player scored in both games together, from 0 to 2."""
        counts = [0] * 5
        for score in scores:
            counts[round(2 * score)] += 1
        one, two, three, four, five = counts
        return Pairs((one, two, three, four, five))

    @property
    def n(self) -> int:
        return sum(self.counts)

    @property
    def mean(self) -> float:
        return _moments(self.counts)[0]

    @property
    def variance(self) -> float:
        """Of one pair."""
        return _moments(self.counts)[1]

    def reversed(self) -> Pairs:
        """Return the same pairs from the other player's side."""
        one, two, three, four, five = self.counts
        return Pairs((five, four, three, two, one))

    @property
    def score(self) -> Interval:
        """The share of the points, with Wilson's interval for the mean of pairs: right at 0 and at 100 % too."""
        mean, variance = _moments(self.counts)
        return Interval(mean, *wilson_interval(mean, variance, self.n))

    @property
    def elo(self) -> Interval:
        """The same as a difference of Elo; at 0 and 100 % one end is infinite."""
        return Interval(*(elo_of(share) for share in self.score))

    @property
    def los(self) -> float:
        """How likely it is that the first player is the better one."""
        counts = [float(count) for count in self.counts]
        counts[0] += PRIOR
        counts[-1] += PRIOR
        mean, variance = _moments(counts)
        return normal((mean - 0.5) / sqrt(variance / sum(counts)))


def _moments(counts: Iterable[float]) -> tuple[float, float]:
    weights = tuple(counts)
    n = sum(weights)
    if not n:
        return 0.5, 0.25
    mean = sum(count * value for count, value in zip(weights, VALUES, strict=True)) / n
    return mean, sum(count * (value - mean) ** 2 for count, value in zip(weights, VALUES, strict=True)) / n


def elo_of(share: float) -> float:
    """Return the difference of Elo at which this share of the points is to be expected."""
    if share <= 0 or share >= 1:
        return inf if share >= 1 else -inf
    return 400 * log10(share / (1 - share))


def share_of(elo: float) -> float:
    """Return the share of the points that is to be expected at a difference of Elo."""
    return 1 / (1 + 10 ** (-elo / 400))


def normal(z: float) -> float:
    """Return how likely a standard normal number is below z."""
    return (1 + erf(z / sqrt(2))) / 2


def cluster_share(deals: Iterable[tuple[float, int]]) -> tuple[Interval, int]:
    """Return a share with its interval where each deal is one trial: (points, games) of each, and how many games.

    At tables for more than two a deal has a game for every order of the seats, and those share their cards.
    """
    lots = [(points, games) for points, games in deals if games]
    games = sum(count for _, count in lots)
    if not games:
        return Interval(0.0, 0.0, 1.0), 0
    mean = sum(points for points, _ in lots) / games
    each = games / len(lots)
    variance = sum((points - mean * count) ** 2 for points, count in lots) / len(lots) / each**2
    return Interval(mean, *wilson_interval(mean, variance, len(lots))), games
