"""Duel for the coach: evaluations of a seat's log, with as much ISMCTS as a whole match leaves time for.

Before a round everything is public, and who will lead is all that counts. The end of a round between two is solved
by CFR+ where its tree is small. All else is searched by ISMCTS, which is an estimate with an interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from piste.core.bits import count
from piste.core.evaluation import EXACT, Chances, Choice, Evaluation, Progress, quiet
from piste.core.game import members
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import HIDDEN, OVER, RESIGNS, SPECTATOR
from piste.core.views import SeatView
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import LOT, NEXT, PICK, REVEAL, Options, State, View
from piste.games.mccoy_duel.solver import infoset_kernels, infosets, ismcts, solver
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN
from piste.games.mccoy_duel.solver.infosets import Observed, PossibleStates
from piste.games.mccoy_duel.solver.solver import SampledValue

MATCH_PASSES = 6_000_000
"""Passes for a whole match, shared by its players: rounds of more players take longer."""

MIN_PASSES, MAX_PASSES = 1_500, 60_000
"""Passes for one moment of it."""

MAX_CFR_ERROR = 0.05
"""A wider bound says less than ISMCTS."""

DECISION_COST = 4
"""A decision takes about this many times as long as any other moment: its choices are searched one by one."""

MAX_CARDS = 7
MAX_NODES = 60_000
"""The end of a round is solved from this number of cards in both hands on, if its tree is no larger than this."""


class Evaluator:
    """Evaluates views of a seat, with a share of the passes of a match for each."""

    evaluates_outcomes = False

    def __init__(self, options: Options, progress: Progress = quiet) -> None:
        solver.prepare_evaluation(options, progress)
        self._players = options.players
        self._passes = MAX_PASSES

    def set_budget(self, decisions: int, others: int) -> None:
        """Take less time for each of many moments."""
        moments = max(1, DECISION_COST * decisions + others)
        self._passes = max(MIN_PASSES, min(MAX_PASSES, MATCH_PASSES // self._players // moments))

    def evaluate_view(self, view: SeatView, chosen: int | None = None) -> Evaluation:
        v: View = view.position
        seat = view.seat
        if v.phase == rules.DONE or (v.phase == NEXT and view.options.players > 2):
            won = float(v.seat == seat)
            return Evaluation(seat, Chances(won, 0.0, 1 - won), (), EXACT, 0.0, "The round is over.")
        public = public_state(view)
        if public is not None:
            return solver.evaluate_before_deal(public, seat)
        state, events = infosets.observed_round(view)
        assert state is not None
        own = infosets.possible_states(state, events, seat)
        return self._in_round(infoset_kernels.unpack(view.options, own.rows[0]), seat, own, state, events, chosen)

    def evaluate(self, known: InformationSet) -> Evaluation:
        """Return what a seat's information set is worth, with every choice searched."""
        known = solver.since_last_deal(known)
        s: State = next(iter(known.belief.states))
        if solver.before_deal(s) or infoset_kernels.round_over(s) or known.seat < 0:
            return solver.evaluate(known)
        state, events = solver.skip_to_deal(*infosets.observed_events(known))
        own = infosets.with_same_question(infosets.possible_states(state, events, known.seat), s)
        return self._in_round(s, known.seat, own, state, events, None)

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        return known.belief.states

    def _in_round(
        self, s: State, seat: int, own: PossibleStates, state: State, events: tuple[Observed, ...], chosen: int | None
    ) -> Evaluation:
        """Evaluate a seat that has observed these events since the round began; `s` is one of its possible states."""
        key, deciding = int(own.rows[0, KEY_COLUMN + seat]), rules.to_act(s) == seat
        evaluation = solver.evaluate_by_solution(s, state, events, seat) if events else None
        if (
            evaluation is None
            and deciding
            and s.options.players == 2
            and sum(map(count, s.hands)) <= MAX_CARDS
            and infosets.compiled()
        ):
            public = infosets.with_same_question(infosets.possible_states(state, events, SPECTATOR), s)
            evaluation = solver.evaluate_by_cfr(s, public, seat, key, MAX_NODES, MAX_CFR_ERROR)
        if evaluation is None:
            sampled = solver.sample_value(s.options, own, seat, key, self._passes)
            if deciding and sampled.choices:
                sampled = self._search_choices(s, seat, own, sampled, chosen)
            evaluation = solver.sampled_evaluation(s, seat, own, sampled)
        actions = tuple(members(rules.legal(s))) if deciding else ()
        return evaluation._replace(choices=every_choice(evaluation.choices, actions))

    def _search_choices(
        self, s: State, seat: int, own: PossibleStates, sampled: SampledValue, chosen: int | None
    ) -> SampledValue:
        """Return what each choice wins, and as error that of the best and the chosen one.

        The search that finds the best choice hardly tries the others, and says too little of what they are worth. So
        each choice is searched by itself: the best and the chosen one as long as that search, the rest a quarter.
        """
        values: dict[int, SampledValue] = {}
        best = next(action for action, _, probability in sampled.choices if probability == 1)
        close = [a for a, _, _ in sampled.choices if a == best or (chosen is not None and alike(s, a, chosen))]
        for action, _, _ in sampled.choices:
            after = states_after(s, seat, action, own)
            passes = self._passes // (1 if action in close else 4)
            size = ismcts.TABLE_SIZE
            values[action] = solver.sample_value(s.options, after, seat, 0, passes, choosing=False, table_size=size)
        limit = max(values[action].share for action in close)  # a shorter search proves nothing better
        choices = [
            (action, min(limit, values[action].share), probability) for action, _, probability in sampled.choices
        ]
        error = max(values[action].error for action in close)
        return SampledValue(max(share for _, share, _ in choices), error, choices, sampled.passes)

    def parts(self, states: list[Any]) -> list[tuple[int, int, tuple[float, ...]]]:
        """Return the parts to evaluate, as (first moment, last moment, results): rounds, or the match of two."""
        seats = range(states[0].options.players)
        if states[0].options.players == 2:
            return [(0, len(states) - 1, tuple(float(states[-1].seat == seat) for seat in seats))]
        rounds, begin = [], HIDDEN
        for at, s in enumerate(states):
            if begin == HIDDEN and s.phase == rules.BURY:
                begin = at
            if infoset_kernels.round_over(s) and begin != HIDDEN:
                rounds.append((begin, at, tuple(float(s.seat == seat) for seat in seats)))
                begin = HIDDEN
        return rounds


def alike(s: State, one: int, other: int) -> bool:
    """Say whether two decisions are the same but for the colour of a card that all can see (D22)."""
    seen = s.phase in (rules.KILL, rules.TAKE, rules.COPY)
    return one == other or (seen and rules.power_of(one) == rules.power_of(other))


def states_after(s: State, seat: int, action: int, own: PossibleStates) -> PossibleStates:
    """Return the possible states after a seat's own decision; what shows only then, such as who is out, is open."""
    event = np.array(rules.tell(s, action, seat), np.int64)
    rows, weights = np.zeros_like(own.rows), np.zeros_like(own.weights)
    expected = np.full(5, infoset_kernels.UNKNOWN, np.int64)
    size = infosets.kernels().advance(s.options, own.rows, own.weights, event, seat, expected, rows, weights)
    assert size == len(own.rows)  # a decision that is open in one of them is open in all
    return PossibleStates(rows, weights)


def every_choice(choices: tuple[Choice, ...], actions: tuple[int, ...]) -> tuple[Choice, ...]:
    """Return a choice for each decision: cards of one power in the tower were searched only once (D22)."""
    by_action = {choice.action: choice for choice in choices}
    by_power = {rules.power_of(choice.action): choice for choice in reversed(choices)}
    if not choices:
        return ()
    return tuple(
        by_action.get(action) or by_power[rules.power_of(action)]._replace(action=action, mix=0.0)
        for action in actions
    )


def public_state(view: SeatView) -> State | None:
    """Return the state if no card of a round is hidden, else None."""
    v: View = view.position
    if v.phase == NEXT:
        return infosets.state_without_cards(v)
    if v.phase not in (REVEAL, LOT, PICK) or v.buried:
        return None
    s: State = Position.parse(view.origin).state if view.origin else rules.start(view.options)
    for event, _ in view.log:
        s = rules.leave(s, event.seat) if event.kind == RESIGNS else rules.apply(s, event.what)
    assert rules.to_act(s) != OVER
    return s
