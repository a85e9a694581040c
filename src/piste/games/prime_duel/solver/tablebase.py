"""Prime Duel: the tablebase, made once by `piste solve prime-duel --full`.

There are some 18 thousand million positions before a draw: too many to store, and there is no need to. Stored are,
for every score pair: its values with an empty deck, from which any deck can be solved to its last card, the sooner
the fewer cards are left; the values of all decks from which few cards are gone; and a formula for the decks in
between, by which a position is estimated after looking some cards ahead.

For the sheet's size a smaller tablebase is part of the package (`tools/prime_duel_values.py` writes it): fewer decks
one by one, and the numbers of the formula rounded.
"""

from __future__ import annotations

import io
import json
import lzma
import mmap
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from piste.compiled import table_cache
from piste.core.errors import PisteError
from piste.core.evaluation import Progress
from piste.games.prime_duel import rules
from piste.games.prime_duel.guarantees import name, stamp
from piste.games.prime_duel.rules import DECIDE, REDRAW, Options, State
from piste.games.prime_duel.solver.kernels import Array
from piste.games.prime_duel.solver.score_pairs import (
    DeckIndex,
    EmptyDeckValues,
    PairSolver,
    RowsInMemory,
    ScorePair,
    card_counts,
    last_uses,
    max_live_pairs,
    solve_order,
)
from piste.games.prime_duel.solver.value_sources import FixedOddsModel, WinLoss, score_pair

MAX_CARDS_GONE = 6
"""Decks from which at most this many cards are gone are stored one by one."""

DECK_SHARE_BINS = (0.4, 0.5, 0.65, 0.825)
"""The formula changes at these shares of the whole deck."""

SAMPLES_PER_BIN = 12_000
"""How many decks each formula is fitted to."""

ROUNDING_ERROR = 1e-6
"""No stored value is off by more: in 32-bit floats and in 24-bit whole numbers they differ by less than 3e-7."""

FORMULA_ERROR = 0.002
"""The formula is off by about as much, where it is not stored by how much it was off when it was fitted."""

SHIPPED = Path(__file__).with_name("sheet_size.npz.xz")
SHIPPED_OPTIONS = Options()
SHIPPED_CARDS_GONE = 2
"""Like MAX_CARDS_GONE, in the tablebase that is part of the package."""

STORED_ONE = (1 << 24) - 1
"""A certain win, as it is stored in three bytes."""

MAX_DISK_BYTES = 12_000_000_000
"""How much a solve may write while it runs."""

MADV_POPULATE_WRITE = 23
"""Linux's number, which Python has no name for."""

MAX_TARGET = 200
STEPS_IN_MEMORY = 4
"""After this many steps the rows that were read and written leave the memory of the process."""


def nearly_full_decks(options: Options, most: int = MAX_CARDS_GONE) -> Array:
    """Return the decks from which at most so many cards are gone, as rows of counts, sorted by number."""
    few = np.zeros((1, 0), np.int64)
    for _ in range(options.top):  # one more card in each round, the lowest digit last
        more = [np.insert(few, 0, gone, axis=1) for gone in range(options.copies + 1)]
        few = np.concatenate(more)
        few = few[few.sum(axis=1) <= most]
    decks = options.copies - few
    return np.asarray(decks[np.argsort(decks @ DeckIndex.of_whole_deck(options).strides)])


@cache
def monomials(top: int) -> list[Array]:
    """Return which factors of `features` are multiplied for each term of the formula, by degree."""
    terms = [list(combinations_with_replacement(range(top), degree)) for degree in range(4)]
    return [np.array(each, np.int64).reshape(len(each), degree) for degree, each in enumerate(terms)]


def features(options: Options, decks: Array) -> Array:
    """Return the terms of the formula: products of up to three shares of cards, and of one over the deck's size."""
    size = decks.sum(axis=1, keepdims=True)
    factors = np.concatenate(
        [decks[:, :-1] / size - 1.0 / options.top, 1.0 / size - 1.5 / (options.top * options.copies)], axis=1
    )
    return np.concatenate([factors[:, which].prod(axis=2) for which in monomials(options.top)], axis=1)


def bin_of(options: Options, cards: int) -> int:
    share = cards / (options.top * options.copies)
    return max(sum(share > low for low in DECK_SHARE_BINS) - 1, 0)


def sample_decks(options: Options, which: int) -> Array:
    """Return decks to fit the formula of one bin to: random decks, by turns of each size of the bin."""
    cards = options.top * options.copies
    rng = np.random.default_rng(which)
    pack = np.repeat(np.arange(options.top), options.copies)
    sizes = [n for n in range(1, cards + 1) if bin_of(options, n) == which and n >= DECK_SHARE_BINS[0] * cards]
    decks = [
        np.bincount(rng.permutation(pack)[: sizes[k % len(sizes)]], minlength=options.top)
        for k in range(SAMPLES_PER_BIN)
    ]
    return np.array(decks)


def least_squares(terms: Array, values: Array) -> tuple[Array, Array]:
    """Return, for each row of values, the factors of the terms that fit it best, and the deviation that is left.

    By the normal equations, with terms of equal length: two products of large matrices. To take the terms apart
    instead (QR, SVD) is many small products, in which the threads of the linear algebra mostly wait for each other.
    """
    lengths = np.linalg.norm(terms, axis=0)
    lengths = np.maximum(lengths, 1e-9 * lengths.max())
    scaled = terms / lengths
    products, sides = scaled.T @ scaled, values @ scaled
    factors = sides @ np.linalg.pinv(products, rcond=1e-13, hermitian=True)
    squares = (values.astype(np.float64) ** 2).sum(axis=1)
    left = squares - 2 * (factors * sides).sum(axis=1) + (factors @ products * factors).sum(axis=1)
    return factors / lengths, np.sqrt(np.maximum(left, 0) / values.shape[1])


class Tablebase:
    """A stored solution as a value source. Rows are read when they are needed."""

    def __init__(
        self,
        options: Options,
        arrays: Mapping[str, Array],
        read_near: Callable[[int], Array],
        cards_gone: int = MAX_CARDS_GONE,
    ) -> None:
        """`read_near` returns a row of the array `near`, which has the decks with at most `cards_gone` cards gone."""
        self.options, self._cards_gone = options, cards_gone
        self._rows = {(int(a), int(b)): i for i, (a, b) in enumerate(arrays["lines"])}
        self._empty, self._formula = arrays["empty"], arrays["formula"]
        self._errors = arrays.get("errors", np.full(self._formula.shape[:2], FORMULA_ERROR))
        self._decks = DeckIndex.of_whole_deck(options)
        self._numbers = nearly_full_decks(options, cards_gone) @ self._decks.strides
        self._near = lru_cache(maxsize=256)(lambda row: np.asarray(read_near(row), np.int64))

    def has_next(self, s: State) -> bool:
        """Say whether the positions before a draw that come next are all stored one by one."""
        cards = self.options.top * self.options.copies
        left = sum(card_counts(self.options, s.deck))
        gone = 0 if left == 0 else cards - left
        most = self._cards_gone
        return gone + (s.phase in (DECIDE, REDRAW)) <= most and (left != 1 or cards <= most)

    def empty_deck_values(self, pairs: Iterable[ScorePair]) -> dict[ScorePair, EmptyDeckValues]:
        return {pair: EmptyDeckValues(*map(float, self._empty[self._rows[pair]])) for pair in pairs}

    def draw(self, s: State) -> WinLoss:
        scores, counts = score_pair(s), np.array(card_counts(self.options, s.deck))
        number = int(self._decks.strides @ counts) or self._decks.total - 1  # an empty deck will be a whole one
        at = int(np.searchsorted(self._numbers, number))
        if at < len(self._numbers) and self._numbers[at] == number:
            high, middle, low = self._near(self._rows[scores])[at]
            win = float((high << 16) + (middle << 8) + low) / STORED_ONE
        else:
            win = float(self.estimates([scores], counts[None])[0, 0])
        return (win, 1.0 - win)

    def estimates(self, pairs: Sequence[ScorePair], decks: Array) -> Array:
        """Return the chances of each pair with each deck by the formula; the decks have the same size."""
        formula = self._formula[[self._rows[pair] for pair in pairs], bin_of(self.options, int(decks[0].sum()))]
        return np.asarray(np.clip(formula @ features(self.options, decks).T, 0, 1))

    def has_formula(self, cards: int) -> bool:
        """Say whether the formula was fitted to decks of this size: to smaller ones it was not."""
        return cards >= DECK_SHARE_BINS[0] * self.options.top * self.options.copies

    def formula_error(self, pairs: Iterable[ScorePair], cards: int) -> float:
        """Return by how much the formula is off, on average over these pairs, with decks of this size."""
        return float(self._errors[[self._rows[pair] for pair in pairs], bin_of(self.options, cards)].mean())


@lru_cache(maxsize=4)
def _opened(options: Options, folder: Path, made: int) -> Tablebase | None:  # noqa: ARG001 (part of the key)
    stored = table_cache.load(name(options), stamp())
    if stored is None:
        return None
    try:
        arrays = {array: stored.read(array) for array in stored.names if array != "near"}
        return Tablebase(options, arrays, lambda row: stored.read_rows("near", row, row + 1)[0])
    except table_cache.DamagedTableError:
        table_cache.delete(name(options), stamp())
        return None


@cache
def shipped() -> Tablebase:
    """Return the tablebase that is part of the package."""
    with np.load(io.BytesIO(lzma.decompress(SHIPPED.read_bytes()))) as file:
        arrays = dict(file)
    near, formula = np.moveaxis(arrays.pop("near"), 0, 2), arrays["formula"] * arrays.pop("steps")[:, :, None]
    arrays["formula"] = np.ascontiguousarray(np.moveaxis(formula, 2, 0))
    return Tablebase(SHIPPED_OPTIONS, arrays, near.__getitem__, SHIPPED_CARDS_GONE)


def load(options: Options) -> Tablebase | None:
    """Return the tablebase of a game, or None if there is none; one that another process makes is found too."""
    table = _opened(options, table_cache.folder(), table_cache.last_modified())
    return shipped() if table is None and options == SHIPPED_OPTIONS else table


class TablebaseBuilder:
    """Collects what is stored of each score pair as it is solved."""

    def __init__(self, solver: PairSolver) -> None:
        options, decks = solver.options, solver.decks
        self.solver = solver
        pairs = [pair for step in solver.order for pair in step]
        self.rows = {pair: i for i, pair in enumerate(pairs)}
        self.near = nearly_full_decks(options) @ decks.strides
        samples = [sample_decks(options, which) for which in range(len(DECK_SHARE_BINS))]
        self.samples = [each @ decks.strides for each in samples]
        self.terms = [features(options, each) for each in samples]
        self.arrays: dict[str, Array] = {
            "lines": np.array(pairs, np.int16),
            "empty": np.zeros((len(pairs), 2)),
            "near": np.zeros((len(pairs), len(self.near), 3), np.uint8),
            "samples": np.zeros((len(samples), len(pairs), SAMPLES_PER_BIN), np.float32),
        }

    def add(self, scores: ScorePair, second: Array) -> None:
        row, values = self.rows[scores], self.solver.values(scores)
        stored = np.rint(values[self.near].astype(np.float64) * STORED_ONE).astype(np.int64)
        self.arrays["empty"][row] = values[0], second[0]
        self.arrays["near"][row] = stored[:, None] >> np.array((16, 8, 0)) & 255
        for which, numbers in enumerate(self.samples):
            self.arrays["samples"][which, row] = values[numbers]

    def stored(self) -> dict[str, Array]:
        """Return what is stored: instead of the samples the formula that fits them, and how far it is off."""
        fits = [
            least_squares(terms, values) for terms, values in zip(self.terms, self.arrays["samples"], strict=True)
        ]
        formula, errors = zip(*fits, strict=True)
        fitted = {"formula": np.stack(formula, axis=1), "errors": np.stack(errors, axis=1)}
        kept = {key: array for key, array in self.arrays.items() if key != "samples"}
        return kept | {key: array.astype(np.float32) for key, array in fitted.items()}


class RowFile(RowsInMemory):
    """Rows in a file that is mapped into memory, so that there may be more of them than memory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def allocate(self, shape: tuple[int, int], dtype: Any) -> Array:
        """Return the rows, those of an earlier process if there are any; raise OSError if the disk is full."""
        size = shape[0] * shape[1] * np.dtype(dtype).itemsize
        with self.path.open("ab") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
        with self.path.open("r+b") as file:
            self.mapped = mmap.mmap(file.fileno(), size)
        self.rows = np.frombuffer(self.mapped, dtype).reshape(shape)
        return self.rows

    def writable(self, slot: int) -> Array:
        """Return a row that is about to be written, its pages made writable at once where the system can do that."""
        row: Array = self.rows[slot]
        begin = slot * row.nbytes // mmap.PAGESIZE * mmap.PAGESIZE
        with suppress(AttributeError, OSError, ValueError):
            self.mapped.madvise(MADV_POPULATE_WRITE, begin, (slot + 1) * row.nbytes - begin)
        return row

    def release(self) -> None:
        """Let what was read and written leave the memory of this process, where the system can be told so."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.mapped.madvise(mmap.MADV_DONTNEED)


def solve(options: Options, code: Any, progress: Progress) -> str:
    """Solve every score pair, store the tablebase, and say so. An interrupted solve resumes from its checkpoint."""
    decks = (options.copies + 1) ** options.top
    order = solve_order(options) if options.target <= MAX_TARGET and decks < MAX_DISK_BYTES else []
    slots = max_live_pairs(order, last_uses(options, order))
    if not order or 4 * slots * decks > MAX_DISK_BYTES:
        raise PisteError(
            "This game is too large to be solved whole: it would take more than "
            f"{MAX_DISK_BYTES // 10**9} GB on disk while it is worked out. Its bots and verdicts use a model instead."
        )
    folder = table_cache.scratch_folder(name(options), stamp())
    file = RowFile(folder / "rows.bin")
    solver = PairSolver(
        code, options, DeckIndex.of_whole_deck(options), order, keep=False, dtype=np.float32,
        guess=first_guess(code, options), storage=file,
    )  # fmt: skip
    builder = TablebaseBuilder(solver)
    done = load_checkpoint(folder, solver, builder)
    try:
        for step in range(done, len(order)):
            progress(step, len(order), "working out lines of the full solution")
            solver.solve_step(step, builder.add)
            done = step + 1
            if done % STEPS_IN_MEMORY == 0:
                file.release()
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt):  # by way of the progress bar
            progress(done, len(order), "putting the work away, to go on from here")
        try:
            save_checkpoint(folder, solver, builder, done)
        except OSError as e:
            table_cache.warn_not_cached(folder.parent, e)
        raise
    progress(len(order), len(order), "working out lines of the full solution")
    file.release()
    stored = table_cache.save(name(options), stamp(), builder.stored())
    pairs = len(builder.rows)
    return (
        f"{pairs} lines of {decks} decks were worked out: {pairs * decks} positions before a draw. "
        f"What bots and verdicts need of them is kept in {stored.folder}, {stored.size / 1e6:.0f} MB."
    )


def first_guess(code: Any, options: Options) -> Callable[[ScorePair], EmptyDeckValues]:
    """Return values with an empty deck that are near the true ones: those of the package, or those of a model.

    They are where iteration begins. It goes on until they are what follows from them, so they need not be right.
    """
    if options == SHIPPED_OPTIONS:
        table = shipped()
        return lambda scores: table.empty_deck_values([scores])[scores]
    model = FixedOddsModel(code, options, rules.whole_deck(options), 0, 0)
    return lambda scores: EmptyDeckValues(*[float(model.values[0][scores][0])] * 2)


def save_checkpoint(folder: Path, solver: PairSolver, builder: TablebaseBuilder, done: int) -> None:
    """Write what has been solved so far: which pairs are in the file of rows, and what the builder has of all."""
    alive = {
        pair: slot for pair, slot in solver.slots.items() if not any(pair in step for step in solver.order[done:])
    }
    np.savez(folder / "taken.npz", allow_pickle=False, **builder.arrays)
    taken = zlib.crc32((folder / "taken.npz").read_bytes())
    rows = [(pair, slot, zlib.crc32(solver.rows[slot])) for pair, slot in alive.items()]
    (folder / "checkpoint.json").write_text(
        json.dumps({"done": done, "rows": rows, "taken": taken}), encoding="utf-8"
    )


def load_checkpoint(folder: Path, solver: PairSolver, builder: TablebaseBuilder) -> int:
    """Read a checkpoint and return how many steps it has done; one that is damaged or missing has done none."""
    path = folder / "checkpoint.json"
    try:
        where = json.loads(path.read_text(encoding="utf-8"))
        path.unlink()  # the rows are about to change
        if zlib.crc32((folder / "taken.npz").read_bytes()) != where["taken"]:
            return 0
        if any(zlib.crc32(solver.rows[slot]) != check for _, slot, check in where["rows"]):
            return 0
        with np.load(folder / "taken.npz") as taken:
            if not np.array_equal(taken["lines"], builder.arrays["lines"]):  # solved in another order
                return 0
            builder.arrays |= {key: taken[key] for key in builder.arrays}
    except (OSError, ValueError, KeyError, IndexError):
        return 0
    solver.restore({(a, b): slot for (a, b), slot, _ in where["rows"]})
    return int(where["done"])
