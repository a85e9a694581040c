"""Estimate how many ends a round of Duel has in the form in which whole rounds are solved.

    python -m tools.duel_sizes 023567* 0134567* 01234567* --probes 2000

Each probe goes down the round once, from one group of histories that look alike to a spectator to one of the groups
after it, which is drawn by its number of histories. What it meets on the way is weighted with how unlikely that way
was (Knuth's estimate of the size of a tree). Few large branches weigh much, so it is an order of magnitude.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from typing import Any

import numpy as np

from piste.core.protocols import SPECTATOR
from piste.games.mccoy_duel import notation
from piste.games.mccoy_duel.solver import infosets, solutions
from piste.games.mccoy_duel.solver.sequence_form import empty_ends, empty_sides, empty_workspace, kernels
from piste.games.mccoy_duel.solver.sequence_kernels import (
    END_COUNT,
    GROUP_COUNT,
    HISTORY_COUNT,
    Histories,
    Workspace,
)

ROOM = 1 << 18


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("powers", nargs="+")
    parser.add_argument("--probes", type=int, default=2000)
    given = parser.parse_args()
    room = *empty_workspace(), tuple(empty_sides(ROOM)), tuple(empty_ends(ROOM))
    for powers in given.powers:
        sizes = np.array([probe(notation.read_powers(powers), seed, *room) for seed in range(given.probes)])
        error = sizes.std() / math.sqrt(len(sizes))
        print(f"{powers}: {sizes.mean():.1e} ends, standard error {error:.0e}", flush=True)
    return 0


def probe(powers: int, seed: int, histories: Histories, w: Workspace, sides: Any, ends: Any) -> float:
    """Return the ends on one way down, each counted as often as there are such ways by expectation."""
    state, draw = solutions.start_state(powers, picking=False), random.Random(seed)
    states = infosets.possible_states(state, solutions.BURIALS, SPECTATOR)
    kernels().add_root_histories(state.options, states.rows, states.weights, histories, w)
    found, factor = 0.0, 1.0
    while w.counters[GROUP_COUNT]:
        w.counters[END_COUNT:] = 0
        kernels().enumerate_round(state.options, histories, sides, ends, w, 1)
        found += factor * float(w.counters[END_COUNT : END_COUNT + 2].sum())
        size, groups = int(w.counters[HISTORY_COUNT]), w.groups[: w.counters[GROUP_COUNT]]
        if len(groups):
            at = int(np.searchsorted(groups, draw.randrange(size), side="right")) - 1
            begin, end = int(groups[at]), int(groups[at + 1]) if at + 1 < len(groups) else size
            factor *= size / (end - begin)
            for array in histories:
                array[: end - begin] = array[begin:end].copy()
            w.groups[0], w.counters[GROUP_COUNT], w.counters[HISTORY_COUNT] = 0, 1, end - begin
    return found


if __name__ == "__main__":
    sys.exit(main())
