"""Duel's solver and bots: what they know, what they work out, and how well they play."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import piste
from piste import bots
from piste.compiled import table_cache
from piste.compiled.compiler import link_modules
from piste.core.belief import belief
from piste.core.dealer import Dealer
from piste.core.evaluation import quiet
from piste.core.game import find, members
from piste.core.protocols import CHANCE, HIDDEN, SPECTATOR, Event
from piste.games.mccoy_duel import notation, rules
from piste.games.mccoy_duel.solver import (
    cfr,
    cfr_kernels,
    infoset_kernels,
    infosets,
    ismcts,
    ismcts_kernels,
    solver,
)
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN
from tests.game_setups import ODD, Kind, games, played, walked
from tests.games.solver import mccoy_duel_loss
from tests.games.solver.mccoy_duel_plain_cfr import (
    WARM,
    Plain,
    duel,
    late_views,
    level,
    pace,
    retold,
    show,
    tree,
    views,
    wilson,
)
from tools import duel_match

pytestmark = pytest.mark.slow  # compiling Duel's solver takes many seconds

GAME = find("mccoy-duel")
SMALL = ("05*", "03*", "16*", "27*", "04*", "123", "167")


def all_dealt(options: rules.Options) -> infosets.PossibleStates:
    told = tuple(infosets.Observed(Event(rules.BURY, seat, HIDDEN, HIDDEN), None) for seat in range(2))
    return infosets.possible_states(rules.start(options), told, SPECTATOR)


# What may be hidden


@pytest.mark.parametrize(
    "kind", [k for k in ODD if k.game == "mccoy-duel"] + [Kind("mccoy-duel", {"rounds": 3})], ids=str
)
def test_the_rows_are_what_the_seat_holds_possible(kind: Kind) -> None:
    for seed in range(games(2) if games(2) < 50 else 50):
        for view in views(kind, seed, every=3 * int(kind.options.get("players", 2)) - 3):
            state, told = infosets.observed_round(view)
            if state is None or len(belief(GAME, view).states) > infosets.MAX_STATES // 8:
                continue
            states = infosets.possible_states(state, told, view.seat)
            sums: dict[tuple[int, ...], float] = {}
            for row, weight in zip(states.rows, states.weights, strict=True):
                cards = (*map(int, row[4:8]), int(row[9]))
                sums[cards] = sums.get(cards, 0.0) + float(weight)
            expected = {(*s.hands, s.tower.buried): p for s, p in belief(GAME, view).states.items()}
            assert sums.keys() == expected.keys()
            assert all(abs(sums[cards] - p) < 1e-9 for cards, p in expected.items())
            assert len(set(states.rows[:, KEY_COLUMN + view.seat])) == 1


def test_rows_of_everybody_split_into_what_each_seat_holds_possible() -> None:
    for view in views(Kind("mccoy-duel", {}), "split", every=4):
        state, told = infosets.observed_round(view)
        if state is None:
            continue
        everybody, mine = (
            infosets.possible_states(state, told, SPECTATOR),
            infosets.possible_states(state, told, view.seat),
        )
        part = everybody.in_infoset(view.seat, int(mine.rows[0, KEY_COLUMN + view.seat]))
        assert {tuple(row) for row in part.rows} == {tuple(row) for row in mine.rows}


def test_positions_go_into_rows_and_nodes_and_come_back() -> None:
    kind = Kind("mccoy-duel", {})
    row, words = np.zeros(infoset_kernels.ROW_WIDTH, np.int64), np.zeros((1, 4), np.int64)
    for seed in range(4):
        for s, _ in walked(kind, played(kind, seed).history()):
            if s.phase < rules.BURY or s.phase >= rules.NEXT:
                continue
            infoset_kernels.pack(s, row)
            assert infoset_kernels.unpack(s.options, row) == s
            cfr_kernels.pack_node(words, 0, s, 1, 2, 3)
            back = cfr_kernels.unpack_node(s.options, words, 0)
            assert (back.phase, back.seat, back.target, back.ability) == (s.phase, s.seat, s.target, s.ability)
            assert (back.tower, back.hands) == (s.tower, s.hands)
            if s.phase > rules.BURY and (winner := infoset_kernels.certain_winner(s)) != HIDDEN:
                assert {rules.apply(s, a).seat for a in members(rules.choices(s))} == {winner}
                assert all(infoset_kernels.round_over(rules.apply(s, a)) for a in members(rules.choices(s)))


def test_all_outcomes_of_a_round_are_equally_likely() -> None:
    kind = Kind("mccoy-duel", {})
    for s, _ in walked(kind, played(kind, 1).history()):
        if rules.to_act(s) == CHANCE:
            assert {rules.weight(s, a) for a in members(rules.outcomes(s))} == {1}


# The end of a round, solved


@pytest.mark.parametrize("powers", SMALL)
def test_a_small_round_has_the_value_that_a_second_method_finds(powers: str) -> None:
    options = rules.Options(2, 1, 1, notation.read_powers(powers))
    dealt = all_dealt(options)
    solution = cfr.solve(options, dealt, 100_000)
    assert solution is not None
    proof = cfr.best_responses(options, dealt, solution)
    assert proof is not None
    assert proof.nash_conv < 0.003
    plain = Plain(tree(rules.start(options), ((), ())))
    plain.solve(60)
    low, high = 1 - plain.best(1), plain.best(0)
    assert low - 1e-9 <= proof.wins[0]
    assert 1 - proof.wins[1] <= high + 1e-9
    assert high - low < 0.06


def test_the_value_of_an_open_position_is_that_of_plain_search() -> None:
    text = (
        "mccoy-duel{first=1,rounds=1,powers=02345*} 1=0a,3a,5a 2=2b,4b,*b up=2a,4a,3b buried=*a,0b,5b top=4a power=4 "
        "demand=plain phase=play to=2 in=12 match=12 out=0,0 wins=0,0"
    )
    state = piste.Position.parse(text).state

    def value(s: Any) -> float:
        if infoset_kernels.round_over(s):
            return float(s.seat == 0)
        values = [value(rules.apply(s, action)) for action in members(rules.choices(s))]
        actor = rules.to_act(s)
        return sum(values) / len(values) if actor == CHANCE else max(values) if actor == 0 else min(values)

    states = infosets.possible_states(state, (), SPECTATOR)
    solution = cfr.solve(state.options, states, 100_000)
    assert solution is not None
    proof = cfr.best_responses(state.options, states, solution)
    assert proof is not None
    assert proof.nash_conv < 0.003
    assert 1 - proof.wins[1] - 1e-9 <= value(state) <= proof.wins[0] + 1e-9


def test_compiled_and_plain_kernels_agree() -> None:
    options = rules.Options(2, 1, 1, notation.read_powers("04*"))
    dealt = all_dealt(options)
    means, learned, won = [], [], []
    for compiled in (False, True):
        plain = link_modules(rules, infoset_kernels, ismcts_kernels, cfr_kernels, compiled=False)
        k = infosets.kernels() if compiled else plain
        t, sketch = cfr.empty_tree(5000, 2500), cfr.empty_sampled_tree(5000, 2500)
        for begun in (t, sketch):
            k.add_roots(options, begun.nodes, begun.states, dealt.rows)
            begun.counters[cfr_kernels.NODE_COUNT] = begun.counters[cfr_kernels.STATE_COUNT] = len(dealt.rows)
        queue, reach, values = np.empty((5000, 2), np.int32), np.empty((5000, 2)), np.zeros((400, 10))
        k.run_cfr(options, t, dealt.weights, 1, 6, queue, reach, values[0])
        means.append(t.strategy_sum)
        path = np.zeros((400, 4), np.int64)
        k.run_mccfr(options, sketch, dealt.sums, np.ones(len(dealt.rows)), 1, 60, 7, path, values)
        learned.append(sketch.scores)
        tables = ismcts.empty_tables(1 << 10)
        wins = np.zeros(4, np.int64)
        k.run_ismcts(options, dealt.rows, dealt.sums, 200, 7, ismcts.EXPLORATION, *tables, wins, path, wins.copy())
        won.append((list(wins), tables[1].sum()))
    assert np.allclose(means[0], means[1], atol=1e-12)
    assert np.allclose(learned[0], learned[1], atol=1e-9)
    assert won[0] == won[1]


@pytest.mark.parametrize("powers", SMALL)
def test_trials_find_a_mix_that_loses_little_in_a_small_round(powers: str) -> None:
    """Against the equilibrium of every hand of the leader; the trials draw that hand more often than it comes."""
    options = rules.Options(2, 1, 1, notation.read_powers(powers))
    dealt = all_dealt(options)
    solution = cfr.solve(options, dealt, 100_000)
    assert solution is not None
    proof = cfr.best_responses(options, dealt, solution)
    assert proof is not None
    for key in sorted({int(row[KEY_COLUMN]) for row in dealt.rows}):
        mix = cfr.mccfr_strategy(options, dealt, 0, key, 400_000, 5)
        assert mix is not None
        spot = solution.infoset(key)
        values = proof.values[0][spot, : len(mix)]
        assert values.max() - values @ mix / mix.sum() < 0.02


@pytest.mark.slow
def test_decisions_with_eight_cards_lose_next_to_nothing_against_the_equilibrium(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Half a percent of a round on average, over all decisions that the bot meets and over first turns."""
    whole = games(6) >= 50
    cards, nodes, work = (8, 2_000_000, 100_000_000) if whole else (6, 400_000, 10_000_000)
    parts = {
        "against steady": mccoy_duel_loss.asked(("perfect", "steady"), range(60 if whole else 2), cards),
        "first turns": mccoy_duel_loss.first_turns(range(100 if whole else 3), cards),
    }
    if whole:  # few such rounds come so far
        parts["against itself"] = mccoy_duel_loss.asked(("perfect", "perfect"), range(30), cards)
    everything: list[tuple[str, mccoy_duel_loss.Lost]] = []
    for part, decisions in parts.items():
        lost_by_round = []
        for asked in decisions:
            lost = mccoy_duel_loss.lost(asked.view, asked.stream, nodes, work)
            assert lost is not None
            lost_by_round.append((asked.played, lost))
        everything += lost_by_round
        show(capsys, f"{part}: {mccoy_duel_loss.told_of(lost_by_round)}")
        assert np.mean([lost.loss for _, lost in lost_by_round]) <= 0.005
    show(capsys, f"together: {mccoy_duel_loss.told_of(everything)}")
    mean, half = mccoy_duel_loss.interval(everything)
    assert mean + half <= 0.005


def test_long_trials_and_solutions_value_choices_alike() -> None:
    """What the losses are measured by: both ways on positions that are small enough for both."""
    for asked in mccoy_duel_loss.first_turns(range(4), 6):
        state, told = infosets.observed_round(asked.view)
        assert state is not None
        rows, seat = infosets.possible_states(state, told, SPECTATOR), asked.view.seat
        key = int(infosets.possible_states(state, told, seat).rows[0, KEY_COLUMN + seat])
        proven = mccoy_duel_loss.proven(asked.view.options, rows, seat, key, 1_000_000)
        assert proven is not None
        long = cfr.mccfr(asked.view.options, rows, seat, key, 12_000_000, 3)
        answers = mccoy_duel_loss.answered(asked.view.options, rows, seat, key, long)
        assert answers is not None
        assert abs(answers.max() - proven[0].max()) < 0.02
        assert proven[0].max() - proven[0][np.argmax(answers)] < 0.01


# The bots


@pytest.mark.parametrize("name", ["novice", "strong"])
@pytest.mark.parametrize("kind", [k for k in ODD if k.game == "mccoy-duel"], ids=str)
def test_every_level_plays_every_kind_of_match(name: str, kind: Kind) -> None:
    players = int(kind.options.get("players", 2))
    assert duel([name] * players, f"{kind}", kind.options) in range(players)


def test_perfect_plays_positions_laid_by_hand_and_decides_the_same_again() -> None:
    for view in late_views(7, 2):
        first = level("perfect").choose(view, Dealer("a").stream("bot"))
        cfr._solved.clear()
        assert first == level("perfect").choose(view, Dealer("a").stream("bot"))


def test_what_is_remembered_changes_no_decision() -> None:
    """A bot that is asked anew at every decision, as after a restart, plays the same round."""
    cfr._solved.clear()
    asked = 0
    for seed in range(20):
        table, dealer = piste.open_table("mccoy-duel", {"rounds": 1}, seed=f"kept {seed}"), Dealer("kept")
        while (seat := table.to_act) is not None and asked < 6:
            view = table.view(seat)
            name = bots.stream_name(view)
            action = level("perfect" if seat == 0 else "steady").choose(view, dealer.stream(name))
            if seat == 0 and len(view.actions) > 1 and sum(view.position.sizes) <= 8:
                kept = cfr._solved.copy()
                cfr._solved.clear()
                assert action == level("perfect").choose(view, dealer.stream(name))
                cfr._solved.update(kept)
                asked += 1
            table.decide(seat, action, view.number)
    assert asked == 6


@pytest.mark.parametrize("name", ["perfect", "strong", "novice"])
def test_two_games_that_look_alike_get_the_same_decision(name: str) -> None:
    # In this game one decision with 8 or 7 cards is solved and two are learned from trials.
    table = piste.open_table("mccoy-duel", {"rounds": 1, "first": 1}, seed="alike 5")
    chooser = random.Random(3)
    while table.to_act is not None:
        seat = table.to_act
        view = table.view(seat)
        if view.position.up and len(view.actions) > 1 and sum(view.position.sizes) in (13, 8, 7, 6):
            same = retold(view)
            assert same.log == view.log
            bot = level(name)
            assert bot.choose(same, Dealer("x").stream("b")) == bot.choose(view, Dealer("x").stream("b"))
        table.decide(seat, chooser.choice(view.actions), table.number)


def test_perfect_picks_to_lead() -> None:
    for view in views(Kind("mccoy-duel", {"rounds": 9}), "picks"):
        if view.kind == rules.PICK:
            assert level("perfect").choose(view, Dealer("p").stream("b")) == rules.SEAT + view.seat


if games(1) >= 50:  # only in a proof: a million passes; fewer say nothing

    def test_first_plays_of_the_search_lose_little_by_longer_search(
        capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
    ) -> None:
        monkeypatch.setattr(table_cache, "folder", lambda: tmp_path)
        worth = solver.opening(rules.Options(), quiet)
        losses: dict[str, list[float]] = {way: [] for way in ("shown", "fair")}
        seen: set[int] = set()
        for seed in range(200):
            view = piste.open_table("mccoy-duel", {"rounds": 1, "first": 1}, seed=f"lead {seed}").view(0)
            missing = members(511 & ~view.position.hand)
            if view.kind == rules.PLAY and len(missing) == 1 and missing[0] not in seen:
                seen.add(missing[0])
                for i in range(4):
                    lead = duel_match.without_book(view, Dealer(f"lead {i}").stream("bot"))
                    for way, lost_by_lead in losses.items():
                        leads = worth[way][1 + 9 * missing[0] : 10 + 9 * missing[0]]
                        lost_by_lead.append(float(leads.max() - leads[lead]))
        assert len(seen) == 9
        text = ", ".join(
            f"{way}: leader {worth[way][0]:.2%}, leads lose {np.mean(lost_by_lead):.3%}"
            for way, lost_by_lead in losses.items()
        )
        show(
            capsys,
            f"first plays by {solver.OPENING_PASSES} passes, the leader's buried card {text}; "
            f"peeking {worth['peeking'][0]:.2%}",
        )
        # The search plays as if its buried card were seen; with the card hidden the long search itself has not
        # settled to better than a percent or two. So this is no measure of the book (docs/solve/mccoy-duel.md).
        assert np.mean(losses["shown"]) <= 0.005
        assert np.mean(losses["fair"]) <= 0.02


@pytest.mark.parametrize(
    ("names", "players", "bar", "usual", "full"),
    [
        pytest.param(("perfect", "random"), 2, 0.90, 2, 100, marks=pytest.mark.slow),
        pytest.param(("perfect", "steady"), 2, 0.72, 2, 100, marks=pytest.mark.slow),
        (("strong", "steady"), 2, 0.55, 4, 200),
        (("steady", "novice"), 2, 0.55, 20, 200),
        (("novice", "random"), 2, 0.55, 60, 300),
        pytest.param(("perfect", "random"), 3, 0.60, 1, 60, marks=pytest.mark.slow),
        pytest.param(("perfect", "random"), 4, 0.50, 1, 60, marks=pytest.mark.slow),
    ],
    ids=lambda x: "-".join(x) if isinstance(x, tuple) else str(x),
)
def test_levels_are_clearly_apart(
    names: tuple[str, str], players: int, bar: float, usual: int, full: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every deal from each seat; the bar is for the lower end of Wilson's interval once there are enough matches."""
    number = min(games(usual), full)
    solver.prepare(rules.Options(players), quiet)
    won = 0
    spent: dict[str, list[float]] = {}
    for i in range(number):
        deal, seat = divmod(i, players)
        specs = [names[1]] * players
        specs[seat] = names[0]
        won += duel(specs, f"apart {deal}", {"players": players}, spent) == seat
    low, high = wilson(won, number)
    who = f"{players} players, {' against '.join(names)}"
    show(capsys, f"{who}: {won} of {number} ({low:.1%} to {high:.1%}); {pace(spent[names[0]])}")
    if number < full:
        assert won * 2 >= number  # too few to say more
    else:
        assert low >= bar


# What is compiled


@pytest.mark.parametrize("players", ["2", "4"])
def test_a_prepared_bot_compiles_nothing_for_its_first_decision_and_no_kernel_twice(players: str) -> None:
    done = subprocess.run([sys.executable, "-c", WARM, players], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# What is kept


def test_the_opening_is_kept_and_read_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path)
    asked: list[int] = []
    first = solver.opening(rules.Options(powers=notation.read_powers("0*")), lambda *a: asked.append(a[0]), 1000)
    again = solver.opening(rules.Options(powers=notation.read_powers("0*")), quiet, 1000)
    assert asked
    assert all((first[way] == again[way]).all() for way in solver.VARIANTS)
    assert solver.opening(rules.Options(powers=notation.read_powers("0*")), quiet, 2000).keys() == first.keys()
