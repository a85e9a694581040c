"""The end of a round of Duel between two: solve it from what all saw, and say how good the solution is."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from piste.games.mccoy_duel.rules import Options
from piste.games.mccoy_duel.solver.cfr_kernels import DEPTH, FULL, MOVES, NODES, PLACES, VISITS, Tree
from piste.games.mccoy_duel.solver.infoset_kernels import KEYS
from piste.games.mccoy_duel.solver.infosets import Array, Rows, kernels
from piste.games.mccoy_duel.solver.mccfr_kernels import Sketch

LEAST = 0.01  # what a mix plays less often is left out of it
FEWEST, MOST_PASSES, STRIDE = 30, 120, 10
VISITED = 8_000_000  # enough work: beyond this no more passes than the fewest
FIRST = 0.4  # a tree that takes more than this part of its room in the first pass would outgrow it later
GROWING = 20  # to grow a node takes as long as to visit so many
ROOM = 2_000_000  # for the tree that trials grow: more than their work pays for
TRIALS = 100  # made in one go
OWN = 0.7  # this part of the trials begins with a deal that the seat itself holds possible
RARE = 0.5  # what a mix from trials plays less often than this part of its first choice is left out of it
KEPT = 6  # how many solutions are remembered


class Solved(NamedTuple):
    """A solution: for everything a seat may have been told, the mix to play."""

    slots: Array
    names: Array
    counts: Array
    mean: Array
    passes: int
    nodes: int

    def spot(self, key: int) -> int:
        """Return the place of what a seat was told; -1 if play never came there often enough to learn from."""
        spot = int(kernels().spot_of(self.slots, self.names, self.counts, key, 0))
        return spot if spot >= 0 and self.names[spot, 3] * 4 >= self.passes else -1

    def mix(self, spot: int) -> Array:
        """Return how often each choice is played at a place."""
        return np.asarray(self.mean[spot, : int(self.names[spot, 1])])


class Proof(NamedTuple):
    """How good a solution is: what each seat wins with its best answer to the other's mixes."""

    wins: tuple[float, float]
    values: tuple[Array, Array]  # for each seat, what each choice at a place wins with that answer

    @property
    def gap(self) -> float:
        """Both seats together can win so much more than against a perfect opponent."""
        return max(0.0, sum(self.wins) - 1)


Found = tuple[Solved, Tree] | None
_solved: OrderedDict[bytes, tuple[Found, int]] = OrderedDict()


def planted(nodes: int, places: int) -> Tree:
    """Return an empty tree with room for so many nodes and places."""
    slots = 1 << (2 * places - 1).bit_length()
    mixes = [np.zeros((places, MOVES)) for _ in range(3)]
    return Tree(
        np.zeros((nodes, 4), np.int32), np.zeros((nodes, 4), np.int64), np.zeros(slots, np.int32),
        np.zeros((places, 4), np.int64), mixes[0], mixes[1], mixes[2],
        np.zeros(places, np.int32), np.zeros(5, np.int64),
    )  # fmt: skip


def sketched(nodes: int, places: int) -> Sketch:
    """Return the same for trials."""
    slots = 1 << (2 * places - 1).bit_length()
    return Sketch(
        np.zeros((nodes, 4), np.int32), np.zeros((nodes, 4), np.int64), np.zeros(slots, np.int32),
        np.zeros((places, 3), np.int64), np.zeros((1 + 3 * MOVES) * places + 1), np.zeros(7, np.int64),
    )  # fmt: skip


def solve(options: Options, found: Rows, nodes: int) -> Found:
    """Return the solution from a position of which all know these rows; None if its tree has more nodes."""
    return tried_for(options, found, nodes)[0]


def tried_for(options: Options, found: Rows, nodes: int) -> tuple[Found, int]:
    """Return the same, and how much work that is: as much when it is only remembered."""
    name = blake2b(repr((options, nodes)).encode(), digest_size=16)
    name.update(found.rows.tobytes())
    name.update(found.weights.tobytes())
    key = name.digest()
    if key not in _solved:
        _solved[key] = _solve(options, found, nodes)
        while len(_solved) > KEPT:
            _solved.popitem(last=False)
    _solved.move_to_end(key)
    return _solved[key]


def _solve(options: Options, found: Rows, nodes: int) -> tuple[Found, int]:
    k = kernels()
    early = int(nodes * FIRST)
    if len(found.rows) > early:
        return None, 0
    tree = planted(nodes, nodes // 2)
    k.rooted(options, tree, found.rows)
    k.improve(options, tree._replace(nodes=tree.nodes[:early]), found.weights, 1, 2)
    passes = 1
    while not tree.counts[FULL] and (passes < FEWEST or (passes < MOST_PASSES and tree.counts[VISITS] < VISITED)):
        stop = passes - passes % STRIDE + STRIDE
        k.improve(options, tree, found.weights, passes + 1, stop + 1)
        passes = stop
    work = GROWING * int(tree.counts[NODES]) + int(tree.counts[VISITS])
    if tree.counts[FULL]:
        return None, work
    mean = np.zeros(tree.mean.shape)
    k.average(tree, LEAST, mean)
    return (Solved(tree.slots, tree.names, tree.counts, mean, passes, int(tree.counts[NODES])), tree), work


def drawn_out(options: Options, found: Rows, seat: int, key: int, work: int, seed: int, size: int = ROOM) -> Sketch:
    """Make trials worth so many visits where all know these rows; return what they learned.

    Deals that a seat holds possible that was told `key` are drawn more often than they come, and each such trial
    counts as much less.
    """
    k = kernels()
    own = found.rows[:, KEYS + seat] == key
    part = float(found.weights[own].sum())
    often = np.where(own, OWN / part, (1 - OWN) / max(1 - part, 1e-12)) if 0 < part < OWN else np.ones(len(own))
    tree = sketched(size, size // 4)
    k.sown(options, tree, found.rows)
    sums, counted, made = np.cumsum(found.weights * often), 1 / often, 0
    while not tree.counts[FULL] and tree.counts[VISITS] < work:
        k.attempt(options, tree, sums, counted, made + 1, made + 1 + TRIALS, seed)
        made += TRIALS
    return tree


def learned(options: Options, found: Rows, seat: int, key: int, work: int, seed: int) -> Array | None:
    """Return the mix that trials find for a seat that was told `key`, where all know these rows; None if too few."""
    if len(found.rows) > ROOM // 2:
        return None
    tree = drawn_out(options, found, seat, key, work, seed)
    spot = int(kernels().spot_of(tree.slots, tree.names, tree.counts, key, 0))
    if spot < 0:
        return None
    _, n, begin = (int(x) for x in tree.names[spot])
    played = tree.scores[begin + 3 : begin + 3 + 3 * n : 3]
    if played.sum() == 0:
        return None
    mix = played / played.sum()
    return np.where(mix >= RARE * mix.max(), mix, 0.0)


def best_answers(tree: Tree, theirs: Array, mean: Array, seat: int) -> tuple[Array, Array, Array]:
    """Answer the other's mixes from the deepest nodes up; return their order, what each is worth, and each choice."""
    n = int(tree.counts[NODES])
    order = np.flatnonzero(theirs[:n] > 0)
    order = order[np.argsort(-(tree.words[order, 1] >> DEPTH), kind="stable")]
    worth, best = np.zeros(n), np.zeros((int(tree.counts[PLACES]), MOVES))
    kernels().answered(tree, order, theirs, mean, seat, worth, best)
    return order, worth, best


def prove(options: Options, found: Rows, solved: Solved, tree: Tree) -> Proof | None:
    """Work out the best answers to a solution over its whole game; None if that takes more room than there is."""
    k = kernels()
    wins, values = [], []
    for seat in range(2):
        theirs = np.zeros(len(tree.nodes))
        k.reached(options, tree, found.weights, solved.mean, seat, theirs)
        if tree.counts[FULL]:
            return None
        order, worth, best = best_answers(tree, theirs, solved.mean, seat)
        own = order[tree.nodes[order, 0] == seat]
        reach = np.zeros(len(best))
        np.add.at(reach, tree.nodes[own, 2], theirs[own])
        wins.append(float(worth[: len(found.weights)] @ found.weights))
        values.append(best / np.maximum(reach, 1e-300)[:, None])
    return Proof((wins[0], wins[1]), (values[0], values[1]))
