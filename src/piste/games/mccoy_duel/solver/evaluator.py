"""Duel for the coach: what a seat's log is worth, by as much sampled play as a whole match leaves time for.

Before a round everything is public, and who will lead is all that counts. The end of a round between two is solved
where its tree is small. All else is searched by sampled play, which is an estimate with an interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from piste.core.bits import count, nth
from piste.core.evaluation import ESTIMATED, EXACT, WITHIN, Chances, Choice, Evaluation, Progress, quiet
from piste.core.game import members
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import HIDDEN, OVER, SPECTATOR
from piste.core.views import SeatView
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import (
    BURY,
    COPY,
    EMPTY,
    KILL,
    LOT,
    NEXT,
    NOBODY,
    NOTHING,
    PICK,
    REVEAL,
    TAKE,
    Options,
    State,
    View,
)
from piste.games.mccoy_duel.solver import cfr, infoset_kernels, infosets, search, solver
from piste.games.mccoy_duel.solver.infoset_kernels import KEYS
from piste.games.mccoy_duel.solver.solver import Measured

ALL = 6_000_000
"""Sampled rounds for a whole match, shared by its players: rounds of more players take longer."""

FEWEST, MOST = 1_500, 60_000
"""Sampled rounds for one moment of it."""

WIDE = 0.05
"""A bound wider than this says less than sampled play."""

DECISION = 4
"""A decision takes about so many times as long as any other moment: its choices are played on one by one."""

NOBODYS = 99
"""No seat: nobody's choices are asked for."""

CARDS = 7
NODES = 60_000
"""The end of a round is solved from so many cards in both hands, if its tree is no larger than this."""


class Evaluator:
    """Judges a seat by its view, and spends on a moment what is left for it."""

    evaluates_outcomes = False

    def __init__(self, options: Options, progress: Progress = quiet) -> None:
        solver.prepare(options, progress)
        self._players = options.players
        self._passes = MOST

    def set_budget(self, decisions: int, others: int) -> None:
        """Take less time for each of many moments."""
        self._passes = max(FEWEST, min(MOST, ALL // self._players // max(1, DECISION * decisions + others)))

    def evaluate_view(self, view: SeatView, chosen: int | None = None) -> Evaluation:
        v: View = view.position
        seat = view.seat
        if v.phase == rules.DONE or (v.phase == NEXT and view.options.players > 2):
            won = float(v.seat == seat)
            return Evaluation(seat, Chances(won, 0.0, 1 - won), (), EXACT, 0.0, "The round is over.")
        begun = before_the_deal(view)
        if begun is not None:
            return solver.before_the_round(begun, seat)
        state, told = infosets.told(view)
        assert state is not None
        mine = infosets.rows_of(state, told, seat)
        return self._in_the_round(infoset_kernels.unpack(view.options, mine.rows[0]), seat, mine, state, told, chosen)

    def evaluate(self, known: InformationSet) -> Evaluation:
        """Return what a seat's knowledge is worth, with every choice played on."""
        known = solver.latest(known)
        s: State = next(iter(known.belief.states))
        public = s.phase in (REVEAL, LOT) or (s.phase == PICK and not s.tower.buried)
        if rules.to_act(s) == OVER or public or infoset_kernels.over(s) or known.seat < 0:
            return solver.evaluate(known)
        state, told = solver.this_round(*infosets.read(known))
        mine = infosets.like(infosets.rows_of(state, told, known.seat), s)
        return self._in_the_round(s, known.seat, mine, state, told, None)

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        return known.belief.states

    def _in_the_round(
        self,
        s: State,
        seat: int,
        mine: infosets.Rows,
        state: State,
        told: tuple[infosets.Heard, ...],
        chosen: int | None,
    ) -> Evaluation:
        """Judge a seat that was told this since the round began; `s` is one of the states it holds possible."""
        key, deciding, found = int(mine.rows[0, KEYS + seat]), rules.to_act(s) == seat, None
        if deciding and s.options.players == 2 and sum(map(count, s.hands)) <= CARDS and infosets.compiled():
            found = self._solved(s, infosets.like(infosets.rows_of(state, told, SPECTATOR), s), seat, key)
        if found is None:
            tried = solver.measured(s.options, mine, seat, key, self._passes)
            share, off, choices = tried.share, tried.off, list[tuple[int, float, float]]()
            if deciding and tried.choices:
                choices, off = self._choices(s, seat, mine, tried, chosen)
                share = max(value for _, value, _ in choices)
            how = f"{tried.passes} sampled rounds over {len(mine.rows)} possible deals. {solver.OFF}"
            found = solver.told_of(s, seat, share, choices, ESTIMATED, off, how)
        actions = tuple(members(rules.legal(s))) if deciding else ()
        return found._replace(choices=every_choice(found.choices, actions))

    def _choices(
        self, s: State, seat: int, mine: infosets.Rows, tried: Measured, chosen: int | None
    ) -> tuple[list[tuple[int, float, float]], float]:
        """Return what each choice wins, and by how much the best and the chosen one may be off.

        The search that finds the best one hardly tries the others, and says too little of what they are worth. So
        each choice is played on by itself: the best and the chosen one as long as the search, the rest a quarter.
        """
        values: dict[int, tuple[float, float]] = {}
        best = next(action for action, _, mix in tried.choices if mix == 1)
        close = [a for a, _, _ in tried.choices if a == best or (chosen is not None and alike(s, a, chosen))]
        for action, _, _ in tried.choices:
            passes = self._passes // (1 if action in close else 4)
            values[action] = played_on(s.options, decided(s, seat, action, mine), seat, passes)
        most = max(values[action][0] for action in close)  # a shorter measure proves nothing better
        choices = [(action, min(most, values[action][0]), mix) for action, _, mix in tried.choices]
        return choices, max(values[action][1] for action in close)

    def _solved(self, s: State, rows: infosets.Rows, seat: int, key: int) -> Evaluation | None:
        """Return the verdict of a solution with its proof, if the tree is small enough."""
        solution = cfr.solve(s.options, rows, NODES)
        proof = cfr.prove(s.options, rows, *solution) if solution is not None else None
        if solution is None or proof is None:
            return None
        spot = int(infosets.kernels().spot_of(solution[0].slots, solution[0].names, solution[0].counts, key, 0))
        part = float(rows.of(seat, key).weights.sum())
        if spot < 0 or proof.gap > WIDE * part:
            return None
        left, mix, values = infoset_kernels.different(s), solution[0].mix(spot), proof.values[seat][spot]
        choices = [(nth(left, i), float(values[i]), float(mix[i])) for i in range(count(left))]
        how = (
            f"CFR+ on {solution[0].nodes} nodes over {len(rows.rows)} deals, with the best answers to it worked out."
        )
        # What the mix loses here weighs at most the whole gap, and this place has that part of all deals.
        within = proof.gap / part
        return solver.told_of(s, seat, max(value for _, value, _ in choices), choices, WITHIN, within, how)

    def parts(self, states: list[Any]) -> list[tuple[int, int, int]]:
        """Return what is judged by itself, as (first moment, last moment, winner): rounds, or the match of two."""
        if states[0].options.players == 2:
            return [(0, len(states) - 1, states[-1].seat)]
        found, begin = [], HIDDEN
        for at, s in enumerate(states):
            if begin == HIDDEN and s.phase == BURY:
                begin = at
            if infoset_kernels.over(s) and begin != HIDDEN:
                found.append((begin, at, s.seat))
                begin = HIDDEN
        return found


def alike(s: State, one: int, other: int) -> bool:
    """Say whether two decisions are the same but for the colour of a card that all can see (D22)."""
    seen = s.phase in (KILL, TAKE, COPY)
    return one == other or (seen and rules.power_of(one) == rules.power_of(other))


def decided(s: State, seat: int, action: int, mine: infosets.Rows) -> infosets.Rows:
    """Return the rows after a seat's own decision; what shows only then, such as who is out, was not known."""
    event = np.array(rules.tell(s, action, seat), np.int64)
    rows, weights = np.zeros_like(mine.rows), np.zeros_like(mine.weights)
    anything = np.full(5, infoset_kernels.ANY, np.int64)
    n = len(mine.rows)
    made = infosets.kernels().follow(s.options, mine.rows, mine.weights, n, event, seat, anything, rows, weights)
    assert made == n  # a decision that is open in one of them is open in all
    return infosets.Rows(rows, weights)


def played_on(options: Options, rows: infosets.Rows, seat: int, passes: int) -> tuple[float, float]:
    """Return how often a seat wins from rows in which different things may come next, and how far off that may be."""
    if not infosets.compiled():
        passes //= search.PLAIN
    wide, narrow = search.WIDTH, solver.NARROW
    parts = ((2, wide), (4, wide), (8, narrow), (8, narrow / 3))
    plan = tuple((max(1, passes // part), width) for part, width in parts)
    done = search.stages(options, rows, NOBODYS, 0, plan, 1, search.TABLE)[1:]
    shares = [float(stage.won[seat] / stage.won.sum()) for stage in done]
    return shares[-1], solver.spread(shares, int(done[-1].won.sum()))


def every_choice(choices: tuple[Choice, ...], actions: tuple[int, ...]) -> tuple[Choice, ...]:
    """Return a choice for each decision: cards of one power in the tower were judged only once (D22)."""
    by_action = {choice.action: choice for choice in choices}
    by_power = {rules.power_of(choice.action): choice for choice in reversed(choices)}
    if not choices:
        return ()
    return tuple(
        by_action.get(action) or by_power[rules.power_of(action)]._replace(action=action, mix=0.0)
        for action in actions
    )


def before_the_deal(view: SeatView) -> State | None:
    """Return the state, if no card of a round is hidden yet: then all of it is public."""
    v: View = view.position
    if v.phase == NEXT:
        wins = sum(won << 4 * seat for seat, won in enumerate(v.wins))
        return State(
            v.options, NEXT, v.seat, HIDDEN, HIDDEN, NOBODY, EMPTY,
            v.playing, v.present, v.out, wins, NOTHING, 0,
        )  # fmt: skip
    if v.phase not in (REVEAL, LOT, PICK) or v.buried:
        return None
    s: State = Position.parse(view.origin).state if view.origin else rules.start(view.options)
    for told in view.log:
        s = rules.leave(s, told.event.seat) if told.event.kind < 0 else rules.apply(s, told.event.what)
    assert rules.to_act(s) != OVER
    return s
