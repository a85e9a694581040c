"""The end of a round of Duel between two, solved by counterfactual regret minimisation (CFR+) over all deals.

In the part of Python that numba compiles. The game tree grows where play goes: a node gets children when a pass first
comes to it, and a pass leaves out whatever the other player at present never plays. Regrets and mixes are kept by
what the seat that decides was told.
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
from piste.games.mccoy_duel.solver.infoset_kernels import KEYS, different, heard, over, unpack

# Kinds of nodes; 0 and 1 are decisions of that seat.
BY_CHANCE, WON, LEAF = 2, 3, 5  # WON + seat: that seat has won the round; LEAF: not looked at yet

MOVES = 9  # no seat ever has more different choices
WORTHS = (1.3, 2.4, 2.5, 0.7, 1.3, 0.4, 0.6, 1.1, 5.2)  # of holding a card: only for the very first guess

# Counters.
NODES, PLACES, TOUCHED, FULL, VISITS = 0, 1, 2, 3, 4

DEPTH = 32  # the bit of a node's second word where its depth begins
DEEPEST = 400  # more steps than any round has (D18)


class Tree(NamedTuple):
    """The tree as arrays."""

    nodes: Any  # of each node: kind, number of children, place, first child
    words: Any  # and the position: cards, the rest, what seat 0 and seat 1 were told
    slots: Any  # hash table: place + 1 by what a seat was told
    names: (
        Any  # of each place: what the seat was told, its choices, whether this pass came there, how many passes did
    )
    regret: Any
    mix: Any  # what is played now
    mean: Any  # the sum of what was played
    touched: Any
    counts: Any


def settled(s: State) -> int:
    """Return who wins for certain, or HIDDEN: no use of the open ability gives the next player an answer."""
    if over(s):
        return s.seat
    if (s.phase == KILL or s.phase == TAKE or s.phase == DRAW) and not playable(s.hands[1 - s.seat], s.tower):
        return s.seat
    return HIDDEN


def stow(words: Any, row: int, s: State, action: int, one: int, other: int, depth: int) -> int:
    """Write the position after an action, and after all that is forced from there; return the kind of its node."""
    while True:
        after = apply(s, action)
        one, other = heard(one, s, action, after, 0), heard(other, s, action, after, 1)
        s = after
        depth += 1
        winner = settled(s)
        if winner != HIDDEN:
            words[row, 1] = depth << DEPTH
            return WON + winner
        left = different(s)
        if left & (left - 1):
            keep(words, row, s, one, other, depth)
            return LEAF
        action = lowest(left)


def keep(words: Any, node: int, s: State, one: int, other: int, depth: int) -> None:
    """Write a position, its depth and what the seats were told."""
    words[node, 0] = s.hands[0] | s.hands[1] << 18 | s.tower.up << 36
    small = s.phase | (s.seat + 1) << 4 | (s.target + 1) << 7 | (s.ability + 1) << 10
    words[node, 1] = small | (s.tower.top + 1) << 14 | s.tower.power << 20 | s.tower.demand << 24 | depth << DEPTH
    words[node, 2] = one
    words[node, 3] = other


def lift(options: Options, cards: int, rest: int) -> State:
    """Return the position at a node; the match around the round is left out of it."""
    all_cards = (1 << 18) - 1
    first, second, up = cards & all_cards, (cards >> 18) & all_cards, cards >> 36
    buried = (options.powers | options.powers << 9) & ~(first | second | up)
    tower = Tower(up, buried, ((rest >> 14) & 63) - 1, (rest >> 20) & 15, (rest >> 24) & 3)
    return State(
        options, rest & 15, ((rest >> 4) & 7) - 1, ((rest >> 7) & 7) - 1, ((rest >> 10) & 15) - 1,
        (first, second, 0, 0), tower, 3, 3, (0, 0, 0, 0), 0, NOTHING, 0,
    )  # fmt: skip


def grow(options: Options, t: Tree, node: int) -> None:
    """Give a node its children."""
    nodes, words, names, counts = t.nodes, t.words, t.names, t.counts
    rest, one, other = int(words[node, 1]), int(words[node, 2]), int(words[node, 3])
    s = lift(options, int(words[node, 0]), rest)
    actor = to_act(s)
    left = choices(s) if actor == CHANCE else different(s)
    n, first, spot = count(left), int(counts[NODES]), 0
    if first + n > nodes.shape[0]:
        counts[FULL] = 1
        return
    if actor != CHANCE:
        spot = spot_of(t.slots, names, counts, one if actor == 0 else other, n)
        if spot < 0:
            counts[FULL] = 1
            return
        if names[spot, 2] == 0:
            names[spot, 2] = -1  # seen
            t.mix[spot, count(left & ((1 << liked(s, left)) - 1))] = 1.0
    counts[NODES] = first + n
    nodes[node, 0] = BY_CHANCE if actor == CHANCE else actor
    nodes[node, 1], nodes[node, 2], nodes[node, 3] = n, spot, first
    while left:
        nodes[first, 0] = stow(words, first, s, lowest(left), one, other, rest >> DEPTH)
        left &= left - 1
        first += 1


def liked(s: State, left: int) -> int:
    """Return what is played at a place seen for the first time: part with the cheapest card, get the dearest."""
    best, found = -1.0, 0
    while left:
        action = lowest(left)
        worth = WORTHS[power_of(action)]
        if s.phase != KILL and s.phase != TAKE and s.phase != COPY:
            worth = 10.0 - worth
        if worth > best:
            best, found = worth, action
        left &= left - 1
    return found


def spot_of(slots: Any, names: Any, counts: Any, key: int, n: int) -> int:
    """Return the place of a key, with n > 0 a new one if need be; -1 if there is none."""
    mask = slots.shape[0] - 1
    at = key & mask
    while slots[at] != 0:
        if names[slots[at] - 1, 0] == key:
            return int(slots[at]) - 1
        at = (at + 1) & mask
    spot = int(counts[PLACES])
    if n == 0 or spot == names.shape[0]:
        return -1
    counts[PLACES] = spot + 1
    slots[at] = spot + 1
    names[spot, 0] = key
    names[spot, 1] = n
    return spot


def rooted(options: Options, t: Tree, rows: Any) -> None:
    """Begin a tree: node i stands for row i, all under one chance."""
    for i in range(rows.shape[0]):
        t.nodes[i, 0] = LEAF
        keep(t.words, i, unpack(options, rows[i]), int(rows[i, KEYS]), int(rows[i, KEYS + 1]), 0)
    t.counts[NODES] = rows.shape[0]


def improve(options: Options, t: Tree, weights: Any, begin: int, end: int) -> None:
    """Make passes number `begin` to `end` - 1 for both seats; later ones count more in the mean.

    A pass goes through the tree for one seat: through all of its own choices, all of chance, and what the other seat
    plays now. It gathers the seat's regrets, and the other's mean mix. It goes down level by level, which lists the
    nodes it comes to, and back up the list.
    """
    nodes, names, regret, mix, mean = t.nodes, t.names, t.regret, t.mix, t.mean
    listed = np.empty((nodes.shape[0], 2), np.int32)  # the node, and where its children begin in the list
    # How likely chance and the other seat come there and the other seat's part of that; on the way up, the value.
    likely = np.empty((nodes.shape[0], 2))
    worth = np.zeros(MOVES)
    for number in range(begin, end):
        late, visits = float(number), 0
        for seat in range(2):
            size = weights.shape[0]
            for root in range(size):
                listed[root, 0], likely[root, 0], likely[root, 1] = root, weights[root], 1.0
            at = 0
            while at < size:
                node = listed[at, 0]
                if nodes[node, 0] == LEAF:
                    grow(options, t, node)
                    if t.counts[FULL]:
                        return
                kind, n, spot, first = nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3]
                listed[at, 1] = size
                visits += n
                p, q = (1.0 / n if kind == BY_CHANCE else 1.0), 1.0
                for i in range(n):
                    if kind == 1 - seat:
                        q = mix[spot, i]
                        if q == 0.0:
                            continue
                        mean[spot, i] += late * likely[at, 1] * q
                    under = nodes[first + i, 0]
                    if under < WON or under == LEAF:
                        listed[size, 0] = first + i
                        likely[size, 0], likely[size, 1] = likely[at, 0] * p * q, likely[at, 1] * q
                        size += 1
                at += 1
            for at in range(size - 1, -1, -1):
                node, child = listed[at, 0], listed[at, 1]
                kind, n, spot, first = nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3]
                value = 0.0
                for i in range(n):
                    q = 1.0 if kind == BY_CHANCE else mix[spot, i]
                    if q == 0.0 and kind != seat:
                        continue
                    under = nodes[first + i, 0]
                    if under < WON or under == LEAF:
                        worth[i] = likely[child, 1]
                        child += 1
                    else:
                        worth[i] = 1.0 if under == WON + seat else 0.0
                    value += q * worth[i]
                if kind == BY_CHANCE:
                    value /= n
                elif kind == seat:
                    for i in range(n):
                        regret[spot, i] += likely[at, 0] * (worth[i] - value)
                    if names[spot, 2] < 1:
                        names[spot, 2] = 1
                        names[spot, 3] += 1
                        t.touched[t.counts[TOUCHED]] = spot
                        t.counts[TOUCHED] += 1
                likely[at, 1] = value
            renew(t)
        t.counts[VISITS] += visits


def renew(t: Tree) -> None:
    """After a pass: no regret below 0, and mixes as regrets say."""
    for j in range(t.counts[TOUCHED]):
        spot = t.touched[j]
        t.names[spot, 2] = -1
        total = 0.0
        n = t.names[spot, 1]
        for i in range(n):
            t.regret[spot, i] = max(0.0, t.regret[spot, i])
            total += t.regret[spot, i]
        if total > 0:
            for i in range(n):
                t.mix[spot, i] = t.regret[spot, i] / total
    t.counts[TOUCHED] = 0


def average(t: Tree, least: float, found: Any) -> None:
    """Write the mean mixes, without what was played less often than `least`."""
    for spot in range(t.counts[PLACES]):
        n = t.names[spot, 1]
        total = 0.0
        for i in range(n):
            total += t.mean[spot, i]
        kept = 0.0
        for i in range(n):
            p = t.mean[spot, i] / total if total > 0 else t.mix[spot, i]
            found[spot, i] = p if p >= least else 0.0
            kept += found[spot, i]
        for i in range(n):
            found[spot, i] /= kept


def reached(options: Options, t: Tree, weights: Any, mean: Any, seat: int, theirs: Any) -> None:
    """Write how likely chance and the other seat come to each node, whatever `seat` does; grow what is missing."""
    for i in range(weights.shape[0]):
        theirs[i] = weights[i]
    node = 0
    while node < t.counts[NODES]:
        share = theirs[node]
        if share > 0 and t.nodes[node, 0] == LEAF:
            before = t.counts[PLACES]
            grow(options, t, node)
            if t.counts[FULL]:
                return
            if t.counts[PLACES] > before:
                for i in range(MOVES):
                    mean[before, i] = t.mix[before, i]
        kind = t.nodes[node, 0]
        if kind < WON:
            for i in range(t.nodes[node, 1]):
                p = 1.0
                if kind == BY_CHANCE:
                    p = 1.0 / t.nodes[node, 1]
                elif kind != seat:
                    p = mean[t.nodes[node, 2], i]
                theirs[t.nodes[node, 3] + i] = share * p
        node += 1


def answered(t: Tree, order: Any, theirs: Any, mean: Any, seat: int, values: Any, best: Any) -> None:
    """Write what each node is worth to `seat` if it answers the other's mixes as well as it can.

    `order` has the nodes with the deepest first: all nodes of one place are equally deep.
    """
    begin = 0
    while begin < order.shape[0]:
        end = begin
        while end < order.shape[0] and t.words[order[end], 1] >> DEPTH == t.words[order[begin], 1] >> DEPTH:
            node = order[end]
            kind, first, n = t.nodes[node, 0], t.nodes[node, 3], t.nodes[node, 1]
            if kind == BY_CHANCE:
                for i in range(n):
                    values[node] += values[first + i] / n
            elif kind == seat:
                for i in range(n):
                    best[t.nodes[node, 2], i] += theirs[node] * values[first + i]
            elif kind < WON:
                for i in range(n):
                    values[node] += mean[t.nodes[node, 2], i] * values[first + i]
            elif kind == WON + seat:
                values[node] = 1.0
            end += 1
        for j in range(begin, end):
            node = order[j]
            if t.nodes[node, 0] == seat:
                spot, found = t.nodes[node, 2], 0
                for i in range(t.nodes[node, 1]):
                    if best[spot, i] > best[spot, found]:
                        found = i
                values[node] = values[t.nodes[node, 3] + found]
        begin = end
