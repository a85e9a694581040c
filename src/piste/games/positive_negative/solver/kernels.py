"""Positive-Negative: the sums over sets of cards that the solver is made of, in the part of Python numba compiles.

A row belongs to the set of cards in the deck and holds a value for each lead from -half to half, from -1 (lost) to 1
(won); past that the game is decided. Leads are those of the player who has just moved or is in the middle of a turn.
Beside each row stands one with the chance of a draw if both play as the solver does, who keeps the card where both
decisions are worth the same. There are two kinds of rows; each follows from those of the sets with one card less:

    settled[deck][lead]   the turn is over, and the other player is to draw
    risked[deck][lead]    the first card was discarded; the next one is drawn and must be added

`points` are the values of the cards by bit, `sums` by how much each set can change a lead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from piste.core.bits import count, lowest

Array = Any

# Places in arrays are unsigned in the inner loops: of a signed one, compiled code must find out whether it counts
# from the end, and then cannot do several leads at a time.
Place = np.uint64

TIE = 1e-12
"""Values so near to each other are the same: sums of decimals differ in the last digits."""


# Where the rows of a set begin, and their halves: together, to be found at one go.
AT, HALF, RISKED_AT, RISKED_HALF = 0, 1, 2, 3


def add_up(points: Array, sums: Array) -> None:
    """Fill in by how much each set can change a lead."""
    sums[0] = 0
    for cards in range(1, len(sums)):
        sums[cards] = sums[cards & (cards - 1)] + abs(points[lowest(cards)])


def next_set(cards: int) -> int:
    """Return the next larger number with as many bits; the empty set has no next one."""
    if cards == 0:
        return 1 << 61
    low = cards & -cards
    up = cards + low
    return up | (((cards ^ up) // low) >> 2)


def reach(sums: Array, lead: int, cards: int) -> int:
    """Return the largest lead that matters: one that the cards gone can have made and those left can turn round."""
    left = int(sums[cards])
    return min(left, lead + int(sums[len(sums) - 1]) - left)


def first_set(size: int, part: int, low: int) -> int:
    """Return the first set of this size in a part of them: that with these cards from number `low` up."""
    return (part << low) | ((1 << (size - count(part))) - 1)


def room(size: int, part: int, low: int, lead: int, sums: Array) -> int:
    """Return how many values the sets of this size in a part can need."""
    length = 0
    cards = first_set(size, part, low)
    while cards >> low == part:
        length += 2 * reach(sums, lead, cards) + 1
        cards = next_set(cards)
    return length


def add_part(whole: Array, whole_draw: Array, low: int, high: int, row: Array, row_draw: Array, at: int) -> None:
    """Add a part of a row, from `at` on, to whole[low..high - 1]."""
    for i in range(Place(high - low)):
        whole[Place(low) + i] += row[Place(at) + i]
    for i in range(Place(high - low)):
        whole_draw[Place(low) + i] += row_draw[Place(at) + i]


def add_better(
    whole: Array, whole_draw: Array, low: int, high: int,
    settled: Array, settled_draw: Array, at: int, risked: Array, risked_draw: Array, risked_at: int,
) -> None:  # fmt: skip
    """Add the better of parts of two rows to whole[low..high - 1], and the chance of a draw that goes with it."""
    # Everything is read before anything is chosen: so it is done for several leads at a time when compiled.
    for i in range(Place(high - low)):
        keep, keep_draw = settled[Place(at) + i], settled_draw[Place(at) + i]
        leave, leave_draw = risked[Place(risked_at) + i], risked_draw[Place(risked_at) + i]
        keeps = keep >= leave - TIE
        whole[Place(low) + i] += keep if keeps else leave
        whole_draw[Place(low) + i] += keep_draw if keeps else leave_draw


def clear(whole: Array, whole_draw: Array, low: int, high: int) -> None:
    """Make whole[low..high - 1] zero."""
    for i in range(Place(low), Place(high)):
        whole[i] = 0.0
    for i in range(Place(low), Place(high)):
        whole_draw[i] = 0.0


def add_steps(whole: Array, steps: Array, low: int, high: int) -> None:
    """Add what is decided: the sum of the steps up to each lead; and forget the steps."""
    total = 0
    for i in range(Place(low), Place(high)):
        total += steps[i]
        whole[i] += total
        steps[i] = 0
    steps[high] = 0


def undecided(whole: Array, middle: int, half: int, size: int) -> int:
    """Return the largest lead up to half at which the sum of so many values is not all won or all lost."""
    while half >= 0 and whole[middle + half] == size and whole[middle - half] == -size:
        half -= 1
    return max(half, 0)


def fill(
    points: Array, size: int, part: int, low: int, lead: int, sums: Array, places: Array,
    settled: Array, settled_draw: Array, risked: Array, risked_draw: Array, start: int,
) -> int:  # fmt: skip
    """Fill in the rows of the sets of this size in a part, from those with one card less, both kinds from `start` on.

    Return where the settled ones end.
    """
    middle = int(sums[len(sums) - 1])
    whole, whole_draw = np.empty(2 * middle + 1), np.empty(2 * middle + 1, np.float32)
    risk, risk_draw = np.empty(2 * middle + 1), np.empty(2 * middle + 1, np.float32)
    steps, risk_steps = np.zeros(2 * middle + 2, np.int64), np.zeros(2 * middle + 2, np.int64)
    many, many_draw = np.float64(size), np.float32(size)
    end, risked_end = start, start
    cards = first_set(size, part, low)
    while cards >> low == part:
        half = reach(sums, lead, cards)
        bottom, top = middle - half, middle + half + 1
        clear(whole, whole_draw, bottom, top)
        clear(risk, risk_draw, bottom, top)
        steps[bottom], risk_steps[bottom] = -size, -size
        todo = cards
        while todo:
            card = lowest(todo)
            todo &= todo - 1
            rest, point = Place(cards ^ (1 << card)), int(points[Place(card)])
            a, b = int(places[rest, HALF]), int(places[rest, RISKED_HALF])
            at, risked_at = int(places[rest, AT]) + a - middle + point, int(places[rest, RISKED_AT]) + b - middle
            # Where the settled row has ended above, the game is won; where it has not begun, it is lost.
            high = min(max(middle + a - point + 1, bottom), top)
            begin = min(max(middle - a - point, bottom), high)
            risk_steps[Place(begin)] += 1
            risk_steps[Place(high)] += 1
            if begin < high:
                add_part(risk, risk_draw, begin, high, settled, settled_draw, at + begin)
            # So it is for each of two decisions: one that wins is taken, and one that loses is not.
            high = min(high, max(middle + b + 1, bottom))
            begin, risked_begin = min(begin, high), min(max(middle - b, bottom), high)
            both = max(begin, risked_begin)
            steps[Place(min(begin, risked_begin))] += 1
            steps[Place(high)] += 1
            if begin < both:
                add_part(whole, whole_draw, begin, both, settled, settled_draw, at + begin)
            elif risked_begin < both:
                add_part(whole, whole_draw, risked_begin, both, risked, risked_draw, risked_at + risked_begin)
            if both < high:
                add_better(
                    whole, whole_draw, both, high,
                    settled, settled_draw, at + both, risked, risked_draw, risked_at + both,
                )  # fmt: skip
        add_steps(whole, steps, bottom, top)
        add_steps(risk, risk_steps, bottom, top)
        a, b = undecided(whole, middle, half, size), undecided(risk, middle, half, size)
        places[cards, AT], places[cards, HALF] = end, a
        places[cards, RISKED_AT], places[cards, RISKED_HALF] = risked_end, b
        # What the player to draw has is what the other one lacks, and their leads are opposite.
        for i in range(Place(2 * a + 1)):
            settled[Place(end) + i] = -whole[Place(middle + a) - i] / many
        for i in range(Place(2 * a + 1)):
            settled_draw[Place(end) + i] = whole_draw[Place(middle + a) - i] / many_draw
        for i in range(Place(2 * b + 1)):
            risked[Place(risked_end) + i] = risk[Place(middle - b) + i] / many
        for i in range(Place(2 * b + 1)):
            risked_draw[Place(risked_end) + i] = risk_draw[Place(middle - b) + i] / many_draw
        end += 2 * a + 1
        risked_end += 2 * b + 1
        cards = next_set(cards)
    return end


def stirred(x: int) -> int:
    """Return 32 bits that depend on every bit of x."""
    x = (x ^ (x >> 16)) & 0xFFFFFFFF
    x = (x * 0x7FEB352D) & 0xFFFFFFFF
    x = x ^ (x >> 15)
    x = (x * 0x46A2D68B) & 0xFFFFFFFF
    return x ^ (x >> 16)


def thumb_keeps(left: int, total: int, squares: int, lead: int, card: int) -> bool:
    """Say whether a rule of thumb keeps a card; the deck has `left` cards with this sum and sum of squares.

    The rule compares leads at the end, in standard deviations. Who is to draw is half a turn ahead; a turn is worth
    the mean card and half a deviation. Half of the cards left still move the lead, since about as many are discarded.
    """
    if left == 0:
        return card >= 0
    mean = total / left
    spread = max(squares / left - mean * mean, 1e-9)
    ahead = lead - mean / 2 - spread**0.5 / 4
    keep = (ahead + card) / (spread * (left / 2 + 1)) ** 0.5
    # The card that comes instead is not known yet: one more that moves the lead, and one less in the deck.
    leave = (ahead + mean) / (spread * ((left - 1) / 2 + 2)) ** 0.5
    return bool(keep >= leave)


def play_out(points: Array, lead: int, risked: int, seed: int, deck: Array) -> int:
    """Play one game on by the rule of thumb from the end of a turn; return who leads then, 1 for the one who moved.

    If `risked` is 1, the player who moved draws the first card and must add it.
    """
    left = len(points)
    total, squares = 0, 0
    for i in range(left):
        deck[i] = points[i]
        total += points[i]
        squares += points[i] * points[i]
    turn = 1 if risked else -1  # 1 is the one who moved
    must = risked
    drawn = seed
    while left > 0:
        drawn += 1
        pick = (stirred(drawn) * left) >> 32
        card = deck[pick]
        left -= 1
        deck[pick] = deck[left]
        total -= card
        squares -= card * card
        if must or thumb_keeps(left, total, squares, turn * lead, card):
            lead += turn * card
            turn = -turn
            must = 0
        else:
            must = 1
    return int(lead > 0) - int(lead < 0)


def play_many(points: Array, lead: int, risked: int, seed: int, games: int) -> tuple[int, int]:
    """Return how many of so many games are won and drawn by the player who has just moved."""
    deck = np.empty(len(points), np.int64)
    won, drawn = 0, 0
    for game in range(games):
        result = play_out(points, lead, risked, (stirred(seed + game) << 20) + game, deck)
        won += int(result > 0)
        drawn += int(result == 0)
    return won, drawn
