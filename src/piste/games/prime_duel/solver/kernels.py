"""Prime Duel: the loops of its solver, in the part of Python that numba compiles.

A *line* is the chance to win of a player who is about to draw, with two scores fixed, for every deck that is part
of some deck: one number for each way to have so many of each card left. A deck's number has one digit for each card,
so a card less is a fixed step back. Number 0, the empty deck, stands for the deck after the reshuffle (Q4).

Lines lie in a pool, in one of two grains. Fine: `high` holds the chance itself. Coarse: a whole number out of `one`,
its upper 16 bits in `high` and its lower 8 in `low`; sums of these stay exact, and only dividing rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

FINE, COARSE = 0, 1


def entry(high: Array, low: Array, grain: int, slot: int, at: int) -> float:
    """Return one number of a line."""
    return float(high[slot, at]) if grain == FINE else high[slot, at] * 256.0 + float(low[slot, at])


def put_entry(high: Array, low: Array, grain: int, slot: int, at: int, value: float) -> None:
    if grain == FINE:
        high[slot, at] = value
    else:
        whole = int(value + 0.5)
        high[slot, at] = whole >> 8
        low[slot, at] = whole & 255


def fetch(high: Array, low: Array, grain: int, slot: int, at: int, turned: int, one: int, out: Array) -> None:
    """Copy a piece of a line; turned, as the other player sees it. What lies before the line is 0."""
    first = max(0, -at)
    end = at + out.shape[0]
    out[:first] = 0
    if grain == FINE:
        for k in range(first, out.shape[0]):
            out[k] = one - high[slot, at + k] if turned else high[slot, at + k]
    else:
        flip = np.int32(one if turned else 0)  # `one` has all its bits set: to turn a number is to flip its bits
        upper = high[slot, at + first : end]
        lower = low[slot, at + first : end]
        into = out[first:]
        for k in range(into.shape[0]):
            into[k] = np.int64(((np.int32(upper[k]) << 8) | np.int32(lower[k])) ^ flip)


def add_second(sums: Array, found: Array, many: int) -> None:
    for k in range(sums.shape[0]):
        sums[k] += many * found[k]


def add_best(sums: Array, found: Array, second: Array, many: int) -> None:
    for k in range(sums.shape[0]):
        sums[k] += many * max(found[k], second[k])


def add_second_each(sums: Array, found: Array, many: Array) -> None:
    for k in range(sums.shape[0]):
        sums[k] += many[k] * found[k]


def add_best_each(sums: Array, found: Array, second: Array, many: Array) -> None:
    for k in range(sums.shape[0]):
        sums[k] += many[k] * max(found[k], second[k])


def sweep_lines(
    high: Array,
    low: Array,
    grain: int,
    into: Array,
    slots: Array,
    turned: Array,
    past: Array,
    one: int,
    radix: Array,
    strides: Array,
    many: Array,
    sizes: Array,
    inverse: Array,
    second: Array,
    found: Array,
    sums: Array,
) -> None:
    """Work out one line from those that may follow it, or two that lead to each other.

    `slots[side, i]` is the line that counts when card i has been scored (or passed over, if it is `past` the target),
    -1 for a win. `second` takes the chance with a second card to come, for every deck; it begins one block early, and
    the caller has put in what it is for the empty deck. Decks are taken in blocks that differ in the first digits
    only, `many` of each card and `sizes` altogether. Two lines that lead to each other do so by cards past the
    target; with none of the first line's among the first digits, what a block of it needs of the second lies in
    blocks before.
    """
    top = radix.shape[0]
    inside, block = many.shape
    half = 0.0 if grain == FINE else 0.5
    digits = np.zeros(top, np.int64)
    for start in range(0, second.shape[1] - block, block):
        rest = start // block
        others = 0
        for i in range(inside, top):
            digits[i] = rest % radix[i]
            rest //= radix[i]
            others += digits[i]
        for side in range(into.shape[0]):
            sums[:] = 0
            for i in range(top):
                if i >= inside and digits[i] == 0:
                    continue
                if slots[side, i] < 0:
                    found[i, :] = one
                else:
                    at = start - strides[i]
                    fetch(high, low, grain, slots[side, i], at, turned[side, i], one, found[i])
                if i < inside:
                    add_second_each(sums, found[i], many[i])
                else:
                    add_second(sums, found[i], digits[i])
            after = second[side, block + start : block + start + block]
            empty = after[0]
            for k in range(block):
                after[k] = sums[k] * inverse[others + sizes[k]] + half
            if start == 0:
                after[0] = empty
            sums[:] = 0
            for i in range(top):
                if i >= inside and digits[i] == 0:
                    continue
                at = block + start - strides[i]
                after = second[side, at : at + block]
                if i < inside:
                    if past[side, i]:
                        add_second_each(sums, after, many[i])
                    else:
                        add_best_each(sums, found[i], after, many[i])
                elif past[side, i]:
                    add_second(sums, after, digits[i])
                else:
                    add_best(sums, found[i], after, digits[i])
            if start == 0:  # the empty deck keeps what the caller put in
                sums[0] = 0
                kept = entry(high, low, grain, into[side], 0)
            if grain == FINE:
                for k in range(block):
                    high[into[side], start + k] = sums[k] * inverse[others + sizes[k]]
            else:
                upper = high[into[side], start : start + block]
                lower = low[into[side], start : start + block]
                for k in range(block):
                    whole = np.int32(sums[k] * inverse[others + sizes[k]] + half)
                    upper[k] = whole >> 8
                    lower[k] = whole & 255
            if start == 0:
                put_entry(high, low, grain, into[side], 0, kept)


def scored_chance(high: Array, low: Array, grain: int, slot: int, at: int, turned: int, one: int) -> float:
    if slot < 0:
        return float(one)
    value = entry(high, low, grain, slot, at)
    return one - value if turned else value


def reshuffled_second(
    high: Array,
    low: Array,
    grain: int,
    slots: Array,
    turned: Array,
    one: int,
    copies: Array,
    strides: Array,
    last: int,
) -> float:
    """Return the chance with a second card to come from a deck just reshuffled, whose number is `last`."""
    total = 0.0
    cards = 0
    for i in range(slots.shape[0]):
        total += copies[i] * scored_chance(high, low, grain, slots[i], last - strides[i], turned[i], one)
        cards += copies[i]
    return total / cards


def model_side(after: Array, odds: Array, a: int, b: int, passed: float) -> float:
    """Return the chance of who is to draw with score a, if a turn without a score leaves the chance `passed`."""
    target = after.shape[0]
    second = 0.0
    for i in range(odds.shape[0]):
        second += odds[i] * (passed if a + i + 1 > target else after[b, a + i + 1])
    found = 0.0
    for i in range(odds.shape[0]):
        found += odds[i] * (second if a + i + 1 > target else max(second, after[b, a + i + 1]))
    return found


def model(odds: Array, prime: Array, least: int, values: Array, after: Array) -> None:
    """Fill in the chances of who is about to draw, for all scores from `least` on, if every card has these odds.

    `after[b, x]` is the chance of who has just reached x against b: to draw again on a prime, else after the turn.
    """
    top, target = odds.shape[0], values.shape[0]
    after[:, target] = 1.0
    for total in range(2 * (target - 1), 2 * least - 1, -1):
        for a in range(max(least, total - target + 1), total // 2 + 1):
            b = total - a
            x = 0.5
            y = 0.5
            for _ in range(2000):
                before = x
                x = model_side(after, odds, a, b, 1.0 - y)
                y = x if a == b else model_side(after, odds, b, a, 1.0 - x)
                if b + top <= target or abs(x - before) < 1e-14:
                    break
            values[a, b] = x
            values[b, a] = y
            after[b, a] = x if prime[a] else 1.0 - y
            after[a, b] = y if prime[b] else 1.0 - x


def limited_line(
    wins: Array, losses: Array, into: int, slots: Array, turned: Array, past: Array, copies: Array, second: Array
) -> None:
    """Work out one line with a turn limit: the chances to win and to lose of who is about to draw.

    Slots are those of lines with fewer turns left, or with as many and a higher score: no line leads back to itself.
    -1 is a win, -2 the end of the last turn. `second` holds the same two chances before a second card.
    """
    top = copies.shape[0]
    decks = wins.shape[1]
    whole = 0
    for i in range(top):
        whole += copies[i]
    for at in range(decks):
        rest = at if at else decks - 1  # the empty deck: the whole one is shuffled (Q4)
        stride = 1
        win = 0.0
        loss = 0.0
        cards = 0
        for i in range(top):
            many = rest % (copies[i] + 1)
            rest //= copies[i] + 1
            if many:
                pair = limited_after(wins, losses, slots[i], turned[i], (at if at else decks - 1) - stride)
                win += many * pair[0]
                loss += many * pair[1]
                cards += many
            stride *= copies[i] + 1
        second[0, at] = win / cards
        second[1, at] = loss / cards
    for number in range(1, decks + 1):
        at = number % decks
        source = at if at else decks - 1
        rest = source
        stride = 1
        win = 0.0
        loss = 0.0
        cards = 0
        for i in range(top):
            many = rest % (copies[i] + 1)
            rest //= copies[i] + 1
            if many:
                here = source - stride
                pair = (second[0, here], second[1, here])
                if not past[i]:
                    kept = limited_after(wins, losses, slots[i], turned[i], here)
                    if kept[0] - kept[1] > pair[0] - pair[1]:
                        pair = kept
                win += many * pair[0]
                loss += many * pair[1]
                cards += many
            stride *= copies[i] + 1
        wins[into, at] = win / cards
        losses[into, at] = loss / cards


def limited_after(wins: Array, losses: Array, slot: int, turned: int, at: int) -> tuple[float, float]:
    if slot == -1:
        return (1.0, 0.0)
    if slot == -2:
        return (0.0, 0.0)
    if turned:
        return (losses[slot, at], wins[slot, at])
    return (wins[slot, at], losses[slot, at])


def limited_model(odds: Array, prime: Array, least: int, left: int, wins: Array, losses: Array) -> None:
    """Fill in the chances to win and to lose with so many turns left, if every card has these odds.

    `wins[t % 2]` is what it is with t turns left; after it, `left % 2` holds what was asked for.
    """
    target = wins.shape[1]
    wins[0] = 0.0
    losses[0] = 0.0
    for t in range(1, left + 1):
        now = t % 2
        for a in range(target - 1, least - 1, -1):
            for b in range(least, target):
                second = (0.0, 0.0)
                for i in range(odds.shape[0]):
                    pair = limited_model_after(wins, losses, prime, now, a, b, a + i + 1)
                    second = (second[0] + odds[i] * pair[0], second[1] + odds[i] * pair[1])
                win = 0.0
                loss = 0.0
                for i in range(odds.shape[0]):
                    pair = second
                    if a + i + 1 <= target:
                        kept = limited_model_after(wins, losses, prime, now, a, b, a + i + 1)
                        if kept[0] - kept[1] > second[0] - second[1]:
                            pair = kept
                    win += odds[i] * pair[0]
                    loss += odds[i] * pair[1]
                wins[now, a, b] = win
                losses[now, a, b] = loss


def limited_model_after(
    wins: Array, losses: Array, prime: Array, now: int, a: int, b: int, after: int
) -> tuple[float, float]:
    target = wins.shape[1]
    if after == target:
        return (1.0, 0.0)
    if after > target:
        return (losses[1 - now, b, a], wins[1 - now, b, a])
    if prime[after]:
        return (wins[now, after, b], losses[now, after, b])
    return (losses[1 - now, b, after], wins[1 - now, b, after])


def alone(odds: Array, prime: Array, turns: int, reach: Array) -> None:
    """Fill in the best chance to land on the target within 0 to `turns` turns of one's own, for every score."""
    target = reach.shape[1]
    for t in range(1, turns + 1):
        for a in range(target - 1, -1, -1):
            second = 0.0
            for i in range(odds.shape[0]):
                second += odds[i] * alone_after(reach, prime, t, a, a + i + 1)
            found = 0.0
            for i in range(odds.shape[0]):
                fits = a + i + 1 <= target
                found += odds[i] * (max(second, alone_after(reach, prime, t, a, a + i + 1)) if fits else second)
            reach[t, a] = found


def alone_after(reach: Array, prime: Array, t: int, a: int, after: int) -> float:
    target = reach.shape[1]
    if after == target:
        return 1.0
    if after > target:
        return float(reach[t - 1, a])
    return float(reach[t, after] if prime[after] else reach[t - 1, after])
