"""Search of a round of Duel by sampled play, in the part of Python that numba compiles.

Each pass draws one of the possible positions and plays it to the end of the round. Decisions are kept by what the
seat that decides was told: a seat never chooses by a card that it has not seen, and every seat plays for itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from piste.core.bits import count, nth
from piste.core.protocols import CHANCE
from piste.games.mccoy_duel.rules import (
    Options,
    apply,
    choices,
    to_act,
)
from piste.games.mccoy_duel.solver.infoset_kernels import KEYS, different, heard, mixed, over, unpack

ACTIONS = 9  # no seat ever has more different choices: at most 8 cards, 9 powers, 4 players
PROBES = 8  # how far a full table is searched for a place
LONGEST = 400  # more steps than any round has (D18)


def drawn_below(seed: int, counter: int, n: int) -> int:
    return ((mixed(seed, counter) >> 20) * n) >> 42


def place(keys: Any, key: int) -> int:
    """Return where a key is or may be put in a table of keys; -1 if there is no room near its place."""
    mask = keys.shape[0] - 1
    at: int = key & mask
    for _ in range(PROBES):
        if keys[at] == key or keys[at] == 0:
            return at
        at = (at + 1) & mask
    return -1


def tried(visits: Any, gains: Any, at: int, n: int, width: float) -> int:
    """Return the choice with the best upper bound; one never tried comes first."""
    total = 0
    for i in range(n):
        if visits[at, i] == 0:
            return i
        total += visits[at, i]
    log = math.log(total)
    best, found = -1.0, 0
    for i in range(n):
        bound = gains[at, i] / visits[at, i] + width * math.sqrt(log / visits[at, i])
        if bound > best:
            best, found = bound, i
    return found


def sampled(
    options: Options,
    rows: Any,
    sums: Any,
    n: int,
    passes: int,
    seed: int,
    width: float,
    keys: Any,
    visits: Any,
    gains: Any,
    won: Any,
) -> int:
    """Make so many passes over a table of decisions; return how many decisions it holds that were new.

    `sums` are the running sums of the rows' weights; `won` counts who wins. Beyond the tree play is random.
    """
    path = np.zeros((LONGEST, 3), np.int64)  # of each decision in the tree: where, what, who
    told = np.zeros(4, np.int64)
    players = options.players
    new = 0
    counter = 0
    for _ in range(passes):
        counter += 1
        at = drawn_below(seed, counter, 1 << 30) / (1 << 30) * sums[n - 1]
        low, high = 0, n - 1
        while low < high:
            middle = (low + high) // 2
            if sums[middle] > at:
                high = middle
            else:
                low = middle + 1
        s = unpack(options, rows[low])
        for seat in range(players):
            told[seat] = rows[low, KEYS + seat]
        depth = 0
        inside = True
        while not over(s):
            counter += 1
            actor = to_act(s)
            if actor == CHANCE:
                left = choices(s)
                action = nth(left, drawn_below(seed, counter, count(left)))
            else:
                left = different(s)
                action = -1
                if inside:
                    key = int(told[actor]) | 1
                    spot = place(keys, key)
                    if spot >= 0:
                        if keys[spot] == 0:
                            keys[spot] = key
                            inside = False
                            new += 1
                            action = nth(left, drawn_below(seed, counter, count(left)))
                            index = count(left & ((1 << action) - 1))
                        else:
                            index = tried(visits, gains, spot, count(left), width)
                            action = nth(left, index)
                        path[depth, 0], path[depth, 1], path[depth, 2] = spot, index, actor
                        depth += 1
                if action < 0:
                    action = nth(left, drawn_below(seed, counter, count(left)))
            after = apply(s, action)
            if inside:
                for seat in range(players):
                    told[seat] = heard(int(told[seat]), s, action, after, seat)
            s = after
        won[s.seat] += 1
        for i in range(depth):
            visits[path[i, 0], path[i, 1]] += 1
            if path[i, 2] == s.seat:
                gains[path[i, 0], path[i, 1]] += 1
    return new
