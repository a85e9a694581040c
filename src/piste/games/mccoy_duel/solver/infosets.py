"""What a seat of Duel was told in this round, as rows that the compiled search reads."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from piste.core.bits import count
from piste.core.errors import PositionError
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import HIDDEN, RESIGNS, SPECTATOR, Event
from piste.core.views import SeatView
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import BURY, DISARM, DRAW, EMPTY, GIVE, NOTHING, State, View
from piste.games.mccoy_duel.solver import cfr_kernels, infoset_kernels, ismcts_kernels, mccfr_kernels
from piste.games.mccoy_duel.solver.infoset_kernels import ANY, KEYS, WIDTH

Array = np.ndarray[Any, np.dtype[Any]]

MOST = 4096
"""How many possible positions are kept: two players hardly ever leave so many open, more players do."""

SECRET = (BURY, DISARM, DRAW, GIVE)


class Heard(NamedTuple):
    """An event, and what the seat saw after it if that is known."""

    event: Event
    after: View | None


class Rows(NamedTuple):
    """Possible positions with what each seat was told, and how likely each is."""

    rows: Array
    weights: Array

    @property
    def sums(self) -> Array:
        return np.cumsum(self.weights)

    def of(self, seat: int, key: int) -> Rows:
        """Return the rows that a seat holds possible that was told this."""
        mine = self.rows[:, KEYS + seat] == key
        return Rows(self.rows[mine], self.weights[mine])


@cache
def kernels() -> Any:
    """Return the compiled functions; without numba the same ones run as they are."""
    from piste.compiled.compiler import link_modules

    return link_modules(rules, infoset_kernels, ismcts_kernels, cfr_kernels, mccfr_kernels)


@cache
def compiled() -> bool:
    """Say whether the search is compiled."""
    return "compiled" in str(kernels().__name__)


def told(view: SeatView) -> tuple[State | None, tuple[Heard, ...]]:
    """Return the position at which this round began, which all seats know, and what a seat was told since.

    There is none before the first cards are dealt.
    """
    views = [view.opening, *(line.after for line in view.log)]
    for i in range(len(views) - 1, -1, -1):
        if views[i].phase == BURY and not views[i].buried and not views[i].up and fresh(views[i]):
            break
    else:
        i = 0
    heard = tuple(Heard(line.event, line.after) for line in view.log[i:])
    if i == 0 and view.origin:
        return Position.parse(view.origin).state, heard
    return (dealt(views[i]) if views[i].phase == BURY else None), heard


def fresh(v: View) -> bool:
    """Say whether nobody has buried a card of this round yet."""
    whole = count(v.options.powers)
    return all(size == (whole if v.present >> seat & 1 else 0) for seat, size in enumerate(v.sizes))


def dealt(v: View) -> State:
    """Return the position of a view in which a round begins: everybody holds their colour."""
    hands = [v.options.powers << 9 * seat if v.present >> seat & 1 else 0 for seat in range(4)]
    wins = sum(won << 4 * seat for seat, won in enumerate(v.wins))
    return State(
        v.options, BURY, v.seat, v.target, HIDDEN, (hands[0], hands[1], hands[2], hands[3]), EMPTY,
        v.playing, v.present, v.out, wins, NOTHING, 0,
    )  # fmt: skip


def read(known: InformationSet) -> tuple[State, tuple[Heard, ...]]:
    """Return the same from an information set, in which `also` is not written."""
    heard = (Heard(Event(*event, HIDDEN if event.kind == RESIGNS else ANY), None) for event in known.events)
    return known.base.state, tuple(heard)


def rows_of(state: State, told: tuple[Heard, ...], viewer: int, most: int = MOST) -> Rows:
    """Follow what a seat was told; for SPECTATOR, what everybody was told of it."""
    k = kernels()
    rows, weights = np.zeros((1, WIDTH), np.int64), np.ones(1)
    infoset_kernels.pack(state, rows[0])
    rows[0, KEYS:] = range(1, 5)
    room, thinned = 256, False
    for event, after in told:
        public = viewer == SPECTATOR and event.kind in SECRET
        said = np.array((event.kind, event.seat, HIDDEN if public else event.what, event.also), np.int64)
        seen = np.full(5, ANY, np.int64)
        if after is not None:
            seen[:] = (after.phase, after.seat, after.target, after.playing, after.hand)
        while True:
            found, likely = np.zeros((room, WIDTH), np.int64), np.zeros(room)
            made = int(k.follow(state.options, rows, weights, len(rows), said, viewer, seen, found, likely))
            if made >= 0:
                break
            room *= 4
        if made == 0 and thinned:
            return rows_of(state, told, viewer, 4 * most)  # what was kept held nothing like the true game
        if made == 0:
            raise PositionError("No position fits what this seat was told.")
        if made > most:
            made = int(k.thin(found, likely, made, most))
            thinned = True
        rows, weights = found[:made].copy(), likely[:made] / likely[:made].sum()
    return Rows(rows, weights)


def like(found: Rows, state: State) -> Rows:
    """Return the rows in which the same question is open as in a position."""
    public = (state.phase, state.seat, state.target, state.ability)
    same = (found.rows[:, :4] == public).all(axis=1) & (found.rows[:, 13] == state.playing)
    return Rows(found.rows[same], found.weights[same] / found.weights[same].sum())
