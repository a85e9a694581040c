"""CFR+ and MCCFR for the end of a round of Duel between two, in the subset of Python that numba compiles.

CFR+ goes over all deals. The game tree grows where play goes: a node gets children when an iteration first comes to
it, and an iteration leaves out whatever the opponent at present never plays. Regrets and strategies are kept by
information set. MCCFR, below, samples deals where the tree is too large for that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from piste.core.bits import count, lowest
from piste.core.protocols import CHANCE, HIDDEN
from piste.games.mccoy_duel.rules import NOTHING, Options, State, Tower, apply, to_act
from piste.games.mccoy_duel.solver.infoset_kernels import (
    KEY_COLUMN,
    MAX_CHOICES,
    MAX_ROUND_STEPS,
    branches,
    certain_winner,
    distinct_choices,
    first_choice,
    mix_hash,
    next_key,
    random_below,
    search_sums,
    unpack,
)

# Kinds of nodes; 0 and 1 are decisions of that seat.
CHANCE_NODE, WON_NODE, LEAF_NODE = 2, 3, 5  # WON_NODE + seat: that seat has won the round; LEAF_NODE: not expanded

# Indices of the counters; OUT_OF_ROOM is set when an array is full.
NODE_COUNT, INFOSET_COUNT, TOUCHED_COUNT, OUT_OF_ROOM, VISIT_COUNT = 0, 1, 2, 3, 4

DEPTH_SHIFT = 32  # the bit of a node's second word where its depth begins


class Tree(NamedTuple):
    """The game tree as arrays."""

    nodes: Any  # of each node: kind, number of children, infoset, first child
    states: Any  # and its state, packed: cards, the rest with the depth, the infoset keys of seats 0 and 1
    slots: Any  # hash table: infoset + 1 by key
    infosets: Any  # of each: key, number of choices, whether touched in this iteration, iterations that touched it
    regret: Any
    strategy: Any  # the current one
    strategy_sum: Any
    touched: Any
    counters: Any


def store_after(states: Any, row: int, s: State, action: int, key0: int, key1: int, depth: int) -> int:
    """Write the state after an action and all forced actions that follow; return the kind of its node."""
    while True:
        after = apply(s, action)
        key0, key1 = next_key(key0, s, action, after, 0), next_key(key1, s, action, after, 1)
        s = after
        depth += 1
        winner = certain_winner(s)
        if winner != HIDDEN:
            states[row, 1] = depth << DEPTH_SHIFT
            return WON_NODE + winner
        left = distinct_choices(s)
        if left & (left - 1):
            pack_node(states, row, s, key0, key1, depth)
            return LEAF_NODE
        action = lowest(left)


def pack_node(states: Any, node: int, s: State, key0: int, key1: int, depth: int) -> None:
    """Write a state, its depth and the infoset keys."""
    states[node, 0] = s.hands[0] | s.hands[1] << 18 | s.tower.up << 36
    question = s.phase | (s.seat + 1) << 4 | (s.target + 1) << 7 | (s.ability + 1) << 10
    tower = (s.tower.top + 1) << 14 | s.tower.power << 20 | s.tower.demand << 24
    states[node, 1] = question | tower | depth << DEPTH_SHIFT
    states[node, 2] = key0
    states[node, 3] = key1


def unpack_node(options: Options, cards: int, rest: int) -> State:
    """Return the state at a node; the match around the round is left out of it."""
    all_cards = (1 << 18) - 1
    first, second, up = cards & all_cards, (cards >> 18) & all_cards, cards >> 36
    buried = (options.powers | options.powers << 9) & ~(first | second | up)
    tower = Tower(up, buried, ((rest >> 14) & 63) - 1, (rest >> 20) & 15, (rest >> 24) & 3)
    return State(
        options, rest & 15, ((rest >> 4) & 7) - 1, ((rest >> 7) & 7) - 1, ((rest >> 10) & 15) - 1,
        (first, second, 0, 0), tower, 3, 3, (0, 0, 0, 0), 0, NOTHING, 0,
    )  # fmt: skip


def expand(options: Options, t: Tree, node: int) -> None:
    """Give a node its children; with no room for them OUT_OF_ROOM is set."""
    nodes, states = t.nodes, t.states
    rest, key0, key1 = int(states[node, 1]), int(states[node, 2]), int(states[node, 3])
    s = unpack_node(options, int(states[node, 0]), rest)
    actor, left = to_act(s), branches(s)
    infoset = 0
    if actor != CHANCE:
        infoset = infoset_index(t.slots, t.infosets, t.counters, key0 if actor == 0 else key1, count(left))
    first = reserve_nodes(nodes, t.counters, count(left)) if infoset >= 0 else -1
    if first < 0:
        return
    if actor != CHANCE and t.infosets[infoset, 2] == 0:
        t.infosets[infoset, 2] = -1  # has a strategy
        t.strategy[infoset, first_choice(s, left)] = 1.0
    nodes[node, 0] = CHANCE_NODE if actor == CHANCE else actor
    nodes[node, 1], nodes[node, 2], nodes[node, 3] = count(left), infoset, first
    while left:
        nodes[first, 0] = store_after(states, first, s, lowest(left), key0, key1, rest >> DEPTH_SHIFT)
        left &= left - 1
        first += 1


def reserve_nodes(nodes: Any, counters: Any, n: int) -> int:
    """Return the first of `n` new nodes; -1 if there is no room for them."""
    first = int(counters[NODE_COUNT])
    if first + n > nodes.shape[0]:
        counters[OUT_OF_ROOM] = 1
        return -1
    counters[NODE_COUNT] = first + n
    return first


def infoset_index(slots: Any, infosets: Any, counters: Any, key: int, n: int) -> int:
    """Return the infoset of a key; with n > 0 choices a new one if need be. -1 if there is none, or no room."""
    mask = slots.shape[0] - 1
    slot = key & mask
    while slots[slot] != 0:
        if infosets[slots[slot] - 1, 0] == key:
            return int(slots[slot]) - 1
        slot = (slot + 1) & mask
    infoset = int(counters[INFOSET_COUNT])
    if n > 0 and infoset == infosets.shape[0]:
        counters[OUT_OF_ROOM] = 1
    if n == 0 or infoset == infosets.shape[0]:
        return -1
    counters[INFOSET_COUNT] = infoset + 1
    slots[slot] = infoset + 1
    infosets[infoset, 0] = key
    infosets[infoset, 1] = n
    return infoset


def add_roots(options: Options, nodes: Any, states: Any, rows: Any) -> None:
    """Begin a tree, of CFR+ or MCCFR: node i is the state of row i, and chance decides among them."""
    for i in range(rows.shape[0]):
        nodes[i, 0], nodes[i, 1] = LEAF_NODE, i
        pack_node(states, i, unpack(options, rows[i]), int(rows[i, KEY_COLUMN]), int(rows[i, KEY_COLUMN + 1]), 0)


def run_cfr(options: Options, t: Tree, weights: Any, begin: int, end: int) -> None:
    """Run the iterations `begin` to `end` - 1 of CFR+ for both seats; later ones count more in the average strategy.

    An iteration goes through the tree for one seat: through all of its own choices, all of chance, and what the
    opponent plays now. It updates the seat's regrets and the sum of the opponent's strategies. It goes down level by
    level, which queues the nodes it comes to, and then back up the queue.
    """
    nodes, infosets, regret, strategy, strategy_sum = t.nodes, t.infosets, t.regret, t.strategy, t.strategy_sum
    queue = np.empty((nodes.shape[0], 2), np.int32)  # the node, and where its children begin in the queue
    # The reach probability of chance and the opponent, and of the opponent alone; on the way up, the value instead.
    reach = np.empty((nodes.shape[0], 2))
    values = np.zeros(MAX_CHOICES)
    for iteration in range(begin, end):
        weight, visits = float(iteration), 0
        for seat in range(2):
            size = weights.shape[0]
            for root in range(size):
                queue[root, 0], reach[root, 0], reach[root, 1] = root, weights[root], 1.0
            at = 0
            while at < size:
                node = queue[at, 0]
                if nodes[node, 0] == LEAF_NODE:
                    expand(options, t, node)
                    if t.counters[OUT_OF_ROOM]:
                        return
                kind, n, infoset, first = nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3]
                queue[at, 1] = size
                visits += n
                p, q = (1.0 / n if kind == CHANCE_NODE else 1.0), 1.0
                for i in range(n):
                    if kind == 1 - seat:
                        q = strategy[infoset, i]
                        if q == 0.0:
                            continue
                        strategy_sum[infoset, i] += weight * reach[at, 1] * q
                    child_kind = nodes[first + i, 0]
                    if child_kind < WON_NODE or child_kind == LEAF_NODE:
                        queue[size, 0] = first + i
                        reach[size, 0], reach[size, 1] = reach[at, 0] * p * q, reach[at, 1] * q
                        size += 1
                at += 1
            for at in range(size - 1, -1, -1):
                node, child = queue[at, 0], queue[at, 1]
                kind, n, infoset, first = nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3]
                value = 0.0
                for i in range(n):
                    q = 1.0 if kind == CHANCE_NODE else strategy[infoset, i]
                    if q == 0.0 and kind != seat:
                        continue
                    child_kind = nodes[first + i, 0]
                    if child_kind < WON_NODE or child_kind == LEAF_NODE:
                        values[i] = reach[child, 1]
                        child += 1
                    else:
                        values[i] = 1.0 if child_kind == WON_NODE + seat else 0.0
                    value += q * values[i]
                if kind == CHANCE_NODE:
                    value /= n
                elif kind == seat:
                    for i in range(n):
                        regret[infoset, i] += reach[at, 0] * (values[i] - value)
                    if infosets[infoset, 2] < 1:
                        infosets[infoset, 2] = 1
                        infosets[infoset, 3] += 1
                        t.touched[t.counters[TOUCHED_COUNT]] = infoset
                        t.counters[TOUCHED_COUNT] += 1
                reach[at, 1] = value
            match_regrets(t)
        t.counters[VISIT_COUNT] += visits


def match_regrets(t: Tree) -> None:
    """After an iteration: raise negative regrets to 0, as CFR+ does, and set strategies by regret matching."""
    for j in range(t.counters[TOUCHED_COUNT]):
        infoset = t.touched[j]
        t.infosets[infoset, 2] = -1
        total = 0.0
        n = t.infosets[infoset, 1]
        for i in range(n):
            t.regret[infoset, i] = max(0.0, t.regret[infoset, i])
            total += t.regret[infoset, i]
        if total > 0:
            for i in range(n):
                t.strategy[infoset, i] = t.regret[infoset, i] / total
    t.counters[TOUCHED_COUNT] = 0


def average_strategy(t: Tree, min_probability: float, strategy: Any) -> None:
    """Write the average strategy, without what is played less often than `min_probability`."""
    for infoset in range(t.counters[INFOSET_COUNT]):
        n = t.infosets[infoset, 1]
        total = 0.0
        for i in range(n):
            total += t.strategy_sum[infoset, i]
        rest = 0.0
        for i in range(n):
            p = t.strategy_sum[infoset, i] / total if total > 0 else t.strategy[infoset, i]
            strategy[infoset, i] = p if p >= min_probability else 0.0
            rest += strategy[infoset, i]
        for i in range(n):
            strategy[infoset, i] /= rest


def opponent_reach(options: Options, t: Tree, weights: Any, strategy: Any, seat: int, reach: Any) -> None:
    """Write the reach probability of chance and the opponent for each node; expand nodes that are missing."""
    for i in range(weights.shape[0]):
        reach[i] = weights[i]
    node = 0
    while node < t.counters[NODE_COUNT]:
        probability = reach[node]
        if probability > 0 and t.nodes[node, 0] == LEAF_NODE:
            before = t.counters[INFOSET_COUNT]
            expand(options, t, node)
            if t.counters[OUT_OF_ROOM]:
                return
            if t.counters[INFOSET_COUNT] > before:
                for i in range(MAX_CHOICES):
                    strategy[before, i] = t.strategy[before, i]
        kind = t.nodes[node, 0]
        if kind < WON_NODE:
            for i in range(t.nodes[node, 1]):
                p = 1.0
                if kind == CHANCE_NODE:
                    p = 1.0 / t.nodes[node, 1]
                elif kind != seat:
                    p = strategy[t.nodes[node, 2], i]
                reach[t.nodes[node, 3] + i] = probability * p
        node += 1


def best_response(t: Tree, order: Any, reach: Any, strategy: Any, seat: int, values: Any, choice_values: Any) -> None:
    """Write what each node is worth to `seat` if it plays a best response to the opponent's strategy.

    `order` has the deepest nodes first: all nodes of one infoset have the same depth. `choice_values` are
    counterfactual: they are weighted with `reach`.
    """
    begin = 0
    while begin < order.shape[0]:
        end, depth = begin, t.states[order[begin], 1] >> DEPTH_SHIFT
        while end < order.shape[0] and t.states[order[end], 1] >> DEPTH_SHIFT == depth:
            node = order[end]
            kind, first, n = t.nodes[node, 0], t.nodes[node, 3], t.nodes[node, 1]
            if kind == CHANCE_NODE:
                for i in range(n):
                    values[node] += values[first + i] / n
            elif kind == seat:
                for i in range(n):
                    choice_values[t.nodes[node, 2], i] += reach[node] * values[first + i]
            elif kind < WON_NODE:
                for i in range(n):
                    values[node] += strategy[t.nodes[node, 2], i] * values[first + i]
            elif kind == WON_NODE + seat:
                values[node] = 1.0
            end += 1
        for j in range(begin, end):
            node = order[j]
            if t.nodes[node, 0] == seat:
                infoset, best = t.nodes[node, 2], 0
                for i in range(t.nodes[node, 1]):
                    if choice_values[infoset, i] > choice_values[infoset, best]:
                        best = i
                values[node] = values[t.nodes[node, 3] + best]
        begin = end


# MCCFR. A trial samples a deal that everybody holds possible, goes through all
# choices of one seat, and samples chance and the opponent's play (external sampling). The tree is like that of CFR+,
# but a child's state is worked out only when a trial first goes there.

RANDOM_UNIT = 1 << 30  # random fractions are multiples of 1 / RANDOM_UNIT
MIN_VISITS = 3  # before all choices of an infoset are tried it is only sampled: that keeps the tree small

EXPLORE_OF_64 = 6  # a choice that is not played at present is tried only this often in 64 trials
UNTRIED = -1.0  # in place of a value

UNRESOLVED = 6  # a kind of node: its state is not worked out yet, only the action that leads there is known
RESOLVE_COST = 25  # working out a state takes as long as this number of visits

# Indices of the counters after those above: rows of `states` and numbers of `scores` that are in use.
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
