"""A round of Duel between two solved by a linear program: the second method that its solutions are held against.

No part of that uses the solver: the round is played through by the rules alone, a situation is the list of events
that a seat was told, nothing is left out, and a public solver finds the optimum of the sequence form. So it shares
neither the enumeration nor the algorithm with `piste.games.mccoy_duel.solver`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog  # type: ignore[import-untyped]
from scipy.sparse import coo_matrix, hstack, vstack  # type: ignore[import-untyped]

from piste.core.game import members
from piste.core.protocols import CHANCE
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import Options, State


class SequenceForm:
    """Both seats' sequences, by situation, and what chance makes of each pair that ends the round."""

    def __init__(self, options: Options) -> None:
        self.told: dict[tuple[int, Any], int] = {}  # what a seat was told: all before, and one event more
        self.first: tuple[dict[int, int], dict[int, int]] = ({}, {})  # of each situation its first sequence
        self.parents: tuple[list[int], list[int]] = ([], [])
        self.sizes: tuple[list[int], list[int]] = ([], [])
        self.sequences = [1, 1]
        self.won: dict[tuple[int, int], float] = {}  # by the first seat
        self.walk(rules.start(options))

    def heard(self, before: int, s: State, action: int, seat: int) -> int:
        return self.told.setdefault((before, rules.tell(s, action, seat)), len(self.told) + 1)

    def walk(self, start: State) -> None:
        waiting = [(start, 0, 0, 0, 0, 1.0)]
        while waiting:
            s, heard0, heard1, first, second, chance = waiting.pop()
            if s.phase in (rules.NEXT, rules.DONE):
                if s.seat == 0:
                    self.won[first, second] = self.won.get((first, second), 0.0) + chance
                continue
            actor, actions = rules.to_act(s), members(rules.choices(s))
            if actor == CHANCE:
                chance /= len(actions)
            begin = self.situation(actor, (heard0, heard1)[actor], (first, second)[actor], len(actions))
            for i, action in enumerate(actions):
                waiting.append(
                    (
                        rules.apply(s, action), self.heard(heard0, s, action, 0), self.heard(heard1, s, action, 1),
                        begin + i if actor == 0 else first, begin + i if actor == 1 else second, chance,
                    )
                )  # fmt: skip

    def situation(self, seat: int, heard: int, parent: int, choices: int) -> int:
        """Return the first sequence of a situation, a new one if need be."""
        if seat == CHANCE:
            return 0
        begin = self.first[seat].get(heard)
        if begin is None:
            begin = self.first[seat][heard] = self.sequences[seat]
            self.sequences[seat] += choices
            self.parents[seat].append(parent)
            self.sizes[seat].append(choices)
        return begin

    def constraints(self, seat: int) -> Any:
        """Return the matrix that says of a plan: the choices of each situation sum to what leads there."""
        n = len(self.sizes[seat])
        rows = np.concatenate([[0], np.repeat(np.arange(n), self.sizes[seat]) + 1, np.arange(n) + 1])
        columns = np.concatenate([[0], np.arange(1, self.sequences[seat]), self.parents[seat]])
        values = np.concatenate([np.ones(self.sequences[seat]), -np.ones(n)])
        return coo_matrix((values, (rows.astype(int), columns.astype(int))), shape=(n + 1, self.sequences[seat]))

    def value(self) -> float:
        """Return the share of rounds that the first seat wins: the most that it can be sure of.

        The variables are its plan, and for each situation of the other seat what that holds it down to.
        """
        pairs = np.array(list(self.won)).T.reshape(2, -1)
        shape = self.sequences[0], self.sequences[1]
        won = coo_matrix((list(self.won.values()), (pairs[0], pairs[1])), shape=shape)
        own, other = self.constraints(0), self.constraints(1)
        equal = hstack([own, coo_matrix((own.shape[0], other.shape[0]))])
        below = hstack([-won.T, other.T])  # of each sequence of the other
        wanted = np.zeros(equal.shape[1])
        wanted[own.shape[1]] = -1.0
        bounds = np.array([[0, np.inf]] * own.shape[1] + [[-np.inf, np.inf]] * other.shape[0])
        right = np.zeros(own.shape[0])
        right[0] = 1.0
        found = linprog(
            wanted, vstack([below]).tocsc(), np.zeros(other.shape[1]), equal.tocsc(), right, bounds, "highs-ipm",
            options={"ipm_optimality_tolerance": 1e-9},
        )  # fmt: skip
        assert found.status == 0, found.message
        return float(-found.fun)
