"""Zero Sum Duel: one pass through the deck, in arrays.

A *pass* is one way through the deck. The *sender* is the player who draws first in it, the *receiver* the other; with
an even deck and even hands these stay the same players all game. Values are the sender's. In the last two turns of a
pass nothing hidden matters: whatever the sender cannot see, the receiver will hold or draw. So what is left of a pass
with four turns is a signaling game: each draws and discards, and sees the other's discard but not the draw.

Hands are sets of cards; `rank[hand]` numbers the sets of equal size. `left` is how many turns may still be played.
Where an array begins with an axis of two, these are values and chances of a draw.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from piste.compiled.compiler import link_modules
from piste.core.bits import count, signed_sum
from piste.core.game import members
from piste.games.zero_sum_duel.solver import lp_kernels
from piste.games.zero_sum_duel.solver.lp_kernels import TOLERANCE

Array = np.ndarray[Any, np.dtype[Any]]

LOST_OR_EVEN = ((-1.0, 0.0), (0.0, 1.0))
"""What a win of the receiver and the end by a turn limit count: as a value, and as a chance of a draw."""

MAX_INTERPRETED_PAIRS = 16
"""Games with at most this many pairs of hands take a millisecond without a compiler: one from a pass, not a batch."""


class HandSets(NamedTuple):
    """The sets of cards of one size of the game, numbered."""

    cards: int
    kept: Array  # the hands at the end of a turn
    full: Array  # those with a card too many
    fewer: Array  # [full hand, n]: without its n-th card
    rank: Array
    zero: Array  # whether a set sums to zero
    mirror: Array  # the rank of each kept hand with all signs changed
    pairs: Array  # (rank, rank) of pairs of kept hands that go on, one of each two mirror images

    def by_rank(self, packed: Array) -> Array:
        """Return tables by the ranks of two kept hands, from values at `pairs`."""
        tables = np.zeros((2, len(self.kept), len(self.kept)))
        a, b = self.pairs.T
        tables[:, a, b] = tables[:, self.mirror[a], self.mirror[b]] = packed
        return tables


@cache
def hand_sets(top: int, hand: int) -> HandSets:
    cards = 2 * top
    sizes = np.array([count(held) for held in range(1 << cards)])
    zero = np.array([held > 0 and signed_sum(top, held) == 0 for held in range(1 << cards)])
    rank = np.zeros(1 << cards, np.int64)
    for size in range(cards + 1):
        rank[sizes == size] = np.arange(np.count_nonzero(sizes == size))
    kept, full = np.flatnonzero(sizes == hand), np.flatnonzero(sizes == hand + 1)
    fewer = np.array([[held ^ 1 << card for card in members(held)] for held in full.tolist()])
    mirror = rank[[sum(1 << (cards - 1 - card) for card in members(held)) for held in kept.tolist()]]
    a, b = np.nonzero((kept[:, None] & kept | zero[kept][:, None] | zero[kept]) == 0)
    one = mirror[a] * len(kept) + mirror[b] >= a * len(kept) + b
    return HandSets(cards, kept, full, fewer, rank, zero, mirror, np.stack((a[one], b[one]), 1))


class SignalingGames:
    """Several games of two hidden discards, with hands that hold a card too many.

    Arrays are [game, sender, receiver, discard, reply], or some of these axes; discards and replies are by place in
    the hand.
    """

    def __init__(self, s: HandSets, mine: Array, other: Array, joint: Array) -> None:
        self.joint = joint  # the chance of each pair of hands
        self.hands = s.rank[mine][:, :, None], s.rank[other][:, None]
        sent, replied = s.fewer[s.rank[mine]], s.fewer[s.rank[other]]
        self.wins: Array = s.zero[sent].max(axis=2)
        self.winning = s.zero[sent].argmax(axis=2)
        self.discards = np.log2(mine[..., None] ^ sent).astype(np.int64)  # card numbers
        self.place = np.full((*mine.shape, s.cards), -1)  # of each card in a sender's hand
        np.put_along_axis(self.place, self.discards, np.arange(sent.shape[2]), 2)
        deck = np.where(joint > 0, (1 << s.cards) - 1 & ~(mine[:, :, None] | other[:, None]), 0)[..., None, None]
        first = deck & -deck
        ours, theirs = sent[:, :, None, :, None], replied[:, None, :, None]
        self.lost = s.zero[theirs]
        self.here = s.rank[ours | first], s.rank[theirs | deck ^ first]  # by who draws which of the last two cards
        self.there = s.rank[ours | deck ^ first], s.rank[theirs | first]

    def payoffs(self, last: Array, lost: float, even: float, left: int) -> Array:
        """Return what is expected after both discards, times the chance of the pair; `left` counts from before."""
        worth = 0.5 * (last[self.here] + last[self.there])
        if left <= 2:
            worth[:] = even
        if left > 1:
            worth = np.where(self.lost, lost, worth)
        return np.asarray(self.joint[..., None, None] * worth)

    def solve(self, payoffs: Array) -> tuple[Array, Array, Array]:
        """Return the games' values, the senders' mixes, and [game, card seen, receiver, reply]: the receivers'."""
        games, senders, receivers, options, _ = payoffs.shape
        sender_mix = np.zeros((games, senders, options))
        receiver_mix = np.zeros((games, self.place.shape[2], receivers, options))
        values = np.zeros(games)
        place = np.where(self.wins[..., None], -1, self.place)
        code = load_kernels(self.joint.size <= MAX_INTERPRETED_PAIRS)
        code.solve_games(payoffs, self.joint, place, sender_mix, receiver_mix, values)
        sender_mix /= np.where(self.wins, 1.0, sender_mix.sum(axis=2))[..., None]
        reached = (self.expected(payoffs, receiver_mix) * sender_mix[:, :, None]).sum(axis=(1, 2, 3))
        if not (np.abs(reached - values) < 1e-9).all():
            raise ArithmeticError("A linear program of Zero Sum Duel was not solved.")
        sender_mix[self.wins, self.winning[self.wins]] = 1.0
        return values + (self.joint.sum(axis=2) * self.wins).sum(axis=1), sender_mix, receiver_mix

    def expected(self, payoffs: Array, receiver_mix: Array) -> Array:
        """Return [game, sender, receiver, discard]: payoffs against the receivers' mixes."""
        replies = receiver_mix[np.arange(len(payoffs))[:, None, None], self.discards]
        return np.asarray(np.einsum("gsrdn,gsdrn->gsrd", payoffs, replies))

    def refine_off_path(self, payoffs: Array, sender_mix: Array, receiver_mix: Array) -> None:
        """Off the equilibrium path of the first game, reply as if only chance had chosen the sender's hand.

        That is done as long as no sender would gain by deviating to it; else the reply of the LP stays.
        """
        worth = self.expected(payoffs, receiver_mix)[0].sum(axis=1)
        best = np.where(self.wins[0], np.inf, (sender_mix[0] * worth).sum(axis=1) + TOLERANCE)
        for seen in range(self.place.shape[2]):
            for b in range(self.joint.shape[2]):
                i = np.flatnonzero((self.place[0, :, seen] >= 0) & (self.joint[0, :, b] > 0))
                discard = self.place[0, i, seen]
                options = payoffs[0, i, b, discard]
                totals = options.sum(axis=0)
                reply = int(np.argmax(totals < totals.min() + TOLERANCE))
                gain = options[:, reply] - options @ receiver_mix[0, seen, b]
                on_path = (sender_mix[0, i, discard] > 1e-12).any()
                if len(i) and not on_path and (worth[i, discard] + gain <= best[i]).all():
                    worth[i, discard] += gain
                    receiver_mix[0, seen, b] = np.arange(len(totals)) == reply


@cache
def load_kernels(interpreted: bool) -> Any:
    """Return the solver's kernels, compiled if that is possible unless they are to be interpreted."""
    return link_modules(lp_kernels, compiled=False if interpreted else None)


def best_discards(s: HandSets, ahead: Array, full: Array, other: Array, sign: int, left: int) -> Array:
    """Return what hands with a card too many are worth against others, by rank; sign is -1 for a receiver's hands.

    Of equal discards the one with fewer draws is taken, so that a win is not put off for ever.
    """
    best, best_drawn = np.full(len(full), -2.0 * sign), np.zeros(len(full))
    for hands in s.fewer[full].T:
        worth, even = ahead[(slice(None), s.rank[hands], other) if sign > 0 else (slice(None), other, s.rank[hands])]
        if left <= 1:
            worth, even = np.zeros(len(full)), np.ones(len(full))
        worth, even = np.where(s.zero[hands], sign, worth), np.where(s.zero[hands], 0.0, even)
        gain = sign * (worth - best)
        better = (gain > TOLERANCE) | ((gain > -TOLERANCE) & (even < best_drawn - TOLERANCE))
        best, best_drawn = np.where(better, worth, best), np.where(better, even, best_drawn)
    return np.stack((best, best_drawn))


def last_turns(s: HandSets, ahead: Array, left: int) -> Array:
    """Return what it is worth where the sender discards and then the receiver, who sees all.

    Rows are the sender's cards, columns the receiver's after the draw that empties the deck. `ahead` is worth what
    comes then, by the hands that are kept.
    """
    replies, last = np.zeros((2, len(s.kept), len(s.full))), np.zeros((2, len(s.full), len(s.full)))
    a, b = np.nonzero(s.kept[:, None] & s.full == 0)
    replies[:, a, b] = best_discards(s, ahead, b, a, -1, left - 1)
    a, b = np.nonzero(s.full[:, None] & s.full == 0)
    last[:, a, b] = best_discards(s, replies, a, b, 1, left)
    return last


@cache
def games_of_pass(top: int, hand: int) -> SignalingGames:
    """Return the games after the first draw of each player, for every pair of kept hands."""
    s, turns = hand_sets(top, hand), 2 * (top - hand)
    mine, other = s.kept[s.pairs.T][..., None]
    decks = ((1 << s.cards) - 1 & ~(mine | other)).ravel().tolist()
    drawn = 1 << np.array([members(deck) for deck in decks])
    chances = (1 - np.eye(turns)) / (turns * (turns - 1))
    return SignalingGames(s, mine | drawn, other | drawn, np.tile(chances, (len(decks), 1, 1)))


def solve_pass(top: int, hand: int, ahead: Array, left: int) -> Array:
    """Return what it is worth one pass earlier, for every pair of kept hands; `left` counts from there."""
    s, turns = hand_sets(top, hand), 2 * (top - hand)
    last = last_turns(s, ahead, left - turns + 2)
    games = games_of_pass(top, hand)
    if turns == 2:
        return np.asarray((last[(slice(None), *games.hands)] * games.joint).sum(axis=(2, 3)))
    payoffs, evens = (games.payoffs(table, *ends, left) for table, ends in zip(last, LOST_OR_EVEN, strict=True))
    values, sender_mix, receiver_mix = games.solve(payoffs)
    sender_mix[games.wins] = 0.0
    drawn = games.expected(evens, receiver_mix) * sender_mix[:, :, None]
    return np.stack((values, drawn.sum(axis=(1, 2, 3))))
