"""Information set Monte Carlo tree search (ISMCTS) of a round of Duel: tables, stages and results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from piste.core.bits import count, nth
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import Options
from piste.games.mccoy_duel.solver import infoset_kernels, infosets, ismcts_kernels
from piste.games.mccoy_duel.solver.infosets import Array, PossibleStates

EXPLORATION = 1.0  # the constant of UCB1: smaller ones miss strong first plays
TABLE_SIZE = 1 << 17  # information sets
UNCOMPILED_SLOWDOWN = 100  # without numba everything takes about this many times as long: search less by as much


Tables = tuple[Array, Array, Array]
Stages = tuple[tuple[int, float], ...]
"""Passes and exploration of each stage."""


class SearchResult(NamedTuple):
    """Of each choice of the root its visits and wins, and the rounds that each seat won."""

    choices: tuple[int, ...]
    visits: Array
    wins: Array
    round_wins: Array


def search(options: Options, states: PossibleStates, seat: int, key: int, passes: int, seed: int) -> SearchResult:
    """Search from possible states; the choices are those of a seat in the infoset `key`."""
    return search_stages(options, states, seat, key, ((passes, EXPLORATION),), seed, TABLE_SIZE)[0]


def search_stages(
    options: Options, states: PossibleStates, seat: int, key: int, stages: Stages, seed: int, table_size: int
) -> list[SearchResult]:
    """Search in stages over one table; return the result of each stage by itself."""
    keys, visits, wins = empty_tables(table_size)
    s = infoset_kernels.unpack(options, states.rows[0])
    left = infoset_kernels.distinct_choices(s) if seat >= 0 and rules.to_act(s) == seat else 0
    choices = tuple(nth(left, i) for i in range(count(left)))
    before = np.zeros((2, len(choices)), np.int64)
    results = []
    for i, (passes, exploration) in enumerate(stages):
        round_wins = np.zeros(4, np.int64)
        run(options, states, passes, seed ^ i, exploration, (keys, visits, wins), round_wins)
        slot = ismcts_kernels.table_slot(keys, key | 1)
        now = np.array((visits[slot, : len(choices)], wins[slot, : len(choices)]), np.int64)
        results.append(SearchResult(choices, now[0] - before[0], now[1] - before[1], round_wins))
        before = now
    return results


def run(
    options: Options, states: PossibleStates, passes: int, seed: int, exploration: float, tables: Tables, won: Array
) -> None:
    """Make passes over tables; `won` counts the rounds that each seat wins."""
    path, keys = np.zeros((infoset_kernels.MAX_ROUND_STEPS, 3), np.int64), np.zeros(4, np.int64)
    infosets.kernels().run_ismcts(
        options, states.rows, states.sums, passes, seed, exploration, *tables, won, path, keys
    )


def empty_tables(size: int) -> Tables:
    """Return hash tables for information sets: their keys, and the visits and wins of each choice."""
    shape = (size, infoset_kernels.MAX_CHOICES)
    return np.zeros(size, np.int64), np.zeros(shape, np.int32), np.zeros(shape, np.int32)
