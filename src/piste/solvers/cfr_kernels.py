"""CFR+ on the sequence form of a game between two, in the part of Python that numba compiles.

A *sequence* of a seat is one of its decisions in one of its information sets, together with all that it decided
before; 0 is the empty one. A seat's plan is the probability of each of its sequences, as far as it depends on that
seat. The game is then a list of entries: a sequence of each seat, and the payoff to the first seat times the
probability that chance plays its part.

The information sets of a seat are numbered in the order of the game, so that what comes later has a higher number.
Set `i` has the sequences `first[i]` to `first[i + 1] - 1` and comes after sequence `parent[i]`.
"""

from __future__ import annotations

from typing import Any


def payoff_by_sequence(own: Any, other: Any, amounts: Any, sign: int, plan: Any, values: Any) -> None:
    """Write what each sequence of a seat earns where the game ends right after it, against the plan of the other."""
    for i in range(values.shape[0]):
        values[i] = 0.0
    for entry in range(own.shape[0]):
        values[own[entry]] += sign * amounts[entry] * plan[other[entry]]


def respond(first: Any, parent: Any, values: Any) -> float:
    """Turn what sequences earn at once into what they earn with the best play after them; return that of the game."""
    for i in range(parent.shape[0] - 1, -1, -1):
        best = values[first[i]]
        for sequence in range(first[i] + 1, first[i + 1]):
            best = max(best, values[sequence])
        values[parent[i]] += best
    return float(values[0])


def update(first: Any, parent: Any, values: Any, regrets: Any, mix: Any, plan: Any, sums: Any, weight: float) -> None:
    """Update regrets by what sequences earn, then the strategy and its weighted sum of plans.

    The regret of the step just made is counted twice for the next strategy, as a prediction of the one to come: so it
    converges much faster, and what is bounded in the end is bounded by best responses, whatever led there.
    """
    for i in range(parent.shape[0] - 1, -1, -1):
        mean = 0.0
        for sequence in range(first[i], first[i + 1]):
            mean += mix[sequence] * values[sequence]
        values[parent[i]] += mean
        total = 0.0
        for sequence in range(first[i], first[i + 1]):
            regret = values[sequence] - mean
            regrets[sequence] = max(0.0, regrets[sequence] + regret)
            mix[sequence] = max(0.0, regrets[sequence] + regret)
            total += mix[sequence]
        for sequence in range(first[i], first[i + 1]):
            mix[sequence] = mix[sequence] / total if total > 0 else 1.0 / (first[i + 1] - first[i])
    for i in range(parent.shape[0]):
        for sequence in range(first[i], first[i + 1]):
            plan[sequence] = plan[parent[i]] * mix[sequence]
            sums[sequence] += weight * plan[sequence]
    sums[0] += weight


def average_plan(first: Any, parent: Any, mix: Any, sums: Any, shares: Any, plan: Any) -> None:
    """Write the average strategy, as shares in each information set and as a plan.

    Where a seat never came by its own play, its last strategy stands.
    """
    plan[0] = 1.0
    for i in range(parent.shape[0]):
        total = 0.0
        for sequence in range(first[i], first[i + 1]):
            total += sums[sequence]
        for sequence in range(first[i], first[i + 1]):
            shares[sequence] = sums[sequence] / total if total > 1e-200 else mix[sequence]
            plan[sequence] = plan[parent[i]] * shares[sequence]


def follow_tree(
    actors: Any, first: Any, child: Any, share: Any, sets: Any, offsets: Any, sequences: Any, chance: Any
) -> bool:
    """Write the last sequence of each seat at each node, and the probability that chance plays its part.

    `sets` is the information set of the node's actor, `offsets` has the first sequence of each set, seat by seat.
    Return False if a seat forgets what it did: then nodes of one set have come by different sequences.
    """
    chance[0] = 1.0
    for node in range(actors.shape[0]):
        actor = actors[node]
        for edge in range(first[node], first[node + 1]):
            after = child[edge]
            chance[after] += chance[node] * share[edge] if actor < 0 else chance[node]
            for seat in range(2):
                sequence = sequences[node, seat]
                if actor == seat:
                    sequence = offsets[seat, sets[node]] + edge - first[node]
                if sequences[after, seat] < 0:
                    sequences[after, seat] = sequence
                elif sequences[after, seat] != sequence:
                    return False
    return True


def value_nodes(
    actors: Any, first: Any, child: Any, share: Any, sets: Any, offsets: Any, one: Any, two: Any, values: Any
) -> None:
    """Work out what each node earns on average, from the last to the first; ends have their values already.

    `one` and `two` are the strategies, `values` has a column for each number that is to be averaged.
    """
    for node in range(actors.shape[0] - 1, -1, -1):
        actor = actors[node]
        for edge in range(first[node], first[node + 1]):
            part = share[edge]
            if actor == 0:
                part = one[offsets[0, sets[node]] + edge - first[node]]
            elif actor == 1:
                part = two[offsets[1, sets[node]] + edge - first[node]]
            for column in range(values.shape[1]):
                values[node, column] += part * values[child[edge], column]
