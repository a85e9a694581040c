"""Information set Monte Carlo tree search (ISMCTS) of any game, in the part of Python that numba compiles.

Each pass samples one possible state and plays it to the end. Statistics are kept by what the seat to act knows, and
by its decision: a seat never chooses by what it has not seen, and every seat plays for itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from piste.core.bits import lowest
from piste.core.protocols import CHANCE, OVER

if TYPE_CHECKING:
    from piste.compiled.kernels import (
        apply,
        chosen,
        legal,
        next_state,
        payoff,
        picked_outcome,
        seeded,
        to_act,
        unpacked,
        word_of,
    )
    from piste.solvers.tree_kernels import mixed, told_key

MAX_PROBES = 16  # of the hash table for one key


def table_slot(table: Any, key: int) -> int:
    """Return the slot of a key in a hash table, empty if the key is new; -1 if all slots probed are taken."""
    mask = table.shape[0] - 1
    at: int = key & mask
    for _ in range(MAX_PROBES):
        if table[at] == key or table[at] == 0:
            return at
        at = (at + 1) & mask
    return -1


def decision_slot(table: Any, key: int, action: int) -> int:
    """Return the slot of a decision in an information set; action -1 stands for the set itself."""
    return table_slot(table, mixed(key, action + 2) | 1)


def ucb_choice(table: Any, visits: Any, totals: Any, key: int, left: int, exploration: float, skip: int) -> int:
    """Return the decision with the highest upper confidence bound (UCB1); of those never tried, any.

    `skip` is a random number, by which these are not always tried in the same order.
    """
    total = 0
    untried = 0
    rest = left
    while rest:
        slot = decision_slot(table, key, lowest(rest))
        if slot < 0 or table[slot] == 0 or visits[slot] == 0:
            untried |= rest & -rest
        else:
            total += visits[slot]
        rest &= rest - 1
    if untried:
        return chosen(untried, skip)
    log = math.log(total)
    best, choice = -1.0, lowest(left)
    rest = left
    while rest:
        slot = decision_slot(table, key, lowest(rest))
        bound = totals[slot, 0] / visits[slot] + exploration * math.sqrt(log / visits[slot])
        if bound > best:
            best, choice = bound, lowest(rest)
        rest &= rest - 1
    return choice


def run_ismcts(
    options: Any, rows: Any, keys: Any, sums: Any, passes: int, seed: int, exploration: float, largest: float,
    table: Any, visits: Any, totals: Any, earned: Any, path: Any, now: Any,
) -> None:  # fmt: skip
    """Make passes over a hash table; beyond the tree play is random.

    `sums` are the cumulative weights of the rows, `keys` what each seat knows there. Payoffs are brought into 0 to 1
    by the `largest`. `totals` has these, and how often the seat won and lost; `earned` the payoffs of each seat, and
    the same. `path` has room for the slot and the seat of each decision, `now` for the key of each seat.
    """
    seats = keys.shape[1]
    for number in range(passes):
        g = next_state(seeded(seed, number))
        at = word_of(g) / 4294967296.0 * sums[sums.shape[0] - 1]
        root, high = 0, sums.shape[0] - 1
        while root < high:
            middle = (root + high) // 2
            if sums[middle] > at:
                high = middle
            else:
                root = middle + 1
        s = unpacked(options, rows, root)
        for seat in range(seats):
            now[seat] = keys[root, seat]
        depth = 0
        steps = 0
        in_tree = True
        actor = to_act(s)
        while actor != OVER and steps < path.shape[0]:
            g = next_state(g)
            steps += 1
            if actor == CHANCE:
                action = picked_outcome(s, g)
            else:
                left = legal(s)
                grows = False
                if in_tree:
                    own = decision_slot(table, int(now[actor]), -1)
                    if own >= 0 and table[own] != 0:
                        action = ucb_choice(table, visits, totals, int(now[actor]), left, exploration, word_of(g))
                    else:
                        action = chosen(left, word_of(g))
                        grows = True  # by one information set in each pass
                        if own >= 0:
                            table[own] = mixed(int(now[actor]), 1) | 1
                    slot = decision_slot(table, int(now[actor]), action)
                    if slot >= 0:
                        table[slot] = mixed(int(now[actor]), action + 2) | 1
                        path[depth, 0], path[depth, 1] = slot, actor
                        depth += 1
                    in_tree = not grows
                else:
                    action = chosen(left, word_of(g))
            after = apply(s, action)
            if in_tree:
                for seat in range(seats):
                    now[seat] = told_key(s, action, after, seat, int(now[seat]))
            s = after
            actor = to_act(s)
        for seat in range(seats):
            amount = payoff(s, seat) if actor == OVER else 0
            earned[seat, 0] += amount
            earned[seat, 1] += amount > 0
            earned[seat, 2] += amount < 0
        for i in range(depth):
            amount = payoff(s, int(path[i, 1])) if actor == OVER else 0
            visits[path[i, 0]] += 1
            totals[path[i, 0], 0] += (1 + amount / largest) / 2
            totals[path[i, 0], 1] += amount > 0
            totals[path[i, 0], 2] += amount < 0
