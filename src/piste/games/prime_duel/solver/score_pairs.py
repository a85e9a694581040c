"""Prime Duel: backward induction over pairs of scores.

A score pair (a, b) belongs to a player with score a who is about to draw against score b; `kernels` computes its
value for every deck. Scores never fall, so pairs are solved by falling larger score, then falling smaller one. Only a
turn without a score keeps both scores, and only from scores so high that a card can go past the target: two such
pairs, (a, b) and (b, a), are solved together. They lead to each other through smaller and smaller decks until the
reshuffle; so only their values with an empty deck, four numbers, are found by fixed-point iteration. Some pairs that
do not need each other are solved in the same step too, since they need the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from piste.core.bits import lane
from piste.games.prime_duel.rules import Options, is_prime, whole_deck
from piste.games.prime_duel.solver.kernels import CARDS_AT_ONCE, Array

ScorePair = tuple[int, int]

MAX_BLOCK_DECKS = 16_000
MAX_ITERATIONS = 1000
PAIRS_AT_ONCE = 4

OnSolved = Callable[[ScorePair, Array], None]
"""Called with a solved pair and its values before a second card."""


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
    """Return all reachable pairs in steps, each after those that it needs; two that need each other are one step."""
    return list(_solve_order(options, reachable_pairs(options, roots)))


def _solve_order(options: Options, pairs: set[ScorePair]) -> Iterator[tuple[ScorePair, ...]]:
    edge = max(options.target - options.top, -1)  # from a higher score a card can go past the target
    for high in range(options.target - 1, edge, -1):
        for low in range(high, -1, -1):
            both = dict.fromkeys(pair for pair in ((low, high), (high, low)) if pair in pairs)
            if low > edge and both:
                yield tuple(both)
            else:
                yield from ((pair,) for pair in both)
    for high in range(edge, -1, -1):
        yield from (((high, low),) for low in range(high, -1, -1) if (high, low) in pairs)
        # A score needs the pair of a higher one only where that is prime, and else the one with the turn passed on.
        step: list[ScorePair] = []
        for low in range(high - 1, -1, -1):
            if (low, high) in pairs:
                step.append((low, high))
            if step and (low == 0 or is_prime(low) or len(step) == PAIRS_AT_ONCE):
                yield tuple(step)
                step = []


def card_counts(options: Options, deck: int) -> list[int]:
    return [lane(deck, i) for i in range(options.top)]


class Blocks(NamedTuple):
    """Decks that differ only in the counts of the lowest cards."""

    inside: int  # how many cards these are
    copies: Array  # [card, deck of a block], then [count, deck of a block] for the counts of any other card
    inverse: Array  # [number of other cards, deck of a block]: one over the number of all cards


class DeckIndex:
    """Numbers the decks that are part of one deck."""

    def __init__(self, counts: Iterable[int]) -> None:
        self.counts = np.array(list(counts), np.int64)
        self.radix = self.counts + 1
        self.strides = np.concatenate(([1], np.cumprod(self.radix)[:-1])).astype(np.int64)
        self.total = int(np.prod(self.radix))
        self._blocks: dict[tuple[int, Any], Blocks] = {}

    @classmethod
    def of_whole_deck(cls, options: Options) -> DeckIndex:
        return cls(card_counts(options, whole_deck(options)))

    def blocks(self, max_cards: int, dtype: Any) -> Blocks:
        """Return the largest blocks that are still allowed, which differ in at most `max_cards` cards."""
        inside, most = 0, min(max_cards, CARDS_AT_ONCE, len(self.radix))
        while inside < most and int(np.prod(self.radix[: inside + 1])) <= MAX_BLOCK_DECKS:
            inside += 1
        if (inside, dtype) not in self._blocks:
            numbers = np.arange(int(np.prod(self.radix[:inside])))
            copies = numbers // self.strides[:inside, None] % self.radix[:inside, None]
            counts = np.arange(self.radix.max())[:, None] + 0 * numbers
            sizes = np.arange(self.counts[inside:].sum() + 1)[:, None] + copies.sum(axis=0)
            inverse = 1.0 / np.maximum(sizes, 1)
            self._blocks[inside, dtype] = Blocks(
                inside, np.concatenate([copies, counts]).astype(dtype), inverse.astype(dtype)
            )
        return self._blocks[inside, dtype]

    def number(self, counts: Iterable[int]) -> int:
        return int(np.dot(self.strides, list(counts)))

    def counts_of(self, numbers: Array) -> Array:
        """Return the counts of each card in the decks with these numbers, as rows."""
        return np.asarray(numbers[:, None] // self.strides % self.radix)


class RowsInMemory:
    """Where a PairSolver keeps the rows of solved pairs."""

    def allocate(self, shape: tuple[int, int], dtype: Any) -> Array:
        self.rows: Array = np.zeros(shape, dtype)
        return self.rows

    def writable(self, slot: int) -> Array:
        """Return a row that is about to be written."""
        row: Array = self.rows[slot]
        return row


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
        dtype: Any = np.float64,
        empty: Mapping[ScorePair, EmptyDeckValues] | None = None,
        guess: Callable[[ScorePair], EmptyDeckValues] = lambda _: EmptyDeckValues(0.5, 0.5),
        storage: RowsInMemory | None = None,
    ) -> None:
        """`code` holds the kernels; `empty` has the values with an empty deck, if they are known.

        If not, the decks must be those of the whole deck, which a reshuffle gives back, and iteration begins with
        `guess`. `keep` keeps every pair.
        """
        self.code, self.options, self.decks, self.order, self.dtype = code, options, decks, order, dtype
        self.empty, self.guess = empty, guess
        self._last_use = {} if keep else last_uses(options, order)
        slots = sum(map(len, order)) if keep else max_live_pairs(order, self._last_use)
        self.pad = decks.blocks(options.top, dtype).copies.shape[1]  # a block of zeros before each row
        self._storage = storage or RowsInMemory()
        self.rows = self._storage.allocate((slots, self.pad + decks.total), dtype)
        self._free = list(range(slots - 1, -1, -1))
        self.slots: dict[ScorePair, int] = {}
        self._second: Array = np.zeros((max(map(len, order), default=0), self.pad + decks.total), dtype)

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
        """Set which pair is in which slot, after the rows were filled from a checkpoint."""
        self.slots = dict(slots)
        used = set(self.slots.values())
        self._free = [slot for slot in range(len(self.rows) - 1, -1, -1) if slot not in used]

    def values(self, scores: ScorePair) -> Array:
        """Return the chances of a pair, for all decks."""
        return self.rows[self.slots[scores], self.pad :]

    def _solve(self, pairs: tuple[ScorePair, ...], on_solved: OnSolved | None) -> None:
        d, top, least = self.decks, self.options.top, min(map(min, pairs))
        slots, flips, past = successor_arrays(
            self.options, pairs, lambda pair, _: -1 if pair is None else self.slots[pair]
        )
        keep = np.stack([np.ones_like(past), 1 - past])  # without a choice every card counts, with it those that fit
        shift, scale = keep * ((slots < 0) + flips), keep * (slots >= 0) * (1 - 2 * flips)
        slots = np.maximum(slots, 0)  # a win is no row's value; any row will do
        more = [(0, 0), (0, -top % CARDS_AT_ONCE)]
        arguments = (
            np.pad(slots, more),
            np.pad(shift, [(0, 0), *more]).astype(self.dtype),
            np.pad(scale, [(0, 0), *more]).astype(self.dtype),
        )
        together = least > self.options.target - top
        # The lower score comes first: what it needs of the other pair lies in earlier blocks, as long as no card that
        # is past the target for it is among the first digits; the higher score then finds all of it solved.
        inside, copies, inverse = d.blocks(self.options.target - least if together else top, self.dtype)
        into, second = np.array([self.slots[pair] for pair in pairs]), self._second[: len(pairs)]
        solved = [self._storage.writable(self.slots[pair]) for pair in pairs]

        def whole_deck_values(side: int) -> EmptyDeckValues:
            after = self.rows[slots[side], -1 - d.strides].astype(np.float64)
            chances = shift[0, side] + scale[0, side] * after
            return EmptyDeckValues(float(solved[side][-1]), float(d.counts @ chances / d.counts.sum()))

        if self.empty is not None:
            now = [self.empty[pair] for pair in pairs]
        elif together:
            now = [self.guess(pair) for pair in pairs]
        else:
            now = [whole_deck_values(side) for side in range(len(pairs))]
        tolerance = 4 * float(np.finfo(self.dtype).eps)
        iterations, change = 0, 1.0
        while iterations == 0 or (together and self.empty is None and change > tolerance):
            if iterations == MAX_ITERATIONS:
                raise ArithmeticError(f"The score pairs {pairs} do not converge.")
            self.rows[into, self.pad], second[:, self.pad] = np.array(now).T
            self.code.sweep_decks(
                self.rows,
                into,
                *arguments,
                d.radix,
                d.strides,
                inside,
                copies,
                inverse,
                second,
            )
            iterations += 1
            if self.empty is None:
                new = [whole_deck_values(side) for side in range(len(pairs))]
                change = float(np.abs(np.array(new) - np.array(now)).max())
                now = new
        for side, pair in enumerate(pairs):
            solved[side][self.pad] = now[side].draw
            if on_solved is not None:
                on_solved(pair, second[side, self.pad :])


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
