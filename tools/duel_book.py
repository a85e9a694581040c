"""Write the opening book of Duel from the strategy that `python -m tools.duel_blueprint` has learned.

    python -m tools.duel_book

It holds the information sets to which rounds come most often, as long as both hands together have more cards than the
end of a round is solved with: rounds of the strategy against itself in which one seat, in turn, chooses by chance one
time in four. What is played less often than a twentieth of the first choice is left out.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from piste.games.mccoy_duel.bots.search import FULL
from piste.games.mccoy_duel.solver import book
from piste.games.mccoy_duel.solver.infosets import Array
from tools import duel_blueprint
from tools.duel_blueprint import dealt, kernels
from tools.duel_kernels import Policy

MAX_BYTES = 5_000_000
ROUNDS = 20_000_000
SLIPS_OF_64 = 16
TARGET = Path(book.__file__).with_name(book.FILE)
MOST = 1_200_000  # information sets


def counted(late: Policy, rounds: int) -> Array:
    """Return how often a seat that does not err came to each place of a policy."""
    options, states = dealt()
    counts = np.zeros(len(late.keys), np.int64)
    kernels().count_decisions(options, states.rows, states.sums, late, FULL.cards, SLIPS_OF_64, 1, 1 + rounds, counts)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=MOST, help="information sets (default: %(default)s)")
    given = parser.parse_args()
    late = duel_blueprint.load()
    counts = counted(late, ROUNDS)
    order = np.argsort(-counts, kind="stable")[: min(given.most, int((counts > 0).sum()))]
    packed = book.pack(late.keys[order], late.sums[order])
    if len(packed) > MAX_BYTES:
        raise SystemExit(f"The book would have {len(packed)} bytes, {MAX_BYTES} is the most: ask for a lower --most.")
    TARGET.write_bytes(packed)
    share = counts[order].sum() / counts.sum()
    print(
        f"{len(order)} information sets in {len(packed)} bytes; of the choices of a seat that goes by the book "
        f"{share:.1%} stand in it"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
