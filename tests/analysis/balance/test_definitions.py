"""The definitions of the balance report against plain enumeration and against made-up results."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from piste.analysis.arena.match import Outcome, Result
from piste.analysis.balance import random_play, skill
from piste.analysis.balance.estimates import MEASURED, Estimate, bins, points, share
from piste.analysis.balance.self_play import MIN_STAKES, play_itself
from piste.compiled import simulate
from piste.core.game import find, members
from piste.core.protocols import CHANCE, OVER
from piste.games.zero_sum_grid import balance_config as grid_fairness
from piste.games.zero_sum_grid import rules as grid_rules
from piste.games.zero_sum_grid.solver import solver as grid_solve
from tests.game_setups import games

TINY: tuple[tuple[str, dict[str, int | str]], ...] = (
    ("positive-negative", {"top": 1}),
    ("positive-negative", {"top": 2}),
    ("zero-sum-grid", {"top": 1, "turns": 2, "first": 1}),
    ("zero-sum-grid", {"top": 1, "turns": 2}),
    ("prime-duel", {"top": 2, "copies": 1, "target": 4, "turns": 6, "first": 1}),
    ("zero-sum-duel", {"top": 3, "hand": 2, "turns": 5, "first": "b"}),
)


def steps(rules: Any, s: Any) -> list[tuple[Fraction, Any]]:
    """Return what may follow a state when decisions are taken at random, with exact chances."""
    chance = rules.to_act(s) == CHANCE
    actions = members(rules.outcomes(s) if chance else rules.legal(s))
    weights = [rules.weight(s, a) if chance else 1 for a in actions]
    return [(Fraction(w, sum(weights)), rules.apply(s, a)) for a, w in zip(actions, weights, strict=True)]


def walked(rules: Any, s: Any, seen: dict[Any, dict[tuple[int, int], Fraction]]) -> dict[tuple[int, int], Fraction]:
    """Return the chances of (payoff of seat 0, decisions to come): by plain recursion, with fractions."""
    if s in seen:
        return seen[s]
    if rules.to_act(s) == OVER:
        return {(rules.payoff(s, 0), 0): Fraction(1)}
    one = int(rules.to_act(s) != CHANCE)
    found: dict[tuple[int, int], Fraction] = {}
    for likely, then in steps(rules, s):
        for (paid, more), part in walked(rules, then, seen).items():
            found[paid, more + one] = found.get((paid, more + one), Fraction(0)) + likely * part
    seen[s] = found
    return found


@pytest.mark.parametrize(("name", "given"), TINY, ids=str)
def test_random_play_of_a_tiny_game_is_what_plain_enumeration_finds(name: str, given: dict[str, int | str]) -> None:
    game = find(name)
    options = game.options(given)
    found = random_play.enumerated(game, options, 0, 10**6)
    ways = walked(game.rules, game.rules.start(options), {})
    assert sum(ways.values()) == 1
    assert found.points.known == found.decisions.known == "exact"
    assert found.points.value == pytest.approx(float(sum((1 + paid) * p / 2 for (paid, _), p in ways.items())))
    assert found.draws.value == pytest.approx(float(sum(p for (paid, _), p in ways.items() if paid == 0)))
    by_length: dict[int, float] = {}
    for (_, long), p in ways.items():
        by_length[long] = by_length.get(long, 0.0) + float(p)
    assert {long: pytest.approx(p) for long, p in by_length.items()} == found.lengths
    assert found.decisions.value == pytest.approx(sum(long * p for long, p in by_length.items()))


@pytest.mark.parametrize(("name", "given"), TINY, ids=str)
def test_simulated_random_play_agrees_with_the_exact_numbers(
    name: str, given: dict[str, int | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = find(name)
    options = game.options(given)
    exact = random_play.random_play(game, options, 0, 10, "tiny")
    assert exact.decisions.known == "exact"
    monkeypatch.setattr(random_play, "MAX_ENUMERATED_STEPS", 0)
    found = random_play.random_play(game, options, 0, games(20_000), "tiny")
    for measured, true in ((found.points, exact.points), (found.draws, exact.draws)):
        assert measured.known == MEASURED
        assert abs(measured.value - true.value) <= 2.5 * measured.half
    assert abs(found.decisions.value - exact.decisions.value) <= 2.5 * found.decisions.half + 1e-9
    assert set(found.lengths) <= set(exact.lengths)


def worth(rules: Any, s: Any, seen: dict[Any, Fraction]) -> Fraction:
    """Return what seat 0 gets of a Positive-Negative game if both play well: plain recursion."""
    if s in seen:
        return seen[s]
    if rules.to_act(s) == OVER:
        return Fraction(rules.payoff(s, 0))
    if rules.to_act(s) == CHANCE:
        found = sum((likely * worth(rules, then, seen) for likely, then in steps(rules, s)), Fraction(0))
    else:
        own = 1 if rules.to_act(s) == 0 else -1
        found = own * max(own * worth(rules, then, seen) for _, then in steps(rules, s))
    seen[s] = found
    return found


def test_how_many_decisions_matter_is_what_plain_enumeration_finds() -> None:
    game = find("positive-negative")
    rules, options = game.rules, game.options({"top": 2})
    seen: dict[Any, Fraction] = {}
    decisions = matter = Fraction(0)
    layer: list[tuple[Fraction, Any]] = [(Fraction(1), rules.start(options))]
    while layer:
        likely, s = layer.pop()
        actor = rules.to_act(s)
        if actor == OVER:
            continue
        if actor == CHANCE:
            layer += [(likely * p, then) for p, then in steps(rules, s)]
            continue
        decisions += likely
        own = 1 if actor == 0 else -1
        keep, discard = (rules.apply(s, action) for action in members(rules.legal(s)))
        gap = own * (worth(rules, keep, seen) - worth(rules, discard, seen)) / 2
        matter += likely * (abs(gap) > MIN_STAKES)
        layer.append((likely, keep if gap >= 0 else discard))  # the bot keeps where both are worth the same
    found = play_itself(game, options, "perfect", min(games(400), 20_000), "matter", weigh=True, rate=1.0)
    stats, told = found.statistics(), found.stakes()
    assert told is not None
    assert told.known == "exact"
    assert abs(stats.decisions.value - float(decisions)) <= 2 * stats.decisions.half
    assert abs(told.slip.value - float(matter / decisions)) <= 2 * told.slip.half
    assert told.slip.of == sum(game.decisions for game in found.games)


def made(seats: int, winners: list[list[int | None]]) -> Result:
    """Return a match in which these seats won: for each deal, with the first player in each seat."""
    outcomes = tuple(
        Outcome(deal, seat, winner, ()) for deal, by_seat in enumerate(winners) for seat, winner in enumerate(by_seat)
    )
    return Result("made-up", None, ("a", "b"), seats, "seed", len(outcomes), outcomes)


def test_where_the_better_player_always_wins_all_is_skill() -> None:
    found = skill.split([made(2, [[0, 1]] * 50)])
    assert found is not None
    assert [round(number.value, 9) for number in found] == [1, 0, 0]
    three = skill.split([made(3, [[0, 1, 2]] * 50)])
    assert three is not None
    assert three.luck.value == pytest.approx(0, abs=1e-9)


def test_where_the_player_who_begins_always_wins_all_is_the_seat() -> None:
    found = skill.split([made(2, [[0, 0]] * 50)])
    assert found is not None
    assert [round(number.value, 9) for number in found] == [0, 1, 0]


def test_where_a_coin_decides_all_is_luck() -> None:
    from random import Random

    coin = Random("coin")
    found = skill.split([made(2, [[coin.randrange(2), coin.randrange(2)] for _ in range(2000)])])
    assert found is not None
    assert found.luck.value > 0.99
    assert found.luck.low <= found.luck.value <= found.luck.high


def test_what_skill_seats_and_luck_explain_is_what_the_results_were_made_from() -> None:
    """The first player wins 80 % in seat 0 and 60 % in seat 1: skill 0.2, seat 0.1, so 4 %·4 and 1 %·4 of 1/4."""
    from random import Random

    coin = Random("known")
    deals: list[list[int | None]] = [
        [0 if coin.random() < 0.8 else 1, 1 if coin.random() < 0.6 else 0] for _ in range(6000)
    ]
    found = skill.split([made(2, deals)])
    assert found is not None
    for number, true in zip(found, (0.16, 0.04, 0.80), strict=True):
        assert abs(number.value - true) <= 2 * number.half
        assert number.half < 0.04
    assert sum(number.value for number in found) == pytest.approx(1)


def test_the_intervals_of_matches_with_the_same_deals_are_no_narrower_for_there_being_many() -> None:
    from random import Random

    coin = Random("same deals")
    one = made(2, [[seat, seat] for seat in (coin.randrange(2) for _ in range(200))])  # the deal says which seat wins
    alone, many = skill.split([one]), skill.split([one] * 6)
    assert alone is not None
    assert many is not None
    assert many.seats.half == pytest.approx(alone.seats.half)
    assert many.luck.value == pytest.approx(alone.luck.value)


def test_the_better_of_two_gets_what_it_won_wherever_it_stands_in_the_match() -> None:
    match = made(2, [[0, 1], [0, 0]])  # a wins 3 of 4
    weaker, stronger = skill.better([match], ("b", "a")), skill.better([match], ("a", "b"))
    assert weaker is not None
    assert stronger is not None
    assert (weaker.value, stronger.value) == (0.75, 0.25)


def test_where_everything_is_drawn_there_is_nothing_to_explain() -> None:
    assert skill.split([made(2, [[None, None]] * 50)]) is None
    assert skill.split([]) is None


def test_points_of_two_levels_add_up_and_a_deal_cut_in_half_is_left_out() -> None:
    whole = made(2, [[0, 0], [1, None]])
    cut = replace(whole, outcomes=(*whole.outcomes, Outcome(2, 0, 0, ())))
    found = skill.table([cut])
    assert found["a", "b"].value == (1 + 0 + 0 + 0.5) / 4
    assert found["a", "b"].value + found["b", "a"].value == 1
    assert found["a", "b"].of == 4


@pytest.mark.parametrize(("count", "of"), [(0, 10), (3, 10), (10, 10), (517, 1000)])
def test_without_draws_the_interval_is_wilsons(count: int, of: int) -> None:
    ours, theirs = share(count, of), simulate.share(count, of)
    assert (ours.value, ours.low, ours.high) == pytest.approx((theirs.share, theirs.low, theirs.high))


def test_the_interval_of_points_with_draws_holds_the_truth_19_times_out_of_20() -> None:
    from random import Random

    chooser, held, tries = Random("cover"), 0, 2000
    for _ in range(tries):
        drawn = chooser.choices((1.0, 0.5, 0.0), (0.2, 0.6, 0.2), k=60)
        found = points({made: drawn.count(made) for made in (1.0, 0.5, 0.0)})
        held += found.low <= 0.5 <= found.high
    assert 0.94 <= held / tries <= 0.99
    assert points({0.5: 60}).half < 0.04
    assert points({}) == Estimate(0.0, 0.0, 1.0, MEASURED, 0)


@pytest.mark.parametrize("top", [1, 2])
def test_which_player_could_win_a_dealt_grid_is_counted_right(top: int) -> None:
    options = grid_rules.Options(first=1, top=top)
    values = [value for value in range(-top, top + 1) if value]
    found = {0: 0, 1: 0}
    for a, b, c, d, e, f, g, h, i in product(values, repeat=9):
        cells = (a, b, c, d, e, f, g, h, i)
        if grid_rules.winnable(cells):
            state = grid_rules.start(options)._replace(phase=grid_rules.MOVE, cells=cells, dealt=9)
            found[grid_solve.only_winner(state)] += 1
    assert grid_fairness.winnable_deals(options) == (found[0], found[0] + found[1])


def test_the_sheets_own_deal_can_be_won_once_in_52_681() -> None:
    said = grid_fairness.truths(grid_rules.Options(deal=grid_rules.ANY))
    assert "52,681" in said[0][0]
    assert "18,982 of 1,000,000,000" in said[0][0]
    assert said[0][1] == "exact"


def test_bins_hold_every_game_once_and_are_few() -> None:
    found = bins({3: 10.0, 4: 50.0, 5: 30.0, 90: 0.1, 17: 10.0}, 6)
    assert len(found) <= 6
    assert sum(part for _, _, part in found) == pytest.approx(1)
    assert found[0][0] == 3
    assert found[-1][1] == 90
    assert all(low <= high for low, high, _ in found)
    assert bins({200: 7.0}, 12) == [(200, 200, 1.0)]
