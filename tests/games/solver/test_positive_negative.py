"""Positive-Negative: the solver against fractions, against play, and against itself by another way."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import piste
from piste import bots
from piste.compiled.compiler import link_modules
from piste.core.belief import Belief
from piste.core.bits import count, signed_value
from piste.core.evaluation import ESTIMATED, EXACT, Evaluation
from piste.core.game import find, members
from piste.core.information_set import InformationSet
from piste.core.protocols import CHANCE, OVER
from piste.core.views import SeatView
from piste.games.positive_negative import rules
from piste.games.positive_negative.bots import novice, perfect, steady, strong
from piste.games.positive_negative.rules import DECIDE, DISCARD, KEEP, Options, State
from piste.games.positive_negative.solver import kernels, solver
from tests.game_setups import games

GAME = find("positive-negative")
LARGE = games(1) > 1  # the sizes of a proof


@cache
def by_fractions(s: State) -> tuple[Fraction, Fraction]:
    """Return what a state is worth to the first seat and the chance of a draw, step by step through the rules."""
    actor = rules.to_act(s)
    if actor == OVER:
        return Fraction(rules.payoff(s, 0)), Fraction(s.winner < 0)
    if actor >= 0:
        keep, leave = by_fractions(rules.apply(s, KEEP)), by_fractions(rules.apply(s, DISCARD))
        better = keep[0] >= leave[0] if actor == 0 else keep[0] <= leave[0]
        return keep if better else leave
    found = [(rules.weight(s, card), by_fractions(rules.apply(s, card))) for card in members(rules.outcomes(s))]
    whole = sum(weight for weight, _ in found)
    worth, draw = (sum((weight * pair[i] for weight, pair in found), Fraction(0)) for i in (0, 1))
    return worth / whole, draw / whole


def known(s: State, seat: int) -> InformationSet:
    return InformationSet(seat, piste.Position(GAME, s), (), Belief(GAME, s, seat))


def judged(s: State, seat: int = 0) -> Evaluation:
    return solver.evaluate(known(s, seat))


def agree(s: State) -> None:
    """Check a verdict for both seats, and each decision, against the fractions."""
    worth, draw = by_fractions(s)
    for seat, sign in ((0, 1), (1, -1)):
        found = judged(s, seat)
        assert (found.known, found.within, found.seat) == (EXACT, 0.0, seat)
        assert found.chances.value == pytest.approx(float(sign * worth), abs=1e-9)
        assert found.chances.draw == pytest.approx(float(draw), abs=1e-6)
        assert sum(found.chances) == pytest.approx(1)
        assert len(found.choices) == (2 if rules.to_act(s) == seat else 0)
        for choice in found.choices:
            after, drawn = by_fractions(rules.apply(s, choice.action))
            assert choice.chances.value == pytest.approx(float(sign * after), abs=1e-9)
            assert choice.chances.draw == pytest.approx(float(drawn), abs=1e-6)
        if found.choices:
            assert sum(choice.mix for choice in found.choices) == 1.0
            assert found.chances.value == pytest.approx(max(choice.chances.value for choice in found.choices))


def reached(top: int, seed: object, most_left: int) -> State:
    """Return a state of a random game, the first decision with so few cards in the deck."""
    chooser = random.Random(f"{top} {seed}")
    s = rules.start(Options(top))
    while not (s.phase == DECIDE and count(s.deck) <= most_left):
        s = rules.apply(s, chooser.choice(members(rules.legal(s) if rules.to_act(s) >= 0 else rules.outcomes(s))))
    return s


@pytest.mark.parametrize("top", [1, 2, 3])
def test_every_state_of_a_small_game_is_worth_what_fractions_say(top: int) -> None:
    seen = {rules.start(Options(top))}
    todo = list(seen)
    while todo:
        s = todo.pop()
        if rules.to_act(s) != OVER:
            steps = rules.legal(s) if rules.to_act(s) >= 0 else rules.outcomes(s)
            new = {rules.apply(s, step) for step in members(steps)} - seen
            seen |= new
            todo += new
    states = sorted(seen)
    chooser = random.Random(top)
    for s in states if LARGE or top < 3 else chooser.sample(states, 300):
        agree(s)
    agree(rules.start(Options(top)))


def test_a_whole_game_is_worth_what_fractions_say() -> None:
    agree(rules.start(Options(4)))
    by_fractions.cache_clear()


@pytest.mark.parametrize("top", [10, 30])
@pytest.mark.parametrize("seed", range(games(4) // 1000 + 4))
def test_late_positions_are_worth_what_fractions_say(top: int, seed: int) -> None:
    s = reached(top, seed, 5)
    agree(s)
    agree(rules.apply(s, DISCARD))
    agree(rules.apply(s, KEEP))
    by_fractions.cache_clear()


def test_p1_the_last_card_may_be_thrown_away_for_nothing() -> None:
    s = piste.Position.parse("positive-negative{top=1} 1=- 2=- pile=1 to=1 phase=redraw").state
    assert judged(s).chances == (0.0, 0.0, 1.0)
    s = piste.Position.parse("positive-negative{top=1} 1=1 2=- pile=- to=2 phase=decide card=-1").state
    keep, discard = judged(s, 1).choices
    assert (keep.chances.loss, discard.chances.loss) == (1.0, 1.0)
    s = piste.Position.parse("positive-negative{top=2} 1=1 2=2 pile=-2 to=1 phase=decide card=-1").state
    keep, discard = judged(s, 0).choices
    assert (keep.mix, keep.chances.loss, discard.chances.loss) == (1.0, 1.0, 1.0)


def test_p2_who_waits_is_told_the_same_whatever_card_is_looked_at() -> None:
    table = piste.open_table("positive-negative", {"top": 4}, laid="3 -2")
    table.decide(0, "keep")
    waiting = InformationSet.of(GAME, table.view(0))
    assert len(waiting.belief.states) == 7
    found = solver.evaluate(waiting)
    assert found.choices == ()
    # The mean over all cards that the other one may be looking at is the worth before the draw.
    assert found.chances.value == pytest.approx(judged(waiting.base.state, 0).chances.value, abs=1e-9)
    for card in (-4, -3, -1, 1, 2, 4):
        other = piste.open_table("positive-negative", {"top": 4}, laid=f"3 {card}")
        other.decide(0, "keep")
        assert solver.evaluate(InformationSet.of(GAME, other.view(0))) == found


def test_compiled_and_interpreted_loops_give_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rules.every_card(Options(3))
    monkeypatch.setattr(solver, "load_kernels", lambda _: link_modules(rules, kernels, compiled=True))
    fast = solver.solve_decks(3, whole, 2)
    monkeypatch.setattr(solver, "load_kernels", lambda _: link_modules(rules, kernels, compiled=False))
    plain = solver.solve_decks(3, whole, 2)
    assert np.array_equal(fast.offsets, plain.offsets)
    for part, rows in fast.rows.items():
        assert all(np.allclose(mine, other, atol=1e-15) for mine, other in zip(rows, plain.rows[part], strict=True))
    points = np.array([-3, -1, 1, 2, 3], np.int64)
    runs = [
        link_modules(rules, kernels, compiled=compiled).rollouts(points, 1, 1, 5, 50) for compiled in (True, False)
    ]
    assert runs[0] == runs[1]


@pytest.mark.slow
def test_simulated_perfect_play_comes_to_the_value() -> None:
    """Both seats play what the solver says, through the rules alone; the results must average to the verdict."""
    top, many = (8, 20_000) if LARGE else (5, 1500)
    start = rules.start(Options(top))
    value = judged(start).chances
    chooser = random.Random("simulated")
    results = []
    for _ in range(many):
        s = start
        while rules.to_act(s) != OVER:
            if s.phase == DECIDE:
                s = rules.apply(s, solver.best_action(s, solver.action_values(s)))
            else:
                s = rules.apply(s, chooser.choice(members(s.deck)))
        results.append(rules.payoff(s, 0))
    for found, chance in ((results.count(1), value.win), (results.count(0), value.draw)):
        assert abs(found - many * chance) < 4 * (many * chance * (1 - chance)) ** 0.5


def test_rows_of_a_part_of_the_deck_agree_with_rows_of_the_whole() -> None:
    """Solved again from a smaller deck with another range of leads, every position is worth the same."""
    whole = solver.solve_decks(6, rules.every_card(Options(6)), 0)
    for seed in range(20):
        s = reached(6, seed, 8)
        lead = rules.score(s, s.seat) - rules.score(s, 1 - s.seat)
        part = solver.solve_decks(6, s.deck, abs(lead))
        assert part.after_turn(s.deck, lead) == pytest.approx(whole.after_turn(s.deck, lead), abs=1e-6)
        assert part.after_discard(s.deck, lead)[0] == pytest.approx(whole.after_discard(s.deck, lead)[0], abs=1e-12)


@pytest.mark.parametrize("top", [9, 10])
def test_the_first_moves_in_the_package_follow_from_each_other(top: int) -> None:
    """Every opening with the next one read too is worth what one step through the rules makes of it."""
    states = {rules.start(Options(top))}
    while states:
        after: set[State] = set()
        for s in sorted(states) if LARGE else random.Random(top).sample(sorted(states), min(len(states), 200)):
            steps = members(rules.legal(s) if s.phase == DECIDE else rules.outcomes(s))
            then = [rules.apply(s, step) for step in steps]
            if min(count(each.deck) for each in then) <= solver.MAX_CARDS_ON_DEMAND:
                continue
            here, there = worth_to_first(s), [worth_to_first(each) for each in then]
            better = max if s.seat == 0 else min
            assert here == pytest.approx(better(there) if s.phase == DECIDE else sum(there) / len(there), abs=1e-12)
            after.update(then)
        states = after


def worth_to_first(s: State) -> float:
    actions = solver.action_values(s)
    best = solver.best_action(s, actions) if s.phase == DECIDE else CHANCE
    return actions.values[best][0] * (1 if s.seat == 0 else -1)


@pytest.mark.parametrize("seed", range(games(2) // 100 + 2))
def test_the_first_moves_in_the_package_are_what_the_solver_computes(seed: int) -> None:
    s = reached(10, seed, solver.MAX_CARDS_ON_DEMAND + 1)
    read = solver.action_values(s)
    lead, after = solver.lead_of(s), solver.lead_of(s) + signed_value(10, s.card)
    solved = solver.solve_decks(10, s.deck, max(abs(lead), abs(after)))
    assert read.values[KEEP] == pytest.approx(solved.after_turn(s.deck, after), abs=1e-9)
    assert read.values[DISCARD] == pytest.approx(solved.after_discard(s.deck, lead), abs=1e-9)


def test_a_solve_tells_of_its_progress_and_can_be_interrupted() -> None:
    told: list[int] = []
    whole = rules.every_card(Options(3))
    solver.solve_decks(3, whole, 0, lambda done, _whole, _what: told.append(done))
    assert told == sorted(told)
    assert told[-1] == 1 << 6

    def stop(done: int, _whole: int, _what: str) -> None:
        if done > 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solver.solve_decks(3, whole, 0, stop)


def test_larger_games_are_estimated_with_an_interval_and_exact_later() -> None:
    for top in (11, 30):
        found = judged(rules.start(Options(top)))
        assert found.known == ESTIMATED
        assert 0.002 < found.within < 0.02
        assert "rule of thumb" in found.how
        assert judged(reached(top, "late", 12), 0).known == EXACT
        assert "too many" in solver.solve_fully(Options(top))
    assert "asked for" in solver.solve_fully(Options(8))
    assert "part of the package" in solver.solve_fully(Options(10))


def test_an_estimate_holds_the_truth_in_its_interval_where_the_truth_is_known() -> None:
    off = []
    for seed in range(games(12) // 100 + 12):
        s = reached(8, seed, 14)
        guess = solver.rollout_values(s, seed, 20_000)
        true = solver.action_values(s)
        assert true.within == 0.0
        off += [abs(guess.values[action][0] - true.values[action][0]) / guess.within for action in (KEEP, DISCARD)]
    assert sum(each < 1 for each in off) > 0.85 * len(off)
    assert max(off) < 3


# Bots


def choice(bot: Any, view: SeatView, seed: object) -> int:
    return int(bot.choose(view, piste.Dealer(f"{seed}").stream("bot")))


def match(first: Any, second: Any, options: dict[str, int | str], pairs: int) -> float:
    """Return what the first bot gains in a game on average; each deal is played from both seats."""
    gained = 0
    for seed in range(pairs):
        for seat in (0, 1):
            table = piste.open_table("positive-negative", options, seed=f"match {seed}")
            while table.to_act is not None:
                view = table.view(table.to_act)
                bot = first if table.to_act == seat else second
                table.decide(view.seat, choice(bot, view, f"{seed} {view.number} {seat}"))
            ending = table.ending()
            assert ending is not None
            gained += ending.payoffs[seat]
    return gained / (2 * pairs)


@pytest.mark.parametrize("top", [1, 3, 8, 12])
def test_perfect_decides_what_the_solver_says_in_a_whole_game(top: int) -> None:
    table = piste.open_table("positive-negative", {"top": top}, seed="whole game")
    exact = 0
    while table.to_act is not None:
        view = table.view(table.to_act)
        decision = choice(perfect, view, 1)
        found = solver.evaluate(InformationSet.of(GAME, view))
        if found.known == EXACT:
            exact += 1
            best = max(c.chances.value for c in found.choices)
            chosen = next(c for c in found.choices if c.action == decision)
            assert chosen.chances.value == pytest.approx(best, abs=1e-9)
            assert chosen.mix == 1.0
        table.decide(view.seat, decision)
    assert exact > 0


def test_perfect_goes_by_what_its_seat_sees_alone() -> None:
    """The same question with another deck to come and another stream gets the same answer."""
    for laid in ("1 -3 2 4 -2 -1 3", "1 -3 2 4 3 -1 -2"):
        table = piste.open_table("positive-negative", {"top": 4}, laid=laid)
        table.decide(0, "discard")
        assert {choice(perfect, table.view(1), seed) for seed in range(3)} == {choice(perfect, table.view(1), 9)}
    one, two = (
        piste.open_table("positive-negative", {"top": 4}, laid=laid) for laid in ("1 -3 2 4 -2", "1 -3 2 4 3 -1")
    )
    for table in (one, two):
        table.decide(0, "discard")
    assert choice(perfect, one.view(1), 1) == choice(perfect, two.view(1), 1)


@pytest.mark.parametrize("bot", [novice, steady, strong, perfect], ids=lambda bot: bot.__name__.split(".")[-1])
@pytest.mark.parametrize("top", [1, 2, 30])
def test_every_level_plays_every_size(bot: Any, top: int) -> None:
    assert -1 <= match(bot, bot, {"top": top}, 1) <= 1
    assert bot.LINE


@pytest.mark.slow
def test_each_level_is_better_than_the_beginner() -> None:
    pairs = games(100) // 20 + 100
    assert match(novice, bots.find("random", GAME), {"top": 5}, pairs) > 0.2
    assert match(steady, novice, {"top": 5}, pairs) > 0.05
    assert match(strong, novice, {"top": 5}, pairs) > 0.1
    assert match(perfect, novice, {"top": 5}, pairs) > 0.1
