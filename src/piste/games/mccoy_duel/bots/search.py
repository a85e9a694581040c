"""How the bots of Duel decide: CFR+ or MCCFR late in a round between two, a book or ISMCTS before that."""

from __future__ import annotations

from typing import NamedTuple

from piste.core.bits import count
from piste.core.dealer import RandomStream
from piste.core.game import members
from piste.core.protocols import SPECTATOR
from piste.core.views import SeatView
from piste.games.mccoy_duel.rules import PICK, PLAY, SEAT, State
from piste.games.mccoy_duel.solver import book, cfr, infoset_kernels, infosets, ismcts, solutions
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN
from piste.games.mccoy_duel.solver.infosets import Array, Observed


class Effort(NamedTuple):
    """How much a bot searches, counted and not timed, so that it decides the same on any machine."""

    passes: int  # of ISMCTS for a decision
    cards: int  # a round is solved from this number of cards in both hands on
    nodes: int  # if its tree is no larger than this
    work: int  # once a decision took this number of node visits, only a small tree of the decision itself is solved
    mccfr_visits: int  # where no tree is small enough, less half of the work above: MCCFR takes half as long for each
    reads_solutions: bool = False  # plays by the solution of the whole round where there is one
    reads_book: bool = False  # and by the opening book as far as that goes


FULL = Effort(60_000, 8, 300_000, 10_000_000, 10_000_000, reads_solutions=True, reads_book=True)
SHORT = Effort(1_000, 0, 0, 0, 0)
SMALL_TREE_DIVISOR = 10
ALL_POWERS = 511


def choose(view: SeatView, stream: RandomStream, effort: Effort) -> int:
    if len(view.actions) == 1:
        return view.actions[0]
    seat = view.seat
    state, events = infosets.observed_round(view)
    if state is None and effort.reads_solutions:
        solution = solutions.find(view.options)
        if solution is not None and solution.share < 0.5:
            return SEAT + 1 - seat
    if view.kind == PICK and (state is None or view.options.powers == ALL_POWERS):
        return SEAT + seat  # with all cards of the sheet to lead is better, as measured
    assert state is not None
    plan = plan_for(state, events, seat, stream, effort)
    if len(plan.actions) == 1:
        return plan.actions[0]
    return plan.actions[stream.weighted(plan.probabilities)]


class Plan(NamedTuple):
    """What a bot chooses from, and how often it takes each."""

    actions: tuple[int, ...]
    probabilities: list[float]
    searched: bool = False  # with another stream it may be another one


def plan_for(state: State, events: tuple[Observed, ...], seat: int, stream: RandomStream, effort: Effort) -> Plan:
    """Return what to choose from, after what a seat has observed since the round began."""
    found = solutions.look_up(state, events, seat) if effort.reads_solutions else None
    if found is not None and found[1].played:
        return Plan(found[1].actions, found[1].probabilities.tolist())
    options = state.options
    own = infosets.possible_states(state, events, seat)
    key = int(own.rows[0, KEY_COLUMN + seat])
    s = infoset_kernels.unpack(options, own.rows[0])
    actions = tuple(members(infoset_kernels.distinct_choices(s)))
    if len(actions) == 1:
        return Plan(actions, [1.0])
    late = sum(map(count, s.hands)) <= effort.cards or solvable_moments(events, effort.cards)
    if late and options.players == 2 and infosets.compiled():
        strategy, spent, _ = solved_strategy(state, events, key, effort)
        if strategy is not None:
            return Plan(actions, strategy.tolist())
        strategy = sampled_strategy(state, events, seat, key, effort, spent, stream)
        if strategy is not None:
            return Plan(actions, strategy.tolist(), searched=True)
    elif effort.reads_book:
        chosen = book.look_up(state, events, seat)
        if chosen is not None:
            return Plan(*chosen)
    passes = effort.passes if infosets.compiled() else effort.passes // ismcts.UNCOMPILED_SLOWDOWN
    result = ismcts.search(options, own, seat, key, passes, stream.below(1 << 60))
    return Plan((result.choices[int(result.visits.argmax())],), [1.0], searched=True)


def solvable_moments(events: tuple[Observed, ...], cards: int) -> list[int]:
    """Return the events after which a turn began, or the last one, with at most this number of cards in hands."""
    last = len(events) - 1
    return [
        i
        for i, (_, after) in enumerate(events)
        if after is not None and (after.phase == PLAY or i == last) and sum(after.sizes) <= cards
    ]


def solved_strategy(
    state: State, events: tuple[Observed, ...], key: int, effort: Effort
) -> tuple[Array | None, int, int]:
    """Return the strategy of the first solution that contains this infoset, or None, the work, and its first event.

    The first turn from which the round could be solved counts. Only if its solution never comes here, because the
    opponent has done what it never does, a later turn is solved anew, and at last the decision itself. Work counts
    also where a solution is cached, so that a bot decides the same after a restart.
    """
    spent = 0
    for i in solvable_moments(events, effort.cards):
        exhausted = spent >= effort.work
        if exhausted and i + 1 < len(events):
            continue
        states = infosets.possible_states(state, events[: i + 1], SPECTATOR)
        nodes = effort.nodes // (SMALL_TREE_DIVISOR if exhausted else 1)
        solution, work = cfr.solve_with_work(state.options, states, nodes)
        spent += work
        infoset = -1 if solution is None else solution.learned_infoset(key)
        if solution is not None and infoset >= 0:
            return solution.choice_probabilities(infoset), spent, i
    return None, spent, len(events) - 1


def sampled_strategy(
    state: State, events: tuple[Observed, ...], seat: int, key: int, effort: Effort, spent: int, stream: RandomStream
) -> Array | None:
    """Return the strategy that MCCFR finds, with less work if much was spent on solving in vain."""
    public = infosets.possible_states(state, events, SPECTATOR)
    visits = max(effort.mccfr_visits - spent // 2, effort.mccfr_visits // 4)
    return cfr.mccfr_strategy(state.options, public, seat, key, visits, stream.below(1 << 60))
