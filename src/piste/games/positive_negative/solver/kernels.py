"""Positive-Negative: backward induction over sets of cards, in the part of Python that numba compiles.

A row belongs to the set of cards in the deck and holds a value for each lead from -half to half, from -1 (lost) to 1
(won); past that the game is decided. Leads are those of the player who has just moved or is in the middle of a turn.
Beside each row stands one with the chance of a draw if both play as the solver does, which keeps the card where both
decisions are worth the same. There are two kinds of rows; each follows from those of the sets with one card less:

    after_turn[deck][lead]      the turn is over, and the other player is to draw
    after_discard[deck][lead]   the first card was discarded; the next one is drawn and must be added

`points` are the values of the cards by bit, `swings` by how much each set can change a lead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from piste.core.bits import count, lowest

Array = Any

# Indices are unsigned in the inner loops: a signed one may count from the end, and the compiler then cannot vectorise
# over the leads.
Index = np.uint64

TIE = 1e-12
"""Values this near to each other are equal: floating-point sums differ in the last digits."""


# Columns of `offsets`: where the rows of a set begin, and their halves; together, so that one cache line has them.
AT, HALF, DISCARD_AT, DISCARD_HALF = 0, 1, 2, 3


def fill_swings(points: Array, swings: Array) -> None:
    """Fill `swings` with how much each set can change a lead."""
    swings[0] = 0
    for cards in range(1, len(swings)):
        swings[cards] = swings[cards & (cards - 1)] + abs(points[lowest(cards)])


def next_set(cards: int) -> int:
    """Return the next larger number with as many bits; the empty set has no next one."""
    if cards == 0:
        return 1 << 61
    low = cards & -cards
    up = cards + low
    return up | (((cards ^ up) // low) >> 2)


def max_lead(swings: Array, lead: int, cards: int) -> int:
    """Return the largest lead that matters: one that the cards gone can have made and those left can turn round."""
    left = int(swings[cards])
    return min(left, lead + int(swings[len(swings) - 1]) - left)


def first_set(size: int, part: int, low: int) -> int:
    """Return the first set of this size in a part of them: that with these cards from number `low` up."""
    return (part << low) | ((1 << (size - count(part))) - 1)


def row_space(size: int, part: int, low: int, lead: int, swings: Array) -> int:
    """Return how many values the rows of the sets of this size in a part can need."""
    length = 0
    cards = first_set(size, part, low)
    while cards >> low == part:
        length += 2 * max_lead(swings, lead, cards) + 1
        cards = next_set(cards)
    return length


def add_range(total: Array, total_draw: Array, low: int, high: int, row: Array, row_draw: Array, at: int) -> None:
    """Add part of a row, from `at` on, to total[low..high - 1]."""
    for i in range(Index(high - low)):
        total[Index(low) + i] += row[Index(at) + i]
    for i in range(Index(high - low)):
        total_draw[Index(low) + i] += row_draw[Index(at) + i]


def add_max_range(
    total: Array, total_draw: Array, low: int, high: int,
    after_turn: Array, after_turn_draw: Array, at: int,
    after_discard: Array, after_discard_draw: Array, discard_at: int,
) -> None:  # fmt: skip
    """Add the better of parts of two rows to total[low..high - 1], and the chance of a draw that goes with it."""
    # Everything is read before anything is chosen, so that the compiler vectorises over the leads.
    for i in range(Index(high - low)):
        keep, keep_draw = after_turn[Index(at) + i], after_turn_draw[Index(at) + i]
        discard, discard_draw = after_discard[Index(discard_at) + i], after_discard_draw[Index(discard_at) + i]
        keeps = keep >= discard - TIE
        total[Index(low) + i] += keep if keeps else discard
        total_draw[Index(low) + i] += keep_draw if keeps else discard_draw


def clear_range(total: Array, total_draw: Array, low: int, high: int) -> None:
    """Make total[low..high - 1] zero."""
    for i in range(Index(low), Index(high)):
        total[i] = 0.0
    for i in range(Index(low), Index(high)):
        total_draw[i] = 0.0


def add_steps(total: Array, steps: Array, low: int, high: int) -> None:
    """Add what is decided, the prefix sum of the steps, and reset the steps."""
    prefix = 0
    for i in range(Index(low), Index(high)):
        prefix += steps[i]
        total[i] += prefix
        steps[i] = 0
    steps[high] = 0


def undecided(total: Array, middle: int, half: int, size: int) -> int:
    """Return the largest lead up to half at which the sum of so many values is not all won or all lost."""
    while half >= 0 and total[middle + half] == size and total[middle - half] == -size:
        half -= 1
    return max(half, 0)


def fill_rows(
    points: Array, size: int, part: int, low: int, lead: int, swings: Array, offsets: Array,
    after_turn: Array, after_turn_draw: Array, after_discard: Array, after_discard_draw: Array, start: int,
) -> int:  # fmt: skip
    """Fill in the rows of the sets of this size in a part, from those with one card less, both kinds from `start` on.

    Return where the `after_turn` rows end.
    """
    middle = int(swings[len(swings) - 1])
    total, total_draw = np.empty(2 * middle + 1), np.empty(2 * middle + 1, np.float32)
    discard_total, discard_total_draw = np.empty(2 * middle + 1), np.empty(2 * middle + 1, np.float32)
    steps, discard_steps = np.zeros(2 * middle + 2, np.int64), np.zeros(2 * middle + 2, np.int64)
    many, many_draw = np.float64(size), np.float32(size)
    end, discard_end = start, start
    cards = first_set(size, part, low)
    while cards >> low == part:
        half = max_lead(swings, lead, cards)
        bottom, top = middle - half, middle + half + 1
        clear_range(total, total_draw, bottom, top)
        clear_range(discard_total, discard_total_draw, bottom, top)
        steps[bottom], discard_steps[bottom] = -size, -size
        todo = cards
        while todo:
            card = lowest(todo)
            todo &= todo - 1
            rest, point = Index(cards ^ (1 << card)), int(points[Index(card)])
            a, b = int(offsets[rest, HALF]), int(offsets[rest, DISCARD_HALF])
            at, discard_at = int(offsets[rest, AT]) + a - middle + point, int(offsets[rest, DISCARD_AT]) + b - middle
            # Where the `after_turn` row has ended above, the game is won; where it has not begun, it is lost.
            high = min(max(middle + a - point + 1, bottom), top)
            begin = min(max(middle - a - point, bottom), high)
            discard_steps[Index(begin)] += 1
            discard_steps[Index(high)] += 1
            if begin < high:
                add_range(discard_total, discard_total_draw, begin, high, after_turn, after_turn_draw, at + begin)
            # The same holds for each of two decisions: one that wins is taken, and one that loses is not.
            high = min(high, max(middle + b + 1, bottom))
            begin, discard_begin = min(begin, high), min(max(middle - b, bottom), high)
            both = max(begin, discard_begin)
            steps[Index(min(begin, discard_begin))] += 1
            steps[Index(high)] += 1
            if begin < both:
                add_range(total, total_draw, begin, both, after_turn, after_turn_draw, at + begin)
            elif discard_begin < both:
                place = discard_at + discard_begin
                add_range(total, total_draw, discard_begin, both, after_discard, after_discard_draw, place)
            if both < high:
                add_max_range(
                    total, total_draw, both, high,
                    after_turn, after_turn_draw, at + both, after_discard, after_discard_draw, discard_at + both,
                )  # fmt: skip
        add_steps(total, steps, bottom, top)
        add_steps(discard_total, discard_steps, bottom, top)
        a, b = undecided(total, middle, half, size), undecided(discard_total, middle, half, size)
        offsets[cards, AT], offsets[cards, HALF] = end, a
        offsets[cards, DISCARD_AT], offsets[cards, DISCARD_HALF] = discard_end, b
        # Zero-sum: the value of the player to draw is minus that of the other one, at the opposite lead.
        for i in range(Index(2 * a + 1)):
            after_turn[Index(end) + i] = -total[Index(middle + a) - i] / many
        for i in range(Index(2 * a + 1)):
            after_turn_draw[Index(end) + i] = total_draw[Index(middle + a) - i] / many_draw
        for i in range(Index(2 * b + 1)):
            after_discard[Index(discard_end) + i] = discard_total[Index(middle - b) + i] / many
        for i in range(Index(2 * b + 1)):
            after_discard_draw[Index(discard_end) + i] = discard_total_draw[Index(middle - b) + i] / many_draw
        end += 2 * a + 1
        discard_end += 2 * b + 1
        cards = next_set(cards)
    return end


def hash32(x: int) -> int:
    """Return a 32-bit hash of x."""
    x = (x ^ (x >> 16)) & 0xFFFFFFFF
    x = (x * 0x7FEB352D) & 0xFFFFFFFF
    x = x ^ (x >> 15)
    x = (x * 0x46A2D68B) & 0xFFFFFFFF
    return x ^ (x >> 16)


def heuristic_keeps(left: int, total: int, squares: int, lead: int, card: int) -> bool:
    """Say whether the heuristic keeps a card; the deck has `left` cards with this sum and sum of squares.

    It compares leads at the end, in standard deviations. Who is to draw is half a turn ahead; a turn is worth
    the mean card and half a deviation. Half of the cards left still move the lead, since about as many are discarded.
    """
    if left == 0:
        return card >= 0
    mean = total / left
    spread = max(squares / left - mean * mean, 1e-9)
    ahead = lead - mean / 2 - spread**0.5 / 4
    keep = (ahead + card) / (spread * (left / 2 + 1)) ** 0.5
    # The card that comes instead is not known yet: one more that moves the lead, and one less in the deck.
    discard = (ahead + mean) / (spread * ((left - 1) / 2 + 2)) ** 0.5
    return bool(keep >= discard)


def rollout(points: Array, lead: int, forced: int, seed: int, deck: Array) -> int:
    """Play one game out by the heuristic from the end of a turn; return who leads then, 1 for the one who moved.

    If `forced` is 1, the player who moved draws the first card and must add it.
    """
    left = len(points)
    total, squares = 0, 0
    for i in range(left):
        deck[i] = points[i]
        total += points[i]
        squares += points[i] * points[i]
    turn = 1 if forced else -1  # 1 is the one who moved
    must = forced
    drawn = seed
    while left > 0:
        drawn += 1
        pick = (hash32(drawn) * left) >> 32
        card = deck[pick]
        left -= 1
        deck[pick] = deck[left]
        total -= card
        squares -= card * card
        if must or heuristic_keeps(left, total, squares, turn * lead, card):
            lead += turn * card
            turn = -turn
            must = 0
        else:
            must = 1
    return int(lead > 0) - int(lead < 0)


def rollouts(points: Array, lead: int, forced: int, seed: int, games: int) -> tuple[int, int]:
    """Return how many of `games` Monte Carlo rollouts the player who has just moved wins and draws."""
    deck = np.empty(len(points), np.int64)
    won, drawn = 0, 0
    for game in range(games):
        result = rollout(points, lead, forced, (hash32(seed + game) << 20) + game, deck)
        won += int(result > 0)
        drawn += int(result == 0)
    return won, drawn
