"""Zero Sum Duel: an equilibrium, pass by pass through the deck.

Whenever the deck is empty both players know both hands; `pass_values` gives the value of such a position, by value
iteration over the passes. `PassStrategy` is how both play from a position that both know to the next empty deck. Seat
0 starts here; `solver` swaps the seats where it is the other one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import log
from typing import NamedTuple

import numpy as np

from piste.compiled import table_cache
from piste.core.bits import count
from piste.core.evaluation import Progress, quiet
from piste.core.game import members
from piste.core.protocols import OVER
from piste.games.zero_sum_duel import rules
from piste.games.zero_sum_duel.rules import DISCARD, DRAW, Options, State
from piste.games.zero_sum_duel.solver.lp_kernels import TOLERANCE
from piste.games.zero_sum_duel.solver.signaling import (
    LOST_OR_EVEN,
    Array,
    HandSets,
    SignalingGames,
    hand_sets,
    last_turns,
    solve_pass,
)

VERSION = 1
STAMP = f"rules {rules.VERSION}, solver {VERSION}"
CONVERGENCE = 1e-15
"""Value iteration ends when no value changes by more from one pass to the next."""

MAX_PASSES = 400
ENDLESS = 1 << 40
"""How many turns are left without a turn limit."""

Outcome = tuple[float, float]
"""The value for the first player, and the chance of a draw."""


class PassValues(NamedTuple):
    """Value and chance of a draw for the player who draws, with an empty deck, by the passes that are left."""

    rest: int  # turns left at the first level; each further level has one pass more
    turns: int  # of a pass
    value: Array  # [level, pair]
    drawn: Array
    converged: bool  # whether further levels would be like the last

    def at(self, s: HandSets, left: int) -> Array:
        """Return both as tables by the ranks of the hands."""
        level = min((left - self.rest) // self.turns, len(self.value) - 1)
        return s.by_rank(np.stack((self.value[level], self.drawn[level])) if left > 0 else np.zeros((2, 1)))


def turns_of_pass(options: Options) -> int:
    return 2 * (options.top - options.hand)


def left_of(options: Options, turns: int) -> int:
    """Return how many turns may still be played after these."""
    return options.turns - turns if options.turns else ENDLESS


_pass_values: dict[tuple[int, int, int], PassValues] = {}


def pass_values(options: Options, progress: Progress = quiet) -> PassValues:
    """Return the values with an empty deck that a game with these options needs: from memory, cache, or computed."""
    turns = turns_of_pass(options)
    after_deal = max(options.turns - 2 * options.hand, 1)
    rest = (after_deal - 1) % turns + 1 if options.turns else turns
    wanted = min((after_deal - rest) // turns + 1, MAX_PASSES) if options.turns else MAX_PASSES
    key = (options.top, options.hand, rest)
    if key not in _pass_values:
        stored_table = load_pass_values(*key)
        if stored_table is not None:
            _pass_values[key] = stored_table
    if key not in _pass_values or not (_pass_values[key].converged or len(_pass_values[key].value) >= wanted):
        _pass_values[key] = solve_passes(*key, wanted, progress)
    return _pass_values[key]


def table_name(top: int, hand: int, rest: int) -> str:
    return f"zero-sum-duel top={top},hand={hand},rest={rest}"


def load_pass_values(top: int, hand: int, rest: int) -> PassValues | None:
    kept = table_cache.load(table_name(top, hand, rest), STAMP)
    if kept is None:
        return None
    try:
        value, drawn, converged = (kept.read(name) for name in ("value", "drawn", "rested"))
    except table_cache.DamagedTableError:
        return None
    return PassValues(rest, 2 * (top - hand), value, drawn, bool(converged[0]))


def solve_passes(top: int, hand: int, rest: int, wanted: int, progress: Progress) -> PassValues:
    """Value iteration, pass after pass until it converges; the result goes to the cache."""
    s, turns = hand_sets(top, hand), 2 * (top - hand)
    levels = [np.stack((np.zeros(len(s.pairs)), np.ones(len(s.pairs))))]  # even after the last pass
    change = 1.0
    while change >= CONVERGENCE and len(levels) <= wanted:
        progress(percent_converged(change, len(levels) - 1, wanted), 100, "solving")
        levels.append(solve_pass(top, hand, s.by_rank(levels[-1]), rest + turns * (len(levels) - 1)))
        change = float(np.abs(levels[-1] - levels[-2]).max()) if len(levels) > 2 else 1.0
    value, drawn = np.array(levels[1:]).swapaxes(0, 1)
    solved = PassValues(rest, turns, value, drawn, change < CONVERGENCE)
    table_cache.try_save(table_name(top, hand, rest), STAMP, arrays_of(solved))
    return solved


def arrays_of(solved: PassValues) -> dict[str, Array]:
    return {"value": solved.value, "drawn": solved.drawn, "rested": np.array([int(solved.converged)])}


def percent_converged(change: float, done: int, wanted: int) -> int:
    """Return how far value iteration has converged, in percent of the passes or of the logarithm of the change."""
    return min(99, max(round(100 * done / wanted), round(100 * log(max(change, CONVERGENCE)) / log(CONVERGENCE))))


class SignalingSolution(NamedTuple):
    """The equilibrium of the hidden discards of a pass: both mixes, and the values of all pairs of hands."""

    senders: Mapping[int, int]  # the number of each hand with a card too many
    receivers: Mapping[int, int]
    sender_mix: Array  # [sender, discard by place in the hand]
    receiver_mix: Array  # [card seen, receiver, reply by place in the hand]
    pair: Array  # value and chance of a draw of each pair of hands


class PassStrategy:
    """The equilibrium strategies from a position that both know, up to the next empty deck."""

    def __init__(self, base: State) -> None:
        self.base = base
        o = base.options
        self.turns, self.sets = turns_of_pass(o), hand_sets(o.top, o.hand)
        values = pass_values(o)
        since = max(base.turns - 2 * o.hand, 0)
        end = 2 * o.hand + self.turns * (since // self.turns + 1)
        # What an empty deck is worth after so many turns.
        self.empty = {n: values.at(self.sets, left_of(o, n)) for n in (end - self.turns, end)}
        self.end = end
        self.outcomes: dict[State, Outcome] = {}
        opens = base.phase == DRAW and since % self.turns == 0
        self.signaling = self.solve_hidden_discards() if self.turns == 4 and opens else None

    def solve_hidden_discards(self) -> SignalingSolution | None:
        """Solve the signaling game of the hidden discards, if the game can come so far."""
        layer = {self.base: 1.0}
        while layer and next(iter(layer)).phase == DRAW:
            after: dict[State, float] = {}
            for state, chance in layer.items():
                cards = members(rules.outcomes(state))
                for card in cards:
                    then = rules.apply(state, card)
                    if rules.to_act(then) != OVER:
                        after[then] = after.get(then, 0.0) + chance / len(cards)
            layer = after
        if not layer:
            return None
        s = self.sets
        left = left_of(self.base.options, next(iter(layer)).turns)
        joint: dict[tuple[int, int], float] = {}
        for state, chance in layer.items():
            cards = members(state.deck)
            for card in cards:
                pair = (state.hands[0], state.hands[1] | 1 << card)
                joint[pair] = joint.get(pair, 0.0) + chance / len(cards)
        senders = {hand: i for i, hand in enumerate(sorted({pair[0] for pair in joint}))}
        receivers = {hand: i for i, hand in enumerate(sorted({pair[1] for pair in joint}))}
        chances = np.zeros((len(senders), len(receivers)))
        for (mine, other), chance in joint.items():
            chances[senders[mine], receivers[other]] = chance
        games = SignalingGames(s, np.array([list(senders)]), np.array([list(receivers)]), chances[None])
        both = last_turns(s, self.empty[self.end], left - 2)
        payoffs, evens = (games.payoffs(last, *ends, left) for last, ends in zip(both, LOST_OR_EVEN, strict=True))
        (worth,), sender_mix, receiver_mix = games.solve(payoffs)
        games.refine_off_path(payoffs, sender_mix, receiver_mix)
        worths = np.zeros((2, *chances.shape))
        for table, paid, won in zip(worths, (payoffs, evens), (1.0, 0.0), strict=True):
            mixed = (games.expected(paid, receiver_mix) * sender_mix[:, :, None]).sum(axis=3)[0]
            table[:] = np.where(games.wins.T, won, mixed / np.where(chances > 0, chances, 1.0))
        if abs(float((worths[0] * chances).sum()) - worth) > 1e-9:
            raise ArithmeticError("Mixes and value of a linear program of Zero Sum Duel do not agree.")
        return SignalingSolution(senders, receivers, sender_mix[0], receiver_mix[0], worths)

    def mix(self, state: State) -> dict[int, float]:
        """Return the mixed strategy of the seat to act: the probability of each discard."""
        seat, other = state.seat, 1 - state.seat
        cards = members(rules.legal(state))
        if self.signaling and count(state.deck) == 3:
            shares = self.signaling.sender_mix[self.signaling.senders[state.hands[seat]]]
            return dict(zip(cards, shares.tolist(), strict=True))
        if self.signaling and count(state.deck) == 2:
            (seen,) = members(rules.pile(state))
            shares = self.signaling.receiver_mix[seen, self.signaling.receivers[state.hands[seat]]]
            return dict(zip(cards, shares.tolist(), strict=True))
        sign = 1 if seat == 0 else -1
        best = -1
        worth: Outcome = (0.0, 0.0)
        if count(state.deck) == 1:
            # The other will hold whatever is hidden now, in hand or by the last draw: one such case stands for all.
            state = representative_state(state, state.hands[other] | state.deck)
        for card in cards:
            then = self.outcome(rules.apply(state, card))
            ahead, even = sign * then[0] - sign * worth[0], then[1] - worth[1]
            if best < 0 or ahead > TOLERANCE or (ahead > -TOLERANCE and even < -TOLERANCE):
                best, worth = card, then
        return {card: float(card == best) for card in cards}

    def outcome(self, state: State) -> Outcome:
        """Return the first player's value of a full state, hidden cards included, and the chance of a draw."""
        if rules.to_act(state) == OVER:
            return float(rules.payoff(state, 0)), float(state.winner < 0)
        if state not in self.outcomes:
            self.outcomes[state] = self._outcome(state)
        return self.outcomes[state]

    def _outcome(self, state: State) -> Outcome:
        mine, other = state.hands[0], state.hands[1]
        if state.phase == DRAW and not state.deck:
            value, drawn = self.empty[state.turns][:, self.sets.rank[mine], self.sets.rank[other]]
            return float(value), float(drawn)
        if self.signaling and state.phase == DISCARD and count(state.deck) == 3:
            i = self.signaling.senders[mine]
            pairs = [self.signaling.receivers[other | 1 << card] for card in members(state.deck)]
            value, drawn = self.signaling.pair[:, i, pairs].mean(axis=1)
            return float(value), float(drawn)
        if state.phase == DISCARD:
            shares = {card: share for card, share in self.mix(state).items() if share}
        else:
            cards = members(rules.outcomes(state))
            shares = dict.fromkeys(cards, 1 / len(cards))
        thens = [(share, self.outcome(rules.apply(state, card))) for card, share in shares.items()]
        return sum(share * then[0] for share, then in thens), sum(share * then[1] for share, then in thens)


def representative_state(state: State, hidden: int) -> State:
    """Return the state in which the deck has the lowest of the cards that the seat to act cannot tell apart."""
    deck = hidden & -hidden
    hands = (state.hands[0], hidden ^ deck) if state.seat == 0 else (hidden ^ deck, state.hands[1])
    return State(state.options, state.phase, state.seat, hands, deck, state.turns, state.winner, state.reason)


def strategy_from(base: State) -> PassStrategy:
    """Return the strategies from a position that both know; the last ones are cached, openings apart."""
    return _opening_strategy(base) if base.turns < 2 * base.options.hand else _pass_strategy(base)


_opening_strategy = lru_cache(maxsize=8)(PassStrategy)
_pass_strategy = lru_cache(maxsize=64)(PassStrategy)


def stored_table(options: Options) -> table_cache.CachedTable:
    """Return the stored values for these options; if they are only in memory, they are stored first."""
    values = pass_values(options)
    name = table_name(options.top, options.hand, values.rest)
    return table_cache.load(name, STAMP) or table_cache.save(name, STAMP, arrays_of(values))
