"""Prime Duel: which lines there are, which follow which, and the order in which they are worked out.

A line (a, b) belongs to a player with score a who is about to draw against score b; `sweep` says what it holds.
Scores never fall, so lines are taken by falling larger score, then falling smaller one. Only a turn without a score
keeps both scores, and only from scores so high that a card can go past the target: two such lines, (a, b) and (b, a),
are worked out together. They lead to each other through smaller and smaller decks until the reshuffle; so all that
has to be found by repetition is what they are worth with an empty deck, four numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from piste.games.prime_duel.rules import Options, is_prime
from piste.games.prime_duel.solver.kernels import COARSE, FINE, Array

Line = tuple[int, int]

ONE = (1 << 24) - 1
"""What a certain win counts in the coarse grain."""

MOST_CARDS = 127
"""Sums over a deck of so many cards are still whole numbers of 32 bits in the coarse grain."""

BLOCK = 3200
"""Decks are taken in blocks of at most so many."""


MOST_ROUNDS = 1000

Look = Callable[[Line, int, Array], None]
"""Is shown a line, its place, and what it is before a second card."""


class Empty(NamedTuple):
    """What a line is worth when the deck is empty: before a turn, and before a second card; chances from 0 to 1."""

    draw: float
    second: float


def follows(options: Options, line: Line, card: int) -> tuple[Line | None, bool]:
    """Return the line after this card has been scored or passed over, and whether the other player is to draw.

    A win has no line.
    """
    a, b = line
    after = a + card + 1
    if after == options.target:
        return None, False
    if after > options.target:
        return (b, a), True
    return ((after, b), False) if is_prime(after) else ((b, after), True)


def needed(options: Options, roots: Iterable[Line]) -> set[Line]:
    """Return every line that some line of the roots leads to, themselves included."""
    found: set[Line] = set()
    left = list(roots)
    while left:
        line = left.pop()
        if line not in found:
            found.add(line)
            left += [after for i in range(options.top) if (after := follows(options, line, i)[0]) is not None]
    return found


def steps(options: Options, lines: set[Line]) -> Iterator[tuple[Line, ...]]:
    """Yield the lines so that each comes after those that it needs; together, if they need each other."""
    edge = options.target - options.top  # from a higher score a card can go past the target
    for high in range(options.target - 1, -1, -1):
        for low in range(high, -1, -1):
            pair = dict.fromkeys(line for line in ((low, high), (high, low)) if line in lines)
            if low > edge and pair:
                yield tuple(pair)
            else:
                yield from ((line,) for line in pair)


class Blocks(NamedTuple):
    """Decks that differ only in how many there are of the lowest cards."""

    many: Array  # of each of these cards, for each deck of a block
    sizes: Array  # of those cards together


class Decks:
    """The decks that are part of one deck, numbered."""

    def __init__(self, counts: Iterable[int]) -> None:
        self.counts = np.array(list(counts), np.int64)
        self.radix = self.counts + 1
        self.strides = np.concatenate(([1], np.cumprod(self.radix)[:-1])).astype(np.int64)
        self.total = int(np.prod(self.radix))
        cards = int(self.counts.sum())
        self.inverse = np.concatenate(([0.0], 1.0 / np.arange(1, cards + 1)))
        self._blocks: dict[int, Blocks] = {}

    def blocks(self, most: int, kind: Any) -> Blocks:
        """Return blocks as large as is handy, with at most so many cards inside."""
        inside = 0
        while inside < min(most, len(self.radix)) and int(np.prod(self.radix[: inside + 1])) <= BLOCK:
            inside += 1
        if inside not in self._blocks:
            numbers = np.arange(int(np.prod(self.radix[:inside])))
            many = np.zeros((inside, len(numbers)), kind)
            for i in range(inside):
                many[i] = numbers // self.strides[i] % self.radix[i]
            self._blocks[inside] = Blocks(many, many.sum(axis=0).astype(np.int64))
        return self._blocks[inside]

    def number(self, counts: Iterable[int]) -> int:
        return int(np.dot(self.strides, list(counts)))


class Pool:
    """Lines in memory, worked out step by step; those that nothing needs any more give up their place."""

    def __init__(
        self,
        code: Any,
        options: Options,
        decks: Decks,
        order: list[tuple[Line, ...]],
        *,
        keep: bool,
        grain: int = FINE,
        empty: Mapping[Line, Empty] | None = None,
        guess: Callable[[Line], float] = lambda _: 0.5,
    ) -> None:
        """`code` has the loops of `sweep`; `empty` says what lines are worth with an empty deck, if that is known.

        If not, the decks must be those of the whole deck, which a reshuffle gives back; a guess is the beginning.
        """
        self.code, self.options, self.decks, self.order, self.grain = code, options, decks, order, grain
        self.empty, self.guess = empty, guess
        self.one = 1 if grain == FINE else ONE
        self._last = {} if keep else last_uses(options, order)
        slots = sum(map(len, order)) if keep else most_alive(order, self._last)
        self.high: Array = np.empty((slots, decks.total), np.float64 if grain == FINE else np.uint16)
        self.low: Array = np.empty((slots, 1 if grain == FINE else decks.total), np.uint8)
        self._free = list(range(slots - 1, -1, -1))
        self.place: dict[Line, int] = {}
        self._kind = np.float64 if grain == FINE else np.int32
        self._second: Array = np.zeros(2 * (BLOCK + decks.total), self._kind)
        self.rounds = 0  # the most repetitions that any two lines took

    def work(self, number: int, look: Look | None = None) -> None:
        """Take one step, and show what was worked out."""
        lines = self.order[number]
        self.place |= {line: self._free[-1 - i] for i, line in enumerate(lines)}
        self._work(lines, look)
        del self._free[-len(lines) :]
        self.let_go(number)

    def let_go(self, number: int) -> None:
        if not self._last:
            return
        for line in [line for line in self.place if self._last[line] <= number]:
            self._free.append(self.place.pop(line))

    def restore(self, place: Mapping[Line, int]) -> None:
        """Say which lines are where, when a pool has been filled from elsewhere."""
        self.place = dict(place)
        used = set(self.place.values())
        self._free = [slot for slot in range(len(self.high) - 1, -1, -1) if slot not in used]

    def chance(self, line: Line, number: int) -> float:
        """Return one number of a line, as a chance from 0 to 1."""
        return float(self.code.entry(self.high, self.low, self.grain, self.place[line], number)) / self.one

    def _after(self, line: Line) -> tuple[Array, Array, Array]:
        after = [follows(self.options, line, i) for i in range(self.options.top)]
        slots = np.array([-1 if to is None else self.place[to] for to, _ in after], np.int64)
        turned = np.array([other for _, other in after], np.int64)
        past = np.array([line[0] + i + 1 > self.options.target for i in range(self.options.top)], np.int64)
        return slots, turned, past

    def _reshuffled(self, slots: Array, turned: Array) -> float:
        d = self.decks
        last = d.total - 1
        return float(
            self.code.reshuffled_second(
                self.high, self.low, self.grain, slots, turned, self.one, d.counts, d.strides, last
            )
        )

    def _put(self, line: Line, number: int, value: float) -> None:
        self.code.put_entry(self.high, self.low, self.grain, self.place[line], number, value)

    def _work(self, lines: tuple[Line, ...], look: Look | None) -> None:
        d, top = self.decks, self.options.top
        after = [self._after(line) for line in lines]
        slots, turned, past = (np.stack([each[i] for each in after]) for i in range(3))
        into = np.array([self.place[line] for line in lines], np.int64)
        together = min(map(min, lines)) > self.options.target - top
        # The lower score comes first: what it needs of the other line lies in earlier blocks, as long as no card that
        # is past the target for it is among the first digits; the higher score then finds all of it worked out.
        many, sizes = d.blocks(self.options.target - min(map(min, lines)) if together else top, self._kind)
        block = len(sizes)
        second = self._second[: len(lines) * (block + d.total)].reshape(len(lines), block + d.total)
        second[:, :block] = 0
        found, sums = np.zeros((top, block), self._kind), np.zeros(block, self._kind)
        if self.empty is not None:
            now = [Empty(*(self.one * chance for chance in self.empty[line])) for line in lines]
        elif together:
            now = [Empty(self.one * self.guess(line), self.one * self.guess(line)) for line in lines]
        else:
            now = [Empty(0.0, self._reshuffled(slots[i], turned[i])) for i in range(len(lines))]
        rounds, moved = 0, 1.0
        while rounds == 0 or (together and self.empty is None and moved > (1e-15 if self.grain == FINE else 0.5)):
            for side, line in enumerate(lines):
                self._put(line, 0, now[side].draw)
                second[side, block] = now[side].second if self.grain == FINE else round(now[side].second)
            self.code.sweep_lines(
                self.high, self.low, self.grain, into, slots, turned, past, self.one, d.radix, d.strides,
                many, sizes, d.inverse, second, found, sums,
            )  # fmt: skip
            rounds += 1
            if self.empty is None:
                then = [
                    Empty(self.whole(line), self._reshuffled(slots[i], turned[i])) for i, line in enumerate(lines)
                ]
                moved = max(
                    abs(x - y) for was, new in zip(now, then, strict=True) for x, y in zip(was, new, strict=True)
                )
                now = then
            if rounds == MOST_ROUNDS:
                raise ArithmeticError(f"The lines {lines} do not settle.")
        self.rounds = max(self.rounds, rounds)
        for side, line in enumerate(lines):
            self._put(line, 0, now[side].draw)
            if look is not None:
                look(line, self.place[line], second[side, block:])

    def whole(self, line: Line) -> float:
        last = self.decks.total - 1
        return float(self.code.entry(self.high, self.low, self.grain, self.place[line], last))


def last_uses(options: Options, order: list[tuple[Line, ...]]) -> dict[Line, int]:
    """Return for each line the last step that needs it; what none needs is kept to the end."""
    last: dict[Line, int] = {}
    for number, lines in enumerate(order):
        for line in lines:
            for card in range(options.top):
                after = follows(options, line, card)[0]
                if after is not None:
                    last[after] = number
    return {line: last.get(line, len(order)) for lines in order for line in lines}


def most_alive(order: list[tuple[Line, ...]], last: Mapping[Line, int]) -> int:
    """Return how many lines have to be held at the same time."""
    alive: set[Line] = set()
    most = 0
    for number, lines in enumerate(order):
        alive |= set(lines)
        most = max(most, len(alive))
        alive = {line for line in alive if last[line] > number}
    return most


__all__ = ["COARSE", "FINE", "MOST_CARDS", "ONE", "Decks", "Empty", "Line", "Pool", "follows", "needed", "steps"]
