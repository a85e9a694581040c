"""Backward induction and value iteration on the graph of a game's states, in the part of Python that numba compiles.

Between two, values are payoffs of the first seat. What never ends pays nothing.
"""

from __future__ import annotations

from typing import Any

UNKNOWN = -1


def count_parents(child: Any, counts: Any) -> None:
    """Count how many edges lead to each node."""
    for edge in range(child.shape[0]):
        counts[child[edge]] += 1


def order_backward(first: Any, child: Any, before: Any, parents: Any, left: Any, order: Any) -> int:
    """Write the nodes whose games all end, each after all that can follow it; return how many there are.

    `before` and `parents` get the edges the other way round; `left` is room for a count.
    """
    n = first.shape[0] - 1
    for node in range(n):
        left[node] = before[node + 1]  # where the parents of a node are written next
    for node in range(n):
        for edge in range(first[node], first[node + 1]):
            left[child[edge]] -= 1
            parents[left[child[edge]]] = node
    done = 0
    for node in range(n):
        left[node] = first[node + 1] - first[node]
        if left[node] == 0:
            order[done] = node
            done += 1
    at = 0
    while at < done:
        node = order[at]
        for i in range(before[node], before[node + 1]):
            parent = parents[i]
            left[parent] -= 1
            if left[parent] == 0:
                order[done] = parent
                done += 1
        at += 1
    return done


def induce(order: Any, actors: Any, first: Any, child: Any, share: Any, values: Any, best: Any) -> None:
    """Give each node of an order the values of its best decision for the seat that takes it, or the mean of chance.

    The first columns of `values` are the payoffs of the seats; what stands behind them is carried along.
    """
    for at in range(order.shape[0]):
        node = order[at]
        actor = actors[node]
        if first[node] == first[node + 1]:
            continue
        if actor >= 0:
            chosen_edge = first[node]
            for edge in range(first[node] + 1, first[node + 1]):
                if values[child[edge], actor] > values[child[chosen_edge], actor] + 1e-12:
                    chosen_edge = edge
            best[node] = chosen_edge - first[node]
            for column in range(values.shape[1]):
                values[node, column] = values[child[chosen_edge], column]
        else:
            for column in range(values.shape[1]):
                mean = 0.0
                for edge in range(first[node], first[node + 1]):
                    mean += share[edge] * values[child[edge], column]
                values[node, column] = mean


def backed_up(node: int, actors: Any, first: Any, child: Any, share: Any, values: Any) -> float:
    """Return what a node is worth to the first seat, from the values of those after it."""
    actor = actors[node]
    if actor < 0:
        mean = 0.0
        for edge in range(first[node], first[node + 1]):
            mean += share[edge] * values[child[edge]]
        return mean
    value = float(values[child[first[node]]])
    for edge in range(first[node] + 1, first[node + 1]):
        after = float(values[child[edge]])
        value = max(value, after) if actor == 0 else min(value, after)
    return value


def sweep(nodes: Any, actors: Any, first: Any, child: Any, share: Any, values: Any, sign: int, best: Any) -> float:
    """Move values up (`sign` 1) or down (-1) to what stands behind them; return the largest change.

    `best` gets the decision that moved a value of the seat that wants it to move: to take it leads on, where another
    one of the same value might lead in a circle.
    """
    change = 0.0
    for i in range(nodes.shape[0]):
        node = nodes[i]
        value = backed_up(node, actors, first, child, share, values)
        moved = sign * (value - values[node])
        if moved > 1e-15:
            change = max(change, moved)
            values[node] = value
            if actors[node] == (0 if sign > 0 else 1):
                for edge in range(first[node], first[node + 1]):
                    if values[child[edge]] == value:
                        best[node] = edge - first[node]
                        break
    return change


def safe_choices(nodes: Any, actors: Any, first: Any, child: Any, values: Any, seat: int, best: Any) -> None:
    """Write a decision that keeps the value, for the nodes of a seat that have none yet."""
    for i in range(nodes.shape[0]):
        node = nodes[i]
        if actors[node] == seat and best[node] == UNKNOWN:
            chosen_edge = first[node]
            for edge in range(first[node] + 1, first[node + 1]):
                more = values[child[edge]] - values[child[chosen_edge]]
                if (more if seat == 0 else -more) > 0:
                    chosen_edge = edge
            best[node] = chosen_edge - first[node]


def follow(nodes: Any, actors: Any, first: Any, child: Any, share: Any, best: Any, values: Any) -> float:
    """Carry columns of values one step back along the chosen decisions; return the largest change."""
    change = 0.0
    for i in range(nodes.shape[0]):
        node = nodes[i]
        for column in range(values.shape[1]):
            value = 0.0
            if actors[node] >= 0:
                value = float(values[child[first[node] + best[node]], column])
            else:
                for edge in range(first[node], first[node + 1]):
                    value += share[edge] * values[child[edge], column]
            change = max(change, abs(value - values[node, column]))
            values[node, column] = value
    return change
