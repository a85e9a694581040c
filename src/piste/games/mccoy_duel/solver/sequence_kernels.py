"""The sequence form of a round of Duel between two, in the subset of Python that numba compiles.

A sequence of a seat is what it has chosen so far at each of its information sets. How a round ends depends on one
sequence of each seat and on chance. The round is enumerated once, along what everybody sees: all histories that look
alike to a spectator are expanded together. So an information set is complete when it gets its number, and what is
close in the round is close in the arrays. CFR+ and best responses then read these arrays and no rule.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from piste.core.bits import count, lowest, one
from piste.core.protocols import CHANCE, HIDDEN, SPECTATOR
from piste.games.mccoy_duel.rules import Options, State, apply_in_round, choices, to_act
from piste.games.mccoy_duel.solver.cfr_kernels import pack_node, unpack_node
from piste.games.mccoy_duel.solver.infoset_kernels import (
    KEY_COLUMN,
    certain_winner,
    distinct_choices,
    next_key,
    unpack,
)

MAX_OUTCOMES = 18  # of one history: there are no more cards between two

# Indices of the counters; of the last four there is one for each seat.
GROUP_COUNT, HISTORY_COUNT, EXPANDED_COUNT, END_COUNT, SIDE_COUNT, SEQUENCE_COUNT, SURE_COUNT = 0, 1, 2, 3, 5, 7, 9
COUNTERS = 11


class Histories(NamedTuple):
    """Histories that are still to be expanded."""

    states: Any  # as in the tree of CFR+: the state, and the infoset key of each seat
    sequences: Any  # the last sequence of each seat
    chances: Any  # the probability of all that chance did


class Side(NamedTuple):
    """The information sets of one seat, each after those that lead to it."""

    keys: Any
    parents: Any  # the sequence that leads to the infoset
    first: Any  # the first of its sequences; the next infoset's begin where they end
    sure: Any  # infosets in which a choice wins at once, not counted above: key, what leads there, the choice


class Ends(NamedTuple):
    """The ends of the round that one seat wins."""

    sequences: Any  # the last sequence of each seat
    chances: Any


class Workspace(NamedTuple):
    """Room to work in for one group of histories."""

    groups: Any  # where each group that is still to be expanded begins
    children: Histories
    numbers: Any  # of each history its infoset, of each child its group
    infosets: Any  # of each infoset its choices, those that win at once, and where its sequences begin
    sizes: Any  # of each group of children
    table: Any  # hash table: a key, the stamp that says whose it is, its number
    counters: Any


def number_of(table: Any, stamp: int, key: int, size: int) -> int:
    """Return the number of a key among those with this stamp; `size`, the next number, for a new one."""
    mask = table.shape[0] - 1
    slot = key & mask
    while table[slot, 1] == stamp:
        if table[slot, 0] == key:
            return int(table[slot, 2])
        slot = (slot + 1) & mask
    table[slot, 0], table[slot, 1], table[slot, 2] = key, stamp, size
    return size


def wins_at_once(s: State, action: int, seat: int) -> bool:
    """Say whether an action wins the round whatever chance does, before anybody chooses again."""
    s = apply_in_round(s, action)
    while is_forced(s):
        s = apply_in_round(s, lowest(choices(s)))
    if certain_winner(s) != HIDDEN or to_act(s) != CHANCE:
        return certain_winner(s) == seat
    left = choices(s)
    while left:
        if certain_winner(apply_in_round(s, lowest(left))) != seat:
            return False
        left &= left - 1
    return True


def is_forced(s: State) -> bool:
    """Say whether the round goes on in one way only, which everybody knows."""
    return certain_winner(s) == HIDDEN and to_act(s) == CHANCE and one(choices(s))


def add_root_histories(options: Options, rows: Any, weights: Any, histories: Histories, w: Workspace) -> None:
    """Begin with possible states that everybody knows, as one group."""
    for i in range(rows.shape[0]):
        s = unpack(options, rows[i])
        pack_node(histories.states, i, s, int(rows[i, KEY_COLUMN]), int(rows[i, KEY_COLUMN + 1]), 0)
        histories.sequences[i, 0] = histories.sequences[i, 1] = 0
        histories.chances[i] = weights[i]
    w.groups[0] = 0
    w.counters[GROUP_COUNT], w.counters[HISTORY_COUNT] = 1, rows.shape[0]
    w.counters[SEQUENCE_COUNT] = w.counters[SEQUENCE_COUNT + 1] = 1


def has_room(histories: Histories, sides: tuple[Side, Side], ends: tuple[Ends, Ends], w: Workspace, new: int) -> bool:
    """Say whether every array has room for this number of new entries."""
    c = w.counters
    fits: bool = (
        c[HISTORY_COUNT] + new <= histories.chances.shape[0]
        and c[GROUP_COUNT] + new <= w.groups.shape[0]
        and new <= w.children.chances.shape[0]
        and c[END_COUNT] + new <= ends[0].chances.shape[0]
        and c[END_COUNT + 1] + new <= ends[1].chances.shape[0]
        and c[SIDE_COUNT] + new < sides[0].first.shape[0]
        and c[SIDE_COUNT + 1] + new < sides[1].first.shape[0]
        and c[SURE_COUNT] + new <= sides[0].sure.shape[0]
        and c[SURE_COUNT + 1] + new <= sides[1].sure.shape[0]
    )
    return fits


def enumerate_round(
    options: Options, histories: Histories, sides: tuple[Side, Side], ends: tuple[Ends, Ends], w: Workspace, most: int
) -> None:
    """Expand groups of histories until none is left, an array has no room for one more, or `most` are done."""
    counters = w.counters
    for _ in range(most):
        if counters[GROUP_COUNT] == 0:
            return
        begin, end = int(w.groups[counters[GROUP_COUNT] - 1]), int(counters[HISTORY_COUNT])
        if not has_room(histories, sides, ends, w, (end - begin) * MAX_OUTCOMES):
            return
        counters[GROUP_COUNT] -= 1
        counters[EXPANDED_COUNT] += 1
        actor = to_act(unpack_node(options, histories.states, begin))
        if actor == 0:
            add_infosets(options, histories, sides[0], 0, begin, end, w)
        elif actor == 1:
            add_infosets(options, histories, sides[1], 1, begin, end, w)
        made = expand_group(options, histories, ends, actor, begin, end, w)
        replace_group(histories, begin, made, w)


def add_infosets(
    options: Options, histories: Histories, side: Side, seat: int, begin: int, end: int, w: Workspace
) -> None:
    """Number the infosets of the histories of a group, in which a seat is to decide.

    Where a choice wins at once whatever the seat does not know, no other is needed: nothing is better.
    """
    counters, size, stamp = w.counters, 0, 2 * int(w.counters[EXPANDED_COUNT])
    for at in range(begin, end):
        s = unpack_node(options, histories.states, at)
        i = number_of(w.table, stamp, int(histories.states[at, 2 + seat]), size)
        w.numbers[at - begin, 0] = i
        if i == size:
            size += 1
            w.infosets[i, 0] = w.infosets[i, 1] = distinct_choices(s)
            w.infosets[i, 2] = at
        left = int(w.infosets[i, 1])
        while left:
            action = lowest(left)
            left &= left - 1
            if not wins_at_once(s, action, seat):
                w.infosets[i, 1] &= ~(1 << action)
    for i in range(size):
        n, at = count(int(w.infosets[i, 0])), int(w.infosets[i, 2])
        if n > 1 and w.infosets[i, 1] != 0:
            choice, sure, n = lowest(int(w.infosets[i, 1])), int(counters[SURE_COUNT + seat]), 1
            w.infosets[i, 0] = 1 << choice
            side.sure[sure, 0], side.sure[sure, 1] = histories.states[at, 2 + seat], histories.sequences[at, seat]
            side.sure[sure, 2] = choice
            counters[SURE_COUNT + seat] = sure + 1
        w.infosets[i, 2] = histories.sequences[at, seat]
        if n > 1:
            infoset, sequence = int(counters[SIDE_COUNT + seat]), int(counters[SEQUENCE_COUNT + seat])
            side.keys[infoset] = histories.states[at, 2 + seat]
            side.parents[infoset] = histories.sequences[at, seat]
            side.first[infoset], side.first[infoset + 1] = sequence, sequence + n
            w.infosets[i, 2] = sequence
            counters[SIDE_COUNT + seat], counters[SEQUENCE_COUNT + seat] = infoset + 1, sequence + n


def expand_group(
    options: Options, histories: Histories, ends: tuple[Ends, Ends], actor: int, begin: int, end: int, w: Workspace
) -> int:
    """Write the children of a group, or the end that a seat wins; return the number of children."""
    children, made, groups, stamp = w.children, 0, 0, 2 * int(w.counters[EXPANDED_COUNT]) + 1
    for at in range(begin, end):
        s = unpack_node(options, histories.states, at)
        chance, step = histories.chances[at], 0
        first, second = int(histories.sequences[at, 0]), int(histories.sequences[at, 1])
        if actor == CHANCE:
            left = choices(s)
            chance /= count(left)
        else:
            infoset = w.numbers[at - begin, 0]
            left = int(w.infosets[infoset, 0])
            step = int(count(left) > 1)
            first = int(w.infosets[infoset, 2]) if actor == 0 else first
            second = int(w.infosets[infoset, 2]) if actor == 1 else second
        while left:
            action, before, forced = lowest(left), s, True
            left &= left - 1
            key0, key1, seen = int(histories.states[at, 2]), int(histories.states[at, 3]), 0
            while forced:
                after = apply_in_round(before, action)
                key0, key1 = next_key(key0, before, action, after, 0), next_key(key1, before, action, after, 1)
                seen = next_key(seen, before, action, after, SPECTATOR)
                before, forced = after, is_forced(after)
                action = lowest(choices(after)) if forced else HIDDEN
            winner = certain_winner(before)
            if winner == 0:
                add_end(ends[0], w.counters, 0, first, second, chance)
            elif winner == 1:
                add_end(ends[1], w.counters, 1, first, second, chance)
            else:
                pack_node(children.states, made, before, key0, key1, 0)
                children.sequences[made, 0], children.sequences[made, 1] = first, second
                children.chances[made] = chance
                group = number_of(w.table, stamp, seen, groups)
                if group == groups:
                    groups += 1
                    w.sizes[group] = 0
                w.sizes[group] += 1
                w.numbers[made, 1] = group
                made += 1
            first += step if actor == 0 else 0
            second += step if actor == 1 else 0
    w.sizes[groups] = 0
    return made


def add_end(ends: Ends, counters: Any, winner: int, first: int, second: int, chance: float) -> None:
    """Note an end of the round; outcomes of chance that follow the same sequences are one."""
    last = int(counters[END_COUNT + winner]) - 1
    if last >= 0 and ends.sequences[last, 0] == first and ends.sequences[last, 1] == second:
        ends.chances[last] += chance
        return
    ends.sequences[last + 1, 0], ends.sequences[last + 1, 1] = first, second
    ends.chances[last + 1] = chance
    counters[END_COUNT + winner] = last + 2


def replace_group(histories: Histories, begin: int, made: int, w: Workspace) -> None:
    """Put the children of the last group in its place, group by group."""
    place, group = begin, 0
    while w.sizes[group] > 0:
        w.groups[w.counters[GROUP_COUNT]] = place
        w.counters[GROUP_COUNT] += 1
        size = int(w.sizes[group])
        w.sizes[group] = place
        place += size
        group += 1
    w.counters[HISTORY_COUNT] = place
    for i in range(made):
        to = int(w.sizes[w.numbers[i, 1]])
        w.sizes[w.numbers[i, 1]] = to + 1
        for column in range(4):
            histories.states[to, column] = w.children.states[i, column]
        histories.sequences[to, 0] = w.children.sequences[i, 0]
        histories.sequences[to, 1] = w.children.sequences[i, 1]
        histories.chances[to] = w.children.chances[i]


def realize(side: Side, strategy: Any, tremble: float, plan: Any) -> None:
    """Write how often a seat goes along with each sequence, if each choice is played at least with `tremble`."""
    plan[0] = 1.0
    for infoset in range(side.parents.shape[0]):
        begin, end = side.first[infoset], side.first[infoset + 1]
        rest, least = plan[side.parents[infoset]], tremble * plan[side.parents[infoset]]
        rest -= least * (end - begin)
        for i in range(begin, end):
            plan[i] = rest * strategy[i] + least


def sum_ends(ends: Ends, seat: int, plan: Any, values: Any) -> None:
    """Write for each sequence of a seat how often the ends come right after it, by the plan of the other."""
    for i in range(values.shape[0]):
        values[i] = 0.0
    for i in range(ends.chances.shape[0]):
        values[ends.sequences[i, seat]] += ends.chances[i] * plan[ends.sequences[i, 1 - seat]]


def match_predicted_regrets(side: Side, values: Any, regret: Any, strategy: Any) -> None:
    """Take one step of predictive CFR+ (PCFR+): the next regrets are predicted to be the last ones again.

    `values` has what the sequences win at once and gets what they win with all that follows.
    """
    for infoset in range(side.parents.shape[0] - 1, -1, -1):
        begin, end = side.first[infoset], side.first[infoset + 1]
        value, total = 0.0, 0.0
        for i in range(begin, end):
            value += strategy[i] * values[i]
        for i in range(begin, end):
            regret[i] = max(0.0, regret[i] + values[i] - value)
            strategy[i] = max(0.0, regret[i] + values[i] - value)
            total += strategy[i]
        for i in range(begin, end):
            strategy[i] = strategy[i] / total if total > 0 else 1.0 / (end - begin)
        values[side.parents[infoset]] += value


def add_best_values(side: Side, values: Any) -> None:
    """Add to what each sequence wins at once what the best choices after it win."""
    for infoset in range(side.parents.shape[0] - 1, -1, -1):
        best = values[side.first[infoset]]
        for i in range(side.first[infoset] + 1, side.first[infoset + 1]):
            best = max(best, values[i])
        values[side.parents[infoset]] += best


def add_masses(side: Side, masses: Any) -> None:
    """Add to how often the round ends right after each sequence how often it ends later."""
    for infoset in range(side.parents.shape[0] - 1, -1, -1):
        masses[side.parents[infoset]] += masses[side.first[infoset]]  # the same for each choice
