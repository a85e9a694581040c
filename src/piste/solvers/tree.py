"""The tree of any game, measured and built: compiled where numba is there and the tree is large, else interpreted."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from piste.compiled import kernels as bulk_kernels
from piste.compiled.codegen import hashing, module, packing
from piste.compiled.compiler import link_modules
from piste.core import bits
from piste.core.evaluation import Progress, quiet
from piste.core.extras import COMPILED, has
from piste.core.game import Game
from piste.core.protocols import Event
from piste.solvers import ismcts_kernels, tree_kernels
from piste.solvers.scale import Array, Scale

MAX_INTERPRETED_NODES = 1_500
"""Up to here the compiler would take longer to load than the work takes without it."""

MAX_NODES = 2_000_000
MAX_NODES_WITHOUT_NUMBA = 50_000

NODES_PER_CALL = 50_000
WALKS = 1_000
WALKS_WITHOUT_NUMBA = 100
MAX_WALK = 2_000
COMPILED_ENTRIES = ("enter_nodes", "expand", "sample_tree", "run_ismcts")
ENTRIES = (*COMPILED_ENTRIES, "add_root", "pack", "row_key", "first_key", "told_key", "decision_slot")


class Estimate(NamedTuple):
    """The size of a game's tree by random walks: each a whole game."""

    nodes: float  # of the tree of histories, by Knuth's estimate
    error: float  # half of a 95 % interval
    steps: float  # of a game on average
    longest: int
    cut: int  # walks that did not end
    scale: Scale  # of the payoffs that were seen
    zero_sum: bool  # of all of them


class Tree(NamedTuple):
    """Nodes in the order in which they were found, and their edges, side by side from `first[node]` on."""

    rows: Array  # states, packed
    keys: Array  # what each seat knows, and a spectator; no columns in a graph of states
    actors: Array
    seen: Array  # a key of what the seat to decide sees
    payoffs: Array  # at the ends, a column a seat
    first: Array
    child: Array
    action: Array
    share: Array  # the probability of an outcome; 0 for a decision

    @property
    def nodes(self) -> int:
        return len(self.actors)

    @property
    def ends(self) -> Array:
        """Which nodes are ends."""
        ends: Array = self.first[1:] == self.first[:-1]
        return ends

    @property
    def sees_all(self) -> bool:
        """Whether each seat sees enough to tell apart all states in which it decides."""
        decided = self.seen[self.actors >= 0]
        return len(np.unique(decided)) == len(decided)

    @property
    def zero_sum(self) -> bool:
        return not self.payoffs.sum(axis=1).any()


@cache
def tree_code(game: Game, *, compiled: bool) -> Any:
    """Return the kernels over a game's rules; what is asked about single states is there interpreted only."""
    rules = game.rules
    assert isinstance(rules, ModuleType)
    written = packing(rules.State), hashing("view_key", rules.View), hashing("event_key", Event)
    text = module(f"{rules.__name__}_tree", *written)
    linked = rules, bulk_kernels, tree_kernels, ismcts_kernels, text
    entries = COMPILED_ENTRIES if compiled else ENTRIES
    # Where numba is broken, None leaves it interpreted.
    code = link_modules(*linked, compiled=None if compiled else False, inline=(bits, text), entries=entries)
    vars(code)["WIDTH"] = text.WIDTH
    return code


def max_nodes() -> int:
    return MAX_NODES if has(COMPILED) else MAX_NODES_WITHOUT_NUMBA


def estimate(game: Game, state: Any, *, quick: bool = False) -> Estimate:
    """Measure the tree below a state by random walks: few of them, interpreted, where it is small and `quick`."""
    compiled = has(COMPILED) and not quick
    walks, sums = WALKS if compiled else WALKS_WITHOUT_NUMBA, np.zeros(10)
    with np.errstate(over="ignore"):
        tree_code(game, compiled=compiled).sample_tree(state, 1, walks, MAX_WALK, sums)
        mean, square = sums[0] / walks, sums[1] / walks
        error = 1.96 * float(np.sqrt(max(0.0, square - mean * mean) / walks)) if np.isfinite(square) else np.inf
    scale = Scale(max(float(sums[5]), float(sums[7])) or 1.0, bool(sums[5] == sums[6] and sums[7] == sums[8]))
    return Estimate(float(mean), error, float(sums[2] / walks), int(sums[3]), int(sums[4]), scale, not sums[9])


def build(
    game: Game, state: Any, *, histories: bool, most: int | None = None, progress: Progress = quiet
) -> Tree | None:
    """Return the graph of states below a state, or the tree of histories; None if it has more nodes than `most`.

    It is begun interpreted, and goes on compiled where that is worth it.
    """
    most = max_nodes() if most is None else most
    seats = game.rules.seats(state.options)
    code = tree_code(game, compiled=False)
    room = _Room(code.WIDTH, seats, seats + 1 if histories else 0)
    code.add_root(state, room.rows, room.keys, room.slots)
    done, size, edges, stop = 0, 1, 0, MAX_INTERPRETED_NODES
    while done < size:
        before = done
        arrays = (room.rows, room.keys, room.slots, room.actors, room.seen, room.payoffs, room.first, room.child,
                  room.action, room.share)  # fmt: skip
        done, size, edges = code.expand(state.options, *arrays, done, size, edges, stop)
        if size > most:
            return None
        if done < size and done < stop:
            room.grow(code, size)
        elif done >= stop:
            code = tree_code(game, compiled=has(COMPILED))
            stop = done + (NODES_PER_CALL if has(COMPILED) else MAX_INTERPRETED_NODES)
        if done - before > 0:
            progress(done, max(size, done + 1), "building the tree")
    return room.tree(size, edges)


class _Room:
    """Arrays that grow."""

    def __init__(self, width: int, seats: int, keys: int) -> None:
        self.rows = np.zeros((4096, width), np.int64)
        self.keys = np.zeros((4096, keys), np.int64)
        self.actors = np.zeros(4096, np.int8)
        self.seen = np.zeros(4096, np.int64)
        self.payoffs = np.zeros((4096, seats), np.int64)
        self.first = np.zeros(4097, np.int64)
        self.child = np.zeros(8192, np.int32)
        self.action = np.zeros(8192, np.int8)
        self.share = np.zeros(8192)
        self.slots = np.full(16384, -1, np.int32)

    def grow(self, code: Any, size: int) -> None:
        """Make room for twice as much."""
        for name in ("rows", "keys", "actors", "seen", "payoffs", "first", "child", "action", "share"):
            old: Array = getattr(self, name)
            length = 2 * len(old) - (name == "first")
            new = np.zeros((length, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)
        self.slots = np.full(2 * len(self.slots), -1, np.int32)
        code.enter_nodes(self.rows, self.keys, self.slots, size)

    def tree(self, size: int, edges: int) -> Tree:
        return Tree(
            self.rows[:size], self.keys[:size], self.actors[:size], self.seen[:size], self.payoffs[:size],
            self.first[: size + 1], self.child[:edges], self.action[:edges], self.share[:edges],
        )  # fmt: skip
