"""Positive-Negative for the coach: the solver's tables, and one more where every next card is to be evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piste.core.bits import count
from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.information_set import InformationSet
from piste.games.positive_negative import rules
from piste.games.positive_negative.guarantees import MAX_SOLVED_CARDS
from piste.games.positive_negative.rules import DONE, Options, State
from piste.games.positive_negative.solver import solver
from piste.games.positive_negative.solver.solver import ActionValues, DeckTable

MAX_TABLE_CARDS = 17
"""From this many cards on one table has all the next decks that can come: a game passes through every size."""


class Evaluator:
    """Keeps the table of one deck of the game; one for each deck that might have come would take too long."""

    def __init__(self, options: Options, progress: Progress = quiet) -> None:
        solver.prepare(options, progress)
        self.evaluates_outcomes = 2 * options.top <= MAX_SOLVED_CARDS
        self._table: DeckTable | None = None

    def evaluate(self, known: InformationSet) -> Evaluation:
        return solver.evaluation(known, self._action_values if self.evaluates_outcomes else solver.action_values)

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        states: Mapping[State, float] = known.belief.states
        deck, lead = 0, 0
        for s in states:
            deck |= s.deck
            lead = max(lead, abs(rules.score(s, 0) - rules.score(s, 1)))
        if count(deck) <= MAX_TABLE_CARDS and not (self._table and self._table.covers(deck, lead)):
            smallest = count(deck) - solver.KEPT_SIZES
            self._table = solver.solve_decks(next(iter(states)).options.top, deck, lead, smallest=smallest)
        return states

    def _action_values(self, s: State) -> ActionValues:
        """Return the values from a table at hand, else the solver's."""
        if s.phase != DONE and self._table is not None and self._table.covers(s.deck, solver.max_lead(s)):
            return solver.table_values(s, self._table)
        return solver.action_values(s)
