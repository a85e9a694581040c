"""Prime Duel for the coach: a deck is worked out once, where it is small enough, and answers to its last card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from piste.core.bits import lane
from piste.core.evaluation import ESTIMATED, WITHIN, Chances, Choice, Evaluation, Progress, quiet
from piste.core.game import members
from piste.core.information_set import InformationSet
from piste.core.protocols import OVER
from piste.games.prime_duel import rules
from piste.games.prime_duel.guarantees import size
from piste.games.prime_duel.rules import DECIDE, Options, State
from piste.games.prime_duel.solver import solver, tablebase
from piste.games.prime_duel.solver.score_pairs import needed
from piste.games.prime_duel.solver.solver import Judged
from piste.games.prime_duel.solver.value_sources import Tail, chances, counts, empties_from, loops, next_lines


class Evaluator:
    """Solves nothing twice; where one position would take seconds, a model or the kept formula answers."""

    def __init__(self, options: Options, progress: Progress = quiet) -> None:
        solver.prepare(options, progress)
        most = solver.effort(loops()).small
        self._small = size(options) <= most
        # A model that counts turns takes so long that one for every card that might come is too much.
        self.imagines = not options.turns or size(options) * options.turns <= most
        self._tail: Tail | None = None
        self._deck = 0  # the deck that the tail begins with

    def evaluate(self, known: InformationSet) -> Evaluation:
        (s,) = known.belief.states  # nothing is hidden
        if rules.to_act(s) == OVER:
            return solver.evaluate(known)
        found, seat = self._judged(s), known.seat if known.seat >= 0 else s.seat
        choices: tuple[Choice, ...] = ()
        if s.phase == DECIDE and s.seat == seat:
            each = {action: self._chances(rules.apply(s, action), seat, found) for action in members(rules.legal(s))}
            best = max(each, key=lambda action: each[action].value)
            choices = tuple(Choice(action, worth, float(action == best)) for action, worth in each.items())
        worth = self._chances(s, seat, found)
        return Evaluation(seat, worth, choices, found.known, found.within, found.how)

    def _chances(self, s: State, seat: int, found: Judged) -> Chances:
        win, loss = chances(s, seat, found.source, found.turns)
        return Chances(win, max(0.0, 1.0 - win - loss), loss)

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        (s,) = known.belief.states
        if not self._answers(s):
            self._work_out(s)
        return known.belief.states

    def _judged(self, s: State) -> Judged:
        if not (self._tail and self._answers(s)):
            return solver.judged(s, 0)
        table, off = tablebase.table(solver.plain(s.options)), solver.FAR if s.options.turns else 0.0
        how = "Worked out to the last card of this deck; what follows the reshuffle "
        if table is None:
            how += "was taken from a model."
            return Judged(self._tail, 0, ESTIMATED, solver.OFF + off, how)
        return Judged(self._tail, 0, ESTIMATED if off else WITHIN, tablebase.ROUNDED + off, f"{how}is solved.")

    def _answers(self, s: State) -> bool:
        """Say whether the tail knows all positions before a draw that come next; past a reshuffle it does not."""
        if self._small or not self._tail or self._limited(s) or not s.deck:
            return False
        fits = all(lane(s.deck, i) <= lane(self._deck, i) for i in range(s.options.top))
        return fits and next_lines(s) <= self._tail.roots

    def _limited(self, s: State) -> bool:
        return bool(s.options.turns) and s.options.turns - s.turns < solver.far(s.options)

    def _work_out(self, s: State) -> None:
        """Work out the deck that is left, if it is small enough by now."""
        code, bare = loops(), solver.plain(s.options)
        table = tablebase.table(bare)
        most = solver.effort(code).tail * (1 if table is None else solver.WORTH_IT)
        decks = int(np.prod(np.array(counts(bare, s.deck)) + 1))
        work = decks * (bare.target - s.scores[0]) * (bare.target - s.scores[1])
        if self._small or self._limited(s) or not s.deck or work > most:
            return
        beyond = table or solver.model(bare, rules.whole_deck(bare), 0, 0)
        empties = table.empties if table is not None else empties_from(bare, beyond)
        self._tail = Tail(code, bare, s.deck, needed(bare, next_lines(s)), beyond, empties)
        self._deck = s.deck
