"""How the bots of Duel decide: the end of a round is solved or learned, what comes before is searched."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from piste.core.bits import count, nth
from piste.core.dealer import RandomStream
from piste.core.protocols import HIDDEN, SPECTATOR, Event
from piste.core.views import SeatView
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import PICK, PLAY, SEAT, Options, State
from piste.games.mccoy_duel.solver import cfr, infoset_kernels, infosets, ismcts_kernels
from piste.games.mccoy_duel.solver.infoset_kernels import KEYS
from piste.games.mccoy_duel.solver.infosets import Array, Heard, Rows


class Effort(NamedTuple):
    """How much a bot thinks, counted and not timed, so that it decides the same on any machine."""

    passes: int  # games sampled for a decision
    cards: int  # the end of a round is solved from so many cards in both hands
    nodes: int  # if its tree is no larger than this
    work: int  # and once so many nodes were visited for a decision, only a small tree of what is asked is solved
    trials: (
        int  # visits for what is learned from drawn deals instead, less half of the work above: it takes half as long
    )


FULL = Effort(60_000, 8, 300_000, 10_000_000, 10_000_000)
SHORT = Effort(1_000, 0, 0, 0, 0)
WIDTH = 1.0  # how much a choice that was tried less is favoured: narrower ones miss strong first plays
TABLE = 1 << 17
SMALL = 10  # by so much smaller than else
PLAIN = 100  # without numba everything takes about so many times as long: think so much less


class Tried(NamedTuple):
    """What sampled play found: of each choice how often it was tried and won, and who won altogether."""

    choices: tuple[int, ...]
    visits: Array
    gains: Array
    won: Array


def sample(options: Options, found: Rows, seat: int, key: int, passes: int, seed: int) -> Tried:
    """Search from rows by sampled play; the choices are those of a seat that was told `key`."""
    return stages(options, found, seat, key, ((passes, WIDTH),), seed, TABLE)[0]


def stages(
    options: Options, found: Rows, seat: int, key: int, plan: tuple[tuple[int, float], ...], seed: int, size: int
) -> list[Tried]:
    """Search the same, one stage after the other, each of so many passes with such a width; return each by itself."""
    k = infosets.kernels()
    keys, visits, gains = tables(size)
    s = infoset_kernels.unpack(options, found.rows[0])
    left = infoset_kernels.different(s) if seat >= 0 and rules.to_act(s) == seat else 0
    choices = tuple(nth(left, i) for i in range(count(left)))
    before = np.zeros((2, len(choices)), np.int64)
    done = []
    for i, (passes, width) in enumerate(plan):
        won = np.zeros(4, np.int64)
        k.sampled(options, found.rows, found.sums, len(found.rows), passes, seed ^ i, width, keys, visits, gains, won)
        at = int(k.place(keys, key | 1))
        now = np.array((visits[at, : len(choices)], gains[at, : len(choices)]), np.int64)
        done.append(Tried(choices, now[0] - before[0], now[1] - before[1], won))
        before = now
    return done


def tables(size: int) -> tuple[Array, Array, Array]:
    """Return room for so many decisions: what was told, how often each choice was tried, how often it won."""
    shape = (size, ismcts_kernels.ACTIONS)
    return np.zeros(size, np.int64), np.zeros(shape, np.int32), np.zeros(shape, np.int32)


def warm(options: Options) -> None:
    """Have everything compiled that the bots and a verdict call, on the smallest round there is."""
    k = infosets.kernels()
    small = Options(options.players, 1, 1, 257)
    found = infosets.rows_of(rules.start(small), (Heard(Event(rules.BURY, 0, HIDDEN, HIDDEN), None),), SPECTATOR)
    sample(small, found, 0, 1, 2, 1)
    k.place(np.zeros(2, np.int64), 1)
    k.thin(found.rows.copy(), found.weights.copy(), len(found.rows), 1)
    if options.players == 2 and infosets.compiled():
        solution = cfr.solve(small, found, 1000)
        assert solution is not None
        solution[0].spot(1)
        cfr.prove(small, found, *solution)
        cfr.learned(small, found, 0, int(found.rows[0, KEYS]), 1000, 1)


def moments(told: tuple[Heard, ...], cards: int) -> list[int]:
    """Return after which events a turn began, or who is asked now, with no more than so many cards in hands."""
    last = len(told) - 1
    return [
        j
        for j, (_, after) in enumerate(told)
        if after is not None and (after.phase == PLAY or j == last) and sum(after.sizes) <= cards
    ]


def solved_mix(state: State, told: tuple[Heard, ...], key: int, effort: Effort) -> tuple[Array | None, int, int]:
    """Return the mix that the first solution which knows this situation plays, or None.

    And the work that took, and after which event that solution begins.

    The first turn from which the round could be solved counts; only if its solution never comes here, because the
    other seat has done what it never does, a later one is solved anew, and at last what is asked now. Work counts
    also where it is remembered, so that a bot which is asked again after a restart decides the same.
    """
    spent = 0
    for j in moments(told, effort.cards):
        over = spent >= effort.work
        if over and j + 1 < len(told):
            continue
        found = infosets.rows_of(state, told[: j + 1], SPECTATOR)
        solution, work = cfr.tried_for(state.options, found, effort.nodes // (SMALL if over else 1))
        spent += work
        if solution is not None:
            spot = solution[0].spot(key)
            if spot >= 0:
                return solution[0].mix(spot), spent, j
    return None, spent, len(told) - 1


def late_mix(
    state: State, told: tuple[Heard, ...], seat: int, key: int, effort: Effort, stream: RandomStream
) -> Array | None:
    """Return the mix to play late in a round between two, solved or else learned from drawn deals."""
    mix, spent, _ = solved_mix(state, told, key, effort)
    if mix is None:
        everybody = infosets.rows_of(state, told, SPECTATOR)
        trials = max(effort.trials - spent // 2, effort.trials // 4)
        mix = cfr.learned(state.options, everybody, seat, key, trials, stream.below(1 << 60))
    return mix


def decide(view: SeatView, stream: RandomStream, effort: Effort) -> int:
    """Return what to do in a seat."""
    if len(view.actions) == 1:
        return view.actions[0]
    seat = view.seat
    state, told = infosets.told(view)
    if view.kind == PICK and (state is None or sheet(view.options)):
        return SEAT + seat
    assert state is not None
    mine = infosets.rows_of(state, told, seat)
    key = int(mine.rows[0, KEYS + seat])
    s = infoset_kernels.unpack(view.options, mine.rows[0])
    left = infoset_kernels.different(s)
    if count(left) == 1:
        return nth(left, 0)
    late = sum(view.position.sizes) <= effort.cards or moments(told, effort.cards)
    if late and view.options.players == 2 and infosets.compiled():
        mix = late_mix(state, told, seat, key, effort, stream)
        if mix is not None:
            return nth(left, drawn(mix, stream))
    passes = effort.passes if infosets.compiled() else effort.passes // PLAIN
    found = sample(view.options, mine, seat, key, passes, stream.below(1 << 60))
    return found.choices[int(np.argmax(found.visits))]


def drawn(mix: Array, stream: RandomStream) -> int:
    """Return a choice, as often as the mix says."""
    at = stream.fraction() * float(mix.sum())
    for i, p in enumerate(mix):
        at -= float(p)
        if at < 0:
            return i
    return int(np.argmax(mix))


def sheet(options: Options) -> bool:
    """Say whether all cards of the sheet are in: then to lead is better, as measured."""
    return options.powers == 511
