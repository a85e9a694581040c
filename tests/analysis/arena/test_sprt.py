"""The sequential test: its LLR against direct maximization, its error rates by simulation, 0 and 100 %."""

from __future__ import annotations

import random
from math import log

import numpy as np
import pytest
from scipy.optimize import minimize  # type: ignore[import-untyped]

from piste.analysis.arena.pairs import VALUES, Pairs, share_of
from piste.analysis.arena.sprt import REGULAR, SequentialTest, Sprt, parse
from piste.core.errors import OptionError
from tests.sizes import sized


def best_likelihood(counts: list[float], mean: float) -> float:
    """Return the highest log-likelihood of counts among distributions of a mean, found by another method."""
    found = minimize(
        lambda p: -float(np.dot(counts, np.log(np.maximum(p, 1e-12)))),
        np.full(5, 0.2) + (mean - 0.5) * np.array([-0.4, -0.2, 0, 0.2, 0.4]),
        bounds=[(1e-12, 1)] * 5,
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "eq", "fun": lambda p: float(np.dot(p, VALUES)) - mean},
        ],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    return -float(found.fun)


@pytest.mark.parametrize("counts", [(10, 25, 60, 30, 15), (3, 0, 12, 1, 40), (398, 4112, 7672, 4336, 430)])
def test_the_llr_is_the_ratio_of_the_highest_likelihoods(counts: tuple[int, int, int, int, int]) -> None:
    test, pairs = Sprt(-5, 15), Pairs(counts)
    regular = [float(count or REGULAR) for count in counts]
    wanted = best_likelihood(regular, share_of(15)) - best_likelihood(regular, share_of(-5))
    assert test.llr(pairs) == pytest.approx(wanted, rel=2e-3, abs=2e-3)


def test_at_0_and_100_percent_it_decides_and_does_not_hurry() -> None:
    test = Sprt(0, 10)
    # All pairs won: under each hypothesis they are likeliest if a pair is won or lost as a whole.
    each = log(share_of(10) / share_of(0))
    assert test.llr(Pairs((0, 0, 0, 0, 50))) == pytest.approx(50 * each, rel=0.01)
    won, lost, even = SequentialTest(test), SequentialTest(test), SequentialTest(test)
    assert won.take([2.0] * 1000)
    assert (won.verdict, won.pairs.n) == ("E1", 104)
    assert lost.take([0.0] * 1000)
    assert lost.verdict == "E0"
    assert even.take([1.0] * 1000)
    assert even.verdict == "E0"
    assert test.llr(Pairs.of(())) == 0.0


@pytest.mark.parametrize(("truth", "wrong"), [(0.0, "E1"), (60.0, "E0")])
def test_it_errs_no_more_often_than_it_says(truth: float, wrong: str) -> None:
    """Pairs with a known mean, and games that are alike."""
    chooser, test = random.Random(1), Sprt(0, 60)
    up = share_of(truth)
    # A pair is split with 0.4; what is left is won or lost as a whole.
    weights = (0.6 - (up - 0.2), 0.0, 0.4, 0.0, up - 0.2)
    errors, runs = 0, sized(40, 600)
    for _ in range(runs):
        run = SequentialTest(test)
        while not run.take(chooser.choices((0, 0.5, 1, 1.5, 2), weights, k=20)):
            pass
        errors += run.verdict == wrong
    assert errors / runs <= sized(0.1, 0.065)


def test_nothing_is_taken_after_the_verdict() -> None:
    run = SequentialTest(Sprt(0, 100))
    assert run.take([2.0] * 30)
    settled = run.pairs
    assert run.take([0.0] * 300)
    assert run.pairs == settled


def test_how_it_is_written() -> None:
    assert parse("0,20") == Sprt(0, 20)
    assert parse("-3,3,0.1,0.01") == Sprt(-3, 3, 0.1, 0.01)
    assert parse("0,20").bounds == pytest.approx((-2.944, 2.944), abs=1e-3)
    for text in ("20", "20,0", "a,b", "0,20,0.9,0.9", "0,1,2,3,4", "nan,1"):
        with pytest.raises(OptionError, match="--sprt cannot be"):
            parse(text)
