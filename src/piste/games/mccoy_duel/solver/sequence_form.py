"""A round of Duel between two, solved whole: its sequence form, predictive CFR+ on it, and the bound."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from piste.core.evaluation import Progress, quiet
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import Options
from piste.games.mccoy_duel.solver import cfr_kernels, infoset_kernels, sequence_kernels
from piste.games.mccoy_duel.solver.infosets import Array, PossibleStates
from piste.games.mccoy_duel.solver.sequence_kernels import (
    COUNTERS,
    END_COUNT,
    GROUP_COUNT,
    MAX_OUTCOMES,
    SEQUENCE_COUNT,
    SIDE_COUNT,
    SURE_COUNT,
    Ends,
    Histories,
    Side,
    Workspace,
)

MAX_GROUP = 8192  # histories that look alike to a spectator; the decks of seven cards have 3000 at most
GROUPS_PER_CALL = 200_000
FIRST_ROOM = 1 << 20
MAX_ITERATIONS, ITERATIONS_PER_CHECK = 2000, 25
MIN_PROBABILITY = 0.001  # what an average strategy plays less often is left out of it

TREMBLE = 1e-6
"""Each seat plays every choice at least this often while the other learns: so it also learns to answer mistakes."""

ENTRIES = (
    "add_root_histories", "enumerate_round", "realize", "sum_ends", "match_predicted_regrets", "add_best_values",
    "add_masses",
)  # fmt: skip


@cache
def kernels() -> Any:
    from piste.compiled.compiler import link_modules

    return link_modules(rules, infoset_kernels, cfr_kernels, sequence_kernels, entries=ENTRIES)


class Round(NamedTuple):
    """The sequence form of a round, or of the rest of one."""

    sides: tuple[Side, Side]
    ends: tuple[Ends, Ends]  # those that each seat wins

    def sequences(self, seat: int) -> int:
        return int(self.sides[seat].first[-1])


class Strategies(NamedTuple):
    """A strategy for each seat: the probability of each sequence's last choice."""

    choices: tuple[Array, Array]
    wins: tuple[float, float]  # what a best response of each seat wins against the strategy of the other
    iterations: int

    @property
    def nash_conv(self) -> float:
        """What both seats together could gain by best responses."""
        return max(0.0, sum(self.wins) - 1)


def empty_histories(size: int) -> Histories:
    return Histories(np.zeros((size, 4), np.int64), np.zeros((size, 2), np.int64), np.zeros(size))


def empty_workspace() -> tuple[Histories, Workspace]:
    room = MAX_GROUP * MAX_OUTCOMES
    return empty_histories(8 * room), Workspace(
        np.zeros(8 * room, np.int64), empty_histories(room), np.zeros((room, 2), np.int64),
        np.zeros((MAX_GROUP, 3), np.int64), np.zeros(room + 1, np.int64),
        np.zeros((1 << (2 * room - 1).bit_length(), 3), np.int64), np.zeros(COUNTERS, np.int64),
    )  # fmt: skip


def empty_sides(size: int) -> list[Side]:
    return [
        Side(
            np.zeros(size, np.int64),
            np.zeros(size, np.int32),
            np.zeros(size, np.int32),
            np.zeros((size, 3), np.int64),
        )
        for _ in range(2)
    ]


def empty_ends(size: int) -> list[Ends]:
    return [Ends(np.zeros((size, 2), np.int32), np.zeros(size)) for _ in range(2)]


def grown(array: Array, size: int) -> Array:
    """Return an array with room for so many entries; the old ones stay."""
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[: min(size, len(array))] = array[:size]
    return larger


def enumerated(options: Options, states: PossibleStates, max_ends: int, progress: Progress = quiet) -> Round | None:
    """Enumerate the round from states that everybody holds possible; None if a seat wins it in more ways."""
    room, (histories, w) = MAX_GROUP * MAX_OUTCOMES, empty_workspace()
    sides, ends, counters = empty_sides(FIRST_ROOM), empty_ends(FIRST_ROOM), w.counters
    kernels().add_root_histories(options, states.rows, states.weights, histories, w)
    while counters[GROUP_COUNT]:
        for seat in range(2):
            size = len(ends[seat].chances)
            if size < counters[END_COUNT + seat] + room:
                ends[seat] = Ends(*(grown(array, 2 * size) for array in ends[seat]))
            size = len(sides[seat].keys)
            if size <= max(counters[SIDE_COUNT + seat], counters[SURE_COUNT + seat]) + room:
                sides[seat] = Side(*(grown(array, 2 * size) for array in sides[seat]))
        progress(0, MAX_ITERATIONS, "enumerating the round")
        before = int(counters[sequence_kernels.EXPANDED_COUNT])
        kernels().enumerate_round(options, histories, tuple(sides), tuple(ends), w, GROUPS_PER_CALL)
        if counters[END_COUNT : END_COUNT + 2].max() > max_ends:
            return None
        if counters[sequence_kernels.EXPANDED_COUNT] == before:
            return None  # more histories look alike than there is room for
    return Round(*trimmed(sides, ends, counters))


def trimmed(sides: list[Side], ends: list[Ends], counters: Array) -> tuple[tuple[Side, Side], tuple[Ends, Ends]]:
    """Return the part of the arrays that is in use."""
    n, m, k = ([int(counters[which + seat]) for seat in range(2)] for which in (SIDE_COUNT, END_COUNT, SURE_COUNT))
    first, second = (
        Side(side.keys[: n[seat]], side.parents[: n[seat]], side.first[: n[seat] + 1], side.sure[: k[seat]])
        for seat, side in enumerate(sides)
    )
    for seat, side in enumerate((first, second)):
        side.first[n[seat]] = counters[SEQUENCE_COUNT + seat]
        if n[seat] == 0:
            side.first[0] = 1
    won, lost = (Ends(end.sequences[: m[seat]], end.chances[: m[seat]]) for seat, end in enumerate(ends))
    return (first, second), (won, lost)


def solve(tree: Round, target: float, progress: Progress = quiet, max_iterations: int = MAX_ITERATIONS) -> Strategies:
    """Run predictive CFR+ until best responses gain no more than `target` together."""
    k = kernels()
    sizes = [tree.sequences(seat) for seat in range(2)]
    regret, plans, sums, values = ([np.zeros(size) for size in sizes] for _ in range(4))
    strategy = [uniform(side) for side in tree.sides]
    for seat in range(2):
        k.realize(tree.sides[seat], strategy[seat], TREMBLE, plans[seat])
    iteration, found = 0, None
    while found is None or (found.nash_conv > target and iteration < max_iterations):
        iteration += 1
        for seat, side in enumerate(tree.sides):
            k.sum_ends(tree.ends[seat], seat, plans[1 - seat], values[seat])
            k.match_predicted_regrets(side, values[seat], regret[seat], strategy[seat])
            k.realize(side, strategy[seat], TREMBLE, plans[seat])
            sums[seat] += float(iteration) ** 2 * plans[seat]
        if iteration % ITERATIONS_PER_CHECK == 0 or iteration == max_iterations:
            progress(iteration, max_iterations, "solving the round")
            found = with_bound(tree, (averaged(tree.sides[0], sums[0]), averaged(tree.sides[1], sums[1])), iteration)
    return found


def uniform(side: Side) -> Array:
    sizes = np.diff(side.first)
    return np.concatenate([np.ones(1), np.repeat(1 / np.maximum(sizes, 1), sizes)])


def averaged(side: Side, sums: Array) -> Array:
    """Return the average strategy, without what is hardly played, in the precision in which it is kept."""
    shares = normalized(side, sums)
    shares[shares < MIN_PROBABILITY] = 0.0
    return normalized(side, normalized(side, shares).astype(np.float32).astype(np.float64))


def normalized(side: Side, sums: Array) -> Array:
    """Return shares of each infoset's sum."""
    if len(side.parents) == 0:
        return np.ones(1)
    total = np.add.reduceat(sums, side.first[:-1])
    return np.concatenate([np.ones(1), sums[1:] / np.repeat(total, np.diff(side.first))])


def with_bound(tree: Round, choices: tuple[Array, Array], iterations: int) -> Strategies:
    """Return strategies with what the best response to each wins, over the whole round."""
    wins = tuple(float(best_values(tree, choices, seat, 0.0)[0]) for seat in range(2))
    return Strategies(choices, (wins[0], wins[1]), iterations)


def best_values(tree: Round, choices: tuple[Array, Array], seat: int, tremble: float) -> Array:
    """Return what each sequence of a seat wins if the best follows, weighted with chance and the other's plan."""
    plan, values = np.zeros(len(choices[1 - seat])), np.zeros(len(choices[seat]))
    kernels().realize(tree.sides[1 - seat], choices[1 - seat], tremble, plan)
    kernels().sum_ends(tree.ends[seat], seat, plan, values)
    kernels().add_best_values(tree.sides[seat], values)
    return values


def reach(tree: Round, choices: tuple[Array, Array], seat: int, tremble: float) -> Array:
    """Return how often chance and the other's plan come to each sequence of a seat that goes along with it."""
    plan, masses = np.zeros(len(choices[1 - seat])), np.zeros(len(choices[seat]))
    kernels().realize(tree.sides[1 - seat], choices[1 - seat], tremble, plan)
    lost = np.zeros_like(masses)
    kernels().sum_ends(tree.ends[seat], seat, plan, masses)
    kernels().sum_ends(tree.ends[1 - seat], seat, plan, lost)
    masses += lost
    kernels().add_masses(tree.sides[seat], masses)
    return masses
