"""Zero Sum Duel: value iteration over passes through the deck, in the part of Python that numba compiles.

A *pass* is one way through the deck. The *sender* is the player who draws first in it, the *receiver* the other; with
an even deck and even hands these stay the same players all game. Values are the sender's. In the last two turns of a
pass nothing hidden matters: whatever the sender cannot see, the receiver will hold or draw. So what is left of a pass
with four turns is a signaling game: the sender's discard, of which the receiver sees the card but not the hand.

Hands are sets of cards; `rank[hand]` numbers the sets of equal size. `left` is how many turns may still be played.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from piste.core.bits import count, nth
from piste.games.zero_sum_duel.solver.lp_kernels import TOLERANCE, draw_chance, solve_signaling_game

if TYPE_CHECKING:

    def hand_sum(top: int, cards: int) -> int: ...


ENDLESS = 1 << 40
"""`left` without a turn limit."""


def set_tables(top: int) -> Any:
    """Return for every set of cards: its rank among sets of its size, its mirror image, whether it sums to zero."""
    cards = 2 * top
    rank = np.zeros(1 << cards, dtype=np.int64)
    mirror = np.zeros(1 << cards, dtype=np.int64)
    zero = np.zeros(1 << cards, dtype=np.int64)
    seen = np.zeros(cards + 1, dtype=np.int64)
    for held in range(1 << cards):
        size = count(held)
        rank[held] = seen[size]
        seen[size] += 1
        zero[held] = int(held != 0 and hand_sum(top, held) == 0)
        for card in range(cards):
            if held >> card & 1:
                mirror[held] |= 1 << (cards - 1 - card)
    return rank, mirror, zero


def sets_of(cards: int, size: int) -> Any:
    """Return all sets of one size, by rank."""
    found = 0
    for held in range(1 << cards):
        if count(held) == size:
            found += 1
    sets = np.zeros(found, dtype=np.int64)
    at = 0
    for held in range(1 << cards):
        if count(held) == size:
            sets[at] = held
            at += 1
    return sets


def solve_last_turns(value: Any, drawn: Any, kept: Any, full: Any, rank: Any, zero: Any, left: int) -> Any:
    """Return the value, and the chance of a draw, where the sender discards and then the receiver, who sees all.

    Rows are the sender's cards, columns the receiver's after the draw that empties the deck. Of equal discards the
    one with fewer draws is taken, so that a win is not put off for ever.
    """
    reply_value = np.zeros((len(kept), len(full)))
    reply_draw = np.zeros((len(kept), len(full)))
    for a in range(len(kept)):
        for b in range(len(full)):
            if kept[a] & full[b]:
                continue
            best, best_drawn, cards = 2.0, 0.0, full[b]
            while cards:
                hand = full[b] ^ (cards & -cards)
                cards &= cards - 1
                worth, even = value[a, rank[hand]], drawn[a, rank[hand]]
                if zero[hand]:
                    worth, even = -1.0, 0.0
                elif left <= 2:
                    worth, even = 0.0, 1.0
                if worth < best - TOLERANCE or (worth < best + TOLERANCE and even < best_drawn - TOLERANCE):
                    best, best_drawn = worth, even
            reply_value[a, b], reply_draw[a, b] = best, best_drawn
    last_value = np.zeros((len(full), len(full)))
    last_draw = np.zeros((len(full), len(full)))
    for a in range(len(full)):
        for b in range(len(full)):
            if full[a] & full[b]:
                continue
            best, best_drawn, cards = -2.0, 0.0, full[a]
            while cards:
                hand = full[a] ^ (cards & -cards)
                cards &= cards - 1
                worth, even = reply_value[rank[hand], b], reply_draw[rank[hand], b]
                if zero[hand]:
                    worth, even = 1.0, 0.0
                elif left <= 1:
                    worth, even = 0.0, 1.0
                if worth > best + TOLERANCE or (worth > best - TOLERANCE and even < best_drawn - TOLERANCE):
                    best, best_drawn = worth, even
            last_value[a, b], last_draw[a, b] = best, best_drawn
    return last_value, last_draw


def solve_pass(value: Any, drawn: Any, kept: Any, full: Any, tables: Any, cards: int, left: int) -> Any:
    """Return the values, and chances of a draw, one pass earlier, for every pair of full hands with an empty deck.

    `left` counts from the earlier pass. Last comes whether every linear program was solved.
    """
    rank, mirror, zero = tables
    turns = cards - 2 * count(int(kept[0]))
    last, last_drawn = solve_last_turns(value, drawn, kept, full, rank, zero, left - turns + 2)
    earlier, earlier_drawn = np.zeros(value.shape), np.zeros(value.shape)
    joint = np.full((turns, turns), 1.0 / (turns * (turns - 1)))
    for n in range(turns):
        joint[n, n] = 0.0
    mine, other = np.zeros(turns, dtype=np.int64), np.zeros(turns, dtype=np.int64)
    sender_mix, receiver_mix = np.zeros((turns, cards)), np.zeros((cards, turns, cards))
    row = np.zeros(turns, dtype=np.int64)
    done = True
    for a in range(len(kept)):
        for b in range(len(kept)):
            if kept[a] & kept[b] or zero[kept[a]] or zero[kept[b]]:
                continue
            x, y = rank[mirror[kept[a]]], rank[mirror[kept[b]]]
            if (x, y) < (a, b):
                earlier[a, b], earlier_drawn[a, b] = earlier[x, y], earlier_drawn[x, y]
                continue
            deck = ((1 << cards) - 1) & ~int(kept[a] | kept[b])
            for n in range(turns):
                mine[n], other[n] = kept[a] | 1 << nth(deck, n), kept[b] | 1 << nth(deck, n)
            if turns == 2:
                earlier[a, b] = 0.5 * (last[rank[mine[0]], rank[other[1]]] + last[rank[mine[1]], rank[other[0]]])
                even = last_drawn[rank[mine[0]], rank[other[1]]] + last_drawn[rank[mine[1]], rank[other[0]]]
                earlier_drawn[a, b] = 0.5 * even
                continue
            game = (mine, other, joint, rank, zero, cards, left, row)
            earlier[a, b], _ = solve_signaling_game(game, last, sender_mix, receiver_mix)
            earlier_drawn[a, b] = draw_chance(game, last_drawn, sender_mix, receiver_mix)
            done = done and earlier[a, b] == earlier[a, b]
    return earlier, earlier_drawn, done
