"""CFR+ for the end of a round of Duel between two, over all deals, in the subset of Python that numba compiles.

The game tree grows where play goes: a node gets children when an iteration first comes to it, and an iteration leaves
out whatever the opponent at present never plays. Regrets and strategies are kept by information set.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from piste.core.bits import count, lowest
from piste.core.protocols import CHANCE, HIDDEN
from piste.games.mccoy_duel.rules import (
    COPY,
    DRAW,
    KILL,
    NOTHING,
    TAKE,
    Options,
    State,
    Tower,
    apply,
    choices,
    playable,
    power_of,
    to_act,
)
from piste.games.mccoy_duel.solver.infoset_kernels import (
    KEY_COLUMN,
    MAX_CHOICES,
    distinct_choices,
    next_key,
    round_over,
    unpack,
)

# Kinds of nodes; 0 and 1 are decisions of that seat.
CHANCE_NODE, WON_NODE, LEAF_NODE = 2, 3, 5  # WON_NODE + seat: that seat has won the round; LEAF_NODE: not expanded

CARD_VALUES = (1.3, 2.4, 2.5, 0.7, 1.3, 0.4, 0.6, 1.1, 5.2)  # of holding a card: only for the initial strategy

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


def certain_winner(s: State) -> int:
    """Return who has won whatever the open ability does, or HIDDEN: the opponent has no card to play."""
    if round_over(s):
        return s.seat
    if (s.phase == KILL or s.phase == TAKE or s.phase == DRAW) and not playable(s.hands[1 - s.seat], s.tower):
        return s.seat
    return HIDDEN


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


def branches(s: State) -> int:
    """Return the actions that lead to the children of a node."""
    return choices(s) if to_act(s) == CHANCE else distinct_choices(s)


def reserve_nodes(nodes: Any, counters: Any, n: int) -> int:
    """Return the first of `n` new nodes; -1 if there is no room for them."""
    first = int(counters[NODE_COUNT])
    if first + n > nodes.shape[0]:
        counters[OUT_OF_ROOM] = 1
        return -1
    counters[NODE_COUNT] = first + n
    return first


def first_choice(s: State, left: int) -> int:
    """Return the index of the choice that a new infoset starts with: part with the cheapest card, get the dearest."""
    best_value, best, index = -1.0, 0, 0
    while left:
        value = CARD_VALUES[power_of(lowest(left))]
        if s.phase != KILL and s.phase != TAKE and s.phase != COPY:
            value = 10.0 - value
        if value > best_value:
            best_value, best = value, index
        left &= left - 1
        index += 1
    return best


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


def add_roots(options: Options, t: Tree, rows: Any) -> None:
    """Begin a tree: node i is the state of row i, and chance decides among them."""
    for i in range(rows.shape[0]):
        t.nodes[i, 0] = LEAF_NODE
        pack_node(t.states, i, unpack(options, rows[i]), int(rows[i, KEY_COLUMN]), int(rows[i, KEY_COLUMN + 1]), 0)
    t.counters[NODE_COUNT] = rows.shape[0]


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
