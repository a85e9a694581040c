"""The value of skill: each level against each with the seats swapped, and the share of the variance it explains.

Let y be what one player of a match gets from a game: 1 for a win, 0 for a loss, 1/n for a draw at a table for n. With
equal players, even seats and nothing else y is 1/n on average. The mean of (y - 1/n)^2 over a round robin is split in
three, which add up to it:

- skill: the square of what the player gets beyond 1/n, averaged over all seats;
- seats: the square of what a seat adds to that or takes from it;
- luck: the rest, which neither who plays nor where they sit explains. It holds the cards and whatever the bots leave
  to chance themselves.

Squares of measured means are too large by the variance of the mean; that is taken off.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import exp, factorial
from typing import NamedTuple

from piste.analysis.arena.match import Result
from piste.analysis.balance.estimates import MEASURED, Estimate, mean, points, variance

RESAMPLES = 200
"""Bootstrap resamples for the intervals."""

POISSON = tuple(exp(-1) / factorial(n) for n in range(8))
"""The probability that a deal is in a resample n times."""

Deal = tuple[float, ...]
"""What the first player of a match got from a deal, in each seat."""


class Split(NamedTuple):
    """The shares of skill, seats and luck in the variance of the results."""

    skill: Estimate
    seats: Estimate
    luck: Estimate


def deals(result: Result) -> list[Deal]:
    """Return the results of a match by deal; an incomplete deal is left out."""
    by_deal = [
        tuple(1 / result.seats if game.winner is None else float(game.winner == game.seat) for game in games)
        for _, games in groupby(result.outcomes, lambda game: game.deal)
    ]
    return [deal for deal in by_deal if len(deal) == result.seats]


def table(results: Sequence[Result]) -> dict[tuple[str, str], Estimate]:
    """Return the points of each level against each other, a draw as half a win."""
    estimates = {}
    for result in results:
        every = [y for deal in deals(result) for y in deal]
        if not every:
            continue
        one, two = result.specs
        estimates[one, two] = points(Counter(every))
        if result.seats == 2:
            estimates[two, one] = points(Counter(1 - y for y in every))
    return estimates


def payoff_table(results: Sequence[Result]) -> dict[tuple[str, str], Estimate]:
    """Return what each level is paid on average against each other; seats of a deal count as one sample."""
    estimates = {}
    for result in results:
        paid: dict[int, list[int]] = {}
        for game in result.outcomes:
            if game.payoffs:
                paid.setdefault(game.deal, []).append(game.payoffs[game.seat])
        means = [sum(deal) / len(deal) for deal in paid.values() if len(deal) == result.seats]
        if means:
            one, two = result.specs
            estimates[one, two] = mean(means, -math.inf)
            if result.seats == 2:
                estimates[two, one] = mean([-value for value in means], -math.inf)
    return estimates


def split(results: Sequence[Result], seed: str = "split") -> Split | None:
    """Return how much of the results is skill, seats and luck; None if there is nothing to explain."""
    matches = [match for result in results if len(match := deals(result)) >= 2]
    whole = _parts(matches)
    if whole is None:
        return None
    resampled = [parts for sample in resamples(matches, seed) if (parts := _parts(sample)) is not None]
    games = sum(len(match) * len(match[0]) for match in matches)
    own, place = max(0.0, whole[0]), max(0.0, whole[1])  # the correction may be larger than the estimate
    shares = (own, place, max(0.0, 1 - own - place))
    return Split(*(_estimate(shares[i], [parts[i] for parts in resampled], games) for i in range(3)))


def better(results: Sequence[Result], order: Sequence[str], seed: str = "better") -> Estimate | None:
    """Return what the better of two levels gets, on average over the pairs; `order` has the weakest first."""
    matches = []
    for result in results:
        one, two = (order.index(spec) for spec in result.specs)
        if result.seats > 2 and one < two:
            continue  # a match of one weaker player among stronger ones says nothing of a lone stronger one
        if played := deals(result):
            matches.append(played if one > two else [tuple(1 - y for y in deal) for deal in played])

    def mean(matches: Sequence[Sequence[Deal]]) -> float:
        return sum(sum(map(sum, match)) / (len(match) * len(match[0])) for match in matches) / len(matches)

    if not matches:
        return None
    games = sum(len(match) * len(match[0]) for match in matches)
    return _estimate(mean(matches), [mean(sample) for sample in resamples(matches, seed)], games)


def resamples(matches: Sequence[Sequence[Deal]], seed: str) -> Iterator[list[list[Deal]]]:
    """Yield Poisson bootstrap resamples: each deal some times or never, the same in all matches.

    All matches are played with the same deals, so their errors are correlated.
    """
    chooser = random.Random(seed)
    most = max(map(len, matches))
    for _ in range(RESAMPLES):
        times = chooser.choices(range(len(POISSON)), POISSON, k=most)
        sample = [[deal for deal, n in zip(match, times, strict=False) for _ in range(n)] for match in matches]
        if all(len(match) >= 2 for match in sample):
            yield sample


def _parts(matches: Sequence[Sequence[Deal]]) -> tuple[float, float, float] | None:
    """Return the shares of skill, seats and luck as they are measured; None if there is nothing to explain."""
    total = skill = place = 0.0
    for match in matches:
        n, seats = len(match), len(match[0])
        even = 1 / seats
        means = [sum(deal) / seats for deal in match]
        middle = sum(means) / n
        total += sum((y - even) ** 2 for deal in match for y in deal) / (n * seats)
        skill += (middle - even) ** 2 - variance(means) / n
        for seat in range(seats):
            beyond = [deal[seat] - own for deal, own in zip(match, means, strict=True)]
            place += ((sum(beyond) / n) ** 2 - variance(beyond) / n) / seats
    if total <= 0:
        return None
    return skill / total, place / total, 1 - (skill + place) / total


def _estimate(value: float, resampled: list[float], games: int) -> Estimate:
    """Return a share with its bootstrap interval."""
    if not resampled:
        return Estimate(value, 0.0, 1.0, MEASURED, games)
    resampled = sorted(resampled)
    middle = sum(resampled) / len(resampled)
    low, high = (resampled[round(part * (len(resampled) - 1))] - middle for part in (0.025, 0.975))
    return Estimate(value, max(0.0, min(value, value + low)), min(1.0, max(value, value + high)), MEASURED, games)
