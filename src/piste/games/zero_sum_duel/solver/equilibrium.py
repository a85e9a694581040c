"""Zero Sum Duel: an equilibrium, pass by pass through the deck.

Whenever the deck is empty both players know both hands; `pass_values` gives the value of such a position, by value
iteration over the passes. `PassStrategy` is how both play from a position that both know to the next empty deck. Seat
0 starts here; `solver` swaps the seats where it is the other one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from math import log
from typing import Any, NamedTuple

import numpy as np

from piste.compiled import table_cache
from piste.compiled.compiler import link_modules
from piste.core.bits import count
from piste.core.evaluation import Progress, quiet
from piste.core.game import members
from piste.core.protocols import OVER
from piste.games.zero_sum_duel import rules
from piste.games.zero_sum_duel.rules import DISCARD, DRAW, Options, State
from piste.games.zero_sum_duel.solver import kernels, lp_kernels
from piste.games.zero_sum_duel.solver.kernels import ENDLESS
from piste.games.zero_sum_duel.solver.lp_kernels import TOLERANCE

VERSION = 1
STAMP = f"rules {rules.VERSION}, solver {VERSION}"
CONVERGENCE = 1e-15
"""Value iteration ends when no value changes by more from one pass to the next."""

MAX_PASSES = 400
MODULES = (rules, lp_kernels, kernels)

Array = np.ndarray[Any, np.dtype[np.float64]]
Outcome = tuple[float, float]
"""The value for the first player, and the chance of a draw."""


@cache
def load_kernels() -> Any:
    """Return the solver's kernels, compiled if that is possible."""
    return link_modules(*MODULES)


class HandSets(NamedTuple):
    """The sets of cards of one size of the game, numbered."""

    cards: int
    kept: Any
    full: Any
    rank: Any
    mirror: Any
    zero: Any
    pairs: Any  # (rank, rank) of each pair of full hands, one of each two mirror images


@cache
def hand_sets(top: int, hand: int) -> HandSets:
    rank, mirror, zero = load_kernels().set_tables(top)
    kept, full = load_kernels().sets_of(2 * top, hand), load_kernels().sets_of(2 * top, hand + 1)
    pairs = [
        (a, b)
        for a, mine in enumerate(kept)
        for b, other in enumerate(kept)
        if not (mine & other or zero[mine] or zero[other]) and (rank[mirror[mine]], rank[mirror[other]]) >= (a, b)
    ]
    return HandSets(2 * top, kept, full, rank, mirror, zero, np.array(pairs))


class PassValues(NamedTuple):
    """Value and chance of a draw for the player who draws, with an empty deck, by the passes that are left."""

    rest: int  # turns left at the first level; each further level has one pass more
    turns: int  # of a pass
    value: Array  # [level, pair]
    drawn: Array
    converged: bool  # whether further levels would be like the last

    def at(self, s: HandSets, left: int) -> tuple[Array, Array]:
        """Return both as tables by the ranks of the hands."""
        level = min((left - self.rest) // self.turns, len(self.value) - 1)
        found = np.zeros((2, len(s.kept), len(s.kept)))
        if left > 0:
            a, b = s.pairs.T
            mirrored = s.rank[s.mirror[s.kept[a]]], s.rank[s.mirror[s.kept[b]]]
            for table, packed in zip(found, (self.value[level], self.drawn[level]), strict=True):
                table[a, b] = packed
                table[mirrored] = packed
        return found[0], found[1]


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
    value, drawn = np.zeros((len(s.kept), len(s.kept))), np.ones((len(s.kept), len(s.kept)))
    values: list[Array] = []
    draws: list[Array] = []
    a, b = s.pairs.T
    converged = False
    while not converged and len(values) < wanted:
        progress(percent_converged(values, draws, wanted), 100, "solving")
        left = rest + turns * len(values)
        tables = (s.rank, s.mirror, s.zero)
        value, drawn, done = load_kernels().solve_pass(value, drawn, s.kept, s.full, tables, s.cards, left)
        if not done:
            raise ArithmeticError("A linear program of Zero Sum Duel was not solved.")
        values.append(value[a, b])
        draws.append(drawn[a, b])
        converged = len(values) > 1 and last_change(values, draws) < CONVERGENCE
    arrays = {"value": np.array(values), "drawn": np.array(draws), "rested": np.array([int(converged)])}
    table_cache.try_save(table_name(top, hand, rest), STAMP, arrays)
    return PassValues(rest, turns, arrays["value"], arrays["drawn"], converged)


def last_change(values: list[Array], draws: list[Array]) -> float:
    """Return by how much the last pass changed anything."""
    return max(float(np.abs(rows[-1] - rows[-2]).max()) for rows in (values, draws))


def percent_converged(values: list[Array], draws: list[Array], wanted: int) -> int:
    """Return how far value iteration has converged, in percent of the logarithm of the change."""
    if len(values) < 2:
        return 0
    change = max(last_change(values, draws), CONVERGENCE)
    return min(99, max(round(100 * len(values) / wanted), round(100 * log(change) / log(CONVERGENCE))))


class SignalingSolution(NamedTuple):
    """The equilibrium of the hidden discards of a pass: both mixes, and the values of all pairs of hands."""

    senders: Mapping[int, int]  # the number of each hand with a card too many
    receivers: Mapping[int, int]
    sender_mix: Array
    receiver_mix: Array
    pair: tuple[Array, Array]  # value and chance of a draw of each pair of hands


class PassStrategy:
    """The equilibrium strategies from a position that both know, up to the next empty deck."""

    def __init__(self, base: State, progress: Progress = quiet) -> None:
        self.base = base
        o = base.options
        self.turns, self.sets = turns_of_pass(o), hand_sets(o.top, o.hand)
        found = pass_values(o, progress)
        since = max(base.turns - 2 * o.hand, 0)
        end = 2 * o.hand + self.turns * (since // self.turns + 1)
        self.ends = self.ahead(found, end)
        self.begins = self.ahead(found, end - self.turns)
        self.outcomes: dict[State, Outcome] = {}
        opens = base.phase == DRAW and since % self.turns == 0
        self.signaling = self.solve_hidden_discards() if self.turns == 4 and opens else None

    def ahead(self, found: PassValues, turns: int) -> tuple[int, Array, Array]:
        return (turns, *found.at(self.sets, left_of(self.base.options, turns)))

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
        last, last_drawn = load_kernels().solve_last_turns(*self.ends[1:], s.kept, s.full, s.rank, s.zero, left - 2)
        sender_mix, receiver_mix = np.zeros((len(senders), s.cards)), np.zeros((s.cards, len(receivers), s.cards))
        row = np.zeros(len(senders), dtype=np.int64)
        game = (np.array(list(senders)), np.array(list(receivers)), chances, s.rank, s.zero, s.cards, left, row)
        worth, _ = load_kernels().solve_signaling_game(game, last, sender_mix, receiver_mix)
        if worth != worth:
            raise ArithmeticError("A linear program of Zero Sum Duel was not solved.")
        load_kernels().refine_off_path(game, last, sender_mix, receiver_mix)
        both: list[Array] = []
        for table, ends, win in ((last, (-1.0, 0.0), 1.0), (last_drawn, (0.0, 1.0), 0.0)):
            found = load_kernels().expected_payoffs(game, table, np.array(ends), receiver_mix)
            mixed = (found * sender_mix[:, None, :]).sum(axis=2) / np.where(chances > 0, chances, 1.0)
            both.append(np.where(row[:, None] < 0, win, mixed))
        if abs(float((both[0] * chances).sum()) - worth) > 1e-9:
            raise ArithmeticError("Mixes and value of a linear program of Zero Sum Duel do not agree.")
        return SignalingSolution(senders, receivers, sender_mix, receiver_mix, (both[0], both[1]))

    def mix(self, state: State) -> dict[int, float]:
        """Return the mixed strategy of the seat to act: the probability of each discard."""
        seat, other = state.seat, 1 - state.seat
        cards = members(rules.legal(state))
        if self.signaling and count(state.deck) == 3:
            shares = self.signaling.sender_mix[self.signaling.senders[state.hands[seat]]]
            return {card: float(shares[card]) for card in cards}
        if self.signaling and count(state.deck) == 2:
            (seen,) = members(rules.pile(state))
            shares = self.signaling.receiver_mix[seen, self.signaling.receivers[state.hands[seat]]]
            return {card: float(shares[card]) for card in cards}
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
        found = self.outcomes.get(state)
        if found is None:
            found = self.outcomes[state] = self._outcome(state)
        return found

    def _outcome(self, state: State) -> Outcome:
        mine, other = state.hands[0], state.hands[1]
        if state.phase == DRAW and not state.deck:
            turns, value, drawn = self.ends if state.turns == self.ends[0] else self.begins
            assert state.turns == turns
            at = int(self.sets.rank[mine]), int(self.sets.rank[other])
            return float(value[at]), float(drawn[at])
        if self.signaling and state.phase == DISCARD and count(state.deck) == 3:
            i = self.signaling.senders[mine]
            pairs = [self.signaling.receivers[other | 1 << card] for card in members(state.deck)]
            return float(self.signaling.pair[0][i, pairs].mean()), float(self.signaling.pair[1][i, pairs].mean())
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


@lru_cache(maxsize=8)
def _opening_strategy(base: State) -> PassStrategy:
    return PassStrategy(base)


@lru_cache(maxsize=64)
def _pass_strategy(base: State) -> PassStrategy:
    return PassStrategy(base)


def stored_table(options: Options) -> table_cache.CachedTable:
    """Return the stored values for these options; if they are only in memory, they are stored first."""
    found = pass_values(options)
    name = table_name(options.top, options.hand, found.rest)
    kept = table_cache.load(name, STAMP)
    if kept is None:
        converged = np.array([int(found.converged)])
        kept = table_cache.save(name, STAMP, {"value": found.value, "drawn": found.drawn, "rested": converged})
    return kept
