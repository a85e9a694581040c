"""Games between two with hidden information: CFR+ on the whole tree, with best responses that bound the error."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from piste.compiled.compiler import link_modules
from piste.core.evaluation import Progress, quiet
from piste.core.extras import COMPILED, has
from piste.core.game import Game
from piste.solvers import cfr_kernels
from piste.solvers.scale import Array, Scale
from piste.solvers.solution import SeatTable, TreeSolution
from piste.solvers.tree import Tree

TARGET = 1e-7
"""The gap at which it ends, as a part of the largest payoff."""

MIN_ITERATIONS, MAX_ITERATIONS = 50, 200_000
MAX_WORK = 20_000_000_000
"""Iterations times entries: about a minute and a half compiled."""

MAX_WORK_WITHOUT_NUMBA = 20_000_000
MIN_COMPILED_WORK = 300_000
"""Entries and decisions times iterations: for less it does not pay to load the compiler."""

AVERAGING = 4
"""Strategies are averaged with the number of the iteration to this power as weight: early ones count for little."""

CHECKS = 1.3
"""After how many times as many iterations the gap is computed again."""

ENTRIES = ("payoff_by_sequence", "respond", "update", "average_plan", "follow_tree", "value_nodes")


class SequenceForm(NamedTuple):
    """A game between two: the information sets of both seats, and what pairs of their sequences pay."""

    sets: Array  # of each node with a decision, the information set of its seat
    offsets: Array  # of each seat, the first sequence of each set
    sequences: Array  # of each node, the last sequence of each seat
    chance: Array  # of each node, the probability that chance plays its part
    parents: tuple[Array, Array]  # of each set, the sequence before it
    firsts: tuple[Array, Array]
    entries: tuple[Array, Array]  # of each seat
    amounts: Array

    @property
    def size(self) -> int:
        return len(self.amounts) + int(self.firsts[0][-1] + self.firsts[1][-1])


class Strategies(NamedTuple):
    """The average strategies, and what the best answers to them gain together."""

    shares: tuple[Array, Array]  # of each sequence in its set
    plans: tuple[Array, Array]
    gap: float
    iterations: int


def cfr_code(work: int) -> Any:
    compiled = work > MIN_COMPILED_WORK and has(COMPILED)
    return link_modules(cfr_kernels, compiled=None if compiled else False, inline=(), entries=ENTRIES)


def solve(game: Game, tree: Tree, progress: Progress = quiet, target: float = TARGET) -> TreeSolution | None:
    """Return the solution of a zero-sum game between two; None if a seat forgets what it did."""
    form = sequence_form(tree)
    if form is None:
        return None
    scale = Scale.of(tree.payoffs[tree.ends])
    found = strategies(form, target * scale.largest, progress)
    return TreeSolution(game, tables(tree, form, found), found.gap, tree.nodes, scale)


def sequence_form(tree: Tree) -> SequenceForm | None:
    """Return the sequence form of a tree, or None if a seat forgets what it did."""
    n, widths = tree.nodes, np.diff(tree.first)
    sets, firsts = np.full(n, -1, np.int32), []
    nodes_of: list[Array] = []
    for seat in range(2):
        nodes = np.flatnonzero(tree.actors == seat)
        _, where, index = np.unique(tree.keys[nodes, seat], return_index=True, return_inverse=True)
        rank = np.empty(len(where), np.int64)
        order = np.argsort(where)
        rank[order] = np.arange(len(where))  # in the order of the tree: later ones have higher numbers
        sets[nodes] = rank[index]
        some = nodes[where[order]]
        if (widths[nodes] != widths[some[rank[index]]]).any():
            return None
        firsts.append(np.concatenate([[1], 1 + np.cumsum(widths[some])]).astype(np.int64))
        nodes_of.append(some)
    offsets = np.zeros((2, max(len(first) for first in firsts)), np.int64)
    for seat, first in enumerate(firsts):
        offsets[seat, : len(first)] = first
    sequences, chance = np.full((n, 2), -1, np.int64), np.zeros(n)
    sequences[0] = 0
    code = cfr_code(10 * n)
    if not code.follow_tree(tree.actors, tree.first, tree.child, tree.share, sets, offsets, sequences, chance):
        return None
    parents = []
    for seat in range(2):
        nodes = np.flatnonzero(tree.actors == seat)
        parent = sequences[nodes_of[seat], seat]
        if (sequences[nodes, seat] != parent[sets[nodes]]).any():
            return None
        parents.append(parent)
    ends = np.flatnonzero(tree.ends & (tree.payoffs[:, 0] != 0))
    pairs = sequences[ends, 0] * int(firsts[1][-1]) + sequences[ends, 1]
    pairs, index = np.unique(pairs, return_inverse=True)
    amounts = np.bincount(index, chance[ends] * tree.payoffs[ends, 0], len(pairs))
    entries = pairs // int(firsts[1][-1]), pairs % int(firsts[1][-1])
    return SequenceForm(
        sets, offsets, sequences, chance, (parents[0], parents[1]), (firsts[0], firsts[1]), entries, amounts
    )


def strategies(form: SequenceForm, target: float, progress: Progress = quiet) -> Strategies:
    """Return strategies against which best answers gain no more than the target together, or as little as they can.

    It is begun interpreted, and goes on compiled where that is worth it. Of the average and of the last strategies
    the better ones are returned.
    """
    most = MAX_WORK if has(COMPILED) else MAX_WORK_WITHOUT_NUMBA
    most = max(MIN_ITERATIONS, min(MAX_ITERATIONS, most // max(1, form.size)))
    sizes = [int(first[-1]) for first in form.firsts]
    sums, mixes = [np.zeros(size) for size in sizes], [uniform(first) for first in form.firsts]
    regrets, values = [np.zeros(size) for size in sizes], [np.zeros(size) for size in sizes]
    best = averages(cfr_code(0), form, mixes, sums, 0)
    plans = [plan.copy() for plan in best.plans]
    check = 4
    for at in range(1, most + 1):
        code = cfr_code(at * form.size)
        for seat in range(2):
            own, other = form.entries[seat], form.entries[1 - seat]
            code.payoff_by_sequence(own, other, form.amounts, 1 - 2 * seat, plans[1 - seat], values[seat])
            code.update(
                form.firsts[seat], form.parents[seat], values[seat], regrets[seat], mixes[seat], plans[seat],
                sums[seat], float(at) ** AVERAGING,
            )  # fmt: skip
        if at >= check or at == most:
            check = int(at * CHECKS) + 1
            last = averages(code, form, mixes, [np.zeros(size) for size in sizes], at)
            best = min(best, averages(code, form, mixes, sums, at), last, key=lambda one: one.gap)
            progress(*steps_to(best.gap, target, at, most), "solving")
            if best.gap <= target:
                break
    return best


def steps_to(gap: float, target: float, at: int, most: int) -> tuple[int, int]:
    """Return how far it is, by the logarithm of the gap or by the work, whichever is further."""
    left = np.log(max(gap, target) / target) / np.log(1 / TARGET)
    return int(1000 * min(1.0, max(1 - left, at / most))), 1000


def uniform(first: Array) -> Array:
    """Return the strategy that takes each decision as often as any other."""
    mix = np.ones(int(first[-1]))
    widths = np.diff(first)
    mix[1:] = np.repeat(1.0 / widths, widths)
    return mix


def averages(code: Any, form: SequenceForm, mixes: list[Array], sums: list[Array], at: int) -> Strategies:
    """Return the average strategies so far, with the gap by best responses."""
    shares = [np.ones_like(one) for one in sums]
    plans = [np.ones_like(one) for one in sums]
    gap = 0.0
    for seat in range(2):
        code.average_plan(form.firsts[seat], form.parents[seat], mixes[seat], sums[seat], shares[seat], plans[seat])
    for seat in range(2):
        values = np.zeros_like(plans[seat])
        own, other = form.entries[seat], form.entries[1 - seat]
        code.payoff_by_sequence(own, other, form.amounts, 1 - 2 * seat, plans[1 - seat], values)
        gap += code.respond(form.firsts[seat], form.parents[seat], values)
    return Strategies((shares[0], shares[1]), (plans[0], plans[1]), max(0.0, gap), at)


def tables(tree: Tree, form: SequenceForm, found: Strategies) -> tuple[SeatTable, ...]:
    """Return what each thing that a seat can know is worth to it, and what each of its decisions is worth."""
    values = np.stack([tree.payoffs[:, 0], tree.payoffs[:, 0] > 0, tree.payoffs[:, 0] < 0], axis=1).astype(float)
    code = cfr_code(10 * tree.nodes)
    links = (tree.actors, tree.first, tree.child, tree.share)
    code.value_nodes(*links, form.sets, form.offsets, *found.shares, values)
    reach = [plan[form.sequences[:, seat]] for seat, plan in enumerate(found.plans)]
    even = uniform_reach(code, form)
    whole = (reach[1], reach[0], reach[0] * reach[1]), (even[1], even[0], even[0] * even[1])
    return tuple(
        seat_table(tree, form, found, values, seat, form.chance * whole[0][seat], form.chance * whole[1][seat])
        for seat in range(3)
    )


def uniform_reach(code: Any, form: SequenceForm) -> list[Array]:
    """Return how likely each seat is to play to each node, if it takes each decision as often as any other."""
    reach = []
    for seat in range(2):
        mix, nothing = uniform(form.firsts[seat]), np.zeros(int(form.firsts[seat][-1]))
        plan, shares = np.ones_like(mix), np.ones_like(mix)
        code.average_plan(form.firsts[seat], form.parents[seat], mix, nothing, shares, plan)
        reach.append(plan[form.sequences[:, seat]])
    return reach


def seat_table(
    tree: Tree, form: SequenceForm, found: Strategies, values: Array, seat: int, likely: Array, even: Array
) -> SeatTable:
    """Return the table of a seat, or of a spectator (2).

    Histories are weighed by how likely chance and the other seat lead there; where the other one never does, as if it
    decided by chance.
    """
    keys, where, index = np.unique(tree.keys[:, seat], return_index=True, return_inverse=True)
    n = len(keys)
    total = np.bincount(index, likely, n)
    weights = np.where(total[index] > 0, likely, even)
    sums = np.bincount(index, weights, n)
    own = values if seat != 1 else values[:, [0, 2, 1]] * (-1, 1, 1)
    worth = np.stack([np.bincount(index, weights * own[:, i], n) / sums for i in range(3)], axis=1)
    decides = tree.actors[where] == seat
    widths = np.where(decides, np.diff(tree.first)[where], 0)
    first = np.concatenate([[0], np.cumsum(widths)])
    action, mix = np.zeros(first[-1], np.int8), np.zeros(first[-1])
    choices = np.zeros((int(first[-1]), 3))
    if first[-1]:
        nodes = np.flatnonzero(tree.actors == seat)
        counts = np.diff(tree.first)[nodes]
        steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        edges = np.repeat(tree.first[nodes], counts) + steps
        places = np.repeat(first[index[nodes]], counts) + steps
        weight = np.repeat((weights / sums[index])[nodes], counts)
        for i in range(3):
            choices[:, i] = np.bincount(places, weight * own[tree.child[edges], i], len(choices))
        action[places] = tree.action[edges]
        mix[places] = found.shares[seat][np.repeat(form.offsets[seat, form.sets[nodes]], counts) + steps]
    return SeatTable(keys, worth, total, first, action, mix, choices)
