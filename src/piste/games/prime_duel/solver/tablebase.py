"""Prime Duel: the full solution, made once, and what is kept of it.

There are some 18 thousand million positions before a draw: too many to keep, and there is no need to. Kept are,
for every line: what it is worth with an empty deck, from which any deck can be worked out to its last card, the
sooner the fewer cards are left; all decks from which few cards are gone; and a formula for those in between, good
enough to choose by when there is no time to work out the rest.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from piste.compiled import table_cache
from piste.core.bits import lane
from piste.core.errors import PisteError
from piste.core.evaluation import Progress
from piste.games.prime_duel import rules
from piste.games.prime_duel.guarantees import name, stamp
from piste.games.prime_duel.rules import DECIDE, REDRAW, Options, State
from piste.games.prime_duel.solver.kernels import COARSE, Array
from piste.games.prime_duel.solver.score_pairs import (
    MOST_CARDS,
    Decks,
    Empty,
    Line,
    Pool,
    last_uses,
    most_alive,
    needed,
    steps,
)

GONE = 6
"""Decks from which at most so many cards are gone are kept as they are."""

BINS = (0.4, 0.5, 0.65, 0.825)
"""The formula changes at these shares of the whole deck."""

SAMPLE = 12_000
"""How many decks each formula is fitted to."""

ROUNDED = 1e-5
"""No kept number is off by more: a turn adds 6e-8 at most, and hardly a game has 160 turns."""

OFF = 0.0025
"""The formula, a turn ahead, is off by less in 95 % of positions (docs/solve/prime-duel.md)."""

LARGEST = 9_000_000_000
"""So many bytes of memory may be used."""


def near_decks(options: Options) -> Array:
    """Return the decks from which at most GONE cards are gone, as rows of counts, in the order of their numbers."""

    def gone(cards: int, left: int) -> Iterator[tuple[int, ...]]:
        if cards == 0:
            yield ()
            return
        for many in range(min(left, options.copies) + 1):
            for rest in gone(cards - 1, left - many):
                yield (*rest, many)

    found = options.copies - np.array(list(gone(options.top, GONE)), np.int64)
    strides = Decks([options.copies] * options.top).strides
    return np.asarray(found[np.argsort(found @ strides)])


@cache
def powers(top: int) -> list[Array]:
    """Return which of the numbers that `shape` makes of a deck are multiplied for each term of the formula."""
    terms = [list(combinations_with_replacement(range(top), degree)) for degree in range(4)]
    return [np.array(each, np.int64).reshape(len(each), degree) for degree, each in enumerate(terms)]


def shape(options: Options, decks: Array) -> Array:
    """Return the terms of the formula: products of up to three shares of cards, and of one over the deck's size."""
    size = decks.sum(axis=1, keepdims=True)
    parts = np.concatenate(
        [decks[:, :-1] / size - 1.0 / options.top, 1.0 / size - 1.5 / (options.top * options.copies)], axis=1
    )
    return np.concatenate([parts[:, which].prod(axis=2) for which in powers(options.top)], axis=1)


def bin_of(options: Options, cards: int) -> int:
    share = cards / (options.top * options.copies)
    return max(sum(share > low for low in BINS) - 1, 0)


def sample(options: Options, which: int) -> Array:
    """Return decks for the formula of one bin: some sizes, and cards drawn at random until they are left."""
    cards = options.top * options.copies
    draw = np.random.default_rng(which)
    pack = np.repeat(np.arange(options.top), options.copies)
    sizes = [n for n in range(1, cards + 1) if bin_of(options, n) == which and n >= BINS[0] * cards]
    found = [
        np.bincount(draw.permutation(pack)[: sizes[k % len(sizes)]], minlength=options.top) for k in range(SAMPLE)
    ]
    return np.array(found)


class Table:
    """What was kept of a full solution. Rows are read when they are needed."""

    def __init__(self, options: Options, stored: table_cache.CachedTable) -> None:
        self.options, self.stored = options, stored
        self.lines = {(int(a), int(b)): i for i, (a, b) in enumerate(stored.read("lines"))}
        self._empty = stored.read("empty")
        self._formula = stored.read("formula")
        self._decks = Decks([options.copies] * options.top)
        self._numbers = near_decks(options) @ self._decks.strides
        self._row = lru_cache(maxsize=256)(self._read)

    def _read(self, line: Line) -> Array:
        at = self.lines[line]
        return np.asarray(self.stored.read_rows("near", at, at + 1)[0], np.int64)

    def _near_number(self, left: Array) -> int:
        """Return where a deck stands among those that are kept, or -1."""
        number = int(self._decks.strides @ left) or self._decks.total - 1  # an empty deck will be a whole one
        at = int(np.searchsorted(self._numbers, number))
        return at if at < len(self._numbers) and self._numbers[at] == number else -1

    def near(self, s: State) -> bool:
        """Say whether the positions before a draw that come next are all kept as they are."""
        cards = self.options.top * self.options.copies
        left = sum(_counts(self.options, s.deck))
        drawn = 0 if left == 0 else cards - left
        return drawn + (s.phase in (DECIDE, REDRAW)) <= GONE and (left != 1 or cards <= GONE)

    def empties(self, lines: Iterable[Line]) -> dict[Line, Empty]:
        return {line: Empty(*map(float, self._empty[self.lines[line]])) for line in lines}

    def draw(self, s: State) -> tuple[float, float]:
        """Return the chances to win and to lose of the player who is to draw."""
        line = (s.scores[s.seat], s.scores[1 - s.seat])
        left = np.array(_counts(self.options, s.deck))
        at = self._near_number(left)
        if at >= 0:
            high, middle, low = self._row(line)[at]
            win = float((high << 16) + (middle << 8) + low) / ((1 << 24) - 1)
        else:
            terms = shape(self.options, left[None])[0]
            win = min(
                max(float(terms @ self._formula[self.lines[line], bin_of(self.options, int(left.sum()))]), 0), 1
            )
        return (win, 1.0 - win)


def _counts(options: Options, deck: int) -> list[int]:
    return [lane(deck, i) for i in range(options.top)]


@lru_cache(maxsize=4)
def _opened(options: Options, folder: Path, made: int) -> Table | None:  # noqa: ARG001 (part of the key)
    stored = table_cache.load(name(options), stamp())
    try:
        return None if stored is None else Table(options, stored)
    except table_cache.DamagedTableError:
        table_cache.delete(name(options), stamp())
        return None


def table(options: Options) -> Table | None:
    """Return the kept solution of a game, or None if there is none; one that another process makes is found too."""
    return _opened(options, table_cache.folder(), table_cache.last_modified())


class Harvest:
    """What is taken from each line as it is worked out."""

    def __init__(self, pool: Pool) -> None:
        options, decks = pool.options, pool.decks
        self.pool = pool
        lines = [line for step in pool.order for line in step]
        self.row = {line: i for i, line in enumerate(lines)}
        self.near = near_decks(options) @ decks.strides
        samples = [sample(options, which) for which in range(len(BINS))]
        self.samples = [each @ decks.strides for each in samples]
        self.fit = [np.linalg.pinv(shape(options, each)) for each in samples]
        terms = len(self.fit[0])
        self.arrays: dict[str, Array] = {
            "lines": np.array(lines, np.int16),
            "empty": np.zeros((len(lines), 2)),
            "near": np.zeros((len(lines), len(self.near), 3), np.uint8),
            "formula": np.zeros((len(lines), len(BINS), terms), np.float32),
        }

    def take(self, line: Line, slot: int, second: Array) -> None:
        row, pool = self.row[line], self.pool
        high, low = pool.high[slot], pool.low[slot]
        self.arrays["empty"][row] = pool.chance(line, 0), float(second[0]) / pool.one
        self.arrays["near"][row] = np.stack([high[self.near] >> 8, high[self.near] & 255, low[self.near]], axis=1)
        for which, numbers in enumerate(self.samples):
            chances = (high[numbers] * 256.0 + low[numbers]) / pool.one
            self.arrays["formula"][row, which] = self.fit[which] @ chances


def solve(options: Options, code: Any, progress: Progress) -> str:
    """Work out every line, keep what is needed, and say so. Interrupted, it goes on from there the next time."""
    decks = Decks([options.copies] * options.top) if (options.copies + 1) ** options.top < LARGEST else None
    order = list(steps(options, needed(options, [(0, 0)]))) if options.target <= 200 and decks else []
    memory = most_alive(order, last_uses(options, order)) * 3 * decks.total if decks and order else LARGEST + 1
    if decks is None or memory > LARGEST or options.top * options.copies > MOST_CARDS:
        raise PisteError(
            f"This game is too large to be solved whole: it would take more than {LARGEST // 10**9} GB of memory. "
            "Its bots and verdicts use a model instead."
        )
    pool = Pool(code, options, decks, order, keep=False, grain=COARSE, guess=_guess(options, code))
    harvest = Harvest(pool)
    place = table_cache.scratch_folder(name(options), stamp())
    done = resume(place, pool, harvest)
    try:
        for number in range(done, len(order)):
            progress(number, len(order), "working out lines of the full solution")
            pool.work(number, harvest.take)
            done = number + 1
    except KeyboardInterrupt:
        progress_quietly(progress, done, len(order))
        try:
            interrupt(place, pool, harvest, done)
        except OSError as e:
            table_cache.warn_not_cached(place.parent, e)
        raise
    progress(len(order), len(order), "working out lines of the full solution")
    del pool.high, pool.low
    stored = table_cache.save(name(options), stamp(), harvest.arrays)
    lines = len(harvest.row)
    return (
        f"{lines} lines of {decks.total} decks were worked out: {lines * decks.total} positions before a draw. "
        f"What bots and verdicts need of them is kept in {stored.folder}, {stored.size / 1e6:.0f} MB."
    )


def progress_quietly(progress: Progress, done: int, of: int) -> None:
    """Say that the work is being put away; nobody can interrupt that by way of the progress bar."""
    try:
        progress(done, of, "putting the work away, to go on from here")
    except KeyboardInterrupt:
        return


def _guess(options: Options, code: Any) -> Any:
    from piste.games.prime_duel.solver.value_sources import Model

    model = Model(code, options, rules.whole_deck(options), 0, 0)
    return lambda line: float(model.values[line])


def interrupt(place: Path, pool: Pool, harvest: Harvest, done: int) -> None:
    """Put away what has been worked out so far: the lines still needed, and what was taken from all of them."""
    (place / "where.json").unlink(missing_ok=True)
    alive = [line for line in pool.place if not any(line in step for step in pool.order[done:])]
    checks = []
    with (place / "lines.bin").open("wb") as file:
        for line in alive:
            for part in (pool.high[pool.place[line]], pool.low[pool.place[line]]):
                checks.append(zlib.crc32(part))
                file.write(part.tobytes())
    np.savez(place / "taken.npz", allow_pickle=False, **harvest.arrays)
    where = {"done": done, "alive": alive, "checks": checks, "taken": zlib.crc32((place / "taken.npz").read_bytes())}
    (place / "where.json").write_text(json.dumps(where), encoding="utf-8")


def resume(place: Path, pool: Pool, harvest: Harvest) -> int:
    """Take up what was put away; return how many steps were done. Whatever is damaged is not taken."""
    try:
        where = json.loads((place / "where.json").read_text(encoding="utf-8"))
        if zlib.crc32((place / "taken.npz").read_bytes()) != where["taken"]:
            return 0
        checks, alive = iter(where["checks"]), [(int(a), int(b)) for a, b in where["alive"]]
        with (place / "lines.bin").open("rb") as file:
            for slot in range(len(alive)):
                for pooled in (pool.high, pool.low):
                    part = file.read(pooled[slot].nbytes)
                    if zlib.crc32(part) != next(checks):
                        return 0
                    pooled[slot] = np.frombuffer(part, pooled.dtype)
        with np.load(place / "taken.npz") as taken:
            harvest.arrays |= {key: taken[key] for key in harvest.arrays}
    except (OSError, ValueError, KeyError, StopIteration):
        return 0
    pool.restore({line: slot for slot, line in enumerate(alive)})
    return int(where["done"])
