"""Loops over any game, in the part of Python that numba compiles.

`compiler.game_kernels` links these functions with a game's rules, so that `apply` here means that game's `apply`. The
stubs below are never called: they declare the rules, and what `codegen.py` generates from a game's types.

A game is identified by a seed and a number, so that a million games can be shared among threads in any way and are
the same games. A step is one decision or one chance outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from piste.core.bits import count, lowest, nth
from piste.core.protocols import CHANCE, OVER

if TYPE_CHECKING:

    def start(options: Any) -> Any: ...
    def seats(options: Any) -> int: ...
    def to_act(s: Any) -> int: ...
    def legal(s: Any) -> int: ...
    def outcomes(s: Any) -> int: ...
    def weight(s: Any, outcome: int) -> int: ...
    def spread(s: Any) -> int: ...
    def drawn(s: Any, at: int) -> int: ...
    def apply(s: Any, action: int) -> Any: ...
    def leave(s: Any, seat: int) -> Any: ...
    def payoff(s: Any, seat: int) -> int: ...
    def reason(s: Any) -> int: ...
    def look(s: Any, seat: int) -> Any: ...

    # Generated from the game's policies, from its State and from its observation layout.
    def decide(policy: int, v: Any, choices: int, word: int) -> int: ...
    def unpacked(options: Any, table: Any, row: int) -> Any: ...
    def pack(s: Any, table: Any, row: int) -> None: ...
    def turns_of(s: Any, changes: int) -> int: ...
    def encode(v: Any, lines: Any, row: int) -> int: ...
    def own_cut(s: Any) -> int: ...


WORD = 0xFFFFFFFF
"""The generator makes numbers of 32 bits."""

OPENING = 1 << 16
"""With no more equally likely cards than this at the start, what each of them is gets looked up beforehand."""

Generator = tuple[int, int]
Policies = tuple[int, int, int, int]

# What a tally's rows of counts hold, apart from those for each seat, each reason and each length.
N_GAMES, N_UNFINISHED, N_DRAWS, N_STEPS, N_DECISIONS, N_LENGTH, N_SQUARES = 0, 1, 2, 3, 4, 5, 6
N_TURNS, N_TURN_SQUARES = 7, 8
N_COUNTS = 9


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


def seeded(seed: int, number: int = 0) -> Generator:
    """Return the first state of the generator of a game: two words, never both 0, different for each game."""
    one = stirred((seed & WORD) ^ stirred(((seed >> 32) & WORD) ^ 0x2545F491))
    other = stirred(one ^ 0x6C078965)
    a = stirred((number & WORD) ^ one)
    return (a, stirred(a ^ ((number >> 32) & WORD) ^ other) | 1)


def next_state(g: Generator) -> Generator:
    """Step the generator: xoroshiro with two words of 32 bits; a state's number is the sum of its words."""
    a, b = g
    b = b ^ a
    turned = ((a << 26) | (a >> 6)) & WORD
    return (turned ^ b ^ ((b << 9) & WORD), ((b << 13) | (b >> 19)) & WORD)


def word_of(g: Generator) -> int:
    return (g[0] + g[1]) & WORD


def below(word: int, n: int) -> int:
    """Return a number from 0 to n - 1; uneven by less than n in 2**32, which no count here could show."""
    return (word * n) >> 32


def chosen(choices: int, word: int) -> int:
    """Return one of the choices, all equally likely."""
    return nth(choices, below(word, count(choices)))


def picked_outcome(s: Any, g: Generator) -> int:
    """Return what chance brings."""
    return drawn(s, below(word_of(g), spread(s)))


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


def opening_size(options: Any) -> int:
    """Return how long the table of the opening is: 0 where there is none."""
    s = start(options)
    if to_act(s) != CHANCE:
        return 0
    size = spread(s)
    return size if size <= OPENING else 0


def fill_opening(options: Any, opening: Any) -> None:
    """Look up what each card of the first draw is; for some games that is the dearest draw of all."""
    s = start(options)
    at = 0
    while at < len(opening):
        outcome = drawn(s, at)
        for _ in range(weight(s, outcome)):
            opening[at] = outcome
            at += 1


def note(
    s: Any, n: int, steps: int, decisions: int, changes: int, sums: Any, wins: Any, reasons: Any, lengths: Any
) -> None:
    """Enter a game into a tally."""
    sums[N_GAMES] += 1
    sums[N_STEPS] += steps
    sums[N_DECISIONS] += decisions
    if to_act(s) != OVER:
        sums[N_UNFINISHED] += 1
        return
    sums[N_LENGTH] += decisions
    sums[N_SQUARES] += decisions * decisions
    turns = turns_of(s, changes)
    sums[N_TURNS] += turns
    sums[N_TURN_SQUARES] += turns * turns
    reasons[reason(s)] += 1
    lengths[min(decisions, len(lengths) - 1)] += 1
    drawn_game = 1
    for seat in range(n):
        if payoff(s, seat) > 0:
            wins[seat] += 1
            drawn_game = 0
    sums[N_DRAWS] += drawn_game


def random_games(
    options: Any, seed: int, first: int, last: int, most: int,
    opening: Any, sums: Any, wins: Any, reasons: Any, lengths: Any,
) -> None:  # fmt: skip
    """Play games number `first` to `last` - 1 at random and enter them into a tally."""
    n = seats(options)
    for number in range(first, last):
        g = seeded(seed, number)
        s = start(options)
        steps = 0
        decisions = 0
        changes = 0
        last_actor = CHANCE
        if len(opening) > 0:
            g = next_state(g)
            s = apply(s, opening[below(word_of(g), len(opening))])
            steps = 1
        actor = to_act(s)
        while actor != OVER and steps < most:
            g = next_state(g)
            # As `word_of`, `below` and `chosen` have it, but written out: interpreted, calls are what costs most.
            word = (g[0] + g[1]) & WORD
            if actor == CHANCE:
                action = drawn(s, (word * spread(s)) >> 32)
            else:
                choices = legal(s)
                action = nth(choices, (word * choices.bit_count()) >> 32)
                decisions += 1
                changes += actor != last_actor
                last_actor = actor
            s = apply(s, action)
            steps += 1
            actor = to_act(s)
        note(s, n, steps, decisions, changes, sums, wins, reasons, lengths)


def policy_games(
    options: Any, policies: Policies, seed: int, first: int, last: int, most: int,
    opening: Any, sums: Any, wins: Any, reasons: Any, lengths: Any,
) -> None:  # fmt: skip
    """Play games like `random_games`, each seat by its policy, which is given what the seat sees and nothing else."""
    n = seats(options)
    for number in range(first, last):
        g = seeded(seed, number)
        s = start(options)
        steps = 0
        decisions = 0
        changes = 0
        last_actor = CHANCE
        actor = to_act(s)
        while actor != OVER and steps < most:
            g = next_state(g)
            word = word_of(g)
            if actor == CHANCE:
                size = len(opening) if steps == 0 else 0
                action = int(opening[below(word, size)]) if size > 0 else drawn(s, below(word, spread(s)))
            else:
                if policies[actor] == 0:
                    action = chosen(legal(s), word)
                else:
                    action = decide(policies[actor], look(s, actor), legal(s), word)
                decisions += 1
                changes += actor != last_actor
                last_actor = actor
            s = apply(s, action)
            steps += 1
            actor = to_act(s)
        note(s, n, steps, decisions, changes, sums, wins, reasons, lengths)


def perft(s: Any, depth: int) -> int:
    """Return how many different sequences of `depth` steps, decisions and outcomes alike, begin at s."""
    if depth == 0:
        return 1
    actor = to_act(s)
    if actor == OVER:
        return 0
    left = outcomes(s) if actor == CHANCE else legal(s)
    if depth == 1:
        return count(left)
    found = 0
    while left:
        found += perft(apply(s, lowest(left)), depth - 1)
        left &= left - 1
    return found
