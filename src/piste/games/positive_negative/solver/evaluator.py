"""Positive-Negative for the coach: the solver's rows, and one climb more where every next card is to be judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piste.core.bits import count
from piste.core.evaluation import EXACT, Choice, Evaluation, Progress, quiet
from piste.core.information_set import InformationSet
from piste.core.protocols import CHANCE, SPECTATOR
from piste.games.positive_negative import rules
from piste.games.positive_negative.guarantees import AT_MOST
from piste.games.positive_negative.rules import DECIDE, DISCARD, DONE, DRAW, KEEP, Options, State
from piste.games.positive_negative.solver import solver
from piste.games.positive_negative.solver.solver import Judged, Rows

WHOLE = 17
"""From so many cards on one climb answers for all that can still come: a game passes through every size of deck."""


class Evaluator:
    """Keeps the rows of one deck of the game; those of each deck that might have come would take too long."""

    def __init__(self, options: Options, progress: Progress = quiet) -> None:
        solver.prepare(options, progress)
        self.evaluates_outcomes = 2 * options.top <= AT_MOST
        self._book = solver.book(options, progress) if solver.AT_ONCE < 2 * options.top <= AT_MOST else None
        self._rows: Rows | None = None

    def evaluate(self, known: InformationSet) -> Evaluation:
        if not self.evaluates_outcomes:
            return solver.evaluate(known)
        states: dict[State, float] = dict(known.belief.states)
        some = next(iter(states))
        seat = some.seat if known.seat == SPECTATOR else known.seat
        worth, draw = 0.0, 0.0
        choices: tuple[Choice, ...] = ()
        for s, likely in states.items():
            judged = self._judged(s)
            best = solver.decide(s, judged) if s.phase == DECIDE else CHANCE
            worth += likely * judged.worth[best][0] * (1 if s.seat == seat else -1)
            draw += likely * judged.worth[best][1]
            if s.phase == DECIDE and s.seat == known.seat:
                choices = tuple(
                    Choice(action, solver.chances(*judged.worth[action]), float(action == best))
                    for action in (KEEP, DISCARD)
                )
        return Evaluation(seat, solver.chances(worth, draw), choices, EXACT, 0.0, solver.told(some, 0.0))

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        states: Mapping[State, float] = known.belief.states
        deck, lead = 0, 0
        for s in states:
            deck |= s.deck
            lead = max(lead, abs(rules.score(s, 0) - rules.score(s, 1)))
        if count(deck) <= WHOLE and not (self._rows and self._rows.holds(deck, lead)):
            self._rows = solver.climb(next(iter(states)).options.top, deck, lead, 0)
        return states

    def _judged(self, s: State) -> Judged:
        """Return what the seat whose turn it is gets, from the rows that know it."""
        if s.phase == DONE:
            return solver.judge(s)
        top, deck = s.options.top, s.deck
        lead = rules.score(s, s.seat) - rules.score(s, 1 - s.seat)
        after = lead + rules.value(top, s.card) if s.phase == DECIDE else lead
        rows = self._rows_for(s, max(abs(lead), abs(after)))
        if rows is None:
            return solver.judge(s)
        if s.phase == DRAW:
            worth, draw = rows.settled(deck, -lead)  # the other's turn has just ended, with the opposite lead
            return Judged({CHANCE: (-worth, draw)}, 0.0)
        if s.phase == DECIDE:
            return Judged({KEEP: rows.settled(deck, after), DISCARD: rows.risked(deck, lead)}, 0.0)
        return Judged({CHANCE: rows.risked(deck, lead)}, 0.0)

    def _rows_for(self, s: State, lead: int) -> Rows | None:
        """Return rows at hand: the kept ones of large decks, which end a card earlier where two may be drawn."""
        smallest = solver.AT_ONCE + (s.phase != DRAW)
        if self._book is not None and count(s.deck) >= smallest:
            return self._book
        return self._rows if self._rows is not None and self._rows.holds(s.deck, lead) else None
