"""Kernels of `rl/vector_env.py`: many games in arrays, with observations, masks and rewards.

A step of a game is its decision and all the chance that follows; then the observation of the seat to act is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from piste.core.observation import put_flags
from piste.core.protocols import CHANCE, OVER

if TYPE_CHECKING:
    from piste.compiled.kernels import (
        apply,
        encode,
        legal,
        look,
        next_state,
        own_cut,
        pack,
        payoff,
        picked_outcome,
        seats,
        seeded,
        start,
        to_act,
        unpacked,
    )


def opened(options: Any, seed: int, number: int, apart: int) -> tuple[Any, tuple[int, int], int, int]:
    """Deal game `number`, or the first one `apart` numbers further on in which somebody has something to decide.

    Return it, with its generator, its number and the steps taken. Chance alone can end a game (a hand that is dealt a
    sum of zero): it has no decision.
    """
    steps = 0
    while True:
        g = seeded(seed, number)
        s = start(options)
        actor = to_act(s)
        while actor == CHANCE:
            g = next_state(g)
            s = apply(s, picked_outcome(s, g))
            steps += 1
            actor = to_act(s)
        if actor != OVER:
            return s, g, number, steps
        number += apart


def open_all(
    options: Any, seed: int, apart: int, first: int, last: int,
    numbers: Any, table: Any, generators: Any, actors: Any, choices: Any, seen: Any, masks: Any,
) -> int:  # fmt: skip
    """Open a game in each row and show what the seat to act sees and may do; return the steps taken."""
    steps = 0
    for row in range(first, last):
        s, g, numbers[row], taken = opened(options, seed, int(numbers[row]), apart)
        steps += taken
        generators[row, 0], generators[row, 1] = g
        pack(s, table, row)
        show(s, row, actors, choices, seen, masks)
    return steps


def show(s: Any, row: int, actors: Any, choices: Any, seen: Any, masks: Any) -> None:
    """Write who is to act, what that seat sees and what it may do."""
    actor, left = to_act(s), legal(s)
    actors[row], choices[row] = actor, left
    encode(look(s, actor), seen, row)
    put_flags(masks, row, 0, masks.shape[1], left)


def play(
    options: Any, seed: int, apart: int, actions: Any, first: int, last: int, numbers: Any,
    table: Any, generators: Any, actors: Any, choices: Any, seen: Any, masks: Any, paid: Any, ended: Any,
) -> int:  # fmt: skip
    """Apply each game's decision and the chance after it, open the next game where one is over, and show it.

    `paid` is what the decision brought each seat: nothing but at the end; `ended` is 1 then, 2 if a limit cut it off.
    """
    n = seats(options)
    steps = 0
    for row in range(first, last):
        s = apply(unpacked(options, table, row), int(actions[row]))
        g = (int(generators[row, 0]), int(generators[row, 1]))
        steps += 1
        while to_act(s) == CHANCE:
            g = next_state(g)
            s = apply(s, picked_outcome(s, g))
            steps += 1
        over = to_act(s) == OVER
        for seat in range(n):
            paid[row, seat] = payoff(s, seat)
        ended[row] = 0
        if over:
            ended[row] = 1 + own_cut(s)
            s, g, numbers[row], taken = opened(options, seed, int(numbers[row]) + apart, apart)
            steps += taken
        generators[row, 0], generators[row, 1] = g
        pack(s, table, row)
        show(s, row, actors, choices, seen, masks)
    return steps
