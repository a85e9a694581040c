"""MCCFR for the end of a round of Duel between two where the tree is too large for CFR+.

In the subset of Python that numba compiles. A trial samples a deal that everybody holds possible, goes through all
choices of one seat, and samples chance and the opponent's play (external sampling). The tree is like that of CFR+,
but a child's state is worked out only when a trial first goes there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from piste.core.bits import count, lowest
from piste.core.protocols import CHANCE
from piste.games.mccoy_duel.rules import Options, to_act
from piste.games.mccoy_duel.solver.cfr_kernels import (
    CHANCE_NODE,
    DEPTH_SHIFT,
    LEAF_NODE,
    NODE_COUNT,
    OUT_OF_ROOM,
    VISIT_COUNT,
    WON_NODE,
    branches,
    first_choice,
    infoset_index,
    pack_node,
    reserve_nodes,
    store_after,
    unpack_node,
)
from piste.games.mccoy_duel.solver.infoset_kernels import (
    KEY_COLUMN,
    MAX_CHOICES,
    MAX_ROUND_STEPS,
    mix_hash,
    random_below,
    search_sums,
    unpack,
)

RANDOM_UNIT = 1 << 30  # random fractions are multiples of 1 / RANDOM_UNIT
MIN_VISITS = 3  # before all choices of an infoset are tried it is only sampled: that keeps the tree small

EXPLORE_OF_64 = 6  # a choice that is not played at present is tried only this often in 64 trials
UNTRIED = -1.0  # in place of a value

UNRESOLVED = 6  # a kind of node: its state is not worked out yet, only the action that leads there is known
RESOLVE_COST = 25  # working out a state takes as long as this number of visits

# Indices of the counters after those of the CFR+ tree: rows of `states` and numbers of `scores` that are in use.
STATE_COUNT, SCORE_COUNT = 5, 6

# A node's second number holds its number of children, and above these bits its row of `states`.
STATE_SHIFT = 5
CHILD_MASK = (1 << STATE_SHIFT) - 1


class SampledTree(NamedTuple):
    """A tree as arrays, packed so that a visit reads few and close places: memory access takes most of the time."""

    nodes: Any  # of each node: kind, number of children and row of its state, where its scores begin, first child
    states: Any  # as in the CFR+ tree, but only of nodes that are resolved
    slots: Any  # hash table: infoset + 1 by key
    infosets: Any  # of each: key, number of choices, where its scores begin
    scores: Any  # the visits of an infoset; then for each choice its probability now, its regret, its strategy sum
    counters: Any


def add_sampled_roots(options: Options, t: SampledTree, rows: Any) -> None:
    """Begin a tree: node i is the state of row i."""
    for i in range(rows.shape[0]):
        t.nodes[i, 0], t.nodes[i, 1] = LEAF_NODE, i
        pack_node(t.states, i, unpack(options, rows[i]), int(rows[i, KEY_COLUMN]), int(rows[i, KEY_COLUMN + 1]), 0)
    t.counters[NODE_COUNT] = rows.shape[0]
    t.counters[STATE_COUNT] = rows.shape[0]
    t.counters[SCORE_COUNT] = 1  # an infoset whose scores begin at 0 is new


def expand_sampled(options: Options, t: SampledTree, node: int) -> None:
    """Give a node its children, unresolved; with no room for them OUT_OF_ROOM is set."""
    nodes, states, counters = t.nodes, t.states, t.counters
    row = int(nodes[node, 1])
    s = unpack_node(options, int(states[row, 0]), int(states[row, 1]))
    actor, left = to_act(s), branches(s)
    n, infoset, begin = count(left), 0, 0
    if actor != CHANCE:
        infoset = infoset_index(t.slots, t.infosets, counters, int(states[row, 2 + actor]), n)
    first = reserve_nodes(nodes, counters, n) if infoset >= 0 else -1
    if first < 0:
        return
    if actor != CHANCE:
        begin = int(t.infosets[infoset, 2])
        if begin == 0:
            begin = int(counters[SCORE_COUNT])
            t.infosets[infoset, 2] = begin
            counters[SCORE_COUNT] = begin + 1 + 3 * n
            t.scores[begin + 1 + 3 * first_choice(s, left)] = 1.0
    nodes[node, 0] = CHANCE_NODE if actor == CHANCE else actor
    nodes[node, 1], nodes[node, 2], nodes[node, 3] = row << STATE_SHIFT | n, begin, first
    while left:
        nodes[first, 0], nodes[first, 1] = UNRESOLVED, lowest(left)
        left &= left - 1
        first += 1


def resolve_child(options: Options, nodes: Any, states: Any, counters: Any, node: int, child: int) -> None:
    """Work out the state of a child."""
    row, fresh = int(nodes[node, 1]) >> STATE_SHIFT, int(counters[STATE_COUNT])
    rest = int(states[row, 1])
    s = unpack_node(options, int(states[row, 0]), rest)
    action = 0 + int(nodes[child, 1])  # compiled, the sum has 64 bits as all numbers of the rules
    kind = store_after(states, fresh, s, action, int(states[row, 2]), int(states[row, 3]), rest >> DEPTH_SHIFT)
    nodes[child, 0] = kind
    if kind == LEAF_NODE:
        nodes[child, 1] = fresh
        counters[STATE_COUNT] = fresh + 1


def run_mccfr(options: Options, t: SampledTree, sums: Any, weights: Any, begin: int, end: int, seed: int) -> None:
    """Run the trials `begin` to `end` - 1 for both seats; later ones count more in the average strategy.

    Deals are sampled by their cumulative probabilities `sums`; `weights` says how much a trial counts with each deal.
    """
    # Few calls, and local names for the arrays: to pass the whole tree takes longer than a visit.
    nodes, states, scores, counters = t.nodes, t.states, t.scores, t.counters
    # At each depth: the node, the next child, whether all children are tried, and 6 random bits for each of them.
    path = np.zeros((MAX_ROUND_STEPS, 4), np.int64)
    node_values = np.zeros(MAX_ROUND_STEPS)  # and the value of the node
    values = np.zeros((MAX_ROUND_STEPS, MAX_CHOICES))
    for trial in range(begin, end):
        trial_weight, visits = float(trial) * trial, 0
        for seat in range(2):
            counter = (2 * trial + seat) << 20  # no trial takes more random numbers than that
            root = search_sums(sums, random_below(seed, counter, RANDOM_UNIT) / RANDOM_UNIT * sums[sums.shape[0] - 1])
            deal_weight, depth = weights[root], 0
            path[0, 0], path[0, 1] = root, 0
            while depth >= 0:
                node = path[depth, 0]
                if nodes[node, 0] == LEAF_NODE:
                    expand_sampled(options, t, node)
                    if counters[OUT_OF_ROOM]:
                        return
                kind, n, at, first = nodes[node, 0], nodes[node, 1] & CHILD_MASK, nodes[node, 2], nodes[node, 3]
                i = path[depth, 1]
                if i == 0:
                    path[depth, 2] = kind == seat and scores[at] >= MIN_VISITS
                    if path[depth, 2]:
                        counter += 1
                        path[depth, 3] = mix_hash(seed, counter)
                if path[depth, 2]:
                    while i < n:
                        explored = (path[depth, 3] >> 6 * i) & 63 < EXPLORE_OF_64
                        if depth > 0 and scores[at + 1 + 3 * i] == 0.0 and not explored:
                            values[depth, i] = UNTRIED
                            i += 1
                            continue
                        visits += 1
                        if nodes[first + i, 0] == UNRESOLVED:
                            resolve_child(options, nodes, states, counters, node, first + i)
                            visits += RESOLVE_COST
                        child_kind = nodes[first + i, 0]
                        if child_kind < WON_NODE or child_kind == LEAF_NODE:
                            break
                        values[depth, i] = 1.0 if child_kind == WON_NODE + seat else 0.0
                        i += 1
                    path[depth, 1] = i
                    if i < n:
                        depth += 1
                        path[depth, 0], path[depth, 1] = first + i, 0
                        continue
                    value, total = 0.0, 0.0
                    for j in range(n):
                        value += scores[at + 1 + 3 * j] * values[depth, j]
                    for j in range(n):
                        regret = scores[at + 2 + 3 * j]
                        if values[depth, j] != UNTRIED:
                            regret = max(0.0, regret + deal_weight * (values[depth, j] - value))
                            scores[at + 2 + 3 * j] = regret
                        total += regret
                    if total > 0:  # at once, since a trial comes to each infoset of this seat only once
                        for j in range(n):
                            scores[at + 1 + 3 * j] = scores[at + 2 + 3 * j] / total
                    scores[at] += 1
                    node_values[depth] = value
                elif i == 0:
                    counter += 1
                    visits += 1
                    if kind == CHANCE_NODE:
                        i = random_below(seed, counter, n)
                    else:
                        if kind == seat:
                            scores[at] += 1
                        else:
                            for j in range(n):
                                scores[at + 3 + 3 * j] += trial_weight * deal_weight * scores[at + 1 + 3 * j]
                        left = random_below(seed, counter, RANDOM_UNIT) / RANDOM_UNIT
                        while i < n - 1 and left >= scores[at + 1 + 3 * i]:
                            left -= scores[at + 1 + 3 * i]
                            i += 1
                    path[depth, 1] = n  # this child only
                    if nodes[first + i, 0] == UNRESOLVED:
                        resolve_child(options, nodes, states, counters, node, first + i)
                        visits += RESOLVE_COST
                    child_kind = nodes[first + i, 0]
                    if child_kind < WON_NODE or child_kind == LEAF_NODE:
                        depth += 1
                        path[depth, 0], path[depth, 1] = first + i, 0
                        continue
                    node_values[depth] = 1.0 if child_kind == WON_NODE + seat else 0.0
                value = node_values[depth]
                depth -= 1
                if depth >= 0:
                    if path[depth, 2]:
                        values[depth, path[depth, 1]] = value
                        path[depth, 1] += 1
                    else:
                        node_values[depth] = value
        counters[VISIT_COUNT] += visits
