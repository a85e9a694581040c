"""Zero Sum Duel's solver: what its plans are worth is held against best responses that go through the rules alone."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import piste
from piste import bots
from piste.compiled.compiler import link_modules
from piste.core.belief import Belief, retell
from piste.core.bits import signed_sum
from piste.core.dealer import Dealer
from piste.core.evaluation import ESTIMATED, EXACT
from piste.core.game import find, members
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import CHANCE
from piste.core.views import SeatView
from piste.games.zero_sum_duel import rules
from piste.games.zero_sum_duel.bots import novice, perfect, steady, strong
from piste.games.zero_sum_duel.rules import DISCARD, DRAW, Options, State
from piste.games.zero_sum_duel.solver import equilibrium, lp_kernels, signaling, solver
from tests.game_setups import actions, games
from tests.games.solver import zero_sum_duel_best_response as response
from tests.sizes import slow_if

GAME = find("zero-sum-duel")
SMALL = ((3, 2), (4, 2), (4, 3))


def at_start(options: Options) -> InformationSet:
    position = Position(GAME, rules.start(options))
    return InformationSet(0, position, (), Belief(GAME, position.state, 0))


def bases(options: Options, turns: int) -> list[State]:
    """Return every position with full hands and an empty deck after so many turns, A to draw."""
    sets = [sum(1 << card for card in cards) for cards in combinations(range(2 * options.top), options.hand)]
    sets = [held for held in sets if signed_sum(options.top, held)]
    return [State(options, DRAW, 0, (a, b), 0, turns, -1, 0) for a in sets for b in sets if not a & b]


def gains(base: State, ahead: response.Ahead) -> list[float]:
    """Return what either seat could gain in one pass by knowing the other's plan; both are 0 in an equilibrium."""
    found = equilibrium.strategy_from(base)
    value = found.outcome(base)[0]
    begin = response.first_pass if base.turns == 0 else from_empty
    return [begin(base, seat, found.mix, ahead_of(ahead, seat)) - (value, -value)[seat] for seat in (0, 1)]


def ahead_of(ahead: response.Ahead, seat: int) -> response.Ahead:
    return ahead if seat == 0 else lambda s: -ahead(s)


def from_empty(base: State, seat: int, policy: response.Policy, ahead: response.Ahead) -> float:
    cards = members(rules.outcomes(base))
    return response.grouped([(base, card, 1 / len(cards)) for card in cards], seat, policy, ahead)


def worth(s: State) -> float:
    return equilibrium.strategy_from(s).outcome(s)[0]


@pytest.mark.parametrize(("top", "hand"), SMALL)
@pytest.mark.parametrize("passes", slow_if(lambda passes: passes > 0, [0, 1, 3]))
def test_no_best_response_gains_with_a_turn_limit(top: int, hand: int, passes: int) -> None:
    """Each pass is held against the value of the next, so together these are best responses in the whole game."""
    turns = 2 * (top - hand)
    for extra in (1, turns // 2 + 1):
        options = Options(1, 2 * hand + turns * passes + extra, top, hand)
        levels = [bases(options, 2 * hand + turns * (n + 1))[:: 97 if top - hand == 2 else 17] for n in range(passes)]
        for base in [rules.start(options), *(base for level in levels for base in level)]:
            assert max(map(abs, gains(base, worth))) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize(("top", "hand"), SMALL)
def test_no_best_response_gains_without_a_limit(top: int, hand: int) -> None:
    options = Options(1, 0, top, hand)
    turns = 2 * (top - hand)
    for base in [rules.start(options), *bases(options, 2 * hand + turns)[:: 23 if turns == 4 else 7]]:
        assert max(map(abs, gains(base, worth))) < 1e-10


def test_a_game_with_few_turns_is_worth_what_going_through_all_of_it_says() -> None:
    """Four turns of the smallest game have one decision of each player; six have two, and a reshuffle between."""
    for turns in (5, 6, 7):
        options = Options(1, turns, 3, 2)
        value = solver.evaluate(at_start(options)).chances.value
        open_cards = brute(rules.start(options))
        assert value == pytest.approx(open_cards, abs=1e-12)


def brute(s: State) -> float:
    """Return the value to A by looking at everything: with two cards in the deck nothing hidden matters."""
    actor = rules.to_act(s)
    if actor == CHANCE:
        cards = members(rules.outcomes(s))
        return sum(brute(rules.apply(s, card)) for card in cards) / len(cards)
    if actor < 0:
        return float(rules.payoff(s, 0))
    return (max if actor == 0 else min)(brute(rules.apply(s, card)) for card in members(rules.legal(s)))


def test_long_limits_come_to_the_value_without_one() -> None:
    endless = solver.evaluate(at_start(Options(1, 0, 4, 2)))
    for turns in (197, 198, 199, 200):
        limited = solver.evaluate(at_start(Options(1, turns, 4, 2)))
        assert limited.chances.value == pytest.approx(endless.chances.value, abs=1e-9)
        assert limited.chances.draw < 1e-9


def test_plain_and_compiled_loops_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    s = signaling.hand_sets(4, 2)
    even = s.by_rank(np.stack((np.zeros(len(s.pairs)), np.ones(len(s.pairs)))))
    compiled = signaling.solve_pass(4, 2, even, 4)
    monkeypatch.setattr(signaling, "load_kernels", lambda _: link_modules(lp_kernels, compiled=False))
    assert np.array_equal(signaling.solve_pass(4, 2, even, 4), compiled)  # a pass may be solved by either


def test_mirror_images_are_worth_the_same() -> None:
    options = Options(1, 0, 4, 2)
    for base in bases(options, 8)[::11]:
        hands = tuple(sum(1 << (7 - card) for card in members(hand)) for hand in base.hands)
        assert worth(base) == pytest.approx(worth(base._replace(hands=(hands[0], hands[1]))), abs=1e-12)


def watched(seed: str, options: dict[str, int | str]) -> list[SeatView]:
    """Return what the seats to decide saw in a game between perfect bots."""
    table = piste.open_table("zero-sum-duel", options, seed=seed)
    found = []
    while (seat := table.to_act) is not None:
        view = table.view(seat)
        found.append(view)
        card = perfect.choose(view, Dealer(seed).stream(bots.stream_name(view)))
        assert card in view.actions
        table.decide(seat, card, view.number)
    return found


KINDS: tuple[dict[str, int | str], ...] = (
    {"top": 4, "hand": 2},
    {"top": 4, "hand": 3, "turns": 17, "first": "b"},
    {"top": 3, "hand": 2, "turns": 11},
)


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_a_verdict_is_of_one_piece_and_the_bot_keeps_to_it(options: dict[str, int | str]) -> None:
    for seed in range(3 + games(0) // 1000):
        for view in watched(f"piece {seed}", options):
            found = solver.evaluate(solver.since_shared(view))
            assert found.known == EXACT
            assert found.seat == view.seat
            assert sum(choice.mix for choice in found.choices) == pytest.approx(1.0)
            assert tuple(choice.action for choice in found.choices) == view.actions
            for chances in (found.chances, *(choice.chances for choice in found.choices)):
                assert sum(chances) == pytest.approx(1.0)
            best = max(choice.chances.value for choice in found.choices)
            # Where equilibrium play leads, every discard in the mix is as good as the best.
            assert solver.OFF_PATH not in found.how
            for choice in found.choices:
                assert choice.mix < 1e-9 or choice.chances.value > best - 1e-9
            stream = Dealer("any").stream(bots.stream_name(view))
            mix = {choice.action: choice.mix for choice in found.choices}
            assert mix[perfect.choose(view, stream)] > 0


@pytest.mark.parametrize("options", [*KINDS, {"top": 5, "hand": 2, "turns": 20}], ids=str)
def test_a_seat_plays_the_same_in_games_it_cannot_tell_apart(options: dict[str, int | str]) -> None:
    different = 0
    for seed in range(2):
        for view in watched(f"secret {seed}", options)[:6]:
            history = actions(retell(GAME, view, Dealer("retold").stream(f"{seed} {view.number}")))
            state = rules.start(view.options)
            outcomes = [step for s, step in walked(state, history) if rules.to_act(s) == CHANCE]
            table = piste.open_table("zero-sum-duel", options, outcomes=outcomes)
            for s, step in walked(state, history):
                if rules.to_act(s) >= 0:
                    table.decide(rules.to_act(s), step)
            again = table.view(view.seat)
            different += 1
            for bot in (perfect, strong, steady, novice):
                name = bots.stream_name(view)
                chosen = [bot.choose(seen, Dealer("same").stream(name)) for seen in (view, again)]
                assert chosen[0] == chosen[1]
            assert solver.evaluate(solver.since_shared(view)) == solver.evaluate(solver.since_shared(again))
    assert different


def walked(state: State, history: tuple[int, ...]) -> list[tuple[State, int]]:
    found = []
    for step in history:
        found.append((state, step))
        state = rules.apply(state, step)
    return found


def test_positions_laid_by_hand_are_answered_at_any_point_of_a_pass() -> None:
    """A base is known to both: after a discard the receiver then sees the whole hand, and loses nothing by it."""
    options = Options(1, 0, 4, 2)
    for seed in range(4):
        table = piste.open_table("zero-sum-duel", {"top": 4, "hand": 2, "first": "a"}, seed=f"laid {seed}")
        state = rules.start(options)
        for step in _history_of(table, f"laid {seed}"):
            known = (
                InformationSet.parse(f"{Position(GAME, state)} | A | | {_actor(state)}")
                if rules.to_act(state) >= 0
                else None
            )
            if known is not None:
                found = solver.evaluate(known)
                assert found.known == EXACT
                if found.choices:
                    best = max(choice.chances.value for choice in found.choices)
                    assert found.chances.value == pytest.approx(best, abs=1e-9)
            state = rules.apply(state, step)


def _actor(state: State) -> str:
    return GAME.seat_name(rules.to_act(state))


def _history_of(table: piste.Table, seed: str) -> tuple[int, ...]:
    while (seat := table.to_act) is not None:
        view = table.view(seat)
        table.decide(seat, steady.choose(view, Dealer(seed).stream(bots.stream_name(view))), view.number)
    return actions(table.history())


def test_sizes_that_are_not_solved_are_estimated_and_say_so() -> None:
    table = piste.open_table("zero-sum-duel", {"top": 6, "hand": 3, "turns": 40}, seed="estimate")
    seat = table.to_act
    assert seat is not None
    view = table.view(seat)
    found = solver.evaluate(solver.since_shared(view))
    assert found.known == ESTIMATED
    assert 0 < found.within < 0.2
    assert found == solver.evaluate(solver.since_shared(view))
    assert perfect.choose(view, Dealer("any").stream("any")) == found.best.action
    assert "not solved" in solver.solve_fully(view.options, lambda *_: None)


def test_what_comes_with_the_package_is_what_the_solver_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped, strong = equilibrium.shipped(), 2 * 3 + 4 * solver.STRONG_PASSES
    s = signaling.hand_sets(*equilibrium.USUAL_SIZE)
    for turns in (0, strong):
        base = rules.start(Options(1, turns, 5, 3))
        read = equilibrium.PassStrategy(base)
        with monkeypatch.context() as patch:
            patch.setattr(equilibrium, "shipped_mixes", lambda _: None)
            solved = equilibrium.PassStrategy(base)
        assert read.signaling is not None
        assert solved.signaling is not None
        for mine, other in zip(read.signaling[2:], solved.signaling[2:], strict=True):
            assert np.abs(mine - other).max() < 1e-12
    again = signaling.solve_pass(5, 3, s.by_rank(shipped["limit"]), equilibrium.ENDLESS)
    assert np.abs(again - shipped["limit"]).max() < 1e-14
    monkeypatch.setattr(equilibrium, "USUAL_SIZE", (0, 0))  # nothing is read
    monkeypatch.setattr(equilibrium, "_levels", {})
    for level, values in enumerate(shipped["levels"]):
        assert np.abs(equilibrium.level_values(5, 3, 4, level) - values).max() < 1e-14


@pytest.mark.slow
def test_the_usual_game_is_an_equilibrium_whatever_endless_play_counts() -> None:
    """Best responses over the whole game, with endless play counted as a win for the player who deviates."""
    options = Options(1, 0, 5, 3)
    every = bases(options, 10)
    index = np.zeros(1024, dtype=np.int64)
    for size in (3, 4):
        for at, cards in enumerate(combinations(range(10), size)):
            index[sum(1 << card for card in cards)] = at
    hands = np.array([base.hands for base in every])
    sends, replies = np.zeros((len(every), 10, 10)), np.zeros((len(every), 10, 10, 10))
    value = np.zeros((120, 120))
    found = equilibrium.strategy_from(every[0])
    for p, base in enumerate(every):
        found = equilibrium.PassStrategy(base)
        value[index[base.hands[0]], index[base.hands[1]]] = found.outcome(base)[0]
        assert found.signaling is not None
        for card in members(rules.outcomes(base)):
            mine, other = (hand | 1 << card for hand in base.hands)
            sends[p, card, members(mine)] = found.signaling.sender_mix[found.signaling.senders[mine]]
            replies[p, :, card, members(other)] = found.signaling.receiver_mix[:, found.signaling.receivers[other]].T
    third, fourth = np.zeros((210, 210), dtype=np.int64), np.zeros((120, 210), dtype=np.int64)
    fours = [sum(1 << card for card in cards) for cards in combinations(range(10), 4)]
    for other in fours:
        for mine in fours:
            if not mine & other:
                state = State(options, DISCARD, 0, (mine, other & (other - 1)), other & -other, 12, -1, 0)
                third[index[mine], index[other]] = only(found.mix(state))
        for cards in combinations([card for card in range(10) if not other >> card & 1], 3):
            kept = sum(1 << card for card in cards)
            state = State(options, DISCARD, 1, (kept, other), 0, 13, -1, 0)
            fourth[index[kept], index[other]] = only(found.mix(state))
    loops = link_modules(rules, response, compiled=True)
    pairs = (index[hands[:, 0]], index[hands[:, 1]])
    opening = equilibrium.strategy_from(rules.start(options))
    for seat, sign in ((0, 1), (1, -1)):
        ahead = np.full((120, 120), float(sign))
        for _ in range(400):
            before = ahead.copy()
            if seat == 0:
                ahead[pairs] = loops.sender_best(hands, index, replies, fourth, before)
            else:
                ahead[pairs] = loops.receiver_best(hands, index, sends, third, before)
            if np.abs(ahead - before).max() < 1e-14:
                break
        assert np.abs((ahead - value)[pairs]).max() < 1e-8
        whole = response.first_pass(rules.start(options), seat, opening.mix, read_from(sign * ahead, index))
        assert abs(whole - sign * opening.outcome(rules.start(options))[0]) < 1e-8


def read_from(table: Any, index: Any) -> response.Ahead:
    return lambda s: float(table[index[s.hands[0]], index[s.hands[1]]])


def only(mix: dict[int, float]) -> int:
    (card,) = [card for card, share in mix.items() if share > 0]
    return card
