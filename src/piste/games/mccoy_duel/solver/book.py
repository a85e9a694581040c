"""The opening book of Duel between two with all nine cards: how often each choice is made, by what a seat knows.

It holds what MCCFR found for both seats of a whole round (`tools/duel_blueprint.py`), at the information sets to
which play comes until both hands together have no more cards than a solution of the rest can take.
"""

from __future__ import annotations

import io
import lzma
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from piste.core.game import members
from piste.core.protocols import HIDDEN
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import BURY, PLAY, SEAT, Options, State
from piste.games.mccoy_duel.solver import infosets, solutions
from piste.games.mccoy_duel.solver.abstraction import (
    EXACT_PLAYS,
    abstract_key,
    card_at,
    number_of_play,
    places_open,
)
from piste.games.mccoy_duel.solver.infoset_kernels import DOUBT_COLUMN, KEY_COLUMN, KNOWN_COLUMN, unpack
from piste.games.mccoy_duel.solver.infosets import Array, Observed

FILE = "book.npz.xz"
KEY_BITS = 40  # of a key are kept: of ten thousand keys two are alike in one of 20,000 books
SHARES = 15  # probabilities are kept in so many parts
LEADER_ERROR = 0.01  # of the leader's share: above all that adversaries found to gain in one seat
BYTES = 5  # of the difference between two keys; those that are 0 take no room


class Book(NamedTuple):
    """Information sets in the order of their short keys."""

    keys: Array
    places: Array  # the set of places (`abstraction.card_at`) that are played there
    first: Array  # where the shares of each begin
    shares: Array  # of each of these places, if there are several
    leader: float  # the share of rounds that the leader wins if both go by all of the strategy that was learned


def short_key(key: Any) -> Any:
    """Return what is kept of a key, or of each key of an array."""
    return key >> 1 & (1 << KEY_BITS) - 1


def pack(keys: Array, sums: Array, leader: float) -> bytes:
    """Return a book as it is shipped; `sums` says how often each place is chosen, not normalised."""
    short = short_key(keys)
    _, order = np.unique(short, return_index=True)  # of two that are alike the first is kept
    parts = sums[order] / sums[order].sum(axis=1, keepdims=True)
    shares = np.rint(parts * SHARES).astype(np.uint8)
    played = shares > 0
    gaps = np.diff(short[order], prepend=0)
    file = io.BytesIO()
    np.savez(
        file,
        gaps=np.stack([gaps >> 8 * i & 255 for i in range(BYTES)]).astype(np.uint8),
        places=(played << np.arange(played.shape[1])).sum(axis=1).astype(np.uint16),
        shares=shares[played & (played.sum(axis=1) > 1)[:, None]],
        leader=leader,
    )
    return lzma.compress(file.getvalue(), preset=9)


def unpack_book(packed: bytes) -> Book:
    """Return the book that was packed."""
    arrays = np.load(io.BytesIO(lzma.decompress(packed)))
    gaps = sum(arrays["gaps"][i].astype(np.int64) << 8 * i for i in range(BYTES))
    places = arrays["places"]
    sizes = sum((places >> i & 1).astype(np.int64) for i in range(rules.LEAD))
    first = np.cumsum(np.where(sizes > 1, sizes, 0))
    first = np.concatenate([np.zeros(1, np.int64), first])
    return Book(np.cumsum(gaps), places, first, arrays["shares"], float(arrays["leader"]))


@cache
def shipped() -> Book:
    return unpack_book(resources.files(__package__).joinpath(FILE).read_bytes())


def shares_at(book: Book, key: int) -> dict[int, float] | None:
    """Return how often each place is chosen at an information set; None if the book does not have it."""
    short = short_key(key)
    at = int(np.searchsorted(book.keys, short))
    if at == len(book.keys) or book.keys[at] != short:
        return None
    played = members(int(book.places[at]))
    if len(played) == 1:
        return {played[0]: 1.0}
    shares = book.shares[int(book.first[at]) : int(book.first[at + 1])].astype(float)
    return dict(zip(played, (shares / shares.sum()).tolist(), strict=True))


def look_up(state: State, events: tuple[Observed, ...], seat: int) -> tuple[tuple[int, ...], list[float]] | None:
    """Return what the book chooses after what a seat has observed, and how often; None if it does not say.

    `state` is the one at which the round began.
    """
    if not speaks_of(state) or len(events) < 2:
        return None
    leader = state.seat
    if leader == HIDDEN:  # who leads is picked after the burials
        if len(events) < 3:
            return None
        leader, events = events[2].event.what - SEAT, events[:2] + events[3:]
    seat = solutions.turned(seat) if leader else seat
    events, names = solutions.as_if_seat_0_led(events, turning=leader == 1)
    own = infosets.possible_states(solutions.start_state(rules.COLOUR, picking=False), events, seat)
    s = unpack(state.options, own.rows[0])
    plays = sum(told.event.kind == PLAY for told in events)
    shares = shares_at(shipped(), key_of(own.rows[0], s, seat, plays)) or {}
    open_shares = {place: share for place, share in shares.items() if places_open(s) >> place & 1}
    if not open_shares:
        return None
    return tuple(names.index(card_at(s, place)) for place in open_shares), list(open_shares.values())


def covers(options: Options) -> bool:
    """Say whether the book is one of such rounds."""
    return options.players == 2 and options.powers == rules.COLOUR


def speaks_of(state: State) -> bool:
    """Say whether a round that begins with this state is one of two players with all nine cards each.

    Two of more players whom others left have another match before them, so it is not one of those.
    """
    return covers(state.options) and state.phase == BURY and state.hands == (rules.COLOUR, rules.COLOUR << 9, 0, 0)


def key_of(row: Array, s: State, seat: int, plays: int) -> int:
    """Return the key of what a seat knows; any state that it holds possible, as a row, tells it."""
    if number_of_play(s, plays) < EXACT_PLAYS:
        return int(row[KEY_COLUMN + seat]) | 1
    return abstract_key(s, seat, int(row[KNOWN_COLUMN]), int(row[DOUBT_COLUMN]))
