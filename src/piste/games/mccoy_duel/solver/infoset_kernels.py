"""The states that are possible in a round of Duel, with infoset keys, in the subset of Python that numba compiles.

A row holds one possible state and, for each seat, the key of its information set: a hash of all that the seat has
observed in the round. Two rows with the same key look alike to that seat. `advance` plays all rows over one event.
"""

from __future__ import annotations

from typing import Any

from piste.core.bits import count, lowest
from piste.core.protocols import CHANCE, HIDDEN
from piste.games.mccoy_duel.rules import (
    COPY,
    DISARM,
    DONE,
    DRAW,
    FEINT,
    GIVE,
    KILL,
    NEXT,
    NOTHING,
    PLAY,
    TAKE,
    Options,
    State,
    Tower,
    apply_in_round,
    choices,
    leave,
    playable,
    power_of,
    tell,
    to_act,
)

KEY_COLUMN = 18  # the first of four columns: the infoset key of each seat
KNOWN_COLUMN, DOUBT_COLUMN = 22, 23  # between two: `known_after`, and what is no longer known
ROW_WIDTH = 24
MASK = (1 << 62) - 1
UNKNOWN = -9  # in `expected`: not known
MAX_CHOICES = 9  # of a seat: at most 8 cards, 9 powers or 4 players
MAX_ROUND_STEPS = 400  # more than any round has (D18)
CARD_VALUES = (1.3, 2.4, 2.5, 0.7, 1.3, 0.4, 0.6, 1.1, 5.2)  # of holding a card: only for the initial strategy


def mix_hash(x: int, y: int) -> int:
    """Return a hash of 62 bits of two numbers; the same compiled and not."""
    x = (x ^ (y * 0x9E3779B97F4A7C1)) & MASK
    x = ((x ^ (x >> 29)) * 0x2127599BF4325C37) & MASK
    x = ((x ^ (x >> 31)) * 0x1B03738712FAD5C9) & MASK
    return x ^ (x >> 30)


def random_below(seed: int, counter: int, n: int) -> int:
    """Return a random number from 0 to n - 1; n is less than 2**20."""
    return ((mix_hash(seed, counter) >> 20) * n) >> 42


def random_fraction(seed: int, counter: int) -> float:
    """Return a random number from 0 up to, not including, 1, of 30 bits."""
    return (mix_hash(seed, counter) >> 32) / (1 << 30)


def search_sums(sums: Any, at: float) -> int:
    """Return the index of the first of some cumulative sums that is above `at`, by binary search."""
    low, high = 0, sums.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > at:
            high = middle
        else:
            low = middle + 1
    return low


def pack(s: State, row: Any) -> None:
    """Write a state into a row; the keys stay as they are."""
    row[0], row[1], row[2], row[3] = s.phase, s.seat, s.target, s.ability
    row[4], row[5], row[6], row[7] = s.hands
    row[8], row[9], row[10], row[11], row[12] = s.tower
    row[13], row[14] = s.playing, s.present
    row[15], row[16], row[17] = s.out, s.wins, s.reason


def unpack(options: Options, row: Any) -> State:
    hands = (int(row[4]), int(row[5]), int(row[6]), int(row[7]))
    tower = Tower(int(row[8]), int(row[9]), int(row[10]), int(row[11]), int(row[12]))
    return State(
        options, int(row[0]), int(row[1]), int(row[2]), int(row[3]), hands, tower,
        int(row[13]), int(row[14]), int(row[15]), int(row[16]), NOTHING, int(row[17]),
    )  # fmt: skip


def round_over(s: State) -> bool:
    """Say whether the round has been won; then `s.seat` has won it."""
    return s.phase == NEXT or s.phase == DONE


def distinct_choices(s: State) -> int:
    """Return the actions open now; one face-up card stands for all of its power, as everybody sees them (D22)."""
    every = choices(s)
    if s.phase == KILL or s.phase == TAKE or s.phase == COPY:
        first = every
        for colour in range(1, 4):
            below = first & ((1 << (9 * colour)) - 1)
            seen = (below | below >> 9 | below >> 18) & 511
            first &= ~(seen << (9 * colour))
        return first
    return every


def certain_winner(s: State) -> int:
    """Return who has won whatever the open ability does, or HIDDEN: the opponent has no card to play."""
    if round_over(s):
        return s.seat
    if (s.phase == KILL or s.phase == TAKE or s.phase == DRAW) and not playable(s.hands[1 - s.seat], s.tower):
        return s.seat
    return HIDDEN


def first_choice(s: State, left: int) -> int:
    """Return the index of the choice that a new infoset starts with: part with the cheapest card, get the dearest."""
    best_value, best, index = -1.0, 0, 0
    while left:
        value = CARD_VALUES[power_of(lowest(left))]
        if s.phase != KILL and s.phase != TAKE and s.phase != COPY:
            value = 10.0 - value
        if value > best_value:
            best_value, best = value, index
        left &= left - 1
        index += 1
    return best


def next_key(key: int, s: State, action: int, after: State, seat: int) -> int:
    """Return a seat's infoset key after one more action: it hashes the event as told, and who acts next."""
    event = tell(s, action, seat)
    told = (event.kind + 2) | (event.seat + 2) << 5 | (event.what + 2) << 9 | (event.also + 2) << 16
    return mix_hash(key, told | (after.phase + 2) << 20 | (after.seat + 2) << 25 | after.playing << 29)


def known_at_deal(options: Options) -> int:
    """Return the cards of which each of two seats knows where they are: its own, one of which it buries."""
    return options.powers | options.powers << 27


def known_after(s: State, action: int, known: int) -> int:
    """Return the same after an action, 18 bits for each seat. Who may have lost sight of a card does not know it."""
    card, phase = 1 << action, s.phase
    if phase in (PLAY, FEINT, GIVE):
        return known | card | card << 18
    if phase == DRAW:
        return known & ~(s.tower.buried << 18 * (1 - s.seat)) | card << 18 * s.seat
    if phase == DISARM:
        return known & ~(s.hands[s.target] << 18 * s.seat)
    return known


def doubt_after(known: int, doubt: int, now_known: int) -> int:
    """Return the cards that a seat once knew the place of and does not know now."""
    return (doubt | known) & ~now_known


def advance(
    options: Options, rows: Any, weights: Any, event: Any, viewer: int, expected: Any,
    next_rows: Any, next_weights: Any,
) -> int:  # fmt: skip
    """Play all rows over an event that `viewer` was told; return the number of rows after it, or -1 if too many.

    `event` is kind, seat, what, also; `expected` is phase, seat, target, playing and the viewer's hand after it.
    """
    kind, who, what, also = int(event[0]), int(event[1]), int(event[2]), int(event[3])
    size = 0
    for i in range(rows.shape[0]):
        s = unpack(options, rows[i])
        if s.phase != kind:
            continue
        left, weight = choices(s), weights[i]
        if to_act(s) == CHANCE:
            weight = weight / count(left)
        if what != HIDDEN:
            left &= 1 << what
        while left:
            action = lowest(left)
            left &= left - 1
            told = tell(s, action, viewer)
            if told.seat != who or told.what != what or (also != UNKNOWN and told.also != also):
                continue
            after = apply_in_round(s, action)
            if not matches(after, viewer, expected):
                continue
            if size == next_rows.shape[0]:
                return -1
            pack(after, next_rows[size])
            known = int(rows[i, KNOWN_COLUMN])
            if options.players == 2:
                next_rows[size, KNOWN_COLUMN] = known_after(s, action, known)
                next_rows[size, DOUBT_COLUMN] = doubt_after(
                    known, int(rows[i, DOUBT_COLUMN]), int(next_rows[size, KNOWN_COLUMN])
                )
            for seat in range(4):
                next_rows[size, KEY_COLUMN + seat] = next_key(int(rows[i, KEY_COLUMN + seat]), s, action, after, seat)
            next_weights[size] = weight
            size += 1
    return size


def advance_resignation(options: Options, rows: Any, weights: Any, who: int, viewer: int, expected: Any) -> int:
    """Play all rows, in place, over a resignation; return the number of rows after it."""
    size = 0
    for i in range(rows.shape[0]):
        s = unpack(options, rows[i])
        after = leave(s, who)
        if s.phase != DONE and matches(after, viewer, expected):
            pack(after, rows[size])
            for seat in range(4):
                rows[size, KEY_COLUMN + seat] = mix_hash(int(rows[i, KEY_COLUMN + seat]), who + 1)
            weights[size] = weights[i]
            size += 1
    return size


def matches(s: State, viewer: int, expected: Any) -> bool:
    """Say whether a state looks as the viewer saw it."""
    if expected[0] == UNKNOWN:
        return True
    if s.phase != expected[0] or s.seat != expected[1] or s.target != expected[2] or s.playing != expected[3]:
        return False
    return viewer < 0 or s.hands[viewer] == expected[4]


def resample(rows: Any, weights: Any, n: int, size: int) -> int:
    """Keep at most `size` of `n` rows by systematic resampling, so that the expected weights stay the same."""
    total = 0.0
    for i in range(n):
        total += weights[i]
    step = total / size
    next_pick = step / 2
    kept = 0
    for i in range(n):
        next_pick -= weights[i]
        weight = 0.0
        while next_pick < 0:
            weight += step
            next_pick += step
        if weight > 0:
            for column in range(ROW_WIDTH):
                rows[kept, column] = rows[i, column]
            weights[kept] = weight
            kept += 1
    return kept
