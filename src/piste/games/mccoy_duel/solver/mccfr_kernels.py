"""The end of a round of Duel between two where its tree is too large: the same mixes, learned from drawn deals.

In the part of Python that numba compiles. A trial draws a deal that everybody holds possible, goes through all
choices of one seat, and draws chance and what the other seat plays (external sampling). Its tree is a solution's,
but a child's position is worked out only when a trial first goes there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from piste.core.bits import count, lowest
from piste.core.protocols import CHANCE
from piste.games.mccoy_duel.rules import Options, choices, to_act
from piste.games.mccoy_duel.solver.cfr_kernels import (
    BY_CHANCE,
    DEEPEST,
    DEPTH,
    FULL,
    LEAF,
    MOVES,
    NODES,
    VISITS,
    WON,
    keep,
    lift,
    liked,
    spot_of,
    stow,
)
from piste.games.mccoy_duel.solver.infoset_kernels import KEYS, different, mixed, unpack
from piste.games.mccoy_duel.solver.ismcts_kernels import drawn_below

FINE = 1 << 30  # how finely a place on a scale is drawn
NEW = 3  # so often a place is only played through before all its choices are tried: that keeps the tree small

OFTEN = 6  # a choice that is not played at present is tried only so many times in 64
UNTRIED = -1.0  # in place of a value

UNSEEN = 6  # a kind of node: its position is not worked out yet, only which action leads there
SEEING = 25  # to work a position out takes as long as to visit so many

# Counters after those of a solution's tree: how many rows of words and how many numbers of scores are taken.
ROWS, TAKEN = 5, 6

# A node's second number holds how many children it has, and above them which row of words is its position.
SHIFT = 5
CHILDREN = (1 << SHIFT) - 1


class Sketch(NamedTuple):
    """A tree as arrays, packed so that a visit reads few and near places: most of its time goes into reading."""

    nodes: Any  # of each node: kind, number of children and row, where its scores begin, first child
    words: Any  # positions, as in a solution's tree, but only of nodes whose position matters
    slots: Any  # hash table: place + 1 by what a seat was told
    names: Any  # of each place: what the seat was told, its choices, where its scores begin
    scores: Any  # how often a place was tried; then for each choice what is played now, its regret, the sum of plays
    counts: Any


def sown(options: Options, t: Sketch, rows: Any) -> None:
    """Begin a tree: node i stands for row i."""
    for i in range(rows.shape[0]):
        t.nodes[i, 0], t.nodes[i, 1] = LEAF, i
        keep(t.words, i, unpack(options, rows[i]), int(rows[i, KEYS]), int(rows[i, KEYS + 1]), 0)
    t.counts[NODES] = rows.shape[0]
    t.counts[ROWS] = rows.shape[0]
    t.counts[TAKEN] = 1  # a place whose scores begin at 0 is new


def opened(options: Options, t: Sketch, node: int) -> None:
    """Give a node its children, unseen."""
    nodes, words, names, counts = t.nodes, t.words, t.names, t.counts
    row = int(nodes[node, 1])
    s = lift(options, int(words[row, 0]), int(words[row, 1]))
    actor = to_act(s)
    left = choices(s) if actor == CHANCE else different(s)
    n, first, begin = count(left), int(counts[NODES]), 0
    if first + n > nodes.shape[0]:
        counts[FULL] = 1
        return
    if actor != CHANCE:
        spot = spot_of(t.slots, names, counts, int(words[row, 2 + actor]), n)
        if spot < 0:
            counts[FULL] = 1
            return
        begin = int(names[spot, 2])
        if begin == 0:
            begin = int(counts[TAKEN])
            names[spot, 2] = begin
            counts[TAKEN] = begin + 1 + 3 * n
            t.scores[begin + 1 + 3 * count(left & ((1 << liked(s, left)) - 1))] = 1.0
    counts[NODES] = first + n
    nodes[node, 0] = BY_CHANCE if actor == CHANCE else actor
    nodes[node, 1], nodes[node, 2], nodes[node, 3] = row << SHIFT | n, begin, first
    while left:
        nodes[first, 0], nodes[first, 1] = UNSEEN, lowest(left)
        left &= left - 1
        first += 1


def see(options: Options, nodes: Any, words: Any, counts: Any, node: int, child: int) -> None:
    """Work out the position of a child."""
    row, fresh = int(nodes[node, 1]) >> SHIFT, int(counts[ROWS])
    rest = int(words[row, 1])
    s = lift(options, int(words[row, 0]), rest)
    action = 0 + int(nodes[child, 1])  # compiled, the sum has 64 bits as all numbers of the rules
    kind = stow(words, fresh, s, action, int(words[row, 2]), int(words[row, 3]), rest >> DEPTH)
    nodes[child, 0] = kind
    if kind == LEAF:
        nodes[child, 1] = fresh
        counts[ROWS] = fresh + 1


def drawn_from(sums: Any, at: float) -> int:
    """Return the first of some running sums that is above `at`."""
    low, high = 0, sums.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > at:
            high = middle
        else:
            low = middle + 1
    return low


def attempt(options: Options, t: Sketch, sums: Any, counted: Any, begin: int, end: int, seed: int) -> None:
    """Make trials number `begin` to `end` - 1 for both seats; later ones count more in the mean.

    Deals are drawn by their running sums; `counted` says how much a trial counts with each of them.
    """
    # Small arrays of its own, and no calls on the way: to hand the whole tree on takes longer than a visit.
    nodes, words, scores, counts = t.nodes, t.words, t.scores, t.counts
    # At each depth: the node, which child is next, whether more than one is tried, and 6 drawn bits for each of them.
    path = np.zeros((DEEPEST, 4), np.int64)
    known = np.zeros(DEEPEST)  # and the value found
    worth = np.zeros((DEEPEST, MOVES))
    for number in range(begin, end):
        late, visits = float(number) * number, 0
        for seat in range(2):
            counter = (2 * number + seat) << 20  # no trial draws so often
            root = drawn_from(sums, drawn_below(seed, counter, FINE) / FINE * sums[sums.shape[0] - 1])
            heavy, deep = counted[root], 0
            path[0, 0], path[0, 1] = root, 0
            while deep >= 0:
                node = path[deep, 0]
                if nodes[node, 0] == LEAF:
                    opened(options, t, node)
                    if counts[FULL]:
                        return
                kind, n, at, first = nodes[node, 0], nodes[node, 1] & CHILDREN, nodes[node, 2], nodes[node, 3]
                i = path[deep, 1]
                if i == 0:
                    path[deep, 2] = kind == seat and scores[at] >= NEW
                    if path[deep, 2]:
                        counter += 1
                        path[deep, 3] = mixed(seed, counter)
                if path[deep, 2]:
                    while i < n:
                        if deep > 0 and scores[at + 1 + 3 * i] == 0.0 and (path[deep, 3] >> 6 * i) & 63 >= OFTEN:
                            worth[deep, i] = UNTRIED
                            i += 1
                            continue
                        visits += 1
                        if nodes[first + i, 0] == UNSEEN:
                            see(options, nodes, words, counts, node, first + i)
                            visits += SEEING
                        under = nodes[first + i, 0]
                        if under < WON or under == LEAF:
                            break
                        worth[deep, i] = 1.0 if under == WON + seat else 0.0
                        i += 1
                    path[deep, 1] = i
                    if i < n:
                        deep += 1
                        path[deep, 0], path[deep, 1] = first + i, 0
                        continue
                    value, total = 0.0, 0.0
                    for j in range(n):
                        value += scores[at + 1 + 3 * j] * worth[deep, j]
                    for j in range(n):
                        regret = scores[at + 2 + 3 * j]
                        if worth[deep, j] != UNTRIED:
                            regret = max(0.0, regret + heavy * (worth[deep, j] - value))
                            scores[at + 2 + 3 * j] = regret
                        total += regret
                    if total > 0:  # at once, since a trial comes to each place of this seat only once
                        for j in range(n):
                            scores[at + 1 + 3 * j] = scores[at + 2 + 3 * j] / total
                    scores[at] += 1
                    known[deep] = value
                elif i == 0:
                    counter += 1
                    visits += 1
                    if kind == BY_CHANCE:
                        i = drawn_below(seed, counter, n)
                    else:
                        if kind == seat:
                            scores[at] += 1
                        else:
                            for j in range(n):
                                scores[at + 3 + 3 * j] += late * heavy * scores[at + 1 + 3 * j]
                        left = drawn_below(seed, counter, FINE) / FINE
                        while i < n - 1 and left >= scores[at + 1 + 3 * i]:
                            left -= scores[at + 1 + 3 * i]
                            i += 1
                    path[deep, 1] = n  # this child only
                    if nodes[first + i, 0] == UNSEEN:
                        see(options, nodes, words, counts, node, first + i)
                        visits += SEEING
                    under = nodes[first + i, 0]
                    if under < WON or under == LEAF:
                        deep += 1
                        path[deep, 0], path[deep, 1] = first + i, 0
                        continue
                    known[deep] = 1.0 if under == WON + seat else 0.0
                value = known[deep]
                deep -= 1
                if deep >= 0:
                    if path[deep, 2]:
                        worth[deep, path[deep, 1]] = value
                        path[deep, 1] += 1
                    else:
                        known[deep] = value
        counts[VISITS] += visits
