"""Ratings: against an independent fit, against simulation with known strengths, and where nobody ever loses."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from math import exp, log

import numpy as np
import pytest
from scipy.optimize import minimize  # type: ignore[import-untyped]

from piste.analysis.arena.pairs import ELO
from piste.analysis.arena.ratings import Deals, fit, invert
from tests.sizes import sized

STRENGTHS = (0.0, 90.0, 250.0, 600.0)


def simulated(seed: int, deals: int, draw: float | None = 0.5, edge: float = 60.0, alike: float = 0.0) -> Deals:
    """Play a round robin by the model; with `alike`, so often the second game of a pair is decided as the first."""
    chooser = random.Random(seed)

    def game(one: int, two: int, begins: int) -> float:
        a, b, e = STRENGTHS[one] / ELO, STRENGTHS[two] / ELO, begins * edge / ELO / 2
        weights = [exp(a + e), exp(b - e), 0.0 if draw is None else draw * exp((a + b) / 2)]
        return chooser.choices((1.0, 0.0, 0.5), weights)[0]

    found: dict[tuple[int, int], Counter[tuple[tuple[int, float], ...]]] = {}
    for one, two in combinations(range(len(STRENGTHS)), 2):
        counts = found[one, two] = Counter()
        for _ in range(deals):
            first = game(one, two, 1)
            second = first if chooser.random() < alike else game(one, two, -1)
            counts[(1, first), (-1, second)] += 1
    return found


def independent_fit(deals: Deals) -> tuple[list[float], float, float]:
    """Fit the same model with another method and another way to write it: ratings, advantage, rate of draws."""
    games: Counter[tuple[int, int, int, float]] = Counter()
    for (one, two), counts in deals.items():
        for results, times in counts.items():
            for begins, score in results:
                games[one, two, begins, score] += times

    def loss(x: np.ndarray) -> float:
        strength, edge, nu = np.concatenate([[0.0], x[:3]]), x[3], np.exp(x[4])
        total = 0.0
        for (one, two, begins, score), times in games.items():
            p, q = np.exp(strength[one] + (begins == 1) * edge), np.exp(strength[two] + (begins == -1) * edge)
            whole = p + q + nu * np.sqrt(p * q)
            total -= times * log({1.0: p, 0.0: q, 0.5: nu * np.sqrt(p * q)}[score] / whole)
        for one, two in deals:  # the prior
            for begins in (1, -1):
                p, q = np.exp(strength[one] + (begins == 1) * edge), np.exp(strength[two] + (begins == -1) * edge)
                whole = p + q + nu * np.sqrt(p * q)
                total -= 0.25 * (log(p / whole) + log(q / whole))
        return float(total)

    x = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-8}).x
    nu = exp(x[4])
    return [0.0, *(ELO * x[:3])], ELO * x[3], nu / (2 + nu)


def test_an_independent_fit_finds_the_same() -> None:
    deals = simulated(1, 80)
    ratings = fit(4, deals)
    values, edge, draws = independent_fit(deals)
    assert ratings.values == pytest.approx(values, abs=0.05)
    assert ratings.advantage.value == pytest.approx(edge, abs=0.05)
    assert ratings.draw_rate == pytest.approx(draws, abs=1e-4)


@pytest.mark.parametrize("alike", [0.0, 0.8])
@pytest.mark.parametrize("draw", [0.5, None])
def test_intervals_hold_known_strengths_as_often_as_they_say(draw: float | None, alike: float) -> None:
    """Also where the games of a pair are alike, so that there is less in them than in independent ones."""
    runs = sized(40, 300)
    held = 0
    for seed in range(runs):
        # A second game that repeats the first knows no advantage of the seat, so there is none then.
        ratings = fit(4, simulated(seed, 40, draw, 0.0 if alike else 60.0, alike))
        for entrant, truth in enumerate(STRENGTHS[1:], 1):
            found = ratings.interval(entrant)
            held += found.low <= truth <= found.high
    assert sized(0.88, 0.92) <= held / (3 * runs) <= sized(1.0, 0.98)


def test_pairs_that_are_alike_make_intervals_wider() -> None:
    apart, alike = (fit(4, simulated(2, 100, None, 0.0, how)) for how in (0.0, 1.0))
    ratio = alike.difference(0, 1).half / apart.difference(0, 1).half
    assert 1.25 < ratio < 1.6  # as half as many games: 1.41


def test_who_never_loses_has_a_rating_and_a_wide_interval() -> None:
    deals: Deals = {(0, 1): Counter({((1, 0.0), (-1, 0.0)): 100})}
    ratings = fit(2, deals)
    won = ratings.interval(1)
    assert won.value == pytest.approx(ELO * log(200.5 / 0.5), abs=0.5)
    assert won.low > 400
    assert won.half > 300
    assert ratings.los(1, 0) > 0.999
    assert ratings.advantage.value == pytest.approx(0, abs=1e-6)
    more = fit(2, {(0, 1): Counter({((1, 0.0), (-1, 0.0)): 1000})})
    assert more.values[1] > ratings.values[1]


def test_where_all_is_drawn_everybody_is_equal() -> None:
    deals: Deals = {(one, two): Counter({((1, 0.5), (-1, 0.5)): 50}) for one, two in combinations(range(3), 2)}
    ratings = fit(3, deals)
    assert ratings.values == pytest.approx((0, 0, 0), abs=1e-6)
    assert ratings.los(0, 1) == pytest.approx(0.5)
    assert ratings.draw_rate > 0.9


def test_the_anchor_has_its_rating_and_differences_do_not_depend_on_it() -> None:
    deals = simulated(3, 60)
    one, two = fit(4, deals), fit(4, deals, 2, 1500.0)
    assert (one.values[0], two.values[2]) == (0.0, 1500.0)
    assert two.difference(3, 1) == pytest.approx(one.difference(3, 1), abs=1e-6)
    assert two.los(1, 0) == pytest.approx(one.los(1, 0), abs=1e-9)


def test_a_tournament_that_has_just_begun_has_ratings_too() -> None:
    ratings = fit(3, {(0, 1): Counter({((1, 1.0), (-1, 1.0)): 1}), (0, 2): Counter(), (1, 2): Counter()})
    assert ratings.values[1] < ratings.values[2] < 0
    assert ratings.interval(2).half > 400


def test_a_game_that_nobody_decided_counts_without_the_advantage() -> None:
    ratings = fit(2, {(0, 1): Counter({((0, 1.0), (0, 0.0)): 50})})
    assert ratings.values == pytest.approx((0, 0), abs=1e-9)


def test_inverting() -> None:
    matrix = [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [3.0, 0.0, 5.0]]
    assert np.array(invert(matrix)) == pytest.approx(np.linalg.inv(np.array(matrix)))
