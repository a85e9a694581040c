"""Luck-adjusted results: what chance brought is taken off, so that fewer games tell as much.

Where values are exact, the coach knows the luck of every game: by how much the cards that came were worth more than
those that might have come. Where the seat that sees a card knows everything else, that is nothing on average, whoever
plays; where hands are hidden it depends on how the others play, and is not used. So the result less some multiple of
the luck has the same mean as the result, and a smaller spread where luck explains much of it: a control variate. The
multiple is cross-fitted: that of each tenth of the deals is worked out from the other nine, so it cannot follow the
luck of the games that it is used for, and the mean stays right.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from piste.analysis.arena.pairs import Interval
from piste.analysis.arena.results import Results
from piste.compiled.simulate import Z_95

FOLDS = 10
MIN_DEALS = 20
MAX_MEAN_LUCK = 4.0
"""In standard errors: if luck is further from nothing than this, its values do not describe this game."""


class Adjusted(NamedTuple):
    """The share of one entrant against another, with luck taken off."""

    deals: int
    raw: Interval
    adjusted: Interval
    coefficient: float  # how much of the luck is taken off, on average over the tenths
    mean_luck: Interval  # it should hold 0
    used: bool  # whether it made the interval narrower, and luck is nothing on average

    @property
    def factor(self) -> float:
        """How many times as many games the raw result would need for the same interval."""
        return (self.raw.half / self.adjusted.half) ** 2 if self.adjusted.half else 1.0


def adjust(results: Sequence[float], luck: Sequence[float]) -> Adjusted | None:
    """Adjust the results of deals, each between 0 and 1, by the luck of each; None if there are too few."""
    n = len(results)
    if n < MIN_DEALS:
        return None
    folds = [range(fold, n, FOLDS) for fold in range(FOLDS)]
    adjusted, coefficients = list(results), []
    for fold in folds:
        own = set(fold)
        others = [at for at in range(n) if at not in own]
        coefficient = _slope([luck[at] for at in others], [results[at] for at in others])
        coefficients.append(coefficient)
        for at in fold:
            adjusted[at] = results[at] - coefficient * luck[at]
    raw, better, chance = _interval(results), _interval(adjusted), _interval(luck)
    fair = abs(chance.value) * Z_95 <= MAX_MEAN_LUCK * chance.half
    return Adjusted(n, raw, better, sum(coefficients) / FOLDS, chance, fair and better.half < raw.half)


def _slope(x: Sequence[float], y: Sequence[float]) -> float:
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - mean_x) ** 2 for a in x)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread if spread else 0.0


def _interval(values: Sequence[float]) -> Interval:
    n = len(values)
    mean = sum(values) / n
    half = Z_95 * sqrt(sum((value - mean) ** 2 for value in values) / (n - 1) / n)
    return Interval(mean, mean - half, mean + half)


def adjusted_pairings(results: Results, deals: int | None = None) -> dict[tuple[int, int], Adjusted]:
    """Return the adjusted result of each pairing whose games have all been reviewed with exact values."""
    found = {}
    for lineup, entrants in enumerate(results.plan.lineups):
        keys = [key for key in sorted(results.reviews) if key[0] == lineup][:deals]
        reviews = [results.reviews[key] for key in keys]
        if len(entrants) != 2 or not all(game.exact for review in reviews for game in review.games):
            continue
        one, two = entrants
        scores, luck = [], []
        for key, review in zip(keys, reviews, strict=True):
            games = results.deals[key].games
            scores.append(results.deals[key].points(one)[0] / len(games))
            own = (seen.luck[game.seats.index(one)] for game, seen in zip(games, review.games, strict=True))
            luck.append(sum(own) / len(games))
        adjusted = adjust(scores, luck)
        if adjusted is not None:
            found[one, two] = adjusted
    return found
