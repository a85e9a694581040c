"""Duel's whole rounds: their value by a second method, their bound, and who uses them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piste
from piste import bots
from piste.compiled import table_cache
from piste.compiled.compiler import link_modules
from piste.core.dealer import Dealer
from piste.core.evaluation import ESTIMATED, WITHIN, quiet
from piste.core.game import find
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import SPECTATOR
from piste.core.views import SeatView
from piste.games.mccoy_duel import notation, rules
from piste.games.mccoy_duel.bots import perfect
from piste.games.mccoy_duel.solver import (
    cfr_kernels,
    infoset_kernels,
    infosets,
    sequence_form,
    sequence_kernels,
    solutions,
    solver,
)
from piste.games.mccoy_duel.solver.solutions import Mix
from tests.game_setups import games
from tests.games.solver.mccoy_duel_lp import SequenceForm
from tests.games.solver.mccoy_duel_plain_cfr import show
from tools import duel_exploitability, duel_openings

pytestmark = pytest.mark.slow  # compiling Duel's solver takes many seconds

GAME = find("mccoy-duel")
WHOLE = games(1) >= 50  # the sizes of a proof
BAR = 0.001  # what both sides together may lose
THREE = ["".join(powers) for powers in combinations(notation.POWERS, 3)]
SIX = ["".join(powers) for powers in combinations(notation.POWERS, 6)]
SEVEN = ["013456*", "013567*", "023567*", "034567*"]
ROUNDS = [
    (powers, picking)
    for powers in ([*SIX, *SEVEN] if WHOLE else ["01345*", "012345"])
    for picking in (False, True)
    if (powers, picking) != ("01247*", True)  # has more ends than are solved
]
SECOND_METHOD = ["0257*", "0136*", "456*", "1247", *(["02357*", "13567*", "01235*"] if WHOLE else [])]


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Keep solutions in a folder of these tests' own."""
    place = tmp_path_factory.mktemp("solved")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_cache, "folder", lambda: place)
        yield place


def options(powers: str, **changed: int) -> rules.Options:
    return rules.Options(2, 1, 1, notation.read_powers(powers))._replace(**changed)


def solution(powers: str, *, picking: bool = False) -> solutions.Solution:
    found = solutions.find(options(powers), picking=picking, max_ends=solutions.MAX_ENDS)
    assert found is not None
    return found


# The value and the bound


@pytest.mark.parametrize("powers", SECOND_METHOD)
def test_a_linear_program_finds_the_same_value(powers: str, capsys: pytest.CaptureFixture[str]) -> None:
    value, found = SequenceForm(options(powers)).value(), solution(powers)
    if len(powers) > 5:
        show(capsys, f"{powers}: {value:.6f} by a linear program, {1 - found.wins[1]:.6f} to {found.wins[0]:.6f}")
    assert 1 - found.wins[1] - 1e-7 <= value <= found.wins[0] + 1e-7
    assert found.bound <= BAR


def test_every_choice_of_three_powers_has_the_value_that_a_linear_program_finds() -> None:
    for powers in THREE:
        found = solution(powers)
        assert 1 - found.wins[1] - 1e-7 <= SequenceForm(options(powers)).value() <= found.wins[0] + 1e-7
        assert found.bound <= BAR


@pytest.mark.parametrize(("powers", "picking"), ROUNDS)
def test_rounds_are_solved_within_a_thousandth(
    powers: str, picking: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    found = solution(powers, picking=picking)
    show(capsys, f"{powers}{' pick' if picking else ''}: {found.share:.4%}, bound {found.bound:.5%}")
    assert found.bound <= BAR


def test_to_pick_is_worth_no_less_than_to_lead_or_to_follow() -> None:
    for powers in ("0257*", "0136*", "456*", "1247"):
        lead, pick = solution(powers), solution(powers, picking=True)
        assert pick.wins[0] >= max(lead.share, 1 - lead.share) - lead.bound


def test_compiled_and_plain_kernels_agree() -> None:
    plain = link_modules(rules, infoset_kernels, cfr_kernels, sequence_kernels, compiled=False)
    state = solutions.start_state(options("0136*").powers, picking=False)
    states = infosets.possible_states(state, solutions.BURIALS, SPECTATOR)
    found = []
    for k in (plain, sequence_form.kernels()):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sequence_form, "kernels", lambda k=k: k)
            tree = sequence_form.enumerated(state.options, states, 10**6)
            assert tree is not None
            found.append((tree, sequence_form.solve(tree, 0.0, max_iterations=20)))
    (one, first), (other, second) = found
    for a, b in zip((*one.sides, *one.ends), (*other.sides, *other.ends), strict=True):
        assert all((x == y).all() for x, y in zip(a, b, strict=True))
    assert first.wins == pytest.approx(second.wins, abs=1e-9)


def test_a_round_that_is_too_large_is_not_solved() -> None:
    state = solutions.start_state(options("0136*").powers, picking=False)
    states = infosets.possible_states(state, solutions.BURIALS, SPECTATOR)
    assert sequence_form.enumerated(state.options, states, 100) is None
    assert solutions.find(rules.Options()) is None
    assert solutions.find(options("023567*")) is None  # only when it is asked for
    assert solutions.find(options("05*", players=3)) is None


# What is kept


def test_a_solution_is_kept_and_a_damaged_one_is_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path)
    first = solution("456*")
    name = solutions.name(options("456*").powers, picking=False)
    table = table_cache.load(name, solutions.stamp())
    assert table is not None
    for damaged in (False, True):
        monkeypatch.setattr(solutions, "_found", type(solutions._found)())
        if damaged:
            (table.folder / "values1.bin").write_bytes(bytes(table.row_count("values1") * 4))
        again = solution("456*")
        assert again.wins == first.wins
        for a, b in zip(first.sides, again.sides, strict=True):
            assert all((x == y).all() for x, y in zip(a, b, strict=True))


# Who uses it


def rounds(powers: str, seed: object, **changed: Any) -> list[tuple[SeatView, Mix, int]]:
    """Return the decisions of a match in which both play by the solution, and what was chosen."""
    table = piste.open_table("mccoy-duel", {"powers": powers, **changed}, seed=str(seed))
    found, dealer = [], Dealer(f"by the solution {seed}")
    while (seat := table.to_act) is not None:
        view = table.view(seat)
        stream, state = dealer.stream(bots.stream_name(view)), infosets.observed_round(view)[0]
        action = view.actions[0]
        if len(view.actions) > 1 and state is None:
            action = rules.SEAT + seat
        elif len(view.actions) > 1 and state is not None:
            known = solutions.look_up(state, infosets.observed_round(view)[1], seat)
            if known is None:
                action = view.actions[-1]
                assert count_of_powers(view) == 1 or may_have_won(view)
            else:
                assert known[1].played
                action = known[1].actions[stream.weighted(known[1].probabilities.tolist())]
                assert action in view.actions
                found.append((view, known[1], action))
        table.decide(seat, action, view.number)
    return found


def may_have_won(view: SeatView) -> bool:
    """Say whether the seat has won whatever its ability does, for all it knows: a solution ends there."""
    own = infosets.possible_states(*infosets.observed_round(view), view.seat)  # type: ignore[arg-type]
    return any(
        infoset_kernels.certain_winner(infoset_kernels.unpack(view.options, row)) == view.seat for row in own.rows
    )


def count_of_powers(view: SeatView) -> int:
    """Return how many choices there are if cards of one power in the tower are one."""
    seen = view.kind in (rules.KILL, rules.TAKE, rules.COPY)
    return len({rules.power_of(action) if seen else action for action in view.actions})


def test_who_plays_by_the_solution_never_leaves_it() -> None:
    kinds = set()
    for seed in range(30):
        for view, mix, _ in rounds("0257*", seed, rounds=3):
            assert mix.probabilities.sum() == pytest.approx(1)
            assert len(mix.actions) == 1 or len(mix.actions) == count_of_powers(view)
            kinds.add(view.kind)
    assert kinds >= {rules.PICK, rules.PLAY, rules.GIVE}


def test_it_does_not_matter_which_seat_leads() -> None:
    leads: dict[tuple[int, int], list[list[float]]] = {}
    for first in (1, 2):
        for seed in range(40):
            view, mix, _ = rounds("0136*", seed, first=first, rounds=1)[0]
            if view.seat == first - 1:
                missing = view.options.powers & ~(view.position.hand >> 9 * view.seat)
                leads.setdefault((missing, first), []).append(mix.probabilities.tolist())
    for missing in {missing for missing, _ in leads}:
        mixes = {tuple(mix) for first in (1, 2) for mix in leads[missing, first]}
        assert len(mixes) == 1


def test_perfect_plays_the_solution() -> None:
    for seed in range(5):
        for view, mix, _ in rounds("0257*", seed, rounds=1):
            chosen = {perfect.choose(view, Dealer(f"asked {i}").stream("bot")) for i in range(8)}
            assert chosen <= {action for action, p in zip(mix.actions, mix.probabilities, strict=True) if p > 0}


def test_the_loser_is_told_by_the_solution_whom_to_let_lead() -> None:
    table = piste.open_table("mccoy-duel", {"powers": "456*", "rounds": 1, "first": 0}, seed="pick")
    view = table.view(table.to_act or 0)
    assert view.kind == rules.PICK
    leads = perfect.choose(view, Dealer("asked").stream("bot")) == rules.SEAT + view.seat
    assert leads == (solution("456*").share >= 0.5)


def test_a_verdict_on_a_solved_round_has_a_bound() -> None:
    found = solution("0257*")
    start = InformationSet.common(Position(GAME, rules.start(options("0257*"))))
    evaluation = solver.evaluate(start)
    assert evaluation.known == WITHIN
    assert evaluation.chances.win == pytest.approx(found.share)
    assert evaluation.within == found.bound / 2
    for view, mix, _ in rounds("0257*", "verdict", rounds=1):
        evaluation = solver.evaluate(InformationSet.of(GAME, view))
        if found.bound / max(mix.reach, 1e-9) < solver.MAX_SOLUTION_ERROR:
            assert evaluation.known == WITHIN
            assert "whole round" in evaluation.how
            assert [choice.mix for choice in evaluation.choices] == pytest.approx(mix.probabilities.tolist())
            worth = sum(choice.mix * choice.chances.win for choice in evaluation.choices)
            assert worth >= evaluation.chances.win - evaluation.within - 1e-6


def test_a_match_of_solved_rounds_has_a_bound_too() -> None:
    start = InformationSet.common(Position(GAME, rules.start(options("0257*", rounds=5))))
    evaluation = solver.evaluate(start)
    assert evaluation.known == WITHIN
    lead, pick = solution("0257*"), solution("0257*", picking=True)
    share = solver.match_chance(3, 3, lead.share, pick.share)
    assert evaluation.chances.win == pytest.approx(share)
    assert 0 < evaluation.within < BAR
    assert solver.evaluate(InformationSet.common(Position(GAME, rules.start(options("0257*", first=0))))).known == (
        ESTIMATED  # who will lead is sampled
    )


def test_what_each_lead_is_worth() -> None:
    found = solution("0257*")
    leads = solutions.leads(options("0257*"), found)
    assert sum(lead.played for lead in leads) == pytest.approx(1)
    assert notation.write_powers(sum(1 << lead.power for lead in leads)) == "0257*"
    assert solver.solve_fully(options("0257*"), quiet).count("is led") == 5
    sure = solutions.leads(options("012345"), solution("012345"))
    # Against a 0 there is no answer without a trump; who has buried it leads another card.
    assert sure[0][:2] == (0, 1.0)
    assert sure[0].played == pytest.approx(5 / 6)


# Held to the truth


def gain(powers: str, seat: int, way: str, plays: int = duel_exploitability.ALL_PLAYS) -> float:
    """Return what a best response gains from a way to play, asked once for each mix."""
    start = solutions.start_state(options(powers).powers, picking=False)
    tree = duel_exploitability.tree_of(options(powers).powers)
    solved = sequence_form.solve(tree, solutions.MAX_BOUND)
    played = duel_exploitability.mixes(start, seat, duel_openings.way(way, start.options, 1, 20_000), plays)
    rest = solved.choices[seat] if plays < duel_exploitability.ALL_PLAYS else None
    return duel_exploitability.exploitability(tree, solution(powers).share, seat, played, rest).gain


@pytest.mark.parametrize("powers", ["0136*", "0257*"])
def test_against_perfect_a_best_response_gains_what_the_bound_says(powers: str) -> None:
    found = solution(powers)
    for seat, value in enumerate((1 - found.share, found.share)):
        assert gain(powers, seat, "solution") == pytest.approx(found.wins[1 - seat] - value, abs=1e-6)


@pytest.mark.parametrize("way", ["search", "blueprint"])
def test_a_best_response_to_first_plays_gains_no_less_than_nothing(way: str) -> None:
    bound = solution("036*").bound
    assert all(gain("036*", seat, way, plays=2) >= -bound for seat in range(2))


def test_what_is_asked_for_first_plays_alone_is_less() -> None:
    start = solutions.start_state(options("036*").powers, picking=False)
    ask = duel_openings.way("search", start.options, 1)
    first, second, every = (set(duel_exploitability.mixes(start, 0, ask, plays)) for plays in (1, 2, 99))
    assert first == second < every  # the leader decides nothing in the second play


def test_the_bound_is_that_of_the_strategies_that_are_kept() -> None:
    state = solutions.start_state(options("0257*").powers, picking=False)
    tree = sequence_form.enumerated(
        state.options, infosets.possible_states(state, solutions.BURIALS, SPECTATOR), 10**6
    )
    assert tree is not None
    strategies = sequence_form.solve(tree, solutions.MAX_BOUND)
    kept = solutions.worth_keeping(tree, strategies)
    for seat, side in enumerate(kept.sides):
        shares = np.add.reduceat(side.probabilities, side.first[:-1].astype(int))
        assert np.allclose(shares[side.played], 1, atol=1e-6)
        assert (np.diff(side.keys) > 0).all()
        assert side.values.max() <= 1 + 1e-6
        assert len(side.keys) <= len(tree.sides[seat].keys)
