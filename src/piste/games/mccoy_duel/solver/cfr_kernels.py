"""CFR+ and MCCFR for the end of a round of Duel between two, in the subset of Python that numba compiles.

CFR+ goes over all deals. The game tree grows where play goes: a node gets children when an iteration first comes to
it, and an iteration leaves out whatever the opponent at present never plays. Regrets and strategies are kept by
information set. MCCFR, below, samples deals where the tree is too large for that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from piste.core.bits import count, lowest
from piste.core.protocols import CHANCE, HIDDEN
from piste.games.mccoy_duel.rules import NOTHING, Options, State, Tower, apply_in_round, choices, to_act
from piste.games.mccoy_duel.solver.infoset_kernels import (
    KEY_COLUMN,
    MAX_CHOICES,
    certain_winner,
    distinct_choices,
    first_choice,
    mix_hash,
    next_key,
    random_below,
    random_fraction,
    search_sums,
    unpack,
)

# Kinds of nodes; 0 and 1 are decisions of that seat.
CHANCE_NODE, LEAF_NODE, WON_NODE = 2, 3, 4  # LEAF_NODE: not expanded; WON_NODE + seat: that seat has won the round
UNRESOLVED = 6  # its state is not worked out yet, only the action that leads there is known

# A node's second number holds its number of children, and above these bits its row of `states`.
STATE_SHIFT = 5
CHILD_MASK = (1 << STATE_SHIFT) - 1

# Indices of the counters: of what is in use, and of visits. OUT_OF_ROOM is set when an array is full.
NODE_COUNT, INFOSET_COUNT, TOUCHED_COUNT, OUT_OF_ROOM, VISIT_COUNT, STATE_COUNT, SCORE_COUNT = range(7)

DEPTH_SHIFT = 32  # the bit of a node's second word where its depth begins


class Tree(NamedTuple):
    """The game tree as arrays."""

    nodes: Any  # of each node: kind, number of children and row of its state, infoset, first child
    states: Any  # states, packed: cards, the rest with the depth, the infoset keys of seats 0 and 1
    slots: Any  # hash table: infoset + 1 by key
    infosets: Any  # of each: key, number of choices, whether touched in this iteration, iterations that touched it
    regret: Any
    strategy: Any  # the current one
    strategy_sum: Any
    touched: Any
    counters: Any


def pack_node(states: Any, row: int, s: State, key0: int, key1: int, depth: int) -> None:
    """Write a state, its depth and the infoset keys."""
    states[row, 0] = s.hands[0] | s.hands[1] << 18 | s.tower.up << 36
    question = s.phase | (s.seat + 1) << 4 | (s.target + 1) << 7 | (s.ability + 1) << 10
    tower = (s.tower.top + 1) << 14 | s.tower.power << 20 | s.tower.demand << 24
    states[row, 1] = question | tower | depth << DEPTH_SHIFT
    states[row, 2] = key0
    states[row, 3] = key1


def unpack_node(options: Options, states: Any, row: int) -> State:
    """Return the state in a row; the match around the round is left out of it."""
    cards, rest = int(states[row, 0]), int(states[row, 1])
    all_cards = (1 << 18) - 1
    first, second, up = cards & all_cards, (cards >> 18) & all_cards, cards >> 36
    buried = (options.powers | options.powers << 9) & ~(first | second | up)
    tower = Tower(up, buried, ((rest >> 14) & 63) - 1, (rest >> 20) & 15, (rest >> 24) & 3)
    return State(
        options, rest & 15, ((rest >> 4) & 7) - 1, ((rest >> 7) & 7) - 1, ((rest >> 10) & 15) - 1,
        (first, second, 0, 0), tower, 3, 3, 0, 0, NOTHING, 0,
    )  # fmt: skip


def expand(options: Options, nodes: Any, states: Any, slots: Any, infosets: Any, counters: Any, node: int) -> int:
    """Give a node its children, unresolved; with no room for them OUT_OF_ROOM is set.

    Return the choice that its infoset is to start with; -1 if the infoset has a strategy.
    """
    row = int(nodes[node, 1])
    s = unpack_node(options, states, row)
    actor = to_act(s)
    left = choices(s) if actor == CHANCE else distinct_choices(s)
    n, infoset, choice = count(left), 0, -1
    if actor != CHANCE:
        infoset = infoset_index(slots, infosets, counters, int(states[row, 2 + actor]), n)
    first = int(counters[NODE_COUNT])
    if infoset < 0 or first + n > nodes.shape[0]:
        counters[OUT_OF_ROOM] = 1
        return -1
    counters[NODE_COUNT] = first + n
    if actor != CHANCE and infosets[infoset, 2] == 0:
        choice = first_choice(s, left)
    nodes[node, 0] = CHANCE_NODE if actor == CHANCE else actor
    nodes[node, 1], nodes[node, 2], nodes[node, 3] = row << STATE_SHIFT | n, infoset, first
    while left:
        nodes[first, 0], nodes[first, 1] = UNRESOLVED, lowest(left)
        left &= left - 1
        first += 1
    return choice


def resolve_child(options: Options, nodes: Any, states: Any, counters: Any, node: int, child: int) -> None:
    """Work out the state of a child: the state after its action and all forced actions that follow."""
    row, action = int(nodes[node, 1]) >> STATE_SHIFT, int(nodes[child, 1])
    depth, key0, key1 = int(states[row, 1]) >> DEPTH_SHIFT, int(states[row, 2]), int(states[row, 3])
    s = unpack_node(options, states, row)
    left = 0
    while left & (left - 1) == 0:
        after = apply_in_round(s, action)
        key0, key1 = next_key(key0, s, action, after, 0), next_key(key1, s, action, after, 1)
        s = after
        depth += 1
        winner = certain_winner(s)
        if winner != HIDDEN:
            nodes[child, 0] = WON_NODE + winner
            return
        left = distinct_choices(s)
        action = lowest(left)
    row = int(counters[STATE_COUNT])
    pack_node(states, row, s, key0, key1, depth)
    counters[STATE_COUNT] = row + 1
    nodes[child, 0], nodes[child, 1] = LEAF_NODE, row


def infoset_index(slots: Any, infosets: Any, counters: Any, key: int, n: int) -> int:
    """Return the infoset of a key; with n > 0 choices a new one if need be. -1 if there is none, or no room."""
    mask = slots.shape[0] - 1
    slot = key & mask
    while slots[slot] != 0:
        if infosets[slots[slot] - 1, 0] == key:
            return int(slots[slot]) - 1
        slot = (slot + 1) & mask
    infoset = int(counters[INFOSET_COUNT])
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


def run_cfr(
    options: Options, t: Tree, weights: Any, begin: int, end: int, queue: Any, reach: Any, values: Any
) -> None:
    """Run the iterations `begin` to `end` - 1 of CFR+ for both seats; later ones count more in the average strategy.

    An iteration goes through the tree for one seat: through all of its own choices, all of chance, and what the
    opponent plays now. It updates the seat's regrets and the sum of the opponent's strategies. It goes down level by
    level, which queues the nodes it comes to, and then back up the queue.

    Room to work in: `queue` for a node and where its children begin in the queue; `reach` for the reach probability
    of chance and the opponent, and of the opponent alone, on the way up for the value instead; `values` for choices.
    """
    nodes, states, infosets, counters = t.nodes, t.states, t.infosets, t.counters
    regret, strategy, strategy_sum = t.regret, t.strategy, t.strategy_sum
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
                    choice = expand(options, nodes, states, t.slots, infosets, counters, node)
                    if counters[OUT_OF_ROOM]:
                        return
                    if choice >= 0:
                        infosets[nodes[node, 2], 2] = -1  # has a strategy
                        strategy[nodes[node, 2], choice] = 1.0
                kind, n = nodes[node, 0], nodes[node, 1] & CHILD_MASK
                infoset, first = nodes[node, 2], nodes[node, 3]
                queue[at, 1] = size
                visits += n
                p, q = (1.0 / n if kind == CHANCE_NODE else 1.0), 1.0
                for i in range(n):
                    if kind == 1 - seat:
                        q = strategy[infoset, i]
                        if q == 0.0:
                            continue
                        strategy_sum[infoset, i] += weight * reach[at, 1] * q
                    if nodes[first + i, 0] == UNRESOLVED:
                        resolve_child(options, nodes, states, counters, node, first + i)
                    child_kind = nodes[first + i, 0]
                    if child_kind <= LEAF_NODE:
                        queue[size, 0] = first + i
                        reach[size, 0], reach[size, 1] = reach[at, 0] * p * q, reach[at, 1] * q
                        size += 1
                at += 1
            for at in range(size - 1, -1, -1):
                node, child = queue[at, 0], queue[at, 1]
                kind, n = nodes[node, 0], nodes[node, 1] & CHILD_MASK
                infoset, first = nodes[node, 2], nodes[node, 3]
                value = 0.0
                for i in range(n):
                    q = 1.0 if kind == CHANCE_NODE else strategy[infoset, i]
                    if q == 0.0 and kind != seat:
                        continue
                    child_kind = nodes[first + i, 0]
                    if child_kind <= LEAF_NODE:
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
                        t.touched[counters[TOUCHED_COUNT]] = infoset
                        counters[TOUCHED_COUNT] += 1
                reach[at, 1] = value
            match_regrets(infosets, regret, strategy, t.touched, counters)
        counters[VISIT_COUNT] += visits


def match_regrets(infosets: Any, regret: Any, strategy: Any, touched: Any, counters: Any) -> None:
    """After an iteration: raise negative regrets to 0, as CFR+ does, and set strategies by regret matching."""
    for j in range(counters[TOUCHED_COUNT]):
        infoset = touched[j]
        infosets[infoset, 2] = -1
        total = 0.0
        n = infosets[infoset, 1]
        for i in range(n):
            if regret[infoset, i] < 0.0:
                regret[infoset, i] = 0.0
            total += regret[infoset, i]
        if total > 0:
            for i in range(n):
                strategy[infoset, i] = regret[infoset, i] / total
    counters[TOUCHED_COUNT] = 0


def opponent_reach(options: Options, t: Tree, weights: Any, strategy: Any, seat: int, reach: Any) -> None:
    """Write the reach probability of chance and the opponent for each node; expand nodes that are missing."""
    for i in range(weights.shape[0]):
        reach[i] = weights[i]
    node = 0
    while node < t.counters[NODE_COUNT]:
        probability = reach[node]
        if probability > 0 and t.nodes[node, 0] == LEAF_NODE:
            choice = expand(options, t.nodes, t.states, t.slots, t.infosets, t.counters, node)
            if t.counters[OUT_OF_ROOM]:
                return
            if choice >= 0:
                infoset = t.nodes[node, 2]
                t.infosets[infoset, 2] = -1
                t.strategy[infoset, choice] = 1.0
                strategy[infoset, choice] = 1.0
        kind, n, first = t.nodes[node, 0], t.nodes[node, 1] & CHILD_MASK, t.nodes[node, 3]
        if kind < LEAF_NODE:
            for i in range(n):
                p = 1.0
                if kind == CHANCE_NODE:
                    p = 1.0 / n
                elif kind != seat:
                    p = strategy[t.nodes[node, 2], i]
                reach[first + i] = probability * p
                if reach[first + i] > 0 and t.nodes[first + i, 0] == UNRESOLVED:
                    resolve_child(options, t.nodes, t.states, t.counters, node, first + i)
        node += 1


def best_response(
    t: Tree, order: Any, depths: Any, reach: Any, strategy: Any, seat: int, values: Any, choice_values: Any
) -> None:
    """Write what each node is worth to `seat` if it plays a best response to the opponent's strategy.

    `order` has the nodes in which somebody acts, the deepest first, and `depths` how deep each is: all nodes of one
    infoset are equally deep. `choice_values` are counterfactual: they are weighted with `reach`.
    """
    begin = 0
    while begin < order.shape[0]:
        end = begin
        while end < order.shape[0] and depths[end] == depths[begin]:
            node = order[end]
            kind, first, n = t.nodes[node, 0], t.nodes[node, 3], t.nodes[node, 1] & CHILD_MASK
            if kind == CHANCE_NODE:
                for i in range(n):
                    values[node] += values[first + i] / n
            elif kind == seat:
                for i in range(n):
                    choice_values[t.nodes[node, 2], i] += reach[node] * values[first + i]
            else:
                for i in range(n):
                    values[node] += strategy[t.nodes[node, 2], i] * values[first + i]
            end += 1
        for j in range(begin, end):
            node = order[j]
            if t.nodes[node, 0] == seat:
                infoset, best = t.nodes[node, 2], 0
                for i in range(t.nodes[node, 1] & CHILD_MASK):
                    if choice_values[infoset, i] > choice_values[infoset, best]:
                        best = i
                values[node] = values[t.nodes[node, 3] + best]
        begin = end


# MCCFR. A trial samples a deal that everybody holds possible, goes through all
# choices of one seat, and samples chance and the opponent's play (external sampling). The tree is like that of CFR+,
# but a child's state is worked out only when a trial first goes there.

MIN_VISITS = 3  # before all choices of an infoset are tried it is only sampled: that keeps the tree small

EXPLORE_OF_64 = 6  # a choice that is not played at present is tried only this often in 64 trials
UNTRIED = -1.0  # in place of a value

RESOLVE_COST = 25  # working out a state takes as long as this number of visits


class SampledTree(NamedTuple):
    """A tree as arrays, packed so that a visit reads few and close places: memory access takes most of the time."""

    nodes: Any  # of each node: kind, number of children and row of its state, where its scores begin, first child
    states: Any  # as in the CFR+ tree, but only of nodes that are resolved
    slots: Any  # hash table: infoset + 1 by key
    infosets: Any  # of each: key, number of choices, where its scores begin
    scores: Any  # the visits of an infoset; then for each choice its probability now, its regret, its strategy sum
    counters: Any


def run_mccfr(
    options: Options, t: SampledTree, sums: Any, weights: Any, begin: int, end: int, seed: int, path: Any, values: Any
) -> None:
    """Run the trials `begin` to `end` - 1 for both seats; later ones count more in the average strategy.

    Deals are sampled by their cumulative probabilities `sums`; `weights` says how much a trial counts with each deal.
    Room to work in, for each depth: `path` for the node, the next child, whether all children are tried, and 6 random
    bits for each of them; `values` for the value of each child and, at last, of the node.
    """
    # Few calls, and local names for the arrays: to pass the whole tree takes longer than a visit.
    nodes, states, scores, counters = t.nodes, t.states, t.scores, t.counters
    for trial in range(begin, end):
        trial_weight, visits = float(trial) * trial, 0
        for seat in range(2):
            counter = (2 * trial + seat) << 20  # no trial takes more random numbers than that
            root = search_sums(sums, random_fraction(seed, counter) * sums[sums.shape[0] - 1])
            deal_weight, depth = weights[root], 0
            path[0, 0], path[0, 1] = root, 0
            while depth >= 0:
                node = path[depth, 0]
                if nodes[node, 0] == LEAF_NODE:
                    choice = expand(options, nodes, states, t.slots, t.infosets, counters, node)
                    if counters[OUT_OF_ROOM]:
                        return
                    infoset = nodes[node, 2]
                    if choice >= 0:
                        t.infosets[infoset, 2] = counters[SCORE_COUNT]
                        scores[counters[SCORE_COUNT] + 1 + 3 * choice] = 1.0
                        counters[SCORE_COUNT] += 1 + 3 * t.infosets[infoset, 1]
                    nodes[node, 2] = t.infosets[infoset, 2]  # of no meaning where chance acts
                kind, n = nodes[node, 0], nodes[node, 1] & CHILD_MASK
                at, first = nodes[node, 2], nodes[node, 3]
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
                        if child_kind <= LEAF_NODE:
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
                        regret_at = at + 2 + 3 * j
                        if values[depth, j] != UNTRIED:
                            regret = scores[regret_at] + deal_weight * (values[depth, j] - value)
                            scores[regret_at] = regret if regret > 0.0 else 0.0
                        total += scores[regret_at]
                    if total > 0:  # at once, since a trial comes to each infoset of this seat only once
                        for j in range(n):
                            regret_at = at + 2 + 3 * j
                            scores[regret_at - 1] = scores[regret_at] / total
                    scores[at] += 1
                    values[depth, MAX_CHOICES] = value
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
                                sum_at = at + 3 + 3 * j
                                scores[sum_at] += trial_weight * deal_weight * scores[sum_at - 2]
                        left = random_fraction(seed, counter)
                        share = scores[at + 1]
                        while i < n - 1 and left >= share:
                            left -= share
                            i += 1
                            share = scores[at + 1 + 3 * i]
                    path[depth, 1] = n  # this child only
                    if nodes[first + i, 0] == UNRESOLVED:
                        resolve_child(options, nodes, states, counters, node, first + i)
                        visits += RESOLVE_COST
                    child_kind = nodes[first + i, 0]
                    if child_kind <= LEAF_NODE:
                        depth += 1
                        path[depth, 0], path[depth, 1] = first + i, 0
                        continue
                    values[depth, MAX_CHOICES] = 1.0 if child_kind == WON_NODE + seat else 0.0
                value = values[depth, MAX_CHOICES]
                depth -= 1
                if depth >= 0:
                    if path[depth, 2]:
                        values[depth, path[depth, 1]] = value
                        path[depth, 1] += 1
                    else:
                        values[depth, MAX_CHOICES] = value
        counters[VISIT_COUNT] += visits
