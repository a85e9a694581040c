"""Intervals from pairs: against fastchess's published example, against simulation, and at 0 and 100 %."""

from __future__ import annotations

import random
from math import inf

import pytest

from piste.analysis.arena.pairs import Pairs, cluster_share, elo_of, share_of
from piste.compiled.simulate import share


def test_the_published_example_of_fastchess() -> None:
    pairs = Pairs((398, 4112, 7672, 4336, 430))
    assert 2 * pairs.n == 33_896
    assert round(pairs.elo.value, 2) == 2.95
    assert round(pairs.elo.half, 2) == 2.18


def test_pairs_are_counted_by_what_the_first_player_got() -> None:
    pairs = Pairs.of([0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 2.0])
    assert pairs.counts == (1, 1, 2, 1, 2)
    assert pairs.mean == pytest.approx(8 / 14)
    assert pairs.reversed().mean == pytest.approx(6 / 14)
    assert pairs.los + pairs.reversed().los == pytest.approx(1)


def test_where_nothing_varies_an_interval_is_still_no_point() -> None:
    won, even, none = Pairs((0, 0, 0, 0, 40)), Pairs((0, 0, 40, 0, 0)), Pairs.of(())
    assert won.score == pytest.approx((1.0, share(40, 40).low, 1.0))  # Wilson's, with the pair as one trial
    assert won.elo.value == won.elo.high == inf
    assert won.elo.low == pytest.approx(elo_of(won.score.low))
    assert Pairs((0, 0, 0, 0, 1)).los < 0.8 < 0.999 < won.los <= 1
    assert even.los == 0.5
    assert even.score.low < 0.5 < even.score.high
    assert (none.score.low, none.score.high, none.los) == (0.0, 1.0, 0.5)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Pairs whose games are strongly alike: taken as independent games, the intervals would be far too narrow."""
    chooser, held, runs = random.Random(5), 0, 400
    likely = (0.3, 0.05, 0.2, 0.05, 0.4)
    truth = sum(p * score / 2 for p, score in zip(likely, (0, 0.5, 1, 1.5, 2), strict=True))
    for _ in range(runs):
        score = Pairs.of(chooser.choices((0, 0.5, 1, 1.5, 2), likely, k=60)).score
        held += score.low <= truth <= score.high
    assert 0.93 <= held / runs <= 0.97


def test_elo_and_shares_are_two_ways_to_say_the_same() -> None:
    for elo in (-300.0, 0.0, 12.5, 700.0):
        assert elo_of(share_of(elo)) == pytest.approx(elo)
    assert share_of(400) == pytest.approx(10 / 11)


def test_a_deal_is_one_trial_at_a_larger_table() -> None:
    # Two deals of three games each: in one all were won, in the other none. That is a share of two trials.
    found, games = cluster_share([(3.0, 3), (0.0, 3)])
    assert games == 6
    assert (found.value, found.low, found.high) == pytest.approx((0.5, share(1, 2).low, share(1, 2).high))
    assert cluster_share([]) == ((0.0, 0.0, 1.0), 0)
