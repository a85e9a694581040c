"""Prime Duel: backward induction over pairs of scores.

A score pair (a, b) belongs to a player with score a who is about to draw against score b; `kernels` computes its
value for every deck. Scores never fall, so pairs are solved by falling larger score, then falling smaller one. Only a
turn without a score keeps both scores, and only from scores so high that a card can go past the target: two such
pairs, (a, b) and (b, a), are solved together. They lead to each other through smaller and smaller decks until the
reshuffle; so only their values with an empty deck, four numbers, are found by fixed-point iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from piste.core.bits import lane
from piste.games.prime_duel.rules import Options, is_prime, whole_deck
from piste.games.prime_duel.solver.kernels import FLOAT64, Array

ScorePair = tuple[int, int]

FIXED24_ONE = (1 << 24) - 1
"""A certain win in fixed point."""

MAX_FIXED24_CARDS = 127
"""With at most this many cards, sums over a deck in fixed point fit into 32 bits."""

MAX_BLOCK_DECKS = 3200
MAX_ITERATIONS = 1000

OnSolved = Callable[[ScorePair, int, Array], None]
"""Called with a solved pair, its slot, and its values before a second card."""


class EmptyDeckValues(NamedTuple):
    """The chances of a score pair when the deck is empty: before a turn, and before a second card."""

    draw: float
    second: float


def successor(options: Options, scores: ScorePair, card: int) -> tuple[ScorePair | None, bool]:
    """Return the pair after this card was scored or passed over, None for a win, and whether the turn passed on."""
    a, b = scores
    after = a + card + 1
    if after == options.target:
        return None, False
    if after > options.target:
        return (b, a), True
    return ((after, b), False) if is_prime(after) else ((b, after), True)


def successors(options: Options, scores: ScorePair) -> list[ScorePair]:
    pairs = (successor(options, scores, card)[0] for card in range(options.top))
    return [pair for pair in pairs if pair is not None]


def reachable_pairs(options: Options, roots: Iterable[ScorePair]) -> set[ScorePair]:
    """Return every pair that the roots lead to, themselves included."""
    reached: set[ScorePair] = set()
    pending = list(roots)
    while pending:
        scores = pending.pop()
        if scores not in reached:
            reached.add(scores)
            pending += successors(options, scores)
    return reached


def solve_order(options: Options, roots: Iterable[ScorePair] = ((0, 0),)) -> list[tuple[ScorePair, ...]]:
    """Return all reachable pairs, each after those that it needs; two that need each other are one step."""
    return list(_solve_order(options, reachable_pairs(options, roots)))


def _solve_order(options: Options, pairs: set[ScorePair]) -> Iterator[tuple[ScorePair, ...]]:
    edge = options.target - options.top  # from a higher score a card can go past the target
    for high in range(options.target - 1, -1, -1):
        for low in range(high, -1, -1):
            both = dict.fromkeys(pair for pair in ((low, high), (high, low)) if pair in pairs)
            if low > edge and both:
                yield tuple(both)
            else:
                yield from ((pair,) for pair in both)


def card_counts(options: Options, deck: int) -> list[int]:
    return [lane(deck, i) for i in range(options.top)]


class Blocks(NamedTuple):
    """Decks that differ only in the counts of the lowest cards."""

    copies: Array  # [card, deck of a block]
    sizes: Array  # of those cards altogether


class DeckIndex:
    """Numbers the decks that are part of one deck."""

    def __init__(self, counts: Iterable[int]) -> None:
        self.counts = np.array(list(counts), np.int64)
        self.radix = self.counts + 1
        self.strides = np.concatenate(([1], np.cumprod(self.radix)[:-1])).astype(np.int64)
        self.total = int(np.prod(self.radix))
        cards = int(self.counts.sum())
        self.inverse = np.concatenate(([0.0], 1.0 / np.arange(1, cards + 1)))
        self._blocks: dict[int, Blocks] = {}

    @classmethod
    def of_whole_deck(cls, options: Options) -> DeckIndex:
        return cls(card_counts(options, whole_deck(options)))

    def blocks(self, max_cards: int, dtype: Any) -> Blocks:
        """Return the largest blocks that are still allowed, which differ in at most `max_cards` cards."""
        inside = 0
        while inside < min(max_cards, len(self.radix)) and int(np.prod(self.radix[: inside + 1])) <= MAX_BLOCK_DECKS:
            inside += 1
        if inside not in self._blocks:
            numbers = np.arange(int(np.prod(self.radix[:inside])))
            copies = np.zeros((inside, len(numbers)), dtype)
            for i in range(inside):
                copies[i] = numbers // self.strides[i] % self.radix[i]
            self._blocks[inside] = Blocks(copies, copies.sum(axis=0).astype(np.int64))
        return self._blocks[inside]

    def number(self, counts: Iterable[int]) -> int:
        return int(np.dot(self.strides, list(counts)))


class PairSolver:
    """Solves score pairs step by step; pairs that no later step needs give up their slot."""

    def __init__(
        self,
        code: Any,
        options: Options,
        decks: DeckIndex,
        order: list[tuple[ScorePair, ...]],
        *,
        keep: bool,
        precision: int = FLOAT64,
        empty: Mapping[ScorePair, EmptyDeckValues] | None = None,
        guess: Callable[[ScorePair], float] = lambda _: 0.5,
    ) -> None:
        """`code` holds the kernels; `empty` has the values with an empty deck, if they are known.

        If not, the decks must be those of the whole deck, which a reshuffle gives back, and iteration begins with
        `guess`. `keep` keeps every pair.
        """
        self.code, self.options, self.decks, self.order, self.precision = code, options, decks, order, precision
        self.empty, self.guess = empty, guess
        self.one = 1 if precision == FLOAT64 else FIXED24_ONE
        self._last_use = {} if keep else last_uses(options, order)
        slots = sum(map(len, order)) if keep else max_live_pairs(order, self._last_use)
        self.high: Array = np.empty((slots, decks.total), np.float64 if precision == FLOAT64 else np.uint16)
        self.low: Array = np.empty((slots, 1 if precision == FLOAT64 else decks.total), np.uint8)
        self._free = list(range(slots - 1, -1, -1))
        self.slots: dict[ScorePair, int] = {}
        self._dtype = np.float64 if precision == FLOAT64 else np.int32
        self._second: Array = np.zeros(2 * (MAX_BLOCK_DECKS + decks.total), self._dtype)

    def solve_all(self) -> None:
        for step in range(len(self.order)):
            self.solve_step(step)

    def solve_step(self, step: int, on_solved: OnSolved | None = None) -> None:
        pairs = self.order[step]
        self.slots |= {pair: self._free[-1 - i] for i, pair in enumerate(pairs)}
        self._solve(pairs, on_solved)
        del self._free[-len(pairs) :]
        if self._last_use:
            for pair in [pair for pair in self.slots if self._last_use[pair] <= step]:
                self._free.append(self.slots.pop(pair))

    def restore(self, slots: Mapping[ScorePair, int]) -> None:
        """Set which pair is in which slot, after the arrays were filled from a checkpoint."""
        self.slots = dict(slots)
        used = set(self.slots.values())
        self._free = [slot for slot in range(len(self.high) - 1, -1, -1) if slot not in used]

    def chance(self, scores: ScorePair, number: int) -> float:
        """Return the chance of a pair with one deck."""
        return self._read(scores, number) / self.one

    def values(self, slot: int) -> Array:
        """Return the chances of the pair in a slot, for all decks."""
        high: Array = self.high[slot].astype(np.float64)
        return high if self.precision == FLOAT64 else (high * 256.0 + self.low[slot]) / self.one

    def _read(self, scores: ScorePair, number: int) -> float:
        return float(self.code.read_value(self.high, self.low, self.precision, self.slots[scores], number))

    def _write(self, scores: ScorePair, number: int, value: float) -> None:
        self.code.write_value(self.high, self.low, self.precision, self.slots[scores], number, value)

    def _second_card_value(self, slots: Array, flips: Array) -> float:
        d = self.decks
        return float(
            self.code.second_card_value(
                self.high, self.low, self.precision, slots, flips, self.one, d.counts, d.strides, d.total - 1
            )
        )

    def _solve(self, pairs: tuple[ScorePair, ...], on_solved: OnSolved | None) -> None:
        d, top = self.decks, self.options.top
        slots, flips, past = successor_arrays(
            self.options, pairs, lambda pair, _: -1 if pair is None else self.slots[pair]
        )
        into = np.array([self.slots[pair] for pair in pairs], np.int64)
        together = min(map(min, pairs)) > self.options.target - top
        # The lower score comes first: what it needs of the other pair lies in earlier blocks, as long as no card that
        # is past the target for it is among the first digits; the higher score then finds all of it solved.
        copies, sizes = d.blocks(self.options.target - min(map(min, pairs)) if together else top, self._dtype)
        block = len(sizes)
        second = self._second[: len(pairs) * (block + d.total)].reshape(len(pairs), block + d.total)
        second[:, :block] = 0
        values, sums = np.zeros((top, block), self._dtype), np.zeros(block, self._dtype)
        if self.empty is not None:
            now = [EmptyDeckValues(*(self.one * chance for chance in self.empty[pair])) for pair in pairs]
        elif together:
            now = [EmptyDeckValues(self.one * self.guess(pair), self.one * self.guess(pair)) for pair in pairs]
        else:
            now = [EmptyDeckValues(0.0, self._second_card_value(slots[i], flips[i])) for i in range(len(pairs))]
        tolerance = 1e-15 if self.precision == FLOAT64 else 0.5
        iterations, change = 0, 1.0
        while iterations == 0 or (together and self.empty is None and change > tolerance):
            if iterations == MAX_ITERATIONS:
                raise ArithmeticError(f"The score pairs {pairs} do not converge.")
            for side, pair in enumerate(pairs):
                self._write(pair, 0, now[side].draw)
                second[side, block] = now[side].second if self.precision == FLOAT64 else round(now[side].second)
            self.code.sweep_decks(
                self.high, self.low, self.precision, into, slots, flips, past, self.one, d.radix, d.strides,
                copies, sizes, d.inverse, second, values, sums,
            )  # fmt: skip
            iterations += 1
            if self.empty is None:
                new = [
                    EmptyDeckValues(self._read(pair, d.total - 1), self._second_card_value(slots[i], flips[i]))
                    for i, pair in enumerate(pairs)
                ]
                change = float(np.abs(np.array(new) - np.array(now)).max())
                now = new
        for side, pair in enumerate(pairs):
            self._write(pair, 0, now[side].draw)
            if on_solved is not None:
                on_solved(pair, self.slots[pair], second[side, block:])


def successor_arrays(
    options: Options, pairs: Sequence[ScorePair], slot: Callable[[ScorePair | None, bool], int]
) -> tuple[Array, Array, Array]:
    """Return [pair, card] arrays: the slot that follows, if the turn passed on, if the card is past the target."""
    after = [[successor(options, pair, card) for card in range(options.top)] for pair in pairs]
    slots = [[slot(pair, passed) for pair, passed in each] for each in after]
    flips = [[passed for _, passed in each] for each in after]
    past = [[pair[0] + card + 1 > options.target for card in range(options.top)] for pair in pairs]
    return np.array(slots, np.int64), np.array(flips, np.int64), np.array(past, np.int64)


def last_uses(options: Options, order: list[tuple[ScorePair, ...]]) -> dict[ScorePair, int]:
    """Return for each pair the last step that needs it; what none needs is kept to the end."""
    last = {after: step for step, pairs in enumerate(order) for pair in pairs for after in successors(options, pair)}
    return {pair: last.get(pair, len(order)) for pairs in order for pair in pairs}


def max_live_pairs(order: list[tuple[ScorePair, ...]], last_use: Mapping[ScorePair, int]) -> int:
    """Return how many pairs have to be held at the same time."""
    live: set[ScorePair] = set()
    most = 0
    for step, pairs in enumerate(order):
        live |= set(pairs)
        most = max(most, len(live))
        live = {pair for pair in live if last_use[pair] > step}
    return most
