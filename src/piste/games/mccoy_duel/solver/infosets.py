"""The states of a round of Duel that fit what a seat has observed, as rows that the compiled search reads."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from piste.core.errors import PositionError
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import HIDDEN, RESIGNS, SPECTATOR, Event
from piste.core.views import SeatView
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import BURY, DISARM, DRAW, EMPTY, GIVE, NOBODY, NOTHING, State, View
from piste.games.mccoy_duel.solver import cfr_kernels, infoset_kernels, ismcts_kernels
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN, KNOWN_COLUMN, ROW_WIDTH, UNKNOWN

Array = np.ndarray[Any, np.dtype[Any]]

MAX_STATES = 4096
"""More possible states are resampled to this number: two players hardly ever leave as many open, more players do."""

SECRET_KINDS = (BURY, DISARM, DRAW, GIVE)


class Observed(NamedTuple):
    """An event, and the seat's view after it if that is known."""

    event: Event
    after: View | None


class PossibleStates(NamedTuple):
    """Possible states with the infoset key of each seat, and their probabilities."""

    rows: Array
    weights: Array

    @property
    def sums(self) -> Array:
        return np.cumsum(self.weights)

    def in_infoset(self, seat: int, key: int) -> PossibleStates:
        """Return the states of one information set of a seat."""
        own = self.rows[:, KEY_COLUMN + seat] == key
        return PossibleStates(self.rows[own], self.weights[own])


ENTRIES = (
    "advance", "advance_resignation", "resample", "run_ismcts", "add_roots", "run_cfr", "run_mccfr",
    "opponent_reach", "best_response",
)  # fmt: skip
"""The kernels that are called from Python; each is compiled when it is first called."""


@cache
def kernels() -> Any:
    """Return the compiled functions; without numba the same functions are interpreted."""
    from piste.compiled.compiler import link_modules

    return link_modules(rules, infoset_kernels, ismcts_kernels, cfr_kernels, entries=ENTRIES)


@cache
def compiled() -> bool:
    """Say whether the search is compiled."""
    return "compiled" in str(kernels().__name__)


def observed_round(view: SeatView) -> tuple[State | None, tuple[Observed, ...]]:
    """Return the state at which this round began, which all seats know, and what a seat has observed since.

    There is no such state before the first cards are dealt.
    """
    views = [view.opening, *(entry.after for entry in view.log)]
    dealt = [i for i, v in enumerate(views) if v.phase == BURY and not v.buried and not v.up]
    start = dealt[-1] if dealt else 0
    events = tuple(Observed(*entry) for entry in view.log[start:])
    if start == 0 and view.origin:
        return Position.parse(view.origin).state, events
    return (rules.deal(state_without_cards(views[start]), views[start].seat) if dealt else None), events


def state_without_cards(v: View) -> State:
    """Return the state of a view with no card in hands and on the table; what is left of it is public."""
    out, wins = (sum(number << 4 * seat for seat, number in enumerate(numbers)) for numbers in (v.out, v.wins))
    return State(
        v.options, v.phase, v.seat, v.target, HIDDEN, NOBODY, EMPTY,
        v.playing, v.present, out, wins, NOTHING, 0,
    )  # fmt: skip


def observed_events(known: InformationSet) -> tuple[State, tuple[Observed, ...]]:
    """Return the base state of an information set, and what the seat has observed since, without `also`."""
    also = {RESIGNS: HIDDEN}
    return known.base.state, tuple(Observed(Event(*e, also.get(e.kind, UNKNOWN)), None) for e in known.events)


def possible_states(
    state: State, events: tuple[Observed, ...], viewer: int, max_states: int = MAX_STATES
) -> PossibleStates:
    """Return the states that fit what a seat has observed; for SPECTATOR, what everybody has observed of it."""
    k = kernels()
    rows, weights = np.zeros((1, ROW_WIDTH), np.int64), np.ones(1)
    infoset_kernels.pack(state, rows[0])
    rows[0, KEY_COLUMN:KNOWN_COLUMN] = range(1, 5)
    rows[0, KNOWN_COLUMN] = infoset_kernels.known_at_deal(state.options)
    room, resampled = 256, False
    for event, after in events:
        secret = viewer == SPECTATOR and event.kind in SECRET_KINDS
        told = np.array((event.kind, event.seat, HIDDEN if secret else event.what, event.also), np.int64)
        expected = np.full(5, UNKNOWN, np.int64)
        if after is not None:
            expected[:] = (after.phase, after.seat, after.target, after.playing, after.hand)
        next_rows, next_weights, size = rows, weights, -1
        if event.kind == RESIGNS:
            size = int(k.advance_resignation(state.options, rows, weights, event.seat, viewer, expected))
        while size < 0:
            next_rows, next_weights = np.zeros((room, ROW_WIDTH), np.int64), np.zeros(room)
            size = int(k.advance(state.options, rows, weights, told, viewer, expected, next_rows, next_weights))
            room *= 1 if size >= 0 else 4
        if size == 0 and resampled:
            return possible_states(state, events, viewer, 4 * max_states)  # resampling lost the true state
        if size == 0:
            raise PositionError("No position fits what this seat was told.")
        if size > max_states:
            size = int(k.resample(next_rows, next_weights, size, max_states))
            resampled = True
        rows, weights = next_rows[:size].copy(), next_weights[:size] / next_weights[:size].sum()
    return PossibleStates(rows, weights)


def with_same_question(states: PossibleStates, state: State) -> PossibleStates:
    """Return the possible states in which the same question is open as in a state."""
    public = (state.phase, state.seat, state.target, state.ability)
    same = (states.rows[:, :4] == public).all(axis=1) & (states.rows[:, 13] == state.playing)
    return PossibleStates(states.rows[same], states.weights[same] / states.weights[same].sum())
