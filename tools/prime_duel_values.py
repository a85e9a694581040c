"""Writes what is shipped of Prime Duel's full solution, for the sheet's size, into the package.

    piste solve prime-duel --full
    python tools/prime_duel_values.py

Each number of the formula is rounded so that a value changes by 0.00001 on average: less than 2 MB are left.
`tests/games/solver/test_prime_duel_verdicts.py` compares verdicts by this file with the full solution.
"""

from __future__ import annotations

import io
import lzma
import sys

import numpy as np

from piste.compiled import table_cache
from piste.games.prime_duel.guarantees import name, stamp
from piste.games.prime_duel.solver import tablebase
from piste.games.prime_duel.solver.tablebase import DECK_SHARE_BINS, SHIPPED, SHIPPED_CARDS_GONE, SHIPPED_OPTIONS

STEPS = (5e-5, 5e-5, 3e-5, 2e-5)
"""By the formulas for small to large decks."""


def main() -> int:
    stored = table_cache.load(name(SHIPPED_OPTIONS), stamp())
    if stored is None or "errors" not in stored.names:
        print(
            "There is no full solution of this version: run `piste solve prime-duel --full` first.", file=sys.stderr
        )
        return 1
    few = tablebase.nearly_full_decks(SHIPPED_OPTIONS)
    gone = SHIPPED_OPTIONS.top * SHIPPED_OPTIONS.copies - few.sum(axis=1)
    samples = [tablebase.sample_decks(SHIPPED_OPTIONS, which)[:2000] for which in range(len(DECK_SHARE_BINS))]
    sizes = [np.sqrt((tablebase.features(SHIPPED_OPTIONS, decks) ** 2).mean(axis=0)) for decks in samples]
    formula = stored.read("formula")
    steps = np.array(STEPS)[:, None] / np.array(sizes)
    steps = np.maximum(steps, np.abs(formula).max(axis=0) / np.iinfo(np.int16).max)
    # Equal parts of all score pairs lie together, because that is smaller.
    arrays = {
        "lines": stored.read("lines").astype(np.int8),
        "empty": stored.read("empty"),
        "near": np.moveaxis(stored.read("near")[:, gone <= SHIPPED_CARDS_GONE], 2, 0),
        "formula": np.moveaxis(np.rint(formula / steps).astype(np.int16), 0, 2),
        "steps": steps.astype(np.float32),
        "errors": stored.read("errors").astype(np.float32),
    }
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **{key: np.ascontiguousarray(array) for key, array in arrays.items()})
    SHIPPED.write_bytes(lzma.compress(file.getvalue(), preset=9))
    print(f"{SHIPPED}: {SHIPPED.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
