"""The end of a round of Duel between two where its tree is too large: the same mixes, learned from drawn deals.

In the part of Python that numba compiles. A trial draws a deal that everybody holds possible, goes through all
choices of one seat, and draws chance and what the other seat plays (external sampling). Its tree is a solution's,
but a child's position is worked out only when a trial first goes there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from piste.core.bits import count, lowest
from piste.core.contract import CHANCE
from piste.games.mccoy_duel.endgame import (
    BY_CHANCE,
    DEEPEST,
    DEPTH,
    FULL,
    LEAF,
    MOVES,
    NODES,
    TOUCHED,
    VISITS,
    WON,
    Tree,
    lift,
    liked,
    renew,
    spot_of,
    stow,
)
from piste.games.mccoy_duel.hidden import different
from piste.games.mccoy_duel.rules import Options, choices, to_act
from piste.games.mccoy_duel.sampling import drawn_below

FINE = 1 << 30  # how finely a place on a scale is drawn
NEW = 3  # so often a place is only played through before all its choices are tried: that keeps the tree small

UNSEEN = 6  # a kind of node: its position is not worked out yet, only which action leads there
SEEING = 25  # to work a position out takes as long as to visit so many


def opened(options: Options, t: Tree, node: int) -> None:
    """Give a node its children, unseen."""
    s = lift(options, int(t.words[node, 0]), int(t.words[node, 1]))
    actor = to_act(s)
    left = choices(s) if actor == CHANCE else different(s)
    n, first, spot = count(left), int(t.counts[NODES]), 0
    if first + n > t.nodes.shape[0]:
        t.counts[FULL] = 1
        return
    if actor != CHANCE:
        spot = spot_of(t.slots, t.names, t.counts, int(t.words[node, 2 + actor]), n)
        if spot < 0:
            t.counts[FULL] = 1
            return
        if t.names[spot, 2] == 0:
            t.names[spot, 2] = -1
            t.mix[spot, count(left & ((1 << liked(s, left)) - 1))] = 1.0
    t.counts[NODES] = first + n
    t.nodes[node, 0] = BY_CHANCE if actor == CHANCE else actor
    t.nodes[node, 1], t.nodes[node, 2], t.nodes[node, 3] = n, spot, first
    while left:
        t.nodes[first, 0], t.words[first, 0] = UNSEEN, lowest(left)
        left &= left - 1
        first += 1


def see(options: Options, t: Tree, node: int, child: int) -> None:
    """Work out the position of a child."""
    t.counts[VISITS] += SEEING
    s = lift(options, int(t.words[node, 0]), int(t.words[node, 1]))
    depth = int(t.words[node, 1]) >> DEPTH
    stow(t, child, s, int(t.words[child, 0]), int(t.words[node, 2]), int(t.words[node, 3]), depth)


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


def attempt(options: Options, t: Tree, sums: Any, counted: Any, begin: int, end: int, seed: int) -> None:
    """Make trials number `begin` to `end` - 1 for both seats; later ones count more in the mean.

    Deals are drawn by their running sums; `counted` says how much a trial counts with each of them.
    """
    # Small arrays of its own, and no calls on the way: to hand the whole tree on takes longer than a visit.
    nodes, names, regret, mix, mean = t.nodes, t.names, t.regret, t.mix, t.mean
    path = np.zeros((DEEPEST, 3), np.int64)  # at each depth: the node, which child is next, whether all are tried
    known = np.zeros(DEEPEST)  # and the value found
    worth = np.zeros((DEEPEST, MOVES))
    for number in range(begin, end):
        late, visits = float(number) * number, 0
        for seat in range(2):
            counter = (2 * number + seat) << 20  # no trial draws so often
            root = drawn_from(sums, drawn_below(seed, counter, FINE) / FINE * sums[sums.shape[0] - 1])
            deep = 0
            path[0, 0], path[0, 1] = root, 0
            while deep >= 0:
                node = path[deep, 0]
                if nodes[node, 0] == LEAF:
                    opened(options, t, node)
                    if t.counts[FULL]:
                        return
                kind, n, spot, first = nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3]
                i = path[deep, 1]
                if i == 0:
                    path[deep, 2] = kind == seat and names[spot, 3] >= NEW
                if path[deep, 2]:
                    while i < n:
                        if nodes[first + i, 0] == UNSEEN:
                            see(options, t, node, first + i)
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
                    visits += n
                    value = 0.0
                    for j in range(n):
                        value += mix[spot, j] * worth[deep, j]
                    for j in range(n):
                        regret[spot, j] += counted[root] * (worth[deep, j] - value)
                    known[deep] = value
                    if names[spot, 2] < 1:
                        names[spot, 2] = 1
                        names[spot, 3] += 1
                        t.touched[t.counts[TOUCHED]] = spot
                        t.counts[TOUCHED] += 1
                elif i == 0:
                    counter += 1
                    visits += 1
                    if kind == BY_CHANCE:
                        i = drawn_below(seed, counter, n)
                    else:
                        if kind == seat:
                            names[spot, 3] += 1
                        else:
                            for j in range(n):
                                mean[spot, j] += late * counted[root] * mix[spot, j]
                        at = drawn_below(seed, counter, FINE) / FINE
                        while i < n - 1 and at >= mix[spot, i]:
                            at -= mix[spot, i]
                            i += 1
                    path[deep, 1] = n  # this child only
                    if nodes[first + i, 0] == UNSEEN:
                        see(options, t, node, first + i)
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
            renew(t)
        t.counts[VISITS] += visits
