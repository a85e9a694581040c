"""One random game as a kernel: its results, and a number that changes with any step on the way."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from piste.compiled import kernels
from piste.compiled.compiler import link_modules
from piste.core import bits
from piste.core.game import Game
from piste.core.protocols import CHANCE, OVER

if TYPE_CHECKING:
    from piste.compiled.kernels import (
        WORD,
        apply,
        below,
        chosen,
        leave,
        legal,
        next_state,
        outcomes,
        payoff,
        picked_outcome,
        reason,
        seats,
        seeded,
        start,
        to_act,
        word_of,
    )


class Played(NamedTuple):
    """What one random game came to."""

    steps: int
    decisions: int
    payoffs: tuple[int, int, int, int]
    reason: int
    trace: int  # a number that changes if any step, choice or question had been another one
    left: int  # what the generator holds afterwards


def playout(options: Any, seed: int, number: int, most: int, leaving: int) -> Played:
    """Play one game at random, at most `most` steps; at each decision a seat leaves once in 1024 / leaving."""
    s = start(options)
    g = seeded(seed, number)
    steps = 0
    decisions = 0
    trace = 0
    actor = to_act(s)
    while actor != OVER and steps < most:
        g = next_state(g)
        word = word_of(g)
        if actor == CHANCE:
            action = picked_outcome(s, g)
            trace = (trace * 31 + outcomes(s) % 1000003 + action) & WORD
            s = apply(s, action)
        else:
            choices = legal(s)
            action = chosen(choices, word)
            trace = (trace * 37 + choices % 1000003 + action + actor) & WORD
            decisions += 1
            if (g[0] & 1023) < leaving:
                s = leave(s, below(word, seats(options)))
                leaving = 0
            else:
                s = apply(s, action)
        steps += 1
        actor = to_act(s)
    n = seats(options)
    paid = (payoff(s, 0), payoff(s, 1), payoff(s, 2) if n > 2 else 0, payoff(s, 3) if n > 3 else 0)
    return Played(steps, decisions, paid, reason(s), trace, (g[0] << 29) ^ g[1])


def playout_of(game: Game, *, compiled: bool) -> Any:
    """Return `playout` for a game's rules."""
    rules = game.rules
    assert isinstance(rules, ModuleType)
    return link_modules(rules, kernels, sys.modules[__name__], compiled=compiled, inline=(bits, rules)).playout
