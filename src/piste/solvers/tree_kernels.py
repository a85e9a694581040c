"""Kernels that measure and build the tree of any game, in the part of Python that numba compiles.

A node is a state, together with what each seat was told and saw on the way where `keys` has columns for that. Nodes
that differ in neither are one: without such columns this is the graph of the game's states, with them the tree of its
histories, in which cards that come in another order to the same end are one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from piste.core.bits import count, lowest
from piste.core.protocols import CHANCE, OVER, SPECTATOR

if TYPE_CHECKING:
    from piste.compiled.kernels import (
        apply,
        chosen,
        legal,
        look,
        next_state,
        outcomes,
        pack,
        payoff,
        seats,
        seeded,
        spread,
        to_act,
        unpacked,
        weight,
        word_of,
    )

    # Generated from the game's View and from Event.
    def view_key(v: Any, key: int) -> int: ...
    def event_key(v: Any, key: int) -> int: ...
    def tell(s: Any, action: int, seat: int) -> Any: ...


KEY_MASK = (1 << 62) - 1
MULTIPLIER = 0x1B873593CC9E2D51


def mixed(key: int, number: int) -> int:
    """Return a key of 62 bits that depends on both. Compiled products overflow, but their low bits are right."""
    key = ((key ^ number) * MULTIPLIER) & KEY_MASK
    return key ^ (key >> 31)


def row_key(rows: Any, row: int) -> int:
    """Return the key of a packed state."""
    key = 0
    for i in range(rows.shape[1]):
        key = mixed(key, int(rows[row, i]))
    return key


def told_key(s: Any, action: int, after: Any, seat: int, key: int) -> int:
    """Return the key of what a seat knows after an action, from its key before: what it was told, and then saw."""
    return view_key(look(after, seat), event_key(tell(s, action, seat), key))


def first_key(s: Any, seat: int) -> int:
    """Return the key of what a seat knows where everybody knows the state."""
    return view_key(look(s, seat), 0)


def is_same(rows: Any, keys: Any, one: int, other: int) -> bool:
    """Say whether two rows are one node."""
    for i in range(keys.shape[1]):
        if keys[one, i] != keys[other, i]:
            return False
    for i in range(rows.shape[1]):  # noqa: SIM110 numba takes no generators
        if rows[one, i] != rows[other, i]:
            return False
    return True


def find_slot(rows: Any, keys: Any, slots: Any, row: int) -> int:
    """Return the slot of a node in a hash table of rows, or the free one where it belongs."""
    key = row_key(rows, row)
    for i in range(keys.shape[1]):
        key = mixed(key, int(keys[row, i]))
    mask = slots.shape[0] - 1
    at: int = key & mask
    while slots[at] >= 0 and not is_same(rows, keys, int(slots[at]), row):
        at = (at + 1) & mask
    return at


def add_root(s: Any, rows: Any, keys: Any, slots: Any) -> None:
    """Make a state that everybody knows the first node."""
    pack(s, rows, 0)
    for i in range(keys.shape[1]):
        keys[0, i] = first_key(s, i if i + 1 < keys.shape[1] else SPECTATOR)
    slots[find_slot(rows, keys, slots, 0)] = 0


def enter_nodes(rows: Any, keys: Any, slots: Any, size: int) -> None:
    """Enter all nodes into an empty hash table."""
    for row in range(size):
        slots[find_slot(rows, keys, slots, row)] = row


def expand(
    options: Any, rows: Any, keys: Any, slots: Any, actors: Any, seen: Any, payoffs: Any, first: Any, child: Any,
    action: Any, share: Any, done: int, size: int, edges: int, stop: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Expand nodes in the order in which they were found, until `stop`, the end, or want of room.

    Return how many are expanded, how many there are, and how many edges. The edges of a node stand side by side from
    `first` on; `share` is the probability of an outcome, 0 for a decision. The last column of `keys` is what a
    spectator knows. `seen` is a key of what the seat to decide sees.
    """
    while done < size and done < stop:
        s = unpacked(options, rows, done)
        actor = to_act(s)
        left = 0
        total = 0
        if actor == CHANCE:
            left = outcomes(s)
            total = spread(s)
        elif actor != OVER:
            left = legal(s)
            seen[done] = view_key(look(s, actor), actor)
        n = count(left)
        if size + n > rows.shape[0] or edges + n > child.shape[0] or 2 * (size + n) > slots.shape[0]:
            break
        actors[done] = actor
        first[done] = edges
        if actor == OVER:
            for seat in range(payoffs.shape[1]):
                payoffs[done, seat] = payoff(s, seat)
        while left:
            taken = lowest(left)
            left &= left - 1
            after = apply(s, taken)
            pack(after, rows, size)
            for i in range(keys.shape[1]):
                seat = i if i + 1 < keys.shape[1] else SPECTATOR
                keys[size, i] = told_key(s, taken, after, seat, int(keys[done, i]))
            slot = find_slot(rows, keys, slots, size)
            if slots[slot] < 0:
                slots[slot] = size
                size += 1
            child[edges] = slots[slot]
            action[edges] = taken
            share[edges] = weight(s, taken) / total if actor == CHANCE else 0.0
            edges += 1
        done += 1
        first[done] = edges
    return done, size, edges


def sample_tree(s: Any, seed: int, walks: int, most: int, sums: Any) -> None:
    """Estimate the size of the tree below a state by random walks, as Knuth does: each node stands for as many as
    there are ways to miss it.

    `sums` gets the sum and the squares of the estimates, the steps of all walks, the longest, how many were cut after
    `most` steps, the largest and the smallest payoff above 0, the same below, and the largest sum
    of all payoffs.
    """
    for walk in range(walks):
        g = seeded(seed, walk)
        t = s
        nodes = 1.0
        ways = 1.0
        steps = 0
        actor = to_act(t)
        while actor != OVER and steps < most:
            g = next_state(g)
            left = outcomes(t) if actor == CHANCE else legal(t)
            ways *= count(left)
            nodes += ways
            t = apply(t, chosen(left, word_of(g)))
            steps += 1
            actor = to_act(t)
        sums[0] += nodes
        sums[1] += nodes * nodes
        sums[2] += steps
        sums[3] = max(sums[3], steps)
        sums[4] += actor != OVER
        together = 0
        for seat in range(seats(t.options)):
            together += payoff(t, seat)
            amount = payoff(t, seat)
            at = 5 if amount > 0 else 7
            if amount != 0:
                sums[at] = max(sums[at], abs(amount))
                sums[at + 1] = min(sums[at + 1], abs(amount)) if sums[at + 1] else abs(amount)
        sums[9] = max(sums[9], abs(together))
