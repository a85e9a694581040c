"""CFR+ and MCCFR for the end of a round of Duel between two, and best responses that measure a solution."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from piste.games.mccoy_duel.rules import Options
from piste.games.mccoy_duel.solver.cfr_kernels import (
    DEPTH_SHIFT,
    INFOSET_COUNT,
    LEAF_NODE,
    NODE_COUNT,
    OUT_OF_ROOM,
    SCORE_COUNT,
    STATE_COUNT,
    STATE_SHIFT,
    VISIT_COUNT,
    WON_NODE,
    SampledTree,
    Tree,
    infoset_index,
)
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN, MAX_CHOICES, MAX_ROUND_STEPS
from piste.games.mccoy_duel.solver.infosets import Array, PossibleStates, kernels

MIN_PROBABILITY = 0.01  # what an average strategy plays less often is left out of it
MIN_ITERATIONS, MAX_ITERATIONS, ITERATIONS_PER_CALL = 30, 120, 10
MAX_VISITS = 8_000_000  # beyond this no more iterations than the fewest
MAX_FIRST_SHARE = 0.4  # a tree that fills more of its room in the first iteration would outgrow it later
EXPAND_COST = 20  # expanding a node takes as long as this number of visits
MCCFR_NODES = 2_000_000  # more than the work of a bot pays for
TRIALS_PER_CALL = 100
OWN_DEAL_SHARE = 0.7  # of the trials that begin with a deal that the seat itself holds possible
MIN_RELATIVE_PROBABILITY = 0.5  # what MCCFR plays less often than this part of its first choice is left out
MAX_CACHED_SOLUTIONS = 6


class Solution(NamedTuple):
    """An average strategy over the information sets of a tree."""

    tree: Tree
    strategy: Array
    iterations: int
    nodes: int  # before best responses expand the tree

    def infoset(self, key: int) -> int:
        """Return the information set of a key; -1 if it is not in the tree."""
        return infoset_index(self.tree.slots, self.tree.infosets, self.tree.counters, key, 0)

    def learned_infoset(self, key: int) -> int:
        """Return the same; -1 also if too few iterations came there to learn from."""
        infoset = self.infoset(key)
        return infoset if infoset >= 0 and self.tree.infosets[infoset, 3] * 4 >= self.iterations else -1

    def choice_probabilities(self, infoset: int) -> Array:
        return np.asarray(self.strategy[infoset, : int(self.tree.infosets[infoset, 1])])


class BestResponses(NamedTuple):
    """What each seat wins with a best response to the opponent's strategy."""

    wins: tuple[float, float]
    values: tuple[Array, Array]  # for each seat, what each choice of an infoset wins with that response

    @property
    def nash_conv(self) -> float:
        """What both seats together could gain by best responses: the NashConv of the solution."""
        return max(0.0, sum(self.wins) - 1)


_solved: OrderedDict[bytes, tuple[Solution | None, int]] = OrderedDict()


def empty_arrays(nodes: int, infosets: int) -> tuple[Array, Array, Array]:
    """Return room for so many nodes, their states, and the hash table of so many infosets."""
    slots = 1 << (2 * infosets - 1).bit_length()
    return np.zeros((nodes, 4), np.int32), np.zeros((nodes, 4), np.int64), np.zeros(slots, np.int32)


def empty_tree(nodes: int, infosets: int) -> Tree:
    """Return a tree with room for these numbers of nodes and infosets."""
    regret, strategy, strategy_sum = (np.zeros((infosets, MAX_CHOICES)) for _ in range(3))
    return Tree(
        *empty_arrays(nodes, infosets), np.zeros((infosets, 4), np.int64), regret, strategy, strategy_sum,
        np.zeros(infosets, np.int32), np.zeros(7, np.int64),
    )  # fmt: skip


def empty_sampled_tree(nodes: int, infosets: int) -> SampledTree:
    """Return the same for MCCFR."""
    scores = np.zeros((1 + 3 * MAX_CHOICES) * infosets + 1)
    infoset_rows, counters = np.zeros((infosets, 3), np.int64), np.zeros(7, np.int64)
    counters[SCORE_COUNT] = 1  # an infoset whose scores begin at 0 is new
    return SampledTree(*empty_arrays(nodes, infosets), infoset_rows, scores, counters)


def add_roots(options: Options, tree: Tree | SampledTree, states: PossibleStates) -> None:
    """Begin a tree with these states."""
    kernels().add_roots(options, tree.nodes, tree.states, states.rows)
    tree.counters[NODE_COUNT] = tree.counters[STATE_COUNT] = len(states.rows)


def solve(options: Options, states: PossibleStates, nodes: int) -> Solution | None:
    """Solve the game that begins with these states, known to all; None if its tree has more nodes."""
    return solve_with_work(options, states, nodes)[0]


def solve_with_work(options: Options, states: PossibleStates, nodes: int) -> tuple[Solution | None, int]:
    """Return the same, and the work in visits: the same number when the solution is cached."""
    digest = blake2b(repr((options, nodes)).encode(), digest_size=16)
    digest.update(states.rows.tobytes())
    digest.update(states.weights.tobytes())
    key = digest.digest()
    if key not in _solved:
        _solved[key] = _solve(options, states, nodes)
        while len(_solved) > MAX_CACHED_SOLUTIONS:
            _solved.popitem(last=False)
    _solved.move_to_end(key)
    return _solved[key]


def _solve(options: Options, states: PossibleStates, nodes: int) -> tuple[Solution | None, int]:
    first_nodes = int(nodes * MAX_FIRST_SHARE)
    if len(states.rows) > first_nodes:
        return None, 0
    tree = empty_tree(nodes, nodes // 2)
    counters = tree.counters
    add_roots(options, tree, states)
    run_cfr(options, tree._replace(nodes=tree.nodes[:first_nodes]), states, 1, 2)
    done = 1
    while not counters[OUT_OF_ROOM] and (
        done < MIN_ITERATIONS or (done < MAX_ITERATIONS and counters[VISIT_COUNT] < MAX_VISITS)
    ):
        end = done - done % ITERATIONS_PER_CALL + ITERATIONS_PER_CALL
        run_cfr(options, tree, states, done + 1, end + 1)
        done = end
    work = EXPAND_COST * int(counters[NODE_COUNT]) + int(counters[VISIT_COUNT])
    if counters[OUT_OF_ROOM]:
        return None, work
    return Solution(tree, average_strategy(tree), done, int(counters[NODE_COUNT])), work


def run_cfr(options: Options, tree: Tree, states: PossibleStates, begin: int, end: int) -> None:
    """Run the iterations `begin` to `end` - 1 of CFR+."""
    room = len(tree.nodes)
    queue, reach, values = np.empty((room, 2), np.int32), np.empty((room, 2)), np.zeros(MAX_CHOICES)
    kernels().run_cfr(options, tree, states.weights, begin, end, queue, reach, values)


def average_strategy(tree: Tree) -> Array:
    """Return the average strategy of each infoset, without what is played less often than MIN_PROBABILITY."""
    used = slice(int(tree.counters[INFOSET_COUNT]))
    sums, strategy = tree.strategy_sum[used], np.zeros(tree.strategy_sum.shape)
    total = sum(sums[:, i] for i in range(MAX_CHOICES))[:, None]
    shares = np.where(total > 0, sums / np.where(total > 0, total, 1.0), tree.strategy[used])
    shares[shares < MIN_PROBABILITY] = 0.0
    strategy[used] = shares / sum(shares[:, i] for i in range(MAX_CHOICES))[:, None]
    return strategy


def mccfr(
    options: Options, states: PossibleStates, seat: int, key: int, visits: int, seed: int, nodes: int = MCCFR_NODES
) -> SampledTree:
    """Run MCCFR for a number of visits from states that are known to all; return its tree.

    Deals of the seat's infoset `key` are sampled more often than they come, and each such trial counts less.
    """
    own = states.rows[:, KEY_COLUMN + seat] == key
    share = float(states.weights[own].sum())
    oversampling = np.ones(len(own))
    if 0 < share < OWN_DEAL_SHARE:
        oversampling = np.where(own, OWN_DEAL_SHARE / share, (1 - OWN_DEAL_SHARE) / max(1 - share, 1e-12))
    tree = empty_sampled_tree(nodes, nodes // 4)
    add_roots(options, tree, states)
    sums, weights, done = np.cumsum(states.weights * oversampling), 1 / oversampling, 0
    path, values = np.zeros((MAX_ROUND_STEPS, 4), np.int64), np.zeros((MAX_ROUND_STEPS, MAX_CHOICES + 1))
    while not tree.counters[OUT_OF_ROOM] and tree.counters[VISIT_COUNT] < visits:
        kernels().run_mccfr(options, tree, sums, weights, done + 1, done + 1 + TRIALS_PER_CALL, seed, path, values)
        done += TRIALS_PER_CALL
    return tree


def mccfr_strategy(
    options: Options, states: PossibleStates, seat: int, key: int, visits: int, seed: int
) -> Array | None:
    """Return the strategy that MCCFR finds for the infoset `key`; None if it cannot or hardly came there."""
    if len(states.rows) > MCCFR_NODES // 2:
        return None
    tree = mccfr(options, states, seat, key, visits, seed)
    infoset = infoset_index(tree.slots, tree.infosets, tree.counters, key, 0)
    if infoset < 0:
        return None
    _, n, begin = (int(x) for x in tree.infosets[infoset])
    strategy_sum = tree.scores[begin + 3 : begin + 3 + 3 * n : 3]
    if strategy_sum.sum() == 0:
        return None
    strategy = strategy_sum / strategy_sum.sum()
    return np.where(strategy >= MIN_RELATIVE_PROBABILITY * strategy.max(), strategy, 0.0)


def best_response(tree: Tree, reach: Array, strategy: Array, seat: int) -> tuple[Array, Array, Array]:
    """Return the nodes reached in which somebody acts, what each node is worth, and what each choice is worth.

    `reach` is that of chance and the opponent; choices are weighted with it.
    """
    n = int(tree.counters[NODE_COUNT])
    values, choice_values = np.zeros(n), np.zeros((int(tree.counters[INFOSET_COUNT]), MAX_CHOICES))
    order = np.flatnonzero(reach[:n] > 0)
    values[order[tree.nodes[order, 0] == WON_NODE + seat]] = 1.0
    order = order[tree.nodes[order, 0] < LEAF_NODE]
    depths = tree.states[tree.nodes[order, 1] >> STATE_SHIFT, 1] >> DEPTH_SHIFT
    deepest_first = np.argsort(-depths, kind="stable")
    order, depths = order[deepest_first], depths[deepest_first]
    kernels().best_response(tree, order, depths, reach, strategy, seat, values, choice_values)
    return order, values, choice_values


def best_responses(options: Options, states: PossibleStates, solution: Solution) -> BestResponses | None:
    """Work out best responses to a solution over its whole game; None if the tree has no room for it."""
    tree, strategy = solution.tree, solution.strategy
    wins, values = [], []
    for seat in range(2):
        reach = np.zeros(len(tree.nodes))
        kernels().opponent_reach(options, tree, states.weights, strategy, seat, reach)
        if tree.counters[OUT_OF_ROOM]:
            return None
        order, node_values, choice_values = best_response(tree, reach, strategy, seat)
        own = order[tree.nodes[order, 0] == seat]
        infoset_reach = np.zeros(len(choice_values))
        np.add.at(infoset_reach, tree.nodes[own, 2], reach[own])
        wins.append(float(node_values[: len(states.weights)] @ states.weights))
        values.append(choice_values / np.maximum(infoset_reach, 1e-300)[:, None])
    return BestResponses((wins[0], wins[1]), (values[0], values[1]))
