"""Prime Duel: the solver's kernels, in the part of Python that numba compiles.

The kernels compute, for a fixed pair of scores, the chance to win of the player who is about to draw, for every deck
that is part of some deck. A deck's number has one digit for each card, the count of that card, so that taking a card
is a fixed step back. Number 0, the empty deck, stands for the deck after the reshuffle (Q4).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


CARDS_AT_ONCE = 5
"""How many cards `add_cards` takes: so the sums of a block are read and written a fifth as often."""


def add_cards(
    sums: Array, row: int, start: int, rows: Array, discard: Array | None, copies: Array, inverse: Array, others: int,
    slots: Array, shift: Array, scale: Array, before: Array, many: Array, side: int, i: int,
) -> None:  # fmt: skip
    """Add, for card i and the four after it, its copies times the chance that follows: that of a discard if larger.

    The first cards begin the sums, and with the last ones they are divided by the sizes of the decks: in loops of
    their own both take a tenth of the time. Of cards that are not among the first, all decks of a block have as many.
    Offsets have no sign: an index that might be negative is looked at each time, one by one. Arrays are given whole:
    to make a part of one takes longer than to add up a small block.
    """
    choose = 0 if discard is None else 1
    row0, many0, at0 = slots[side, i], many[i], before[i]
    copies0, shift0, scale0 = copies[many0, 0], shift[choose, side, i], scale[choose, side, i]
    row1, many1, at1 = slots[side, i + 1], many[i + 1], before[i + 1]
    copies1, shift1, scale1 = copies[many1, 0], shift[choose, side, i + 1], scale[choose, side, i + 1]
    row2, many2, at2 = slots[side, i + 2], many[i + 2], before[i + 2]
    copies2, shift2, scale2 = copies[many2, 0], shift[choose, side, i + 2], scale[choose, side, i + 2]
    row3, many3, at3 = slots[side, i + 3], many[i + 3], before[i + 3]
    copies3, shift3, scale3 = copies[many3, 0], shift[choose, side, i + 3], scale[choose, side, i + 3]
    row4, many4, at4 = slots[side, i + 4], many[i + 4], before[i + 4]
    copies4, shift4, scale4 = copies[many4, 0], shift[choose, side, i + 4], scale[choose, side, i + 4]
    first, last, zero, offset = i == 0, i + CARDS_AT_ONCE == slots.shape[1], sums.dtype.type(0), np.uint64(start)
    for k in range(np.uint64(copies.shape[1])):
        total = zero if first else sums[row, offset + k]
        after0 = shift0 + scale0 * rows[row0, at0 + k]
        total += (copies[many0, k] if first else copies0) * better(after0, discard, side, at0 + k)
        after1 = shift1 + scale1 * rows[row1, at1 + k]
        total += (copies[many1, k] if first else copies1) * better(after1, discard, side, at1 + k)
        after2 = shift2 + scale2 * rows[row2, at2 + k]
        total += (copies[many2, k] if first else copies2) * better(after2, discard, side, at2 + k)
        after3 = shift3 + scale3 * rows[row3, at3 + k]
        total += (copies[many3, k] if first else copies3) * better(after3, discard, side, at3 + k)
        after4 = shift4 + scale4 * rows[row4, at4 + k]
        total += (copies[many4, k] if first else copies4) * better(after4, discard, side, at4 + k)
        sums[row, offset + k] = total * inverse[others, k] if last else total


def better(chance: float, discard: Array | None, side: int, at: int) -> float:
    if discard is None:
        return chance
    other: float = discard[side, at]
    return chance if chance > other else other


def sweep_decks(
    rows: Array,
    into: Array,
    slots: Array,
    shift: Array,
    scale: Array,
    radix: Array,
    strides: Array,
    inside: int,
    copies: Array,
    inverse: Array,
    second: Array,
) -> None:
    """Backward induction over all decks, for score pairs that do not lead to each other, or for two that do.

    A row holds the values of one score pair, after as many zeros as `pad` below; those of the pairs in question go
    into rows `into`. `slots[side, i]` is the row that counts when card i has been scored (or passed over, if it is
    past the target); its values are taken times `scale[with_choice, side, i]` and plus `shift`, from the opponent's
    view, as a win, or as nothing where the card cannot be kept. There are slots for a multiple of five cards; those
    past the last card have no copies. `second` receives the chance with a second card to come; the caller has filled
    in the values for the empty deck. Decks are taken in blocks that differ in the first `inside` digits only, five at
    most: `copies[i]` are those of card i, `copies[inside + n]` n of each, `inverse[n]` one over the size of a deck
    with n other cards. Two pairs that lead to each other do so by cards past the target; with none of the first
    pair's among the first digits, what a block of it needs of the second lies in earlier blocks.
    """
    block = copies.shape[1]
    pad = second.shape[1] - strides[-1] * radix[-1]
    many = np.zeros(slots.shape[1], np.int64)  # which of `copies` card i has in this block
    for i in range(slots.shape[1]):
        many[i] = min(i, inside)
    before = np.zeros(slots.shape[1], np.uint64)  # where the block begins if one such card fewer is left
    for start in range(pad, second.shape[1], block):
        rest = (start - pad) // block
        others = 0
        for i in range(inside, radix.shape[0]):
            many[i] = inside + rest % radix[i]
            others += rest % radix[i]
            rest //= radix[i]
        for i in range(slots.shape[1]):
            before[i] = start if many[i] == inside else start - strides[i]
        for side in range(into.shape[0]):
            empty, empty_second = rows[into[side], pad], second[side, pad]
            for i in range(0, slots.shape[1], CARDS_AT_ONCE):
                add_cards(
                    second, side, start, rows, None, copies, inverse, others,
                    slots, shift, scale, before, many, side, i,
                )  # fmt: skip
            second[side, pad] = empty_second  # the empty deck keeps the caller's values
            for i in range(0, slots.shape[1], CARDS_AT_ONCE):
                add_cards(
                    rows, into[side], start, rows, second, copies, inverse, others,
                    slots, shift, scale, before, many, side, i,
                )  # fmt: skip
            rows[into[side], pad] = empty


def fixed_odds_turn(
    values: Array, odds: Array, prime: Array, now: int, passed: int, a: int, b: int, after: Array
) -> float:
    """Store the chances before a draw at score a against b, and return by how much the chance to win changed.

    `now` and `passed` are the layers of values in this turn and the next. `after` has room for each card's chances.
    """
    target = values.shape[1]
    second_win = second_loss = win = loss = 0.0
    for i in range(odds.shape[0]):
        score = a + i + 1
        if score == target:
            after[i, 0] = 1.0
            after[i, 1] = 0.0
        elif score < target and prime[score]:
            after[i] = values[now, score, b]
        else:
            pair = values[passed, b, a if score > target else score]
            after[i, 0] = pair[1]
            after[i, 1] = pair[0]
        second_win += odds[i] * after[i, 0]
        second_loss += odds[i] * after[i, 1]
    for i in range(odds.shape[0]):
        keep = a + i + 1 <= target and after[i, 0] - after[i, 1] > second_win - second_loss
        win += odds[i] * (after[i, 0] if keep else second_win)
        loss += odds[i] * (after[i, 1] if keep else second_loss)
    change = abs(win - float(values[now, a, b, 0]))
    values[now, a, b, 0] = win
    values[now, a, b, 1] = loss
    return change


def solve_fixed_odds(odds: Array, prime: Array, least: int, values: Array) -> None:
    """Fill `values[0]` with the chances before a draw, for all scores from `least` on, if every draw has these odds.

    Backward induction by falling sum of scores; two scores that lead to each other are iterated to a fixed point.
    """
    top, target = odds.shape[0], values.shape[1]
    after = np.zeros((top, 2))
    for total in range(2 * (target - 1), 2 * least - 1, -1):
        for a in range(max(least, total - target + 1), total // 2 + 1):
            b = total - a
            for _ in range(2000):
                change = fixed_odds_turn(values, odds, prime, 0, 0, a, b, after)
                if a != b:
                    fixed_odds_turn(values, odds, prime, 0, 0, b, a, after)
                if b + top <= target or change < 1e-14:
                    break


def solve_fixed_odds_with_limit(odds: Array, prime: Array, least: int, left: int, values: Array) -> None:
    """Backward induction over the turns left, if every draw has these odds: `values[t % 2]` is with t turns left."""
    target = values.shape[1]
    after = np.zeros((odds.shape[0], 2))
    values[0] = 0.0
    for t in range(1, left + 1):
        for a in range(target - 1, least - 1, -1):
            for b in range(least, target):
                fixed_odds_turn(values, odds, prime, t % 2, (t - 1) % 2, a, b, after)


def sweep_decks_with_limit(
    values: Array, into: int, slots: Array, flips: Array, past: Array, copies: Array, second: Array
) -> None:
    """Backward induction for one score pair with a turn limit: the chances to win and to lose before a draw.

    Slots are those of pairs with fewer turns left, or with as many and a higher score: no pair leads back to itself.
    `second` holds the same two chances before a second card.
    """
    decks = values.shape[1]
    for at in range(decks):
        deck_value_with_limit(values, slots, flips, past, copies, second, at, 0, second[at])
    for at in range(decks):
        deck_value_with_limit(values, slots, flips, past, copies, second, at, 1, values[into, at])


def deck_value_with_limit(
    values: Array, slots: Array, flips: Array, past: Array, copies: Array, second: Array, at: int, choosing: int,
    out: Array,
) -> None:  # fmt: skip
    """Store the chances with a card to come from deck `at`, which may be discarded if `choosing` is 1."""
    source = at if at else values.shape[1] - 1  # the empty deck: the whole one is shuffled (Q4)
    rest = source
    stride = 1
    win = loss = 0.0
    cards = 0
    for i in range(copies.shape[0]):
        many = rest % (copies[i] + 1)
        rest //= copies[i] + 1
        if many:
            here = source - stride
            pair = (values[slots[i], here, flips[i]], values[slots[i], here, 1 - flips[i]])
            discard = (second[here, 0], second[here, 1])
            if choosing and (past[i] or pair[0] - pair[1] <= discard[0] - discard[1]):
                pair = discard
            win += many * pair[0]
            loss += many * pair[1]
            cards += many
        stride *= copies[i] + 1
    out[0] = win / cards
    out[1] = loss / cards


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
