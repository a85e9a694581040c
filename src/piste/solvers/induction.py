"""Games in which each seat sees all that matters: backward induction, or value iteration where states come again."""

from __future__ import annotations

from typing import Any

import numpy as np

from piste.compiled.compiler import link_modules
from piste.core.evaluation import Progress, quiet
from piste.core.extras import COMPILED, has
from piste.core.game import Game
from piste.solvers import graph_kernels
from piste.solvers.scale import Array, Scale
from piste.solvers.solution import GraphSolution
from piste.solvers.tree import MAX_INTERPRETED_NODES, Tree

MAX_SWEEPS = 20_000
TOLERANCE = 1e-10
"""Of values, as a part of the largest payoff: below that a sweep changes nothing that counts."""

ENTRIES = ("count_parents", "order_backward", "induce", "sweep", "safe_choices", "follow")


def graph_code(tree: Tree) -> Any:
    """Return the kernels, compiled where the graph is large enough for that."""
    compiled = tree.nodes > MAX_INTERPRETED_NODES and has(COMPILED)
    return link_modules(graph_kernels, compiled=None if compiled else False, inline=(), entries=ENTRIES)


def solve(game: Game, tree: Tree, progress: Progress = quiet) -> GraphSolution | None:
    """Return the solution; None where states can come again and it is not a zero-sum game between two."""
    code, seats, n = graph_code(tree), tree.payoffs.shape[1], tree.nodes
    values = np.concatenate([tree.payoffs, tree.payoffs > 0, tree.payoffs < 0], axis=1).astype(np.float64)
    best, off = np.full(n, -1, np.int8), np.zeros(n)
    order = backward_order(code, tree)
    progress(0, 2, "solving")
    code.induce(order, tree.actors, tree.first, tree.child, tree.share, values, best)
    if len(order) < n:
        if seats != 2 or not tree.zero_sum:
            return None
        rest = np.setdiff1d(np.arange(n, dtype=order.dtype), order)[::-1].copy()
        iterate(code, tree, rest, values, best, off, progress)
    progress(2, 2, "solving")
    return GraphSolution.of(game, tree, values, best, off, cycles=len(order) < n)


def backward_order(code: Any, tree: Tree) -> Array:
    """Return the nodes whose games all end, each after all that can follow it."""
    counts = np.zeros(tree.nodes + 1, np.int64)
    code.count_parents(tree.child, counts[1:])
    before, order = np.cumsum(counts), np.zeros(tree.nodes, np.int32)
    parents, left = np.zeros(len(tree.child), np.int32), np.zeros(tree.nodes, np.int64)
    done = code.order_backward(tree.first, tree.child, before, parents, left, order)
    return order[:done]


def iterate(
    code: Any, tree: Tree, rest: Array, values: Array, best: Array, off: Array, progress: Progress
) -> None:  # fmt: skip
    """Bound the values of nodes from which play may go on for ever, which pays nothing.

    Whoever can make sure of a payoff that is not above 0 by moves that keep it, gets it however long the game is:
    so the largest such payoffs are a lower bound. From there on values are raised by what stands behind them, which
    stays a lower bound at every step. The same holds from above for the other seat.
    """
    links, scale = (tree.actors, tree.first, tree.child, tree.share), Scale.of(tree.payoffs[tree.ends])
    bounds, decided = [], []
    for sign in (1, -1):
        ignored, taken = np.full(tree.nodes, -1, np.int8), np.full(tree.nodes, -1, np.int8)
        bound = values[:, 0].copy()
        bound[rest] = 0.0
        capped = np.where(sign * bound > 0, 0.0, bound)
        kept = converge(code, rest, links, capped, -sign, ignored, scale, progress)
        bound[rest] = capped[rest] if kept <= 1e-12 * scale.largest else -sign * scale.largest
        code.safe_choices(rest, *links[:3], bound, 0 if sign > 0 else 1, ignored := np.full(tree.nodes, -1, np.int8))
        converge(code, rest, links, bound, sign, taken, scale, progress)
        # A decision that raised the bound leads on; where none did, one that keeps it.
        seat = 0 if sign > 0 else 1
        own = rest[tree.actors[rest] == seat]
        decided.append((own, np.where(taken[own] >= 0, taken[own], ignored[own])))
        bounds.append(bound)
    low, high = bounds
    for own, choice in decided:
        best[own] = choice
    off[rest] = np.maximum(0.0, high[rest] - low[rest]) / 2
    off[off <= TOLERANCE * scale.largest] = 0.0
    values[rest] = 0.0
    values[rest, 0], values[rest, 1] = (low[rest] + high[rest]) / 2, -(low[rest] + high[rest]) / 2
    ends = values[:, 2:].copy()  # wins and losses of both
    for _ in range(MAX_SWEEPS):
        if code.follow(rest, *links, best, ends) <= TOLERANCE:
            break
    values[:, 2:] = ends


def converge(
    code: Any, rest: Array, links: tuple[Array, ...], values: Array, sign: int, best: Array, scale: Scale,
    progress: Progress,
) -> float:  # fmt: skip
    """Sweep until values change no more; return the last change."""
    change = np.inf
    for at in range(MAX_SWEEPS):
        change = code.sweep(rest, *links, values, sign, best)
        if change <= 1e-15 * scale.largest:
            break
        if at % 64 == 0:
            progress(1, 2, "narrowing the bounds")
    return float(change)
