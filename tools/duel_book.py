"""Write the opening book of Duel from the strategy that `python -m tools.duel_blueprint` has learned.

    python -m tools.duel_book

It holds the information sets that were visited often and to which rounds come, as long as both hands together have
more cards than the end of a round is solved with: rounds of the strategy against itself in which one seat, in turn,
chooses by chance one time in four. What is played less often than a twentieth of the first choice is left out.
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
MIN_VISITS = 300  # of MCCFR: what was learned from fewer loses more than a search there
TARGET = Path(book.__file__).with_name(book.FILE)


def counted(late: Policy, rounds: int) -> Array:
    """Return how often a seat that does not err came to each place of a policy."""
    options, states = dealt()
    counts = np.zeros(len(late.keys), np.int64)
    kernels().count_decisions(options, states.rows, states.sums, late, FULL.cards, SLIPS_OF_64, 1, 1 + rounds, counts)
    return counts


def visits(late: Policy) -> Array:
    """Return how often MCCFR came to each place of a policy as the seat that learns."""
    kept = np.load(duel_blueprint.FILE)
    order = np.argsort(kept["keys"])
    at = np.minimum(np.searchsorted(kept["keys"], late.keys, sorter=order), len(order) - 1)
    found = kept["keys"][order[at]] == late.keys
    return np.where(found, kept["visits"][order[at]], 0)


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    options, states = dealt()
    late = duel_blueprint.load()
    counts = counted(late, ROUNDS)
    known = np.flatnonzero((counts > 0) & (visits(late) >= MIN_VISITS))
    leader = duel_blueprint.play(options, states, duel_blueprint.no_policy(), late, 0, ROUNDS)
    packed = book.pack(late.keys[known], late.sums[known], leader)
    if len(packed) > MAX_BYTES:
        raise SystemExit(f"The book would have {len(packed)} bytes, {MAX_BYTES} is the most.")
    TARGET.write_bytes(packed)
    share = counts[known].sum() / counts.sum()
    print(
        f"{len(known)} information sets in {len(packed)} bytes: {share:.1%} of the choices in rounds with mistakes; "
        f"the leader wins {leader:.2%}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
