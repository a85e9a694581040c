"""Zero-Sum Grid: the closed form against plain search through the rules, with and without turn limits."""

from __future__ import annotations

import itertools
import random
from functools import cache
from typing import Any

import pytest

import piste
from piste import bots
from piste.core.belief import Belief, retell
from piste.core.evaluation import PROVEN, Chances, Evaluation
from piste.core.game import find, members
from piste.core.information_set import InformationSet
from piste.core.protocols import CHANCE, HIDDEN, OVER
from piste.core.views import SeatView
from piste.games.zero_sum_grid import rules
from piste.games.zero_sum_grid.bots import novice, perfect, steady, strong
from piste.games.zero_sum_grid.rules import MOVE, Cells, Options, State
from piste.games.zero_sum_grid.solver import solver
from tests.game_setups import actions, games

GAME = find("zero-sum-grid")
MOVES = range(12)
LARGE = games(1) > 1  # the sizes of a proof
LEVELS = (novice, steady, strong, perfect)
NOTHING: Cells = (0, 0, 0, 0, 0, 0, 0, 0, 0)


def state(cells: Cells, limit: int = 0, turns: int = 0, seat: int = 0) -> State:
    return State(Options(turns=limit), MOVE, seat, cells, 9, turns, HIDDEN, 0)


def judged(s: State, seat: int = 0) -> Evaluation:
    return solver.evaluate(InformationSet(seat, piste.Position(GAME, s), (), Belief(GAME, s, seat)))


def grid(chooser: random.Random, steps: int) -> Cells:
    """Return a grid that so many random moves made from zeros: the way back is no longer than that."""
    s = state(NOTHING)
    for _ in range(steps):
        s = state(rules.moved(s, chooser.randrange(12)).cells)
    return s.cells


@cache
def searched(s: State) -> int:
    """Return what seat 0 gets with best play, by looking at everything until the turn limit."""
    if rules.to_act(s) == OVER:
        return rules.payoff(s, 0)
    found = [searched(rules.apply(s, move)) for move in MOVES]
    return max(found) if s.seat == 0 else min(found)


def chances(payoff: int) -> Chances:
    return Chances(float(payoff > 0), float(payoff == 0), float(payoff < 0))


def ball(radius: int) -> dict[Cells, int]:
    """Return every grid up to so many moves from zero, with the number of moves, by going backwards from zero."""
    far = {NOTHING: 0}
    edge = [NOTHING]
    for steps in range(1, radius + 1):
        edge = sorted({rules.moved(state(cells), move).cells for cells in edge for move in MOVES} - far.keys())
        far |= dict.fromkeys(edge, steps)
    return far


def test_the_distance_is_the_least_number_of_moves() -> None:
    far = ball(6 if LARGE else 5)
    assert all(
        steady.distance(cells) == steps == solver.marker_distance(solver.markers_of(cells))
        for cells, steps in far.items()
    )
    assert all(rules.winnable(cells) for cells in far)


def test_r2_every_move_changes_the_distance_by_one() -> None:
    chooser = random.Random("far away")
    for _ in range(games(200)):
        marks = [chooser.randrange(-(10**6), 10**6) for _ in range(6)]
        cells = [marks[row] + marks[3 + column] for row in range(3) for column in range(3)]
        s = state((*cells,))  # type: ignore[arg-type]
        far = steady.distance(s.cells)
        after = [steady.distance(rules.moved(s, move).cells) for move in MOVES]
        assert {abs(there - far) for there in after} == {1}
        assert far - 1 in after
        assert far + 1 in after
        shapes = sorted(solver.marker_distance(there) for there in solver.after_shifts(solver.markers_of(s.cells)))
        assert shapes == sorted(after)


@pytest.mark.parametrize("limit", range(1, 6 if LARGE else 5))
def test_search_up_to_the_limit_agrees_with_every_verdict(limit: int) -> None:
    """Grids near zero and others, each seat to move, with so many turns left: all decisions, all results."""
    chooser = random.Random(limit)
    near = ball(3)
    grids = sorted(near.keys() - {NOTHING}) if LARGE or limit < 3 else chooser.sample(sorted(near)[1:], 60)
    grids = [cells for cells in grids if any(cells)]
    grids += [grid(chooser, 7) for _ in range(20)]
    grids += [(5, 0, 0, 0, 0, 0, 0, 0, 0), (1, 0, 0, 0, 1, 0, 0, 0, 1), (3, -1, 2, -2, 4, -3, 1, -5, 5)]
    for seat, cells in itertools.product((0, 1), (cells for cells in grids if any(cells))):
        s = state(cells, limit=9, turns=9 - limit, seat=seat)
        for viewer, sign in ((0, 1), (1, -1)):
            found = judged(s, viewer)
            assert (found.known, found.within) == (PROVEN, 0.0)
            assert found.chances == chances(sign * searched(s))
            assert len(found.choices) == (12 if viewer == seat else 0)
            for choice in found.choices:
                assert choice.chances == chances(sign * searched(rules.apply(s, choice.action)))
                assert choice.mix == 0 or choice.chances == found.chances
            if found.choices:
                assert sum(choice.mix for choice in found.choices) == pytest.approx(1)
    searched.cache_clear()


@pytest.mark.parametrize("left", [1, 2, 3, 4])
def test_r2_only_the_named_player_can_win_however_badly_both_play(left: int) -> None:
    """Looks through all games, good and bad, up to the limit, for who wins any of them."""

    @cache
    def winners(s: State) -> frozenset[int]:
        if rules.to_act(s) == OVER:
            return frozenset() if s.winner == HIDDEN else frozenset({s.winner})
        return frozenset().union(*(winners(rules.apply(s, move)) for move in MOVES))

    chooser = random.Random(left)
    for steps in range(1, 7):
        for _ in range(3):
            cells = grid(chooser, steps)
            if not any(cells):
                continue
            s = state(cells, limit=10, turns=10 - left, seat=steps % 2)
            named = solver.only_winner(s)
            assert winners(s) == (frozenset() if named == HIDDEN else {named})


def test_without_a_limit_going_backwards_finds_no_other_win() -> None:
    """Who can win wins by force only one step from zero.

    Everything within six moves of zero is worked out backwards. Whoever leaves that region is taken to lose if it is
    the player who cannot win, and to win if it is the other: the truth can only be better for the one who defends.
    """
    far = ball(6)
    after = {cells: [rules.moved(state(cells), move).cells for move in MOVES] for cells in far}
    won = {cells for cells, steps in far.items() if steps == 1}  # the one who can win is to move
    lost: set[Cells] = set()
    while True:
        more_lost = {
            cells
            for cells, steps in far.items()
            if steps and steps % 2 == 0 and all(there in won or there not in far for there in after[cells])
        }
        more_won = {
            cells
            for cells, steps in far.items()
            if steps % 2 and (steps == 1 or any(there in more_lost or there not in far for there in after[cells]))
        }
        if (more_lost, more_won) == (lost, won):
            break
        lost, won = more_lost, more_won
    assert not lost
    assert won == {cells for cells, steps in far.items() if steps == 1}
    chooser = random.Random("no limit")
    for cells in chooser.sample(sorted(far), 300):
        if any(cells):
            assert judged(state(cells)).chances == chances(int(cells in won))


@pytest.mark.parametrize("top", [1, 2, 5])
def test_r3_every_deal_is_a_draw(top: int) -> None:
    """Every deal of the small sizes, and many of the usual one: none is less than three moves from zero."""
    chooser = random.Random(top)
    todo = [rules.start(Options(first=1, top=top))]
    dealt = 0
    while todo:
        s = todo.pop()
        assert judged(s).chances == chances(0)
        if rules.to_act(s) != CHANCE:
            dealt += 1
            assert steady.distance(s.cells) >= 3
            continue
        outcomes = members(rules.outcomes(s))
        todo += [rules.apply(s, o) for o in (outcomes if top < 3 else chooser.choices(outcomes, k=3))]
    assert dealt > 10


def test_any_deal_and_laid_grids_have_verdicts_too() -> None:
    assert judged(rules.start(Options(deal=rules.ANY))).chances == chances(0)
    laid = piste.Position.parse("zero-sum-grid cells=2,1,1/1,0,0/1,0,0 to=1 phase=toss turns=0").state
    assert judged(laid).chances == chances(0)
    one = piste.Position.parse("zero-sum-grid cells=1,1,1/0,0,0/0,0,0 to=1 phase=toss turns=0").state
    assert judged(one).chances == judged(one, 1).chances == Chances(0.5, 0.0, 0.5)
    assert "toss" in judged(one).how
    huge = 10**15
    s = state((huge, -huge, 3, huge, -huge, 3, huge, -huge, 3), limit=200)
    assert judged(s).chances == chances(0)
    assert "limit comes first" in judged(s).how
    broken = state((5, 0, 0, 0, 0, 0, 0, 0, 0))
    assert "Nobody can win" in judged(broken).how
    over = piste.Position.start("zero-sum-grid", {"first": 1})
    while over.to_act == CHANCE:
        over = over.after(next(iter(over.outcomes())))
    assert judged(over.resign(0).state, 0).chances == chances(-1)
    assert solver.solve_fully(Options())


# Bots


def choice(bot: Any, view: SeatView, seed: object) -> int:
    return int(bot.choose(view, piste.Dealer(f"{seed}").stream(bots.stream_name(view))))


def play(first: Any, second: Any, table: piste.Table, seed: object, most: int = 400) -> int:
    """Return what the first bot gets."""
    for _ in range(most):
        if table.to_act is None:
            ending = table.ending()
            assert ending is not None
            return ending.payoffs[0]
        view = table.view(table.to_act)
        table.decide(view.seat, choice((first, second)[view.seat], view, seed))
    return 0


@pytest.mark.parametrize("seed", range(games(12) // 1000 + 12))
def test_perfect_chooses_what_the_verdict_mixes_and_never_loses(seed: int) -> None:
    chooser = random.Random(seed)
    cells = grid(chooser, 2 + seed % 9)
    if not any(cells) or steady.distance(cells) == 1:
        return
    for other in (perfect, strong, steady, novice, bots.find("random", GAME)):
        laid = " ".join(map(str, cells))
        table = piste.open_table("zero-sum-grid", {"first": 1 + seed % 2, "turns": 40}, seed=f"{seed}", laid=laid)
        while table.to_act is not None:
            view = table.view(table.to_act)
            if view.seat == 1:
                table.decide(1, choice(other, view, seed))
                continue
            decision = choice(perfect, view, seed)
            found = solver.evaluate(InformationSet.of(GAME, view))
            chosen = next(c for c in found.choices if c.action == decision)
            assert chosen.mix > 0
            assert chosen.chances.value == max(c.chances.value for c in found.choices)
            table.decide(0, decision)
        ending = table.ending()
        assert ending is not None
        assert ending.payoffs[0] >= 0
        if other in (perfect, strong, steady):
            assert ending.winner is None


def test_perfect_leaves_the_most_losing_replies() -> None:
    """Counted through the rules: after the chosen move no other has more replies that lose at once."""

    def losing(s: State, move: int) -> int:
        after = rules.apply(s, move)
        replies = [rules.apply(after, reply) for reply in MOVES]
        return sum(any(rules.apply(r, m).winner == s.seat for m in MOVES) for r in replies if rules.to_act(r) != OVER)

    seen = set()
    for cells, steps in ball(3).items():
        if steps == 3:
            s = state(cells, limit=50)
            counts = {move: losing(s, move) for move in MOVES}
            assert {counts[move] for move in solver.best_moves(s)} == {max(counts.values())}
            seen.add(tuple(sorted(counts.values())))
    assert len(seen) > 1  # it does make a difference which move is chosen
    best = solver.best_moves(state((1, 1, 1, 0, 0, 0, 0, 0, 0)))
    assert best == (1,)


def test_perfect_knows_when_the_limit_makes_the_last_step_harmless() -> None:
    cells: Cells = (1, 1, 2, 0, 0, 1, 0, 0, 1)
    now, later = judged(state(cells, limit=8, turns=7)), judged(state(cells, limit=8, turns=6))
    assert all(c.chances == chances(0) for c in now.choices)
    assert sum(c.chances == chances(-1) for c in later.choices) == 2
    assert all(c.mix == 0 for c in later.choices if c.chances == chances(-1))


@pytest.mark.parametrize("bot", LEVELS, ids=lambda bot: bot.__name__.split(".")[-1])
@pytest.mark.parametrize(
    ("options", "laid"),
    [
        ({"turns": 30, "top": 15}, ""),
        ({"turns": 0, "first": 2}, ""),
        ({"deal": "any", "turns": 5}, ""),
        ({"turns": 9}, "1000000000000000 2 3 4 -1000000000000000 6 7 8 9"),
        ({"turns": 9}, "1000000000000000 1000000000000000 1 0 0 -999999999999999 0 0 -999999999999999"),
        ({"turns": 1}, "1 1 1 0 0 0 0 0 0"),
    ],
)
def test_every_level_plays_every_kind_of_grid(bot: Any, options: dict[str, int | str], laid: str) -> None:
    table = piste.open_table("zero-sum-grid", options, seed="kinds", laid=laid)
    assert play(bot, bot, table, 1, most=40) in (-1, 0, 1)
    if options == {"turns": 1}:
        ending = table.ending()
        assert ending is not None
        assert ending.reason == "grid is zero"  # every level takes a win that lies before it
    assert bot.LINE


@pytest.mark.slow
def test_levels_differ_in_how_they_punish_careless_play() -> None:
    """Within few turns; against good play all but the novice draw, as they must."""

    def won(bot: Any, other: Any, turns: int) -> list[int]:
        found = []
        for seed in range(games(60) // 20 + 60):
            for seat in (0, 1):
                table = piste.open_table("zero-sum-grid", {"turns": turns}, seed=f"levels {seed}")
                pair = (bot, other) if seat == 0 else (other, bot)
                found.append(play(*pair, table, seed) * (1 if seat == 0 else -1))
        return found

    careless = bots.find("random", GAME)
    wins = [won(bot, careless, 30).count(1) for bot in (steady, strong, perfect)]
    assert wins[0] < min(wins[1:])
    against = won(novice, careless, 60)
    assert against.count(1) > against.count(-1)
    assert won(steady, novice, 40).count(-1) == 0 < won(steady, novice, 40).count(1)


def test_a_retold_game_gets_the_same_answer() -> None:
    """Nothing is hidden here, so a game retold is the same game."""
    table = piste.open_table("zero-sum-grid", {"first": 1}, seed="retold")
    for turn in range(4):
        view = table.view(turn % 2)
        steps = actions(retell(GAME, view, piste.Dealer("x").stream("y")))
        assert steps == table.history()
        again = piste.Table(GAME, GAME.options({"first": 1}), piste.ScriptedDealer([*steps[:5]]))
        for number, step in enumerate(steps[5:]):
            again.decide(number % 2, step)
        assert choice(perfect, again.view(turn % 2), 3) == choice(perfect, view, 3)
        table.decide(turn % 2, choice(perfect, view, 3))
