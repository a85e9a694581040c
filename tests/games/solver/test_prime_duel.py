"""Prime Duel's solver against the rules: value iteration, exact fractions, brute force with a turn limit."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from piste.compiled import table_cache
from piste.core.bits import lane_one
from piste.core.evaluation import ESTIMATED, EXACT
from piste.core.game import find, members
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import CHANCE, OVER
from piste.games.prime_duel import rules
from piste.games.prime_duel.guarantees import long_turn_limit, value_options
from piste.games.prime_duel.rules import DRAW, Options, State
from piste.games.prime_duel.solver import kernels as solver_kernels
from piste.games.prime_duel.solver import solver
from piste.games.prime_duel.solver.score_pairs import DeckIndex, PairSolver, solve_order
from piste.games.prime_duel.solver.value_sources import (
    DeckEndgame,
    FixedOddsModel,
    chances,
    empty_deck_values,
    load_kernels,
)
from tests.game_setups import games
from tests.games.solver import prime_duel_games as prime_games
from tests.sizes import slow_if

GAME = find("prime-duel")

TINY = tuple(
    Options(1, 0, top, copies, target)
    for top, copies, target in (
        (1, 1, 1),
        (1, 2, 3),
        (2, 1, 4),
        (2, 2, 5),
        (3, 1, 6),
        (3, 2, 9),
        (4, 1, 8),
        (5, 1, 4),
    )
)


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Full solutions of a person who runs the tests must not change them."""
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path / "solved")


def bare(s: State) -> State:
    """Return a state without what does not matter when there is no turn limit."""
    return s._replace(turns=0, extra=0)


def tree(start: State) -> dict[State, list[tuple[State, int]]]:
    """Return every state that can follow, with what follows it and how likely; by the rules alone."""
    ways: dict[State, list[tuple[State, int]]] = {}
    left = [bare(start)]
    while left:
        s = left.pop()
        if s in ways:
            continue
        actor = rules.to_act(s)
        if actor == OVER:
            ways[s] = []
        elif actor == CHANCE:
            ways[s] = [(bare(rules.apply(s, o)), rules.weight(s, o)) for o in members(rules.outcomes(s))]
        else:
            ways[s] = [(bare(rules.apply(s, a)), 1) for a in members(rules.legal(s))]
        left += [after for after, _ in ways[s]]
    return ways


def iterated(ways: dict[State, list[tuple[State, int]]]) -> dict[State, float]:
    """Return what each state is worth to seat 0, from -1 to 1, by plain value iteration."""
    worth = {s: float(rules.payoff(s, 0)) for s in ways}
    while True:
        moved = 0.0
        for s, after in ways.items():
            if not after:
                continue
            if rules.to_act(s) == CHANCE:
                now = sum(n * worth[t] for t, n in after) / sum(n for _, n in after)
            else:
                now = (max if s.seat == 0 else min)(worth[t] for t, _ in after)
            moved, worth[s] = max(moved, abs(now - worth[s])), now
        if moved < 1e-14:
            return worth


@pytest.mark.parametrize("options", TINY, ids=str)
def test_every_position_agrees_with_value_iteration_over_the_rules(options: Options) -> None:
    worth = iterated(tree(rules.start(options)))
    source = solver.solved_game(value_options(options))
    for s, value in worth.items():
        pair = chances(s._replace(options=value_options(options)), 0, source)
        assert pair[0] - pair[1] == pytest.approx(value, abs=1e-12)
        assert sum(pair) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("options", TINY[2:6], ids=str)
def test_the_value_as_an_exact_fraction(options: Options) -> None:
    """Play as the solver says, solve that exactly, and see that no other decision is better anywhere."""
    ways, source = tree(rules.start(options)), solver.solved_game(value_options(options))
    best = {}
    for s, after in ways.items():
        if after and rules.to_act(s) >= 0:
            values = [chances(t._replace(options=value_options(options)), s.seat, source)[0] for t, _ in after]
            best[s] = after[values.index(max(values))][0]
    worth = solved_exactly(ways, best)
    for s, to in best.items():
        sign = 1 if s.seat == 0 else -1
        assert all(sign * worth[to] >= sign * worth[t] for t, _ in ways[s])
    start = rules.start(options)
    pair = chances(start._replace(options=value_options(options)), 0, source)
    assert pair[0] == pytest.approx(float(worth[bare(start)] + 1) / 2, abs=1e-13)


def solved_exactly(ways: dict[State, list[tuple[State, int]]], best: dict[State, State]) -> dict[State, Fraction]:
    """Return what each state is worth to seat 0 if decisions are these: linear equations, in fractions."""
    rows: dict[State, dict[State, Fraction]] = {}
    constant: dict[State, Fraction] = {}
    order = list(ways)
    for s, after in ways.items():
        if not after:
            rows[s], constant[s] = {}, Fraction(rules.payoff(s, 0))
        elif s in best:
            rows[s], constant[s] = {best[s]: Fraction(1)}, Fraction(0)
        else:
            total = sum(n for _, n in after)
            row: dict[State, Fraction] = {}
            for t, n in after:
                row[t] = row.get(t, Fraction(0)) + Fraction(n, total)
            rows[s], constant[s] = row, Fraction(0)
    users: dict[State, set[State]] = {s: set() for s in order}
    for s, row in rows.items():
        for t in row:
            users[t].add(s)
    for s in order:  # put each state's equation into all others that mention it
        row = rows[s]
        own = row.pop(s, Fraction(0))
        scale = 1 / (1 - own)
        rows[s] = row = {t: c * scale for t, c in row.items()}
        constant[s] *= scale
        for user in users[s] - {s}:
            share = rows[user].pop(s, None)
            if share is None:
                continue
            constant[user] += share * constant[s]
            for t, c in row.items():
                rows[user][t] = rows[user].get(t, Fraction(0)) + share * c
                users[t].add(user)
    assert not any(rows.values())
    return constant


def test_positions_of_larger_games_keep_to_the_rules_turn_by_turn() -> None:
    """What a position is worth follows, by the rules, from those a turn later; all decks, no iteration."""
    chooser = random.Random(5)
    for options in (Options(0, 0, 6, 3, 24), Options(0, 0, 10, 1, 50), Options(0, 0, 7, 2, 13)):
        source = solver.solved_game(options)
        pairs = list(source.slots)
        for _ in range(games(150) // 10 + 100):
            deck = sum(lane_one(i) * chooser.randint(0, options.copies) for i in range(options.top))
            s = State(options, DRAW, 0, chooser.choice(pairs), deck, -1, 0, 0, -1, 0)
            turn = [
                (chances(rules.apply(s, o), 0, source)[0], rules.weight(s, o)) for o in members(rules.outcomes(s))
            ]
            expected = sum(win * n for win, n in turn) / sum(n for _, n in turn)
            assert source.draw(s)[0] == pytest.approx(expected, abs=1e-12)


def solved_pairs(options: Options, code: Any, dtype: Any, *, keep: bool) -> PairSolver:
    order = solve_order(options)
    pool = PairSolver(code, options, DeckIndex.of_whole_deck(options), order, keep=keep, dtype=dtype)
    pool.solve_all()
    return pool


@pytest.mark.slow
def test_both_precisions_and_both_ways_to_run_agree() -> None:
    from piste.compiled.compiler import link_modules

    options = Options(0, 0, 4, 2, 12)
    fine = solved_pairs(options, load_kernels(), np.float64, keep=True)
    plain = solved_pairs(options, link_modules(rules, solver_kernels, compiled=False), np.float64, keep=True)
    coarse = solved_pairs(options, load_kernels(), np.float32, keep=True)
    sparing = solved_pairs(options, load_kernels(), np.float32, keep=False)
    last = fine.decks.total - 1
    assert len(sparing.rows) < len(coarse.rows)
    assert sparing.values((0, 0))[last] == coarse.values((0, 0))[last]
    for pair in fine.slots:
        assert plain.values(pair) == pytest.approx(fine.values(pair), abs=1e-14)
        assert coarse.values(pair) == pytest.approx(fine.values(pair), abs=1e-6)


def test_the_rest_of_a_deck_worked_out_alone_is_the_same() -> None:
    options = Options(0, 0, 6, 3, 24)
    source = solver.solved_game(options)
    chooser = random.Random(7)
    for _ in range(12):
        deck = sum(lane_one(i) * chooser.randint(0, 2) for i in range(options.top))
        pair = chooser.choice(list(source.slots))
        endgame = DeckEndgame(options, deck, [pair], source, partial(empty_deck_values, options, source))
        s = State(options, DRAW, 0, pair, deck, -1, 0, 0, -1, 0)
        assert endgame.draw(s)[0] == pytest.approx(source.draw(s)[0], abs=1e-12)


@pytest.mark.parametrize(
    "size", slow_if(lambda size: size != (3, 2, 9), [(6, 3, 24), (10, 1, 50), (3, 2, 9)]), ids=str
)
def test_games_between_perfect_players_are_won_as_often_as_the_value_says(size: tuple[int, int, int]) -> None:
    """Two million games of each size in a proof."""
    from piste.compiled import kernels
    from piste.compiled.compiler import link_modules

    options = Options(2, 0, *size)
    source = solver.solved_game(value_options(options))
    places = np.zeros((options.target, options.target), np.int64)
    for pair, place in source.slots.items():
        places[pair] = place
    code = link_modules(rules, kernels, prime_games, compiled=True)
    number = 20_000 if games(0) == 0 else max(20_000, min(20 * games(0), 2_000_000))
    won = code.wins_of_first(options, source.values, places, source.decks.strides, number, 11)
    value = source.draw(rules.start(options))[0]
    assert abs(won - number * value) < 4.5 * (number * value * (1 - value)) ** 0.5


def brute(s: State, seen: dict[State, tuple[float, float]]) -> tuple[float, float]:
    """Return the chances of seat 0 to win and to lose in a game with a turn limit."""
    if s not in seen:
        actor = rules.to_act(s)
        if actor == OVER:
            seen[s] = (float(rules.payoff(s, 0) > 0), float(rules.payoff(s, 0) < 0))
        elif actor == CHANCE:
            some = [(brute(rules.apply(s, o), seen), rules.weight(s, o)) for o in members(rules.outcomes(s))]
            total = sum(n for _, n in some)
            seen[s] = (sum(p[0] * n for p, n in some) / total, sum(p[1] * n for p, n in some) / total)
        else:
            both = [brute(rules.apply(s, a), seen) for a in members(rules.legal(s))]
            seen[s] = (max if actor == 0 else min)(both, key=lambda pair: pair[0] - pair[1])
    return seen[s]


@pytest.mark.parametrize("options", [Options(1, 6, 2, 1, 4), Options(2, 5, 3, 1, 6), Options(1, 7, 3, 2, 9)], ids=str)
def test_games_with_a_turn_limit_agree_with_brute_force(options: Options) -> None:
    seen: dict[State, tuple[float, float]] = {}
    brute(rules.start(options), seen)
    drawn = 0
    for s, pair in list(seen.items()):
        if rules.to_act(s) != OVER:
            v = verdict_of(s, 0)
            assert v.known == EXACT
            assert v.chances.value == pytest.approx(pair[0] - pair[1], abs=1e-12)
            drawn += v.chances.draw > 0.01
    assert drawn > 1


def test_a_small_game_with_a_far_turn_limit_is_worked_out_with_it() -> None:
    s = rules.start(Options(1, 500, 3, 2, 8))
    v = verdict_of(s, 0)
    assert (v.known, v.within) == (EXACT, 0.0)
    bare = verdict_of(rules.start(Options(1, 0, 3, 2, 8)), 0)
    assert v.chances.value == pytest.approx(bare.chances.value, abs=1e-9)


def test_a_turn_limit_that_is_left_out_is_said_and_hardly_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    options = Options(1, 92, 3, 2, 8)
    assert options.turns == long_turn_limit(options)
    true = verdict_of(rules.start(options), 0)
    assert true.known == EXACT
    monkeypatch.setattr(solver, "work_limits", lambda: solver.WorkLimits(2000, 3_000_000, 8_000_000))
    v = verdict_of(rules.start(options), 0)
    assert (v.known, v.within) == (ESTIMATED, solver.TURN_LIMIT_ERROR)
    assert "The turn limit was left out" in v.how
    assert v.chances.value == pytest.approx(true.chances.value, abs=2 * solver.TURN_LIMIT_ERROR)


@pytest.mark.parametrize(("top", "copies", "target"), [(15, 2, 7), (10, 1, 13), (15, 4, 50), (10, 4, 20), (3, 1, 6)])
def test_hardly_a_game_of_any_size_reaches_a_far_turn_limit(top: int, copies: int, target: int) -> None:
    options = Options(1, 0, top, copies, target)
    left = long_turn_limit(options)
    model = FixedOddsModel(load_kernels(), options._replace(turns=left), rules.whole_deck(options), 0, left)
    assert (1 - model.values.sum(axis=-1)).max() < solver.TURN_LIMIT_ERROR


def verdict_of(s: State, seat: int) -> Any:
    from piste.core.belief import Belief

    return solver.evaluate(InformationSet(seat, Position(GAME, s), (), Belief(GAME, s, seat)))
