"""A strategy for both seats of a whole round of Duel, learned by MCCFR: what the opening book is made of.

    python -m tools.duel_blueprint                            a quarter of an hour and 9 GB

The strategy is kept in `build/duel-blueprint.npz`; `python -m tools.duel_book` writes the book from it, and
`python -m tools.duel_adversaries` lets adversaries look for what either loses. The same trials give the same
strategy.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from piste.compiled.compiler import link_modules
from piste.core.protocols import SPECTATOR
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import Options
from piste.games.mccoy_duel.solver import abstraction, cfr_kernels, infoset_kernels, infosets, solutions
from piste.games.mccoy_duel.solver.infoset_kernels import MAX_ROUND_STEPS
from piste.games.mccoy_duel.solver.infosets import Array, PossibleStates
from tools import duel_kernels
from tools.duel_kernels import NO_SEAT, PLACES, Policy, Table

FILE = Path("build/duel-blueprint.npz")
SEED = 1
TABLE_BITS = 26  # of the number of places for information sets
SMALL_TABLE_BITS = 23
TRIALS, TRIALS_PER_CALL = 3_000_000, 100_000
MISTAKES_OF_64 = 16  # trials have a mistake of the other seat in them
ALL_PLAYS = 99
MIN_SHARE = 0.05  # what an average strategy plays less often than this part of its first choice is left out

ENTRIES = (
    "run_mccfr_rounds",
    "run_search_response",
    "run_episodes",
    "encode_moments",
    "copy_places",
    "count_decisions",
    "note_unknown",
)


@cache
def kernels() -> Any:
    return link_modules(rules, abstraction, infoset_kernels, cfr_kernels, duel_kernels, entries=ENTRIES)


def dealt(powers: int = rules.COLOUR) -> tuple[Options, PossibleStates]:
    """Return all states when both have buried a card and seat 0 is to lead."""
    start = solutions.start_state(powers, picking=False)
    return start.options, infosets.possible_states(start, solutions.BURIALS, SPECTATOR)


def empty_table(bits: int) -> Table:
    """Return a table with places for 2 ** bits information sets."""
    size = 1 << bits
    return Table(
        np.zeros(size, np.int64), np.zeros((size, PLACES), np.float32), np.zeros((size, PLACES)),
        np.zeros(size, np.int32), np.zeros(1, np.int64),
    )  # fmt: skip


def policy(keys: Array, sums: Array) -> Policy:
    """Return a policy that knows these information sets; the first of equal keys counts."""
    size = 1 << max(1, (2 * len(keys)).bit_length())
    made = Policy(np.zeros(size, np.int64), np.zeros((size, PLACES), np.float32))
    kernels().copy_places(keys, np.ascontiguousarray(sums, np.float32), made)
    return made


NO_POLICY_KEYS = np.zeros(0, np.int64)


def no_policy() -> Policy:
    return policy(NO_POLICY_KEYS, np.zeros((0, PLACES), np.float32))


def without_rare(sums: Array, least: float = MIN_SHARE) -> Array:
    """Return sums without what is chosen less often than this part of the first choice."""
    return np.where(sums >= least * sums.max(axis=1, keepdims=True), sums, 0)


def learn(
    options: Options, states: PossibleStates, table: Table, begin: int, end: int, *, seed: int = SEED,
    opening: Policy | None = None, late: Policy | None = None, learner: int = NO_SEAT, free: int = ALL_PLAYS,
    opening_plays: int = 0, mistakes_of_64: int = 0,
) -> tuple[float, float]:  # fmt: skip
    """Run trials of MCCFR; return what seats 0 and 1 won by the strategies as they were, as parts of the trials."""
    stack = np.zeros((MAX_ROUND_STEPS, duel_kernels.STACK_WIDTH), np.int64)
    values, won = np.zeros((MAX_ROUND_STEPS, PLACES)), np.zeros(3)
    kernels().run_mccfr_rounds(
        options, states.rows, states.sums, table, opening or no_policy(), late or no_policy(), learner, free,
        opening_plays, mistakes_of_64, begin, end, seed, stack, values, won,
    )  # fmt: skip
    return won[0] / won[2], won[1] / won[2]


def play(
    options: Options, states: PossibleStates, opening: Policy, late: Policy, opening_plays: int, rounds: int,
    seed: int = SEED,
) -> float:  # fmt: skip
    """Play rounds by policies alone; return the share that seat 0 wins."""
    return learn(
        options, states, empty_table(1), 1, 1 + rounds,
        seed=seed, opening=opening, late=late, learner=0, free=0, opening_plays=opening_plays,
    )[0]  # fmt: skip


@cache
def average(options: Options, trials: int, bits: int = SMALL_TABLE_BITS) -> Policy:
    """Return the average strategy after so many trials with these powers."""
    options, states = dealt(options.powers)
    table = empty_table(bits)
    learn(options, states, table, 1, 1 + trials)
    used = table.keys != 0
    return policy(table.keys[used], without_rare(table.sums[used]))


def load() -> Policy:
    """Return the average strategy that was learned."""
    kept = np.load(FILE)
    return policy(kept["keys"], without_rare(kept["sums"]))


def learn_and_save(trials: int, bits: int, mistakes_of_64: int = MISTAKES_OF_64) -> None:
    """Learn by so many trials for each seat in a table of 2 ** bits places, and keep the strategy now and then."""
    options, states = dealt()
    table, done, begun = empty_table(bits), 0, time.process_time()
    while done < trials:
        end = min(trials, done + TRIALS_PER_CALL)
        first, second = learn(options, states, table, done + 1, end + 1, mistakes_of_64=mistakes_of_64)
        done = end
        print(
            f"{done} trials, {int(table.used[0]) / 1e6:.1f} M information sets, "
            f"{time.process_time() - begun:.0f} CPU s; "
            f"of the last ones the leader won {2 * first:.2%} and the other {2 * second:.2%}",
            flush=True,
        )
        if done == trials or done % (10 * TRIALS_PER_CALL) == 0:
            save(table, done)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=TRIALS, help="for each seat (default: %(default)s)")
    parser.add_argument(
        "--bits", type=int, default=TABLE_BITS, help="of the size of the table (default: %(default)s)"
    )
    parser.add_argument(
        "--mistakes", type=int, default=MISTAKES_OF_64, help="so many of 64 trials have one (default: %(default)s)"
    )
    given = parser.parse_args()
    learn_and_save(given.trials, given.bits, given.mistakes)
    return 0


def save(table: Table, trials: int) -> None:
    """Keep the average strategy, with how often each information set was visited."""
    FILE.parent.mkdir(exist_ok=True)
    used = table.keys != 0
    part = FILE.with_suffix(".part.npz")
    np.savez(
        part,
        keys=table.keys[used],
        sums=table.sums[used].astype(np.float32),
        visits=table.visits[used],
        trials=trials,
    )
    part.replace(FILE)


if __name__ == "__main__":
    sys.exit(main())
