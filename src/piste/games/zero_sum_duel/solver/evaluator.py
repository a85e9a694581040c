"""Zero Sum Duel for the coach: the solver as it is, and what it holds likely of cards that a seat cannot see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piste.core.evaluation import Evaluation, Progress, quiet
from piste.core.information_set import InformationSet
from piste.core.protocols import OVER
from piste.games.zero_sum_duel import rules
from piste.games.zero_sum_duel.guarantees import is_exact
from piste.games.zero_sum_duel.rules import TOSS, Options, State
from piste.games.zero_sum_duel.solver import solver


class Evaluator:
    """Trusts the other player to play as well as possible, until they have not."""

    def __init__(self, options: Options, progress: Progress = quiet) -> None:
        self.evaluates_outcomes = is_exact(options)
        if self.evaluates_outcomes:
            solver.prepare(options, progress)

    def evaluate(self, known: InformationSet) -> Evaluation:
        return solver.evaluate(known)

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        known = solver.since_last_shared(known)
        some: State = next(iter(known.belief.states))
        if some.phase == TOSS or rules.to_act(some) == OVER or not self.evaluates_outcomes:
            return known.belief.states
        first, likelihoods = solver.starter(some), dict[State, float]()
        weights = solver.state_weights(known, first) or solver.state_weights(known, first, trusting=False)
        for (_, state), likely in weights.items():
            likelihoods[state] = likelihoods.get(state, 0.0) + likely
        return likelihoods
