"""Prime Duel: the chances of a position, by the rules and one of several sources for positions before a draw.

Everything between one draw and the next follows from the rules: `chances` is an expectimax over it. Its leaves are
positions before a draw; a `ValueSource` gives the chances of the player who is to draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from piste.core.bits import lane_one
from piste.core.game import members
from piste.core.protocols import OVER
from piste.games.prime_duel import rules
from piste.games.prime_duel.rules import DECIDE, DRAW, Options, State
from piste.games.prime_duel.solver import kernels
from piste.games.prime_duel.solver.kernels import Array
from piste.games.prime_duel.solver.score_pairs import (
    DeckIndex,
    EmptyDeckValues,
    PairSolver,
    ScorePair,
    card_counts,
    solve_order,
    successor,
    successor_arrays,
    successors,
)

ENTRIES = (
    "solve_fixed_odds",
    "solve_fixed_odds_with_limit",
    "solve_race",
    "sweep_decks",
    "sweep_decks_with_limit",
)
"""The kernels that are called from here."""

WinLoss = tuple[float, float]
"""The chances to win and to lose."""


class ValueSource(Protocol):
    """Gives the chances in positions before a draw."""

    def draw(self, s: State) -> WinLoss:
        """Return the chances of the player who is to draw."""


def flipped(pair: WinLoss) -> WinLoss:
    return (pair[1], pair[0])


def chances(s: State, seat: int, source: ValueSource) -> WinLoss:
    if rules.to_act(s) == OVER:
        paid = rules.payoff(s, seat)
        return (float(paid > 0), float(paid < 0))
    if s.phase == DECIDE:
        pairs = [chances(rules.apply(s, action), s.seat, source) for action in members(rules.legal(s))]
        best = max(pairs, key=lambda pair: pair[0] - pair[1])
        return best if s.seat == seat else flipped(best)
    if s.phase == DRAW:
        pair = source.draw(s)
        return pair if s.seat == seat else flipped(pair)
    win = loss = total = 0.0
    for outcome in members(rules.outcomes(s)):
        weight = rules.weight(s, outcome)
        pair = chances(rules.apply(s, outcome), seat, source)
        win, loss, total = win + weight * pair[0], loss + weight * pair[1], total + weight
    return (win / total, loss / total)


def load_kernels() -> Any:
    """Return the solver's kernels, compiled if that is possible."""
    from piste.compiled.compiler import link_modules

    return link_modules(rules, kernels, entries=ENTRIES)


def is_compiled(code: Any) -> bool:
    return hasattr(code.solve_fixed_odds, "py_func")


def score_pair(s: State) -> ScorePair:
    return (s.scores[s.seat], s.scores[1 - s.seat])


def prime_flags(target: int) -> Array:
    return np.array([rules.is_prime(n) for n in range(target + 1)], np.int64)


class FixedOddsModel:
    """A model in which every draw has the same odds, mostly those of the deck as it is now."""

    WHOLE_DECK_WEIGHT = 0.1
    """How much a whole deck counts beside the current one: it is what comes after it."""

    def __init__(self, code: Any, options: Options, deck: int, least: int, left: int) -> None:
        """`least` is the lowest score that is asked for, `left` how many turns are left, 0 if there is no limit."""
        self.options, self.left = options, left
        whole = np.array(card_counts(options, rules.whole_deck(options)))
        mixed = np.array(card_counts(options, deck), np.float64) + self.WHOLE_DECK_WEIGHT * whole
        odds, prime, target = mixed / mixed.sum(), prime_flags(options.target), options.target
        self.values: Array = np.full((2 if left else 1, target, target, 2), 0.5)  # to win and to lose
        if left:
            code.solve_fixed_odds_with_limit(odds, prime, least, left, self.values)
        else:
            code.solve_fixed_odds(odds, prime, least, self.values)

    def draw(self, s: State) -> WinLoss:
        win, loss = self.values[(self.options.turns - s.turns) % 2 if self.left else 0][score_pair(s)]
        return (float(win), float(loss))


class SoloRaceModel:
    """A rougher model, for high targets with a turn limit: each player races the turn limit alone."""

    def __init__(self, code: Any, options: Options, deck: int, left: int) -> None:
        self.options = options
        counts = np.array(card_counts(options, deck or rules.whole_deck(options)), np.float64)
        self.reach: Array = np.zeros((left // 2 + 2, options.target))
        code.solve_race(counts / counts.sum(), prime_flags(options.target), left // 2 + 1, self.reach)

    def draw(self, s: State) -> WinLoss:
        (a, b), left = score_pair(s), self.options.turns - s.turns
        mine, others = float(self.reach[(left + 1) // 2, a]), float(self.reach[left // 2, b])
        return (mine * (1 - others / 2), others * (1 - mine / 2))  # as if either could be the first


class SolvedGame:
    """All positions of a game that is small enough to be held in memory."""

    def __init__(self, options: Options) -> None:
        self.options, self.decks = options, DeckIndex.of_whole_deck(options)
        solver = PairSolver(load_kernels(), options, self.decks, solve_order(options), keep=True)
        solver.solve_all()
        self.slots, self.values = solver.slots, solver.rows[:, solver.pad :]

    def draw(self, s: State) -> WinLoss:
        win = float(self.values[self.slots[score_pair(s)], self.decks.number(card_counts(self.options, s.deck))])
        return (win, 1.0 - win)


class SolvedWithTurnLimit:
    """All positions of a small game with a turn limit, by how many turns are left."""

    def __init__(self, options: Options) -> None:
        code, self.options, self.decks = load_kernels(), options, DeckIndex.of_whole_deck(options)
        pairs = [pair for step in solve_order(options) for pair in step]
        self.rows = {pair: i for i, pair in enumerate(pairs)}
        # After those with 1 turn left, 2 and so on: the end of the last turn, and a win.
        self.values: Array = np.zeros((options.turns * len(pairs) + 2, self.decks.total, 2))
        self.values[-1, :, 0] = 1.0
        second = np.zeros((self.decks.total, 2))
        for left in range(1, options.turns + 1):

            def slot(pair: ScorePair | None, passed: bool, left: int = left) -> int:
                return self._slot(pair, left - passed)

            for pair, slots, flips, past in zip(pairs, *successor_arrays(options, pairs, slot), strict=True):
                into = self._slot(pair, left)
                code.sweep_decks_with_limit(self.values, into, slots, flips, past, self.decks.counts, second)

    def _slot(self, scores: ScorePair | None, left: int) -> int:
        if scores is None:
            return len(self.values) - 1
        return (left - 1) * len(self.rows) + self.rows[scores] if left else len(self.values) - 2

    def draw(self, s: State) -> WinLoss:
        slot = self._slot(score_pair(s), self.options.turns - s.turns)
        win, loss = self.values[slot, self.decks.number(card_counts(self.options, s.deck))]
        return (float(win), float(loss))


class DeckEndgame:
    """The rest of a deck solved to its last card; another source gives what follows the reshuffle."""

    def __init__(
        self,
        options: Options,
        deck: int,
        roots: Iterable[ScorePair],
        beyond: ValueSource,
        empty: Callable[[Iterable[ScorePair]], Mapping[ScorePair, EmptyDeckValues]],
        *,
        dtype: Any = np.float64,
        progress: Callable[[int, int], None] = lambda *_: None,
    ) -> None:
        self.options, self.beyond, self.decks = options, beyond, DeckIndex(card_counts(options, deck))
        self.roots = set(roots)
        order = solve_order(options, self.roots)
        pairs = [pair for step in order for pair in step]
        solver = PairSolver(load_kernels(), options, self.decks, order, keep=False, dtype=dtype, empty=empty(pairs))
        self.values: dict[ScorePair, Array] = {}

        def on_solved(scores: ScorePair, _: Array) -> None:
            if scores in self.roots:
                self.values[scores] = solver.values(scores).copy()

        for step in range(len(order)):
            solver.solve_step(step, on_solved)
            progress(step + 1, len(order))

    def draw(self, s: State) -> WinLoss:
        left = np.array(card_counts(self.options, s.deck))
        if (left > self.decks.counts).any():
            return self.beyond.draw(s)  # the deck was reshuffled on the way
        win = float(self.values[score_pair(s)][self.decks.number(left)])
        return (win, 1.0 - win)


class LookAhead:
    """The next cards of a deck worked out; `estimates` gives the chances of pairs with the decks that are left then.

    Level n has the decks with n cards fewer. At the last two levels all chances before a draw are estimated.
    """

    def __init__(
        self,
        options: Options,
        deck: int,
        roots: Iterable[ScorePair],
        estimates: Callable[[Sequence[ScorePair], Array], Array],
        cards: int,
    ) -> None:
        self.options, self.index = options, DeckIndex(card_counts(options, deck))
        self.pairs = [list(dict.fromkeys(roots))]
        self.numbers = [np.array([self.index.total - 1])]
        for _ in range(cards):
            after = (later for pair in self.pairs[-1] for later in successors(options, pair))
            self.pairs.append(list(dict.fromkeys([*self.pairs[-1], *after])))
            fewer = self.numbers[-1][:, None] - self.index.strides
            self.numbers.append(np.unique(fewer[self.index.counts_of(self.numbers[-1]) > 0]))
        self.rows = [{pair: row for row, pair in enumerate(pairs)} for pairs in self.pairs]
        last = [estimates(self.pairs[n], self.index.counts_of(self.numbers[n])) for n in (cards - 1, cards)]
        self.values = [*([np.zeros((0, 0))] * (cards - 1)), *last]
        second, _ = self._before_draws(cards - 1, self.values[cards])
        for level in range(cards - 2, -1, -1):
            second, self.values[level] = self._before_draws(level, second)

    def _before_draws(self, level: int, second: Array) -> tuple[Array, Array]:
        """Return the chances before a second card and before a turn; `second` has the former for the next level."""
        decks, later = self.index.counts_of(self.numbers[level]), self.numbers[level + 1]
        odds = decks / decks.sum(axis=1, keepdims=True)
        fewer = np.searchsorted(later, self.numbers[level][:, None] - self.index.strides) % len(later)
        rows = self.rows[level + 1]
        slots, flips, past = successor_arrays(
            self.options, self.pairs[level], lambda pair, _: -1 if pair is None else rows[pair]
        )
        same = np.array([rows[pair] for pair in self.pairs[level]])
        before_second, before_turn = np.zeros((2, len(same), len(decks)))
        for i in range(self.options.top):
            scored = self.values[level + 1][slots[:, i, None], fewer[:, i]]
            scored = np.where(flips[:, i, None], 1.0 - scored, np.where(slots[:, i, None] < 0, 1.0, scored))
            discarded = second[same[:, None], fewer[:, i]]
            before_second += odds[:, i] * scored
            before_turn += odds[:, i] * np.where(past[:, i, None], discarded, np.maximum(scored, discarded))
        return before_second, before_turn

    def draw(self, s: State) -> WinLoss:
        counts = card_counts(self.options, s.deck)
        level, number = int(self.index.counts.sum()) - sum(counts), self.index.number(counts)
        column = np.searchsorted(self.numbers[level], number)
        win = float(self.values[level][self.rows[level][score_pair(s)], column])
        return (win, 1.0 - win)


def next_score_pairs(s: State) -> set[ScorePair]:
    """Return the score pairs of the positions before a draw that come next."""
    if rules.to_act(s) == OVER:
        return set()
    if s.phase == DRAW:
        return {score_pair(s)}
    actions = rules.legal(s) if s.phase == DECIDE else rules.outcomes(s)
    return {pair for action in members(actions) for pair in next_score_pairs(rules.apply(s, action))}


def empty_deck_values(
    options: Options, source: ValueSource, pairs: Iterable[ScorePair]
) -> Mapping[ScorePair, EmptyDeckValues]:
    """Return the values with an empty deck by a source that knows whole decks."""
    whole = rules.whole_deck(options)

    def chance(scores: ScorePair, deck: int) -> float:
        return source.draw(State(options, DRAW, 0, scores, deck, -1, 0, 0, -1, 0))[0]

    def second(scores: ScorePair) -> float:
        total = 0.0
        for i in range(options.top):
            pair, passed = successor(options, scores, i)
            value = 1.0 if pair is None else chance(pair, whole - lane_one(i))
            total += (1.0 - value if passed else value) / options.top
        return total

    return {scores: EmptyDeckValues(chance(scores, whole), second(scores)) for scores in pairs}
