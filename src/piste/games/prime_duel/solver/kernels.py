"""Prime Duel: the solver's kernels, in the part of Python that numba compiles.

The kernels compute, for a fixed pair of scores, the chance to win of the player who is about to draw, for every deck
that is part of some deck. A deck's number has one digit for each card, the count of that card, so that taking a card
is a fixed step back. Number 0, the empty deck, stands for the deck after the reshuffle (Q4).

The values of a score pair are one row (`slot`) of `high` and `low`, in one of two precisions. FLOAT64: `high` holds
the chance itself. FIXED24: a fixed-point number out of `one`, its upper 16 bits in `high` and its lower 8 in `low`;
sums of these are exact, and only division rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

FLOAT64, FIXED24 = 0, 1


def read_value(high: Array, low: Array, precision: int, slot: int, at: int) -> float:
    return float(high[slot, at]) if precision == FLOAT64 else high[slot, at] * 256.0 + float(low[slot, at])


def write_value(high: Array, low: Array, precision: int, slot: int, at: int, value: float) -> None:
    if precision == FLOAT64:
        high[slot, at] = value
    else:
        fixed = int(value + 0.5)
        high[slot, at] = fixed >> 8
        low[slot, at] = fixed & 255


def load_slice(high: Array, low: Array, precision: int, slot: int, at: int, flip: int, one: int, out: Array) -> None:
    """Copy part of a row, from the opponent's view if `flip` is 1. What lies before the row is 0."""
    first = max(0, -at)
    end = at + out.shape[0]
    out[:first] = 0
    if precision == FLOAT64:
        for k in range(first, out.shape[0]):
            out[k] = one - high[slot, at + k] if flip else high[slot, at + k]
    else:
        mask = np.int32(one if flip else 0)  # all bits of `one` are set: one - x is x with its bits flipped
        upper = high[slot, at + first : end]
        lower = low[slot, at + first : end]
        into = out[first:]
        for k in range(into.shape[0]):
            into[k] = np.int64(((np.int32(upper[k]) << 8) | np.int32(lower[k])) ^ mask)


def add_scaled(sums: Array, values: Array, copies: int) -> None:
    for k in range(sums.shape[0]):
        sums[k] += copies * values[k]


def add_scaled_max(sums: Array, values: Array, others: Array, copies: int) -> None:
    for k in range(sums.shape[0]):
        sums[k] += copies * max(values[k], others[k])


def add_weighted(sums: Array, values: Array, copies: Array) -> None:
    for k in range(sums.shape[0]):
        sums[k] += copies[k] * values[k]


def add_weighted_max(sums: Array, values: Array, others: Array, copies: Array) -> None:
    for k in range(sums.shape[0]):
        sums[k] += copies[k] * max(values[k], others[k])


def sweep_decks(
    high: Array,
    low: Array,
    precision: int,
    into: Array,
    slots: Array,
    flips: Array,
    past: Array,
    one: int,
    radix: Array,
    strides: Array,
    copies: Array,
    sizes: Array,
    inverse: Array,
    second: Array,
    values: Array,
    sums: Array,
) -> None:
    """Backward induction over all decks, for one score pair or for two that lead to each other.

    `slots[side, i]` is the pair that counts when card i has been scored (or passed over, if it is `past` the target),
    -1 for a win. `second` receives the chance with a second card to come, for every deck; it begins one block early,
    and the caller has filled in its value for the empty deck. Decks are taken in blocks that differ in the first
    digits only, with `copies` of each card and `sizes` altogether. Two pairs that lead to each other do so by cards
    past the target; with none of the first pair's among the first digits, what a block of it needs of the second
    lies in earlier blocks.
    """
    top = radix.shape[0]
    inside, block = copies.shape
    half = 0.0 if precision == FLOAT64 else 0.5
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
                    values[i, :] = one
                else:
                    at = start - strides[i]
                    load_slice(high, low, precision, slots[side, i], at, flips[side, i], one, values[i])
                if i < inside:
                    add_weighted(sums, values[i], copies[i])
                else:
                    add_scaled(sums, values[i], digits[i])
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
                        add_weighted(sums, after, copies[i])
                    else:
                        add_weighted_max(sums, values[i], after, copies[i])
                elif past[side, i]:
                    add_scaled(sums, after, digits[i])
                else:
                    add_scaled_max(sums, values[i], after, digits[i])
            if start == 0:  # the empty deck keeps the caller's value
                sums[0] = 0
                empty_value = read_value(high, low, precision, into[side], 0)
            if precision == FLOAT64:
                for k in range(block):
                    high[into[side], start + k] = sums[k] * inverse[others + sizes[k]]
            else:
                upper = high[into[side], start : start + block]
                lower = low[into[side], start : start + block]
                for k in range(block):
                    fixed = np.int32(sums[k] * inverse[others + sizes[k]] + half)
                    upper[k] = fixed >> 8
                    lower[k] = fixed & 255
            if start == 0:
                write_value(high, low, precision, into[side], 0, empty_value)


def value_after_scoring(high: Array, low: Array, precision: int, slot: int, at: int, flip: int, one: int) -> float:
    if slot < 0:
        return float(one)
    value = read_value(high, low, precision, slot, at)
    return one - value if flip else value


def second_card_value(
    high: Array,
    low: Array,
    precision: int,
    slots: Array,
    flips: Array,
    one: int,
    copies: Array,
    strides: Array,
    last: int,
) -> float:
    """Return the chance with a second card to come from a deck just reshuffled, whose number is `last`."""
    total = 0.0
    cards = 0
    for i in range(slots.shape[0]):
        total += copies[i] * value_after_scoring(high, low, precision, slots[i], last - strides[i], flips[i], one)
        cards += copies[i]
    return total / cards


def fixed_odds_turn(after: Array, odds: Array, a: int, b: int, passed: float) -> float:
    """Return the chance of the player to draw at score a, if a turn without a score leaves the chance `passed`."""
    target = after.shape[0]
    second = 0.0
    for i in range(odds.shape[0]):
        second += odds[i] * (passed if a + i + 1 > target else after[b, a + i + 1])
    chance = 0.0
    for i in range(odds.shape[0]):
        chance += odds[i] * (second if a + i + 1 > target else max(second, after[b, a + i + 1]))
    return chance


def solve_fixed_odds(odds: Array, prime: Array, least: int, values: Array, after: Array) -> None:
    """Fill `values` with the chances before a draw, for all scores from `least` on, if every draw has these odds.

    Backward induction by falling sum of scores; two scores that lead to each other are iterated to a fixed point.
    `after[b, x]` is the chance of a player who has just reached x against b: to draw again on a prime, else with the
    turn over.
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
                x = fixed_odds_turn(after, odds, a, b, 1.0 - y)
                y = x if a == b else fixed_odds_turn(after, odds, b, a, 1.0 - x)
                if b + top <= target or abs(x - before) < 1e-14:
                    break
            values[a, b] = x
            values[b, a] = y
            after[b, a] = x if prime[a] else 1.0 - y
            after[a, b] = y if prime[b] else 1.0 - x


def sweep_decks_with_limit(
    wins: Array, losses: Array, into: int, slots: Array, flips: Array, past: Array, copies: Array, second: Array
) -> None:
    """Backward induction for one score pair with a turn limit: the chances to win and to lose before a draw.

    Slots are those of pairs with fewer turns left, or with as many and a higher score: no pair leads back to itself.
    -1 is a win, -2 the end of the last turn. `second` holds the same two chances before a second card.
    """
    decks = wins.shape[1]
    for at in range(decks):
        second[0, at], second[1, at] = deck_value_with_limit(wins, losses, slots, flips, past, copies, second, at, 0)
    for number in range(1, decks + 1):
        at = number % decks
        pair = deck_value_with_limit(wins, losses, slots, flips, past, copies, second, at, 1)
        wins[into, at], losses[into, at] = pair


def deck_value_with_limit(
    wins: Array, losses: Array, slots: Array, flips: Array, past: Array, copies: Array, second: Array, at: int,
    choosing: int,
) -> tuple[float, float]:  # fmt: skip
    """Return the chances with a card to come from deck `at`, which may be discarded if `choosing` is 1."""
    source = at if at else wins.shape[1] - 1  # the empty deck: the whole one is shuffled (Q4)
    rest = source
    stride = 1
    win = 0.0
    loss = 0.0
    cards = 0
    for i in range(copies.shape[0]):
        many = rest % (copies[i] + 1)
        rest //= copies[i] + 1
        if many:
            here = source - stride
            pair = value_with_limit(wins, losses, slots[i], flips[i], here)
            if choosing:
                discard = (second[0, here], second[1, here])
                if past[i] or pair[0] - pair[1] <= discard[0] - discard[1]:
                    pair = discard
            win += many * pair[0]
            loss += many * pair[1]
            cards += many
        stride *= copies[i] + 1
    return (win / cards, loss / cards)


def value_with_limit(wins: Array, losses: Array, slot: int, flip: int, at: int) -> tuple[float, float]:
    if slot == -1:
        return (1.0, 0.0)
    if slot == -2:
        return (0.0, 0.0)
    if flip:
        return (losses[slot, at], wins[slot, at])
    return (wins[slot, at], losses[slot, at])


def solve_fixed_odds_with_limit(odds: Array, prime: Array, least: int, left: int, wins: Array, losses: Array) -> None:
    """Backward induction over the turns left, if every draw has these odds.

    `wins[t % 2]` and `losses[t % 2]` are the chances with t turns left; at the end, index `left % 2` is the result.
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
                    pair = fixed_odds_with_limit_after(wins, losses, prime, now, a, b, a + i + 1)
                    second = (second[0] + odds[i] * pair[0], second[1] + odds[i] * pair[1])
                win = 0.0
                loss = 0.0
                for i in range(odds.shape[0]):
                    pair = second
                    if a + i + 1 <= target:
                        keep = fixed_odds_with_limit_after(wins, losses, prime, now, a, b, a + i + 1)
                        if keep[0] - keep[1] > second[0] - second[1]:
                            pair = keep
                    win += odds[i] * pair[0]
                    loss += odds[i] * pair[1]
                wins[now, a, b] = win
                losses[now, a, b] = loss


def fixed_odds_with_limit_after(
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


def solve_race(odds: Array, prime: Array, turns: int, reach: Array) -> None:
    """Fill `reach` with one player's best chance to land on the target within 0 to `turns` turns, for every score."""
    target = reach.shape[1]
    for t in range(1, turns + 1):
        for a in range(target - 1, -1, -1):
            second = 0.0
            for i in range(odds.shape[0]):
                second += odds[i] * race_after(reach, prime, t, a, a + i + 1)
            chance = 0.0
            for i in range(odds.shape[0]):
                fits = a + i + 1 <= target
                chance += odds[i] * (max(second, race_after(reach, prime, t, a, a + i + 1)) if fits else second)
            reach[t, a] = chance


def race_after(reach: Array, prime: Array, t: int, a: int, after: int) -> float:
    target = reach.shape[1]
    if after == target:
        return 1.0
    if after > target:
        return float(reach[t - 1, a])
    return float(reach[t, after] if prime[after] else reach[t - 1, after])
