"""The error rates of the sequential test with bots as known pairs: their pairs are played, then drawn at random.

A bot against itself is worth exactly 0 points of Elo: its pairs are counted from both sides. Against itself with a
share of random moves it is worth what its pairs say: drawn from these, they are the truth.
"""

from __future__ import annotations

import random

import pytest

from piste.analysis.arena.pairs import Pairs
from piste.analysis.arena.sprt import SequentialTest, Sprt
from piste.analysis.arena.tournament import pair_scores
from tests.analysis.arena.entrants import HERE
from tests.analysis.arena.test_tournament import planned, played
from tests.game_setups import games
from tests.sizes import sized

WIDTH = 60.0
"""Between the two hypotheses, in points of Elo."""


def pairs_of(bot: str) -> Pairs:
    """Play a bot against `steady` and count the pairs."""
    results = played(planned("positive-negative", f"{HERE}:{bot}", "steady", games=games(sized(200, 1000))))
    return Pairs.of(pair_scores(results, 0))


def error_rate(pairs: Pairs, test: Sprt, wrong: str, seed: int) -> tuple[float, int]:
    """Return how often the test decides wrongly on pairs that are drawn from these, and over how many runs."""
    chooser, errors, runs = random.Random(seed), 0, sized(40, 400)
    for _ in range(runs):
        run = SequentialTest(test)
        while not run.take(chooser.choices((0, 0.5, 1, 1.5, 2), pairs.counts, k=25)):
            pass
        errors += run.verdict == wrong
    return errors / runs, runs


def allowed(test: Sprt, runs: int) -> float:
    """Return the error rate that it says, and three standard errors of measuring it."""
    return test.alpha + 3 * float((test.alpha * (1 - test.alpha) / runs) ** 0.5)


@pytest.mark.slow
def test_a_bot_against_itself_is_found_better_no_more_often_than_said() -> None:
    one = pairs_of("Noisy")
    both = Pairs.of(())._replace(counts=tuple(a + b for a, b in zip(one.counts, one.reversed().counts, strict=True)))  # type: ignore[arg-type]
    assert both.mean == pytest.approx(0.5)
    test = Sprt(0, WIDTH)
    rate, runs = error_rate(both, test, "E1", 1)
    assert rate <= allowed(test, runs)
    test = Sprt(-WIDTH, 0)
    rate, runs = error_rate(both, test, "E0", 2)
    assert rate <= allowed(test, runs)


@pytest.mark.slow
def test_a_bot_that_errs_is_found_as_much_worse_as_it_is() -> None:
    pairs = pairs_of("Noisy30")
    truth = pairs.elo.value
    assert truth < -10
    test = Sprt(truth, truth + WIDTH)
    rate, runs = error_rate(pairs, test, "E1", 3)
    assert rate <= allowed(test, runs)
    test = Sprt(truth - WIDTH, truth)
    rate, runs = error_rate(pairs, test, "E0", 4)
    assert rate <= allowed(test, runs)
