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

    # Generated from the game's options, from its policies, from its State and from its observation layout.
    def known(options: Any) -> Any: ...
    def decide(policy: int, v: Any, choices: int, word: int) -> int: ...
    def unpacked(options: Any, table: Any, row: int) -> Any: ...
    def pack(s: Any, table: Any, row: int) -> None: ...
    def turns_of(s: Any, changes: int) -> int: ...
    def show(s: Any, rows: Any, row: int) -> None: ...
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


class Rows(NamedTuple):
    """Many games in arrays, stepped together (`vector_games.py`): each has a row of every array."""

    numbers: Any  # the number of the game that is played
    table: Any  # its state, packed
    generators: Any
    actors: Any  # which seat is to decide, or OVER
    choices: Any  # its decisions as a set
    paid: Any  # what the last step brought each seat: nothing but at the end of a game
    ended: Any  # whether it ended a game
    truncated: Any  # whether that was the turn limit
    observations: Any  # what the seat to decide sees; has no columns where nobody asks
    masks: Any


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
    """Step the generator: xoroshiro with two words of 32 bits; a state's number is the sum of its words.

    The words are cut to 32 bits before they are turned, too: compiled, that is then one instruction.
    """
    a, b = g
    b = b ^ a
    turned = ((a << 26) | ((a & WORD) >> 6)) & WORD
    return (turned ^ b ^ ((b << 9) & WORD), ((b << 13) | ((b & WORD) >> 19)) & WORD)


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


def play_games(
    options: Any, policies: Policies | None, seed: int, first: int, last: int, most: int,
    opening: Any, sums: Any, wins: Any, reasons: Any, lengths: Any,
) -> None:  # fmt: skip
    """Play games number `first` to `last` - 1 and enter them into a tally.

    Each seat plays by its policy, which is given what the seat sees and nothing else; without policies all play at
    random, and the code for those is not compiled.
    """
    options = known(options)
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
                if policies is None or policies[actor] == 0:
                    action = nth(choices, (word * choices.bit_count()) >> 32)
                else:
                    action = decide(policies[actor], look(s, actor), choices, word)
                decisions += 1
                changes += actor != last_actor
                last_actor = actor
            s = apply(s, action)
            steps += 1
            actor = to_act(s)
        sums[N_GAMES] += 1
        sums[N_STEPS] += steps
        sums[N_DECISIONS] += decisions
        if actor != OVER:
            sums[N_UNFINISHED] += 1
            continue
        sums[N_LENGTH] += decisions
        sums[N_SQUARES] += decisions * decisions
        turns = turns_of(s, changes)
        sums[N_TURNS] += turns
        sums[N_TURN_SQUARES] += turns * turns
        reasons[reason(s)] += 1
        lengths[min(decisions, len(lengths) - 1)] += 1
        drawn_game = 1
        for seat in range(seats(options)):
            if payoff(s, seat) > 0:
                wins[seat] += 1
                drawn_game = 0
        sums[N_DRAWS] += drawn_game


def advance(options: Any, seed: int, apart: int, first: int, last: int, rows: Rows, actions: Any, begin: bool) -> int:
    """Apply the decision of each game that waits for one, or begin each game that does not; then let chance act.

    A game that is over stays so where `apart` is 0; else it is followed by the one whose number is so much higher.
    Chance alone can end a game (a hand that is dealt a sum of zero): it has no decision, and the next one follows
    unnoticed. Return the steps taken.
    """
    options = known(options)
    steps = 0
    for row in range(first, last):
        if begin == (rows.actors[row] >= 0):
            continue
        for seat in range(seats(options)):
            rows.paid[row, seat] = 0
        rows.ended[row] = rows.truncated[row] = False
        if begin:
            g = seeded(seed, int(rows.numbers[row]))
            s = start(options)
        else:
            g = (int(rows.generators[row, 0]), int(rows.generators[row, 1]))
            s = apply(unpacked(options, rows.table, row), int(actions[row]))
            steps += 1
        actor = to_act(s)
        played = not begin or apart == 0
        while actor < 0:
            if actor == CHANCE:
                g = next_state(g)
                s = apply(s, picked_outcome(s, g))
                steps += 1
            else:
                if played:
                    for seat in range(seats(options)):
                        rows.paid[row, seat] = payoff(s, seat)
                    rows.ended[row], rows.truncated[row] = True, own_cut(s) == 1
                    played = False
                if apart == 0:
                    break
                rows.numbers[row] += apart
                g = seeded(seed, int(rows.numbers[row]))
                s = start(options)
            actor = to_act(s)
        rows.generators[row, 0], rows.generators[row, 1] = g
        rows.actors[row] = actor
        rows.choices[row] = legal(s) if actor >= 0 else 0
        pack(s, rows.table, row)
        show(s, rows, row)
    return steps


def first_closed(actions: Any, first: int, last: int, rows: Rows) -> int:
    """Return the first row whose decision is not open there, or -1."""
    for row in range(first, last):
        if rows.actors[row] >= 0 and not (0 <= actions[row] < 62 and (rows.choices[row] >> actions[row]) & 1):
            return row
    return -1


def pick(actions: Any, first: int, last: int, rows: Rows) -> None:
    """Choose a decision at random in each game that waits for one."""
    for row in range(first, last):
        if rows.actors[row] >= 0:
            g = next_state((int(rows.generators[row, 0]), int(rows.generators[row, 1])))
            rows.generators[row, 0], rows.generators[row, 1] = g
            actions[row] = chosen(int(rows.choices[row]), word_of(g))


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
    sequences = 0
    while left:
        sequences += perft(apply(s, lowest(left)), depth - 1)
        left &= left - 1
    return sequences
