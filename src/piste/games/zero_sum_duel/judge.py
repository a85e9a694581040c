"""Zero Sum Duel for the coach: the solver as it is, and what it holds likely of cards that a seat cannot see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piste.core.contract import OVER
from piste.core.known import Known
from piste.core.verdict import Progress, Verdict, quiet
from piste.games.zero_sum_duel import rules, solve
from piste.games.zero_sum_duel.basis import is_exact
from piste.games.zero_sum_duel.rules import TOSS, Options, State


class Judge:
    """Trusts the other player to play as well as possible, until they have not."""

    def __init__(self, options: Options, progress: Progress = quiet) -> None:
        self.imagines = is_exact(options)
        if self.imagines:
            solve.prepare(options, progress)

    def verdict(self, known: Known) -> Verdict:
        return solve.verdict(known)

    def weights(self, known: Known) -> Mapping[Any, float]:
        known = solve.latest(known)
        some: State = next(iter(known.belief.states))
        if some.phase == TOSS or rules.to_act(some) == OVER or not self.imagines:
            return known.belief.states
        first, found = solve.starter(some), dict[State, float]()
        weighed = solve.weighed(known, first) or solve.weighed(known, first, trusting=False)
        for (_, state), likely in weighed.items():
            found[state] = found.get(state, 0.0) + likely
        return found
