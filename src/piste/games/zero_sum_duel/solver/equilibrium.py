"""Zero Sum Duel: how both players play at their best, pass by pass.

Whenever the deck is empty both players know both hands; `levels` says what such a position is worth, one pass through
the deck after the other. `Plan` is how both play from a position that both know to the next empty deck. Seat 0 starts
here; `solve` swaps the seats where it is the other one.
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

VERSION = 1
STAMP = f"rules {rules.VERSION}, solver {VERSION}"
REST = 1e-15
"""Values that change by less from one pass to the next have come to rest."""

MOST_PASSES = 400
MODULES = (rules, lp_kernels, kernels)

Array = np.ndarray[Any, np.dtype[np.float64]]
Outcome = tuple[float, float]
"""What the first player can expect, and the chance of a draw."""


@cache
def loops() -> Any:
    """Return the solver's loops, compiled if they can be."""
    return link_modules(*MODULES)


class Sets(NamedTuple):
    """The sets of cards of one size of the game, numbered."""

    cards: int
    kept: Any
    full: Any
    rank: Any
    mirror: Any
    zero: Any
    pairs: Any  # (rank, rank) of each pair of full hands, one of each two mirror images


@cache
def sets(top: int, hand: int) -> Sets:
    rank, mirror, zero = loops().set_tables(top)
    kept, full = loops().sets_of(2 * top, hand), loops().sets_of(2 * top, hand + 1)
    pairs = [
        (a, b)
        for a, mine in enumerate(kept)
        for b, other in enumerate(kept)
        if not (mine & other or zero[mine] or zero[other]) and (rank[mirror[mine]], rank[mirror[other]]) >= (a, b)
    ]
    return Sets(2 * top, kept, full, rank, mirror, zero, np.array(pairs))


class Levels(NamedTuple):
    """Value and chance of a draw for the player who draws, with an empty deck, by the passes that are left."""

    rest: int  # turns left at the first level; each further level has one pass more
    turns: int  # of a pass
    value: Array  # [level, pair]
    drawn: Array
    rested: bool  # whether further levels would be like the last

    def at(self, s: Sets, left: int) -> tuple[Array, Array]:
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


_found: dict[tuple[int, int, int], Levels] = {}


def levels(options: Options, progress: Progress = quiet) -> Levels:
    """Return the values with an empty deck that a game with these options needs: from memory, cache, or computed."""
    turns = turns_of_pass(options)
    after_deal = max(options.turns - 2 * options.hand, 1)
    rest = (after_deal - 1) % turns + 1 if options.turns else turns
    wanted = min((after_deal - rest) // turns + 1, MOST_PASSES) if options.turns else MOST_PASSES
    key = (options.top, options.hand, rest)
    if key not in _found:
        stored = read_levels(*key)
        if stored is not None:
            _found[key] = stored
    if key not in _found or not (_found[key].rested or len(_found[key].value) >= wanted):
        _found[key] = computed_levels(*key, wanted, progress)
    return _found[key]


def level_name(top: int, hand: int, rest: int) -> str:
    return f"zero-sum-duel top={top},hand={hand},rest={rest}"


def read_levels(top: int, hand: int, rest: int) -> Levels | None:
    kept = table_cache.load(level_name(top, hand, rest), STAMP)
    if kept is None:
        return None
    try:
        value, drawn, rested = (kept.read(name) for name in ("value", "drawn", "rested"))
    except table_cache.DamagedTableError:
        return None
    return Levels(rest, 2 * (top - hand), value, drawn, bool(rested[0]))


def computed_levels(top: int, hand: int, rest: int, wanted: int, progress: Progress) -> Levels:
    """Compute pass after pass until nothing changes any more, and keep the result in the cache."""
    s, turns = sets(top, hand), 2 * (top - hand)
    value, drawn = np.zeros((len(s.kept), len(s.kept))), np.ones((len(s.kept), len(s.kept)))
    values: list[Array] = []
    draws: list[Array] = []
    a, b = s.pairs.T
    rested = False
    while not rested and len(values) < wanted:
        progress(rested_part(values, draws, wanted), 100, "solving")
        left = rest + turns * len(values)
        tables = (s.rank, s.mirror, s.zero)
        value, drawn, done = loops().sweep_pass(value, drawn, s.kept, s.full, tables, s.cards, left)
        if not done:
            raise ArithmeticError("A linear program of Zero Sum Duel was not solved.")
        values.append(value[a, b])
        draws.append(drawn[a, b])
        rested = len(values) > 1 and last_change(values, draws) < REST
    arrays = {"value": np.array(values), "drawn": np.array(draws), "rested": np.array([int(rested)])}
    table_cache.try_save(level_name(top, hand, rest), STAMP, arrays)
    return Levels(rest, turns, arrays["value"], arrays["drawn"], rested)


def last_change(values: list[Array], draws: list[Array]) -> float:
    """Return by how much the last pass changed anything."""
    return max(float(np.abs(rows[-1] - rows[-2]).max()) for rows in (values, draws))


def rested_part(values: list[Array], draws: list[Array], wanted: int) -> int:
    """Return how far the values are on their way to rest, in percent: each pass changes them by less."""
    if len(values) < 2:
        return 0
    change = max(last_change(values, draws), REST)
    return min(99, max(round(100 * len(values) / wanted), round(100 * log(change) / log(REST))))


class Stage(NamedTuple):
    """The hidden discards of a pass: who may hold what, how likely, and both mixes."""

    senders: Mapping[int, int]  # the number of each hand with a card too many
    receivers: Mapping[int, int]
    sends: Array
    replies: Array
    pair: tuple[Array, Array]  # value and chance of a draw of each pair of hands


class Plan:
    """How both players play from a position that both know, up to the next empty deck."""

    def __init__(self, base: State, progress: Progress = quiet) -> None:
        self.base = base
        o = base.options
        self.turns, self.sets = turns_of_pass(o), sets(o.top, o.hand)
        found = levels(o, progress)
        since = max(base.turns - 2 * o.hand, 0)
        end = 2 * o.hand + self.turns * (since // self.turns + 1)
        self.ends = self.ahead(found, end)
        self.begins = self.ahead(found, end - self.turns)
        self.memory: dict[State, Outcome] = {}
        opens = base.phase == DRAW and since % self.turns == 0
        self.stage = self.solved() if self.turns == 4 and opens else None

    def ahead(self, found: Levels, turns: int) -> tuple[int, Array, Array]:
        return (turns, *found.at(self.sets, left_of(self.base.options, turns)))

    def solved(self) -> Stage | None:
        """Return the hidden discards, solved, if the game can come so far."""
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
        last, last_drawn = loops().last_turns(*self.ends[1:], s.kept, s.full, s.rank, s.zero, left - 2)
        sends, replies = np.zeros((len(senders), s.cards)), np.zeros((s.cards, len(receivers), s.cards))
        row = np.zeros(len(senders), dtype=np.int64)
        g = (np.array(list(senders)), np.array(list(receivers)), chances, s.rank, s.zero, s.cards, left, row)
        worth, _ = loops().stage(g, last, sends, replies)
        if worth != worth:
            raise ArithmeticError("A linear program of Zero Sum Duel was not solved.")
        loops().settle(g, last, sends, replies)
        both: list[Array] = []
        for table, ends, win in ((last, (-1.0, 0.0), 1.0), (last_drawn, (0.0, 1.0), 0.0)):
            found = loops().outlook(g, table, np.array(ends), replies)
            mixed = (found * sends[:, None, :]).sum(axis=2) / np.where(chances > 0, chances, 1.0)
            both.append(np.where(row[:, None] < 0, win, mixed))
        if abs(float((both[0] * chances).sum()) - worth) > 1e-9:
            raise ArithmeticError("Mixes and value of a linear program of Zero Sum Duel do not agree.")
        return Stage(senders, receivers, sends, replies, (both[0], both[1]))

    def mix(self, state: State) -> dict[int, float]:
        """Return how often each discard is made by the seat to act."""
        seat, other = state.seat, 1 - state.seat
        cards = members(rules.legal(state))
        if self.stage and count(state.deck) == 3:
            shares = self.stage.sends[self.stage.senders[state.hands[seat]]]
            return {card: float(shares[card]) for card in cards}
        if self.stage and count(state.deck) == 2:
            (seen,) = members(rules.pile(state))
            shares = self.stage.replies[seen, self.stage.receivers[state.hands[seat]]]
            return {card: float(shares[card]) for card in cards}
        sign = 1 if seat == 0 else -1
        best = -1
        worth: Outcome = (0.0, 0.0)
        if count(state.deck) == 1:
            # The other will hold whatever is hidden now, in hand or by the last draw: look at one such case.
            state = case_of(state, state.hands[other] | state.deck)
        for card in cards:
            then = self.outcome(rules.apply(state, card))
            ahead, even = sign * then[0] - sign * worth[0], then[1] - worth[1]
            if best < 0 or ahead > lp_kernels.SAME or (ahead > -lp_kernels.SAME and even < -lp_kernels.SAME):
                best, worth = card, then
        return {card: float(card == best) for card in cards}

    def outcome(self, state: State) -> Outcome:
        """Return what the first player can expect in a state, hidden cards and all, and the chance of a draw."""
        if rules.to_act(state) == OVER:
            return float(rules.payoff(state, 0)), float(state.winner < 0)
        found = self.memory.get(state)
        if found is None:
            found = self.memory[state] = self.worked_out(state)
        return found

    def worked_out(self, state: State) -> Outcome:
        mine, other = state.hands[0], state.hands[1]
        if state.phase == DRAW and not state.deck:
            turns, value, drawn = self.ends if state.turns == self.ends[0] else self.begins
            assert state.turns == turns
            at = int(self.sets.rank[mine]), int(self.sets.rank[other])
            return float(value[at]), float(drawn[at])
        if self.stage and state.phase == DISCARD and count(state.deck) == 3:
            i = self.stage.senders[mine]
            pairs = [self.stage.receivers[other | 1 << card] for card in members(state.deck)]
            return float(self.stage.pair[0][i, pairs].mean()), float(self.stage.pair[1][i, pairs].mean())
        if state.phase == DISCARD:
            shares = {card: share for card, share in self.mix(state).items() if share}
        else:
            cards = members(rules.outcomes(state))
            shares = dict.fromkeys(cards, 1 / len(cards))
        thens = [(share, self.outcome(rules.apply(state, card))) for card, share in shares.items()]
        return sum(share * then[0] for share, then in thens), sum(share * then[1] for share, then in thens)


def case_of(state: State, hidden: int) -> State:
    """Return the state in which the deck has the lowest of the cards that the seat to act cannot tell apart."""
    deck = hidden & -hidden
    hands = (state.hands[0], hidden ^ deck) if state.seat == 0 else (hidden ^ deck, state.hands[1])
    return State(state.options, state.phase, state.seat, hands, deck, state.turns, state.winner, state.reason)


def plan_from(base: State) -> Plan:
    """Return the plan from a position that both know; those asked for last are kept, openings apart."""
    return _opening_plan(base) if base.turns < 2 * base.options.hand else _pass_plan(base)


@lru_cache(maxsize=8)
def _opening_plan(base: State) -> Plan:
    return Plan(base)


@lru_cache(maxsize=64)
def _pass_plan(base: State) -> Plan:
    return Plan(base)


def stored(options: Options) -> table_cache.CachedTable:
    """Return where the values for these options are kept; if they are only in memory, they are put there."""
    found = levels(options)
    name = level_name(options.top, options.hand, found.rest)
    kept = table_cache.load(name, STAMP)
    if kept is None:
        rested = np.array([int(found.rested)])
        kept = table_cache.save(name, STAMP, {"value": found.value, "drawn": found.drawn, "rested": rested})
    return kept
