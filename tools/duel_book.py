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
from typing import NamedTuple

import numpy as np

from piste.core.game import members
from piste.games.mccoy_duel import notation, rules
from piste.games.mccoy_duel.bots.search import FULL
from piste.games.mccoy_duel.solver import book, infoset_kernels
from piste.games.mccoy_duel.solver.infosets import Array, PossibleStates
from tools import duel_blueprint
from tools.duel_blueprint import dealt, kernels
from tools.duel_kernels import Policy

MAX_BYTES = 5_000_000
ROUNDS, ROUNDS_BY_BURIAL = 20_000_000, 500_000
SLIPS_OF_64 = 16
MIN_VISITS = 100  # of MCCFR: what was learned from fewer loses more than a search there
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


class Made(NamedTuple):
    packed: bytes
    size: int
    share: float  # of the choices in rounds with mistakes
    leader: float


def made(rounds: int, least: int) -> Made:
    """Make the book of the information sets that MCCFR came to so often at least."""
    options, states = dealt()
    late = duel_blueprint.load()
    counts = counted(late, rounds)
    known = np.flatnonzero((counts > 0) & (visits(late) >= least))
    leader = duel_blueprint.play(options, states, duel_blueprint.no_policy(), late, 0, rounds)
    packed = book.pack(late.keys[known], late.sums[known], leader)
    return Made(packed, len(known), counts[known].sum() / counts.sum(), leader)


def wins_by_burial(rounds: int) -> list[tuple[float, float]]:
    """Return for each power what the leader wins who has buried it, and what the other one wins who has."""
    options, states = dealt()
    late, nobody = duel_blueprint.load(), duel_blueprint.no_policy()
    buried = np.array([infoset_kernels.unpack(options, row).tower.buried for row in states.rows])
    wins: list[tuple[float, float]] = []
    for power in members(rules.COLOUR):
        own = [buried >> card & 1 == 1 for card in (power, rules.LEAD + power)]
        first, second = (
            duel_blueprint.play(
                options, PossibleStates(states.rows[here], states.weights[here]), nobody, late, 0, rounds
            )
            for here in own
        )
        wins.append((first, 1 - second))
    return wins


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--min-visits", type=int, default=MIN_VISITS, help="of MCCFR (default: %(default)s)")
    given = parser.parse_args()
    found = made(ROUNDS, given.min_visits)
    if len(found.packed) > MAX_BYTES:
        raise SystemExit(f"The book would have {len(found.packed)} bytes, {MAX_BYTES} is the most.")
    TARGET.write_bytes(found.packed)
    print(
        f"{found.size} information sets in {len(found.packed)} bytes: {found.share:.1%} of the choices in rounds "
        f"with mistakes; the leader wins {found.leader:.2%}."
    )
    for power, (leading, following) in zip(notation.POWERS, wins_by_burial(ROUNDS_BY_BURIAL), strict=True):
        print(f"With its {power} buried a player wins {leading:.1%} as the leader, {following:.1%} as the other.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
