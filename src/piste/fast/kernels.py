"""Loops over any game, in the part of Python that numba compiles.

`bind` puts these functions into one namespace with a game's rules, so that `apply` here means that game's `apply`.
The stubs below are never called: they stand for the rules until then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from piste.core.bits import count, lowest, nth
from piste.core.contract import CHANCE, OVER

if TYPE_CHECKING:

    def start(options: Any) -> Any: ...
    def seats(options: Any) -> int: ...
    def to_act(s: Any) -> int: ...
    def legal(s: Any) -> int: ...
    def outcomes(s: Any) -> int: ...
    def weight(s: Any, outcome: int) -> int: ...
    def apply(s: Any, action: int) -> Any: ...
    def leave(s: Any, seat: int) -> Any: ...
    def payoff(s: Any, seat: int) -> int: ...
    def reason(s: Any) -> int: ...


WORD = 0xFFFFFFFF
"""The generator makes numbers of 32 bits."""


class Played(NamedTuple):
    """What one random game came to."""

    steps: int
    decisions: int
    payoffs: tuple[int, int, int, int]
    reason: int
    trace: int  # a number that changes if any step, choice or question had been another one
    left: int  # what the generator holds afterwards


def stirred(x: int) -> int:
    """Return 32 bits that depend on every bit of x: two rounds of multiply and shift, below 2**62."""
    x = (x ^ (x >> 16)) & WORD
    x = (x * 0x21F0AAAD) & WORD
    x = x ^ (x >> 15)
    x = (x * 0x35A2D297) & WORD
    return x ^ (x >> 15)


def seeded(seed: int) -> tuple[int, int]:
    """Return a generator's first state: two words, never both 0."""
    low, high = seed & WORD, (seed >> 32) & WORD
    a = stirred(low ^ stirred(high ^ 0x2545F491))
    return (a, stirred(a ^ 0x6C078965) | 1)


def next_state(g: tuple[int, int]) -> tuple[int, int]:
    """Step the generator: xoroshiro with two words of 32 bits; a state's number is the sum of its words."""
    a, b = g
    b = b ^ a
    turned = ((a << 26) | (a >> 6)) & WORD
    return (turned ^ b ^ ((b << 9) & WORD), ((b << 13) | (b >> 19)) & WORD)


def below(g: tuple[int, int], n: int) -> int:
    """Return a number from 0 to n - 1; uneven by less than n in 2**32, which no count here could show."""
    return (((g[0] + g[1]) & WORD) * n) >> 32


def picked_outcome(s: Any, g: tuple[int, int]) -> int:
    possible = outcomes(s)
    total = 0
    left = possible
    while left:
        total += weight(s, lowest(left))
        left &= left - 1
    at = below(g, total)
    left = possible
    while True:
        outcome = lowest(left)
        at -= weight(s, outcome)
        if at < 0:
            return outcome
        left &= left - 1


def playout(options: Any, seed: int, most: int, leaving: int) -> Played:
    """Play one game at random, at most `most` steps; at each decision a seat leaves once in 1024 / leaving."""
    s = start(options)
    g = seeded(seed)
    steps = 0
    decisions = 0
    trace = 0
    actor = to_act(s)
    while actor != OVER and steps < most:
        g = next_state(g)
        if actor == CHANCE:
            action = picked_outcome(s, g)
            trace = (trace * 31 + outcomes(s) % 1000003 + action) & WORD
            s = apply(s, action)
        else:
            choices = legal(s)
            action = nth(choices, below(g, count(choices)))
            trace = (trace * 37 + choices % 1000003 + action + actor) & WORD
            decisions += 1
            if (g[0] & 1023) < leaving:
                s = leave(s, below(g, seats(options)))
                leaving = 0
            else:
                s = apply(s, action)
        steps += 1
        actor = to_act(s)
    n = seats(options)
    paid = (payoff(s, 0), payoff(s, 1), payoff(s, 2) if n > 2 else 0, payoff(s, 3) if n > 3 else 0)
    return Played(steps, decisions, paid, reason(s), trace, (g[0] << 29) ^ g[1])


def perft(s: Any, depth: int) -> int:
    """Return how many different sequences of `depth` steps, decisions and outcomes alike, begin at s."""
    if depth == 0:
        return 1
    actor = to_act(s)
    if actor == OVER:
        return 0
    left = outcomes(s) if actor == CHANCE else legal(s)
    found = 0
    while left:
        found += perft(apply(s, lowest(left)), depth - 1)
        left &= left - 1
    return found
