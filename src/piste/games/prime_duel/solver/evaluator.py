"""Prime Duel for the coach: a deck is solved once, where it is small enough, and answers to its last card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.information_set import InformationSet
from piste.core.protocols import OVER
from piste.games.prime_duel import rules
from piste.games.prime_duel.guarantees import position_count, value_options
from piste.games.prime_duel.rules import Options, State
from piste.games.prime_duel.solver import solver, tablebase
from piste.games.prime_duel.solver.score_pairs import card_counts, reachable_pairs
from piste.games.prime_duel.solver.value_sources import DeckEndgame, next_score_pairs


class Evaluator:
    """Solves nothing twice; where one position would take seconds, a model or the tablebase's formula answers."""

    def __init__(self, options: Options, progress: Progress = quiet) -> None:
        solver.prepare(options, progress)
        limit = solver.work_limits().game
        self._small = position_count(options) <= limit
        # A model with a turn limit takes so long that one for every card that might come is too much.
        self.evaluates_outcomes = not options.turns or position_count(options) * options.turns <= limit
        self._endgame: DeckEndgame | None = None

    def evaluate(self, known: InformationSet) -> Evaluation:
        (s,) = known.belief.states  # nothing is hidden
        if rules.to_act(s) == OVER:
            return solver.evaluate(known)
        if self._endgame is not None and self._endgame_has(s):
            selected = solver.endgame_source(s, self._endgame, tablebase.load(value_options(s.options)))
        else:
            selected = solver.select_source(s, 0)
        return solver.evaluation(s, known.seat if known.seat >= 0 else s.seat, selected)

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        (s,) = known.belief.states
        if self._is_endgame(s) and not self._endgame_has(s):
            options = value_options(s.options)
            table = tablebase.load(options)
            if solver.endgame_work(s) <= solver.work_limits().endgame * solver.EVALUATION_WORK_FACTOR:
                self._endgame = solver.deck_endgame(s, reachable_pairs(options, next_score_pairs(s)), table)
        return known.belief.states

    def _is_endgame(self, s: State) -> bool:
        """Say whether solving the rest of the deck would help here."""
        return not self._small and not solver.turns_left(s) and s.deck != 0

    def _endgame_has(self, s: State) -> bool:
        """Say whether the endgame has all positions before a draw that come next; past a reshuffle it does not."""
        if self._endgame is None or not self._is_endgame(s):
            return False
        fits = (card_counts(s.options, s.deck) <= self._endgame.decks.counts).all()
        return bool(fits) and next_score_pairs(s) <= self._endgame.roots
