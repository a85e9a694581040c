"""Information set Monte Carlo tree search (ISMCTS) of a round of Duel, in the subset of Python that numba compiles.

Each pass samples one possible state and plays it to the end of the round. Statistics are kept by the infoset key of
the seat to act: a seat never chooses by a card that it has not seen, and every seat plays for itself.
"""

from __future__ import annotations

import math
from typing import Any

from piste.core.bits import count, nth
from piste.core.protocols import CHANCE
from piste.games.mccoy_duel.rules import Options, apply_in_round, choices, to_act
from piste.games.mccoy_duel.solver.infoset_kernels import (
    KEY_COLUMN,
    distinct_choices,
    next_key,
    random_below,
    random_fraction,
    round_over,
    search_sums,
    unpack,
)

MAX_PROBES = 8  # of the hash table for one key


def table_slot(keys: Any, key: int) -> int:
    """Return the slot of a key in a hash table, empty if the key is new; -1 if all slots probed are taken."""
    mask = keys.shape[0] - 1
    at: int = key & mask
    for _ in range(MAX_PROBES):
        if keys[at] == key or keys[at] == 0:
            return at
        at = (at + 1) & mask
    return -1


def ucb_choice(visits: Any, wins: Any, slot: int, n: int, exploration: float) -> int:
    """Return the choice with the highest upper confidence bound (UCB1); one never tried comes first."""
    total = 0
    for i in range(n):
        if visits[slot, i] == 0:
            return i
        total += visits[slot, i]
    log = math.log(total)
    best, choice = -1.0, 0
    for i in range(n):
        bound = wins[slot, i] / visits[slot, i] + exploration * math.sqrt(log / visits[slot, i])
        if bound > best:
            best, choice = bound, i
    return choice


def run_ismcts(
    options: Options, rows: Any, sums: Any, passes: int, seed: int, exploration: float,
    keys: Any, visits: Any, wins: Any, round_wins: Any, path: Any, infoset_keys: Any,
) -> None:  # fmt: skip
    """Make passes over a hash table of information sets; beyond the tree play is random.

    `sums` are the cumulative weights of the rows; `round_wins` counts the rounds that each seat wins. `path` has room
    for slot, choice and seat of each decision in the tree, `infoset_keys` for the key of each seat: numba compiles
    faster if it need not know how arrays are made.
    """
    players = options.players
    counter = 0
    for _ in range(passes):
        counter += 1
        root = search_sums(sums, random_fraction(seed, counter) * sums[sums.shape[0] - 1])
        s = unpack(options, rows[root])
        for seat in range(players):
            infoset_keys[seat] = rows[root, KEY_COLUMN + seat]
        depth = 0
        in_tree = True
        while not round_over(s):
            counter += 1
            actor = to_act(s)
            if actor == CHANCE:
                left = choices(s)
                action = nth(left, random_below(seed, counter, count(left)))
            else:
                left = distinct_choices(s)
                key = int(infoset_keys[actor]) | 1
                slot = table_slot(keys, key) if in_tree else -1
                if slot >= 0 and keys[slot] == key:
                    index = ucb_choice(visits, wins, slot, count(left), exploration)
                else:
                    index = random_below(seed, counter, count(left))
                action = nth(left, index)
                if slot >= 0:
                    in_tree = keys[slot] == key  # the tree grows by one information set in each pass
                    keys[slot] = key
                    path[depth, 0], path[depth, 1], path[depth, 2] = slot, index, actor
                    depth += 1
            after = apply_in_round(s, action)
            if in_tree:
                for seat in range(players):
                    infoset_keys[seat] = next_key(int(infoset_keys[seat]), s, action, after, seat)
            s = after
        round_wins[s.seat] += 1
        for i in range(depth):
            visits[path[i, 0], path[i, 1]] += 1
            if path[i, 2] == s.seat:
                wins[path[i, 0], path[i, 1]] += 1
