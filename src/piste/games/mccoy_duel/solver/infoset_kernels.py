"""What may be hidden in a round of Duel, in the part of Python that numba compiles.

A row holds one possible position and, for each seat, a number made of all that this seat was told in the round: two
rows with the same number look alike to that seat. `follow` plays every row forward over one event.
"""

from __future__ import annotations

from typing import Any

from piste.core.bits import count, lane, lowest
from piste.core.protocols import CHANCE, HIDDEN, OVER, RESIGNS
from piste.games.mccoy_duel.rules import (
    COPY,
    DONE,
    KILL,
    NEXT,
    NOTHING,
    TAKE,
    Options,
    State,
    Tower,
    apply,
    choices,
    leave,
    tell,
    to_act,
)

KEYS = 18  # the first of four columns: what each seat was told
WIDTH = 22
MASK = (1 << 62) - 1
ANY = -9  # in `expected`: not known


def mixed(x: int, y: int) -> int:
    """Return 62 bits that depend on every bit of both; the same compiled and not."""
    x = (x ^ (y * 0x9E3779B97F4A7C1)) & MASK
    x = ((x ^ (x >> 29)) * 0x2127599BF4325C37) & MASK
    x = ((x ^ (x >> 31)) * 0x1B03738712FAD5C9) & MASK
    return x ^ (x >> 30)


def pack(s: State, row: Any) -> None:
    """Write a position of a round into a row; the keys stay as they are."""
    row[0], row[1], row[2], row[3] = s.phase, s.seat, s.target, s.ability
    row[4], row[5], row[6], row[7] = s.hands
    row[8], row[9], row[10], row[11], row[12] = s.tower
    row[13], row[14] = s.playing, s.present
    row[15] = s.out[0] | s.out[1] << 4 | s.out[2] << 8 | s.out[3] << 12
    row[16], row[17] = s.wins, s.reason


def unpack(options: Options, row: Any) -> State:
    hands = (int(row[4]), int(row[5]), int(row[6]), int(row[7]))
    tower = Tower(int(row[8]), int(row[9]), int(row[10]), int(row[11]), int(row[12]))
    lanes = int(row[15])
    out = (lane(lanes, 0), lane(lanes, 1), lane(lanes, 2), lane(lanes, 3))
    return State(
        options, int(row[0]), int(row[1]), int(row[2]), int(row[3]), hands, tower,
        int(row[13]), int(row[14]), out, int(row[16]), NOTHING, int(row[17]),
    )  # fmt: skip


def over(s: State) -> bool:
    """Say whether the round has been won; then `s.seat` has won it."""
    return s.phase == NEXT or s.phase == DONE


def different(s: State) -> int:
    """Return the actions open now; of face-up cards of one power one is enough, as all see both (D22)."""
    found = choices(s)
    if s.phase == KILL or s.phase == TAKE or s.phase == COPY:
        first = found
        for colour in range(1, 4):
            below = first & ((1 << (9 * colour)) - 1)
            seen = (below | below >> 9 | below >> 18) & 511
            first &= ~(seen << (9 * colour))
        return first
    return found


def heard(key: int, s: State, action: int, after: State, seat: int) -> int:
    """Return what a seat was told, after one more action: what `tell` says, and who is asked what next."""
    event = tell(s, action, seat)
    said = (event.kind + 2) | (event.seat + 2) << 5 | (event.what + 2) << 9 | (event.also + 2) << 16
    return mixed(key, said | (after.phase + 2) << 20 | (after.seat + 2) << 25 | after.playing << 29)


def follow(
    options: Options, rows: Any, weights: Any, n: int, event: Any, viewer: int, expected: Any, found: Any, likely: Any
) -> int:
    """Play `n` rows over an event that `viewer` was told; return how many rows came out, or -1 if too many.

    `event` is kind, seat, what, also; `expected` is phase, seat, target, playing and the viewer's hand after it.
    """
    kind, who, what, also = int(event[0]), int(event[1]), int(event[2]), int(event[3])
    made = 0
    for i in range(n):
        s = unpack(options, rows[i])
        actor = to_act(s)
        if actor == OVER or (kind != RESIGNS and s.phase != kind):
            continue
        left = 1
        share = weights[i]
        if kind != RESIGNS:
            left = choices(s)
            if actor == CHANCE:
                share = share / count(left)
            if what != HIDDEN:
                left &= 1 << what
        while left:
            action = lowest(left)
            left &= left - 1
            if kind == RESIGNS:
                after = leave(s, who)
            else:
                told = tell(s, action, viewer)
                if told.seat != who or told.what != what or (also != ANY and told.also != also):
                    continue
                after = apply(s, action)
            if not fits(after, viewer, expected):
                continue
            if made == found.shape[0]:
                return -1
            pack(after, found[made])
            for seat in range(4):
                old = int(rows[i, KEYS + seat])
                if kind == RESIGNS:
                    found[made, KEYS + seat] = mixed(old, who + 1)
                else:
                    found[made, KEYS + seat] = heard(old, s, action, after, seat)
            likely[made] = share
            made += 1
    return made


def fits(s: State, viewer: int, expected: Any) -> bool:
    """Say whether a position looks as the viewer saw it."""
    if expected[0] == ANY:
        return True
    if s.phase != expected[0] or s.seat != expected[1] or s.target != expected[2] or s.playing != expected[3]:
        return False
    return viewer < 0 or s.hands[viewer] == expected[4]


def thin(rows: Any, weights: Any, n: int, most: int) -> int:
    """Keep at most so many rows, evenly over their weights, so that each counts on the whole as before."""
    total = 0.0
    for i in range(n):
        total += weights[i]
    step = total / most
    at = step / 2
    kept = 0
    for i in range(n):
        at -= weights[i]
        share = 0.0
        while at < 0:
            share += step
            at += step
        if share > 0:
            rows[kept] = rows[i]
            weights[kept] = share
            kept += 1
    return kept
