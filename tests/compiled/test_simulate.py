"""Games by the million: the same for any number of threads, and as often as exact counting says."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import groupby
from math import sqrt
from typing import Any

import numpy as np
import pytest

from piste.compiled import vector_games
from piste.compiled.compiler import game_kernels, policy_names
from piste.compiled.simulate import Tally, share, simulate
from piste.compiled.vector_games import VectorGames
from piste.core.errors import IllegalDecisionError, OptionError, UnknownNameError
from piste.core.game import Game, find, members, names
from piste.core.protocols import CHANCE, OVER
from tests.game_setups import FULL, ODD, Kind, games, played, walked
from tests.sizes import slow_if

EVERY = pytest.mark.parametrize("kind", [*FULL, *ODD], ids=str)
TALLIES = pytest.mark.parametrize(
    "kind", slow_if(lambda kind: kind.game in ("mccoy-duel", "zero-sum-grid"), [*FULL, *ODD]), ids=str
)
FIVE = pytest.mark.parametrize("name", names())
COMPILING = pytest.mark.parametrize("name", slow_if(lambda name: name != "zero-sum-duel", names()))
"""The same, where all that compiles anew but one is left to the whole run."""

# Small enough to go through every game there is.
SMALL = (
    Kind("zero-sum-duel", {"top": 3, "hand": 2, "turns": 5}),
    Kind("positive-negative", {"top": 3}),
    Kind("zero-sum-grid", {"top": 1, "turns": 2}),
    Kind("zero-sum-grid", {"top": 1, "deal": "any", "turns": 1}),
    Kind("prime-duel", {"top": 3, "copies": 2, "target": 7, "turns": 4}),
    Kind("mccoy-duel", {"powers": "0*", "rounds": 1}),
    Kind("mccoy-duel", {"powers": "26", "rounds": 1, "players": 3, "first": 1}),
)


@EVERY
def test_each_outcome_has_as_many_numbers_as_it_weighs(kind: Kind) -> None:
    rules = find(kind.game).rules
    for s, _ in walked(kind, played(kind, 1).history()):
        if rules.to_act(s) == CHANCE:
            weights = {outcome: rules.weight(s, outcome) for outcome in members(rules.outcomes(s))}
            assert rules.spread(s) == sum(weights.values())
            if rules.spread(s) <= 1000:
                drawn = [rules.drawn(s, at) for at in range(rules.spread(s))]
                assert Counter(drawn) == weights
                assert len([outcome for outcome, _ in groupby(drawn)]) == len(weights)  # side by side


def test_the_first_cell_of_a_grid_has_as_many_numbers_as_grids() -> None:
    game = find("zero-sum-grid")
    space = game_kernels(game, compiled=True)
    s = game.rules.start(game.options())
    drawn = Counter(space.drawn(s, at) for at in range(space.spread(s)))
    assert drawn == {outcome: game.rules.weight(s, outcome) for outcome in range(10)}
    assert drawn.total() == 18_982  # the winnable grids (R1)


@COMPILING
def test_threads_do_not_change_results(name: str) -> None:
    game = find(name)
    options = game.options()
    one = simulate(game, options, 9000, seed="threads")
    assert one.games == 9000
    for threads in (2, 3, 7):
        assert simulate(game, options, 9000, seed="threads", threads=threads) == one
    assert simulate(game, options, 9000, seed="other") != one
    known = policy_names(game)
    mixed = simulate(game, options, 5000, policies=known[-1:])
    assert simulate(game, options, 5000, policies=known[-1:], threads=3) == mixed


@TALLIES
def test_interpreted_and_compiled_tallies_are_equal(kind: Kind) -> None:
    game = find(kind.game)
    options = game.options(kind.options)
    assert simulate(game, options, 20, compiled=False) == simulate(game, options, 20)
    for name in policy_names(game):
        policies = [name, "random"]
        plain = simulate(game, options, 8, policies=policies, compiled=False, most=3000)
        assert plain == simulate(game, options, 8, policies=policies, most=3000)


Ends = dict[tuple[tuple[int, ...], int, int], Fraction]


def enumerated(game: Game, s: Any, known: dict[Any, Ends]) -> Ends:
    """Return how likely random play leads from here to each end: payoffs, reason and decisions to come."""
    if s not in known:
        known[s] = enumerated_anew(game, s, known)
    return known[s]


def enumerated_anew(game: Game, s: Any, known: dict[Any, Ends]) -> Ends:
    rules = game.rules
    actor = rules.to_act(s)
    if actor == OVER:
        paid = tuple(rules.payoff(s, seat) for seat in range(rules.seats(s.options)))
        return {(paid, rules.reason(s), 0): Fraction(1)}
    choices = members(rules.outcomes(s) if actor == CHANCE else rules.legal(s))
    weights = [rules.weight(s, choice) if actor == CHANCE else 1 for choice in choices]
    ends: Ends = {}
    for choice, weight in zip(choices, weights, strict=True):
        for (paid, reason, decisions), p in enumerated(game, rules.apply(s, choice), known).items():
            end = paid, reason, decisions + (actor >= 0)
            ends[end] = ends.get(end, Fraction()) + p * Fraction(weight, sum(weights))
    return ends


def near(count: int, n: int, p: float) -> bool:
    """Say whether a count is within five standard deviations of what is to be expected: seeds are fixed."""
    return abs(count - n * p) <= 5 * sqrt(n * p * (1 - p)) + 1e-9


@pytest.mark.parametrize("kind", slow_if(lambda kind: kind.game == "mccoy-duel", SMALL), ids=str)
def test_random_play_is_as_exact_enumeration_says(kind: Kind) -> None:
    game = find(kind.game)
    options = game.options(kind.options)
    exact = enumerated(game, game.rules.start(options), {})
    assert sum(exact.values()) == 1
    n = games(200_000)
    tally = simulate(game, options, n, seed="exact")
    assert tally.unfinished == 0
    for seat, wins in enumerate(tally.wins):
        assert near(wins, n, float(sum(p for (paid, _, _), p in exact.items() if paid[seat] > 0)))
    assert near(tally.draws, n, float(sum(p for (paid, _, _), p in exact.items() if max(paid) == 0)))
    for field, counts in ((1, tally.reasons), (2, tally.lengths)):
        wanted: dict[Any, Fraction] = {}
        for key, p in exact.items():
            wanted[key[field]] = wanted.get(key[field], Fraction()) + p
        assert set(counts) <= set(wanted)
        assert all(near(counts.get(value, 0), n, float(p)) for value, p in wanted.items())
    mean = float(sum(p * key[2] for key, p in exact.items()))
    assert abs(tally.length[0] - mean) <= 3 * tally.length[1] + 1e-9


@COMPILING
def test_many_games_together_are_the_same_interpreted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = find(name)
    options = game.options()
    many = VectorGames(game, options, 24, seed="together", threads=2)
    monkeypatch.setattr(vector_games, "game_kernels", lambda game, **_: game_kernels(game, compiled=False))
    plain = VectorGames(game, options, 24, seed="together")
    ended = 0
    for _ in range(120):
        for array, other in zip(many._rows, plain._rows, strict=True):
            assert (array == other).all()
        for i in range(24):
            state = many.state(i)
            assert game.rules.to_act(state) == many.actors[i]
            assert many.choices[i] == (game.rules.legal(state) if many.actors[i] >= 0 else 0)
            payoffs = [game.rules.payoff(state, seat) for seat in range(many.seats)]
            assert payoffs == list(many.paid[i])
        actions = plain.pick()
        waiting = plain.actors >= 0
        assert (many.pick()[waiting] == actions[waiting]).all()
        plain.step(actions)
        many.step(actions)
        over = np.flatnonzero(many.actors == OVER)
        ended += len(over)
        assert list(many.restart()) == list(plain.restart()) == list(over)
        assert many.steps == plain.steps
    many.close()
    assert ended > 0 or name == "zero-sum-grid"


def test_many_games_refuse_a_closed_decision_and_change_nothing() -> None:
    game = find("prime-duel")
    many = VectorGames(game, game.options(), 50)
    actions = many.pick()
    before = (many._rows.table.copy(), many.steps)
    for wrong in (-1, 61, 62, 1000):
        bad = actions.copy()
        bad[17] = wrong
        with pytest.raises(IllegalDecisionError, match="In game 17"):
            many.step(bad)
        assert (many._rows.table == before[0]).all()
        assert many.steps == before[1]
    many.step(actions)
    assert many.steps > before[1]


@pytest.mark.slow
def test_a_policy_of_ones_own() -> None:
    game = find("prime-duel")

    def discards(v: Any, choices: int, word: int) -> int:  # noqa: ARG001
        return 1

    own = simulate(game, game.options(), 500, policies=[discards, "keep"])
    assert own == simulate(game, game.options(), 500, policies=[discards, "keep"], compiled=False)
    assert own != simulate(game, game.options(), 500, policies=["random", "keep"])


def test_policies_are_stronger_than_random_where_they_should_be() -> None:
    for name, policy in (("zero-sum-duel", "nearest"), ("positive-negative", "average"), ("prime-duel", "primes")):
        game = find(name)
        tally = simulate(game, game.options(), 20_000, policies=[policy, "random"])
        assert tally.share(tally.wins[0]).low > 0.55


def test_ctrl_c_keeps_what_there_is() -> None:
    game = find("positive-negative")

    def stop(done: int, whole: int) -> None:  # noqa: ARG001
        if done >= 8192:
            raise KeyboardInterrupt

    for threads in (1, 2):
        tally = simulate(game, game.options(), 10**7, progress=stop, threads=threads)
        assert tally == simulate(game, game.options(), 8192)


def test_bad_requests_get_a_sentence() -> None:
    game = find("prime-duel")
    with pytest.raises(UnknownNameError, match=r"no policy 'kep' for Prime Duel. There are: random, keep"):
        simulate(game, game.options(), 10, policies=["kep"])
    with pytest.raises(OptionError, match=r"2 seats here, and 3 policies"):
        simulate(game, game.options(), 10, policies=["keep"] * 3)
    with pytest.raises(OptionError):
        simulate(game, game.options(), -1)
    with pytest.raises(OptionError):
        VectorGames(game, game.options(), 0)


def test_a_game_that_does_not_end_is_counted_as_such() -> None:
    game = find("zero-sum-grid")
    tally = simulate(game, game.options({"turns": 0}), 50, most=100)
    assert tally.unfinished + sum(tally.reasons.values()) == 50
    assert tally.unfinished > 40
    assert simulate(game, game.options(), 0) == Tally(0, 0, (0, 0), 0, {}, 0, 0, 0, 0, {})


def test_intervals() -> None:
    assert share(0, 100).low == 0.0
    assert 0.03 < share(0, 100).high < 0.04
    assert share(100, 100).high == 1.0
    middle = share(500, 1000)
    assert 0.468 < middle.low < 0.47
    assert 0.53 < middle.high < 0.532
    assert share(0, 0).high == 1.0


def test_lengths_by_quantile() -> None:
    tally = Tally(4, 0, (4, 0), 0, {1: 4}, 0, 10, 10, 30, {1: 1, 2: 1, 3: 1, 4: 1})
    assert [tally.quantile(part) for part in (0.0, 0.25, 0.5, 0.75, 1.0)] == [1, 1, 2, 3, 4]
    assert tally.length[0] == 2.5
