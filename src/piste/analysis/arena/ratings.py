"""Ratings of all entrants of a tournament, fitted at once over all its games.

The model is Bradley and Terry's, with draws as Davidson has them and an advantage of the seat that decides first.
Each entrant has a rating r in units of log-odds. If the one that begins is a points ahead by that alone, the three
results of a game are as likely as

    exp(r1 + a/2)    :    exp(d + (r1 + r2)/2)    :    exp(r2 - a/2)

for a win of the one that begins, a draw, and a loss. Without any draw d is left out. This is a logit model, so the
likelihood has one maximum, which Newton's method finds.

Scores of 0 and 100 % have no finite rating by themselves. So each pairing has, besides its games, half a win for
either side (Jeffreys' prior of a share), a quarter of it from each side of the table.

Intervals come from the curvature of the likelihood. That takes games as independent, and those of a pair are not:
each pairing's part is scaled by how much its pairs vary, compared with independent games.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp, sqrt
from typing import NamedTuple

from piste.analysis.arena.pairs import ELO, Interval, normal
from piste.compiled.simulate import Z_95

WON, DRAWN, LOST = 1.0, 0.5, 0.0
PRIOR_GAMES = 1.0
"""The games that are added to each pairing: half of them won, half lost."""

PRIOR_VARIANCE = 1.0
"""How much of the variance of independent games is mixed into that of the pairs: as much as four even games have.

Where all pairs are equal, as at 0 and 100 %, they alone would be certain of everything.
"""

MAX_STEPS = 100
TOLERANCE = 1e-10

Pairing = tuple[int, int]
Result = tuple[int, float]
"""Of one game: 1 if the first of the pairing began, -1 if the second, 0 if nobody decided; and what the first got."""

Deals = Mapping[Pairing, Counter[tuple[Result, ...]]]
"""For each pairing how often a deal went so, in all its games."""

Matrix = list[list[float]]


class Ratings(NamedTuple):
    """The fit, in points of Elo."""

    values: tuple[float, ...]  # of each entrant; the anchor has its own
    covariance: Matrix  # of the entrants; that of the anchor is 0
    advantage: Interval  # of the seat that decides first
    draw_rate: float  # how often two equal players draw, by the model
    anchor: int

    def interval(self, entrant: int) -> Interval:
        """A rating with its interval, compared with the anchor."""
        half = Z_95 * sqrt(max(0.0, self.covariance[entrant][entrant]))
        return Interval(self.values[entrant], self.values[entrant] - half, self.values[entrant] + half)

    def difference(self, one: int, two: int) -> Interval:
        c = self.covariance
        half = Z_95 * sqrt(max(0.0, c[one][one] + c[two][two] - 2 * c[one][two]))
        apart = self.values[one] - self.values[two]
        return Interval(apart, apart - half, apart + half)

    def los(self, one: int, two: int) -> float:
        """How likely it is that one is stronger than the other."""
        apart = self.difference(one, two)
        spread = apart.half / Z_95
        return normal(apart.value / spread) if spread else 0.5


def fit(entrants: int, deals: Deals, anchor: int = 0, anchored_at: float = 0.0) -> Ratings:
    """Return the ratings of all entrants; the pairings have to connect them."""
    cells: dict[Pairing, Counter[Result]] = {}
    for pairing, counts in deals.items():
        cells[pairing] = Counter()
        for games, times in counts.items():
            for result in games:
                cells[pairing][result] += times
    drawn = any(score == DRAWN for counts in cells.values() for _, score in counts)
    model = _Model(entrants, anchor, drawn)
    weights = {pairing: {**_prior(), **_added(counts)} for pairing, counts in cells.items()}
    x = model.maximum(weights)
    curvature = [model.derivatives(pairing, own, x)[2] for pairing, own in weights.items()]
    scales = [model.pair_scale(pairing, counts, x) for pairing, counts in deals.items()]
    whole = _sum(curvature, model.size)
    inverse = invert(whole)
    middle = _sum([[[scale * n for n in row] for row in part] for scale, part in zip(scales, curvature, strict=True)],
                  model.size)  # fmt: skip
    spread = _product(_product(inverse, middle), inverse)
    values = tuple(anchored_at + ELO * model.rating(x, i) for i in range(entrants))
    places = [model.place(i) for i in range(entrants)]
    covariance = [
        [0.0 if a is None or b is None else ELO * ELO * spread[a][b] for b in places] for a in places
    ]  # fmt: skip
    half = Z_95 * ELO * sqrt(max(0.0, spread[model.edge][model.edge]))
    edge = ELO * x[model.edge]
    draws = exp(x[model.draw]) / (2 + exp(x[model.draw])) if drawn else 0.0
    return Ratings(values, covariance, Interval(edge, edge - half, edge + half), draws, anchor)


def _prior() -> dict[Result, float]:
    return {(begins, score): PRIOR_GAMES / 4 for begins in (1, -1) for score in (WON, LOST)}


def _added(counts: Counter[Result]) -> dict[Result, float]:
    prior = _prior()
    return {result: times + prior.get(result, 0.0) for result, times in counts.items()}


class _Model:
    """The parameters: ratings without the anchor's, the advantage, and the draw parameter if there are draws."""

    def __init__(self, entrants: int, anchor: int, drawn: bool) -> None:
        self.anchor, self.drawn = anchor, drawn
        self.edge, self.draw = entrants - 1, entrants
        self.size = entrants + drawn

    def place(self, entrant: int) -> int | None:
        return None if entrant == self.anchor else entrant - (entrant > self.anchor)

    def rating(self, x: Sequence[float], entrant: int) -> float:
        at = self.place(entrant)
        return 0.0 if at is None else x[at]

    def _outcomes(self, pairing: Pairing, begins: int) -> list[tuple[float, list[tuple[int, float]]]]:
        """Return each result with the coefficients of its utility."""
        one, two = (self.place(entrant) for entrant in pairing)

        def utility(own: float, other: float, edge: float, draw: float) -> list[tuple[int, float]]:
            terms = [(one, own), (two, other), (self.edge, edge), (self.draw if draw else None, draw)]
            return [(at, times) for at, times in terms if at is not None and times]

        outcomes = [(WON, utility(1, 0, begins / 2, 0)), (LOST, utility(0, 1, -begins / 2, 0))]
        return [*outcomes, (DRAWN, utility(0.5, 0.5, 0, 1))] if self.drawn else outcomes

    def _chances(self, outcomes: Sequence[tuple[float, list[tuple[int, float]]]], x: Sequence[float]) -> list[float]:
        utilities = [sum(times * x[at] for at, times in terms) for _, terms in outcomes]
        most = max(utilities)
        parts = [exp(utility - most) for utility in utilities]
        return [part / sum(parts) for part in parts]

    def derivatives(
        self, pairing: Pairing, counts: Mapping[Result, float], x: Sequence[float]
    ) -> tuple[float, list[float], Matrix]:
        """Return a pairing's log-likelihood, its gradient, and the curvature: minus the second derivatives."""
        from math import log

        value, gradient = 0.0, [0.0] * self.size
        curvature = [[0.0] * self.size for _ in range(self.size)]
        for begins in sorted({begins for begins, _ in counts}):
            outcomes = self._outcomes(pairing, begins)
            chances = self._chances(outcomes, x)
            times = [counts.get((begins, score), 0.0) for score, _ in outcomes]
            games = sum(times)
            mean = [0.0] * self.size
            for chance, (_, terms) in zip(chances, outcomes, strict=True):
                for at, factor in terms:
                    mean[at] += chance * factor
            for n, chance, (_, terms) in zip(times, chances, outcomes, strict=True):
                value += n * log(max(chance, 1e-300)) if n else 0.0
                for at, factor in terms:
                    gradient[at] += n * factor
                    for other, second in terms:
                        curvature[at][other] += games * chance * factor * second
            used = [at for at in range(self.size) if mean[at]]
            for at in used:
                gradient[at] -= games * mean[at]
                for other in used:
                    curvature[at][other] -= games * mean[at] * mean[other]
        return value, gradient, curvature

    def maximum(self, weights: Mapping[Pairing, Mapping[Result, float]]) -> list[float]:
        """Return where the likelihood is highest."""
        x = [0.0] * self.size

        def whole(at: Sequence[float]) -> tuple[float, list[float], Matrix]:
            parts = [self.derivatives(pairing, counts, at) for pairing, counts in weights.items()]
            gradient = [sum(part[1][i] for part in parts) for i in range(self.size)]
            return sum(part[0] for part in parts), gradient, _sum([part[2] for part in parts], self.size)

        value, gradient, curvature = whole(x)
        for _ in range(MAX_STEPS):
            inverse = invert(curvature)
            step = [sum(a * b for a, b in zip(row, gradient, strict=True)) for row in inverse]
            size = 1.0
            while True:  # halve a step that leads down
                there = [a + size * b for a, b in zip(x, step, strict=True)]
                found = whole(there)
                if found[0] >= value - 1e-9 or size < 1e-6:
                    break
                size /= 2
            x, (value, gradient, curvature) = there, found
            if max(abs(size * part) for part in step) < TOLERANCE:
                break
        return x

    def pair_scale(self, pairing: Pairing, deals: Counter[tuple[Result, ...]], x: Sequence[float]) -> float:
        """Return the variance of a deal's points compared with that of as many independent games."""
        moments: dict[int, tuple[float, float]] = {}
        for begins in (1, 0, -1):
            outcomes = self._outcomes(pairing, begins)
            chances = self._chances(outcomes, x)
            mean = sum(chance * score for chance, (score, _) in zip(chances, outcomes, strict=True))
            square = sum(chance * score * score for chance, (score, _) in zip(chances, outcomes, strict=True))
            moments[begins] = mean, square - mean * mean
        seen = alone = PRIOR_VARIANCE
        for games, times in deals.items():
            seen += times * sum(score - moments[begins][0] for begins, score in games) ** 2
            alone += times * sum(moments[begins][1] for begins, _ in games)
        return seen / alone


def _sum(parts: Sequence[Matrix], size: int) -> Matrix:
    return [[sum(part[i][j] for part in parts) for j in range(size)] for i in range(size)]


def _product(one: Matrix, two: Matrix) -> Matrix:
    columns = list(zip(*two, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in one]


def invert(matrix: Matrix) -> Matrix:
    """Return the inverse of a matrix that has one: Gauss and Jordan's way, with pivots."""
    n = len(matrix)
    rows = [[*row, *(float(i == j) for j in range(n))] for i, row in enumerate(matrix)]
    for at in range(n):
        best = max(range(at, n), key=lambda i: abs(rows[i][at]))
        rows[at], rows[best] = rows[best], rows[at]
        pivot = rows[at][at]
        rows[at] = [value / pivot for value in rows[at]]
        for i in range(n):
            if i != at and rows[i][at]:
                factor = rows[i][at]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[at], strict=True)]
    return [row[n:] for row in rows]
