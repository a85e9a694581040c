"""Kernels of `vector_games.py`: many games in arrays, stepped together.

A game is a row of a table of numbers; `codegen.py` generates `unpacked` and `pack` from the game's State. A step of a
game is its decision and all the chance that follows, up to the next decision or the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from piste.core.protocols import CHANCE, OVER

if TYPE_CHECKING:
    from piste.compiled.kernels import (
        apply,
        chosen,
        legal,
        next_state,
        pack,
        payoff,
        picked_outcome,
        seats,
        seeded,
        start,
        to_act,
        unpacked,
        word_of,
    )


def ready(
    s: Any, steps: int, row: int, table: Any, generators: Any, actors: Any, choices: Any, paid: Any, n: int
) -> int:
    """Let chance act until a seat is to decide or the game is over; write the game back; return the steps taken."""
    g = (int(generators[row, 0]), int(generators[row, 1]))
    actor = to_act(s)
    while actor == CHANCE:
        g = next_state(g)
        s = apply(s, picked_outcome(s, g))
        steps += 1
        actor = to_act(s)
    generators[row, 0], generators[row, 1] = g
    actors[row] = actor
    choices[row] = legal(s) if actor >= 0 else 0
    if actor == OVER:
        for seat in range(n):
            paid[row, seat] = payoff(s, seat)
    pack(s, table, row)
    return steps


def begin(
    options: Any, seed: int, numbers: Any, rows: Any, first: int, last: int,
    table: Any, generators: Any, actors: Any, choices: Any, paid: Any,
) -> int:  # fmt: skip
    """Start a new game in each of these rows, under the number given for it; return the steps taken."""
    n = seats(options)
    steps = 0
    for i in range(first, last):
        row = rows[i]
        generators[row, 0], generators[row, 1] = seeded(seed, int(numbers[row]))
        for seat in range(n):
            paid[row, seat] = 0
        steps = ready(start(options), steps, row, table, generators, actors, choices, paid, n)
    return steps


def step(
    options: Any, actions: Any, first: int, last: int,
    table: Any, generators: Any, actors: Any, choices: Any, paid: Any,
) -> int:  # fmt: skip
    """Apply each game's decision and the chance after it; a game that is over stays. Return the steps taken."""
    n = seats(options)
    steps = 0
    for row in range(first, last):
        if actors[row] >= 0:
            s = apply(unpacked(options, table, row), int(actions[row]))
            steps = ready(s, steps + 1, row, table, generators, actors, choices, paid, n)
    return steps


def first_closed(actions: Any, first: int, last: int, actors: Any, choices: Any) -> int:
    """Return the first row whose decision is not open there, or -1."""
    for row in range(first, last):
        if actors[row] >= 0 and not (0 <= actions[row] < 62 and (choices[row] >> actions[row]) & 1):
            return row
    return -1


def pick(actions: Any, first: int, last: int, generators: Any, actors: Any, choices: Any) -> None:
    """Choose a decision at random in each game that waits for one."""
    for row in range(first, last):
        if actors[row] >= 0:
            g = next_state((int(generators[row, 0]), int(generators[row, 1])))
            generators[row, 0], generators[row, 1] = g
            actions[row] = chosen(int(choices[row]), word_of(g))
