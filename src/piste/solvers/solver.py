"""The solver of a game that has none of its own: what its tree allows, chosen by measuring it.

- Each seat sees all that matters when it decides: backward induction over all states, or bounds by value iteration
  where states can come again.
- Two seats, something hidden, zero sum: CFR+ on the tree of histories, with a bound by best responses.
- Anything else, and what is too large: information set Monte Carlo tree search, and exact play from where the rest of
  the game is small enough.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from piste.compiled import table_cache
from piste.compiled.compiler import digest
from piste.core.dealer import RandomStream
from piste.core.evaluation import EXACT, Evaluation, Progress, quiet
from piste.core.game import Game
from piste.core.information_set import InformationSet
from piste.core.protocols import OVER
from piste.core.views import SeatView
from piste.solvers import cfr, induction, ismcts
from piste.solvers.solution import GraphSolution, TreeSolution, seat_of
from piste.solvers.tree import MAX_INTERPRETED_NODES, build, estimate, max_nodes

VERSION = 1
MAX_LATE_NODES = 200_000
"""Of what is left of a game whose whole tree is too large."""

HOPELESS = 1_000
"""A tree is not built if it is estimated to have this many times as many nodes as it may have: many histories lead to
one state, but hardly so many."""

MAX_KEPT = 16
"""Solutions that a process keeps in memory, by the position that they begin with."""

DECISION_PASSES = 50_000

KINDS: tuple[type[GraphSolution] | type[TreeSolution], ...] = (GraphSolution, TreeSolution)


class Answer(NamedTuple):
    """What the tree of a game allows: a solution, or none."""

    solution: GraphSolution | TreeSolution | None
    nodes: float  # of the tree of histories, estimated


_kept: OrderedDict[tuple[str, Any], Answer] = OrderedDict()


@cache
def of(game: Game) -> GameSolver:
    """Return the solver of a game."""
    return GameSolver(game)


class GameSolver:
    """What a game's `solver/solver.py` offers as a module, for one game that has none."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def prepare(self, options: Any, progress: Progress = quiet) -> None:
        """Solve the game if that is possible, or load what was solved; else compile the search."""
        if self.whole(options, progress).solution is None:
            self.prepare_search(options)

    def prepare_search(self, options: Any) -> None:
        """Compile the search, by the shortest one there is."""
        ismcts.search(self.game, {self.game.rules.start(options): 1.0}, 0, ((1, 1.0),), 1)

    def evaluate(
        self, known: InformationSet, progress: Progress = quiet, passes: int = ismcts.EVALUATION_PASSES
    ) -> Evaluation:
        """Return what a position is worth to a seat, as far as it knows it."""
        if self.game.rules.to_act(next(iter(known.belief.states))) == OVER:
            return self.ended(known)
        return self.solved(known, progress) or ismcts.evaluate(known, progress, passes)

    def ended(self, known: InformationSet) -> Evaluation:
        """Return what a seat was paid."""
        seat, worth = seat_of(known), np.zeros(3)
        for state, likely in known.belief.states.items():
            payoff = self.game.rules.payoff(state, seat)
            worth += likely * np.array([payoff, payoff > 0, payoff < 0])
        solution = self.whole(known.base.state.options).solution
        scale = ismcts.scale_of(self.game, known.base.state.options) if solution is None else solution.scale
        chances, paid = scale.worth(worth)
        return Evaluation(seat, chances, (), EXACT, 0.0, "The game is over.", payoff=paid)

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        """Return a decision of the solution, or of a long search where there is none."""
        evaluation = self.solved(InformationSet.told(self.game, view)) or self.solved(
            InformationSet.of(self.game, view)
        )
        if evaluation is None:
            known = InformationSet.told(self.game, view)
            return ismcts.best_decision(
                self.game, known.belief.states, view.seat, DECISION_PASSES, stream.below(1 << 31)
            )
        choices = [choice for choice in evaluation.choices if choice.mix > 0]
        return choices[stream.weighted([choice.mix for choice in choices])].action

    def solved(self, known: InformationSet, progress: Progress = quiet) -> Evaluation | None:
        """Return what a solution says, or None where there is none: of the whole game, or of what is left of it."""
        base, states = known.base.state, known.belief.states
        whole = self.whole(base.options, progress).solution
        found = None if whole is None else whole.evaluate(known)
        if found is not None:
            return found
        if self.late(base, progress).solution is not None or len(states) > 1:
            late = self.late(base).solution
            return None if late is None else late.evaluate(known)
        # The seat knows the state. It begins what is left if from here on all see what matters: then nobody needs to
        # know what the others knew.
        late = self.late(next(iter(states)), progress).solution
        return late.evaluate(known) if isinstance(late, GraphSolution) else None

    def solve_fully(self, options: Any, progress: Progress = quiet) -> str:
        """Solve the game and say how that went."""
        answer = self.whole(options, progress)
        if answer.solution is None:
            why = ismcts.why_searched(self.game, options)
            return (
                f"The tree of {self.game.notation.TITLE} with these options has about {answer.nodes:.2g} nodes; up "
                f"to {max_nodes()} different ones can be solved here. {why[0].upper()}{why[1:]}. Positions are "
                "searched by sampled play, and solved once what is left of the game is small enough."
            )
        return f"{answer.solution.summary()} The solution is kept in the cache."

    def whole(self, options: Any, progress: Progress = quiet) -> Answer:
        """Return what the tree from the start allows, from memory, from the cache, or by solving it."""
        start = self.game.rules.start(options)
        if (self.game.name, start) not in _kept:
            answer = self.cached(options)
            if answer is None:
                answer = self.solve(start, max_nodes(), progress)
                table_cache.try_save(self.table(options), self.stamp, stored(answer))
            keep(self.game, start, answer)
        return recalled(self.game, start)

    def known_solution(self, options: Any, most: int) -> GraphSolution | TreeSolution | None:
        """Return the solution if it is at hand, or quickly made because the tree has no more nodes than `most`."""
        start = self.game.rules.start(options)
        if (self.game.name, start) in _kept:
            return recalled(self.game, start).solution
        answer = self.cached(options)
        if answer is None and build(self.game, start, histories=False, most=most) is not None:
            answer = self.whole(options)
        return None if answer is None else answer.solution

    def late(self, state: Any, progress: Progress = quiet) -> Answer:
        """Return what the tree from a later state allows, if everybody knows it."""
        if (self.game.name, state) not in _kept:
            keep(self.game, state, self.solve(state, min(MAX_LATE_NODES, max_nodes()), progress))
        return recalled(self.game, state)

    def solve(self, state: Any, most: int, progress: Progress = quiet) -> Answer:
        """Measure the tree below a state, and solve it if it is small enough."""
        # What is quickly built need not be estimated first.
        graph = build(self.game, state, histories=False, most=min(most, MAX_INTERPRETED_NODES))
        size = estimate(self.game, state, quick=graph is not None).nodes
        if graph is None and size <= HOPELESS * most:
            graph = build(self.game, state, histories=False, most=most, progress=progress)
        if graph is None:
            return Answer(None, size)
        if graph.sees_all:
            return Answer(induction.solve(self.game, graph, progress), size)
        tree = None
        if graph.payoffs.shape[1] == 2 and graph.zero_sum and size <= HOPELESS * most:
            tree = build(self.game, state, histories=True, most=most, progress=progress)
        return Answer(None if tree is None else cfr.solve(self.game, tree, progress), size)

    @property
    def stamp(self) -> str:
        """The version of what was solved: another one where the rules were changed."""
        rules = self.game.rules
        assert isinstance(rules, ModuleType)
        return f"rules {rules.VERSION} {digest((rules,))}, solver {VERSION}"

    def table(self, options: Any) -> str:
        """Return the name of the table of a game with these options."""
        return f"{self.game.name} tree {','.join(map(str, options))} {max_nodes()}"

    def cached(self, options: Any) -> Answer | None:
        """Return what is kept in the cache, or None."""
        table = table_cache.load(self.table(options), self.stamp)
        if table is None:
            return None
        try:
            arrays = {name: table.read(name) for name in table.names}
        except table_cache.DamagedTableError:
            table_cache.delete(self.table(options), self.stamp)
            return None
        kind, nodes = arrays.pop("kind")
        return Answer(None if kind < 0 else KINDS[int(kind)].read(self.game, arrays), float(nodes))


def stored(answer: Answer) -> dict[str, Any]:
    """Return the arrays that are kept of an answer."""
    if answer.solution is None:
        return {"kind": np.array([-1.0, answer.nodes])}
    kind = float(KINDS.index(type(answer.solution)))
    return {"kind": np.array([kind, answer.nodes]), **answer.solution.arrays()}


def recalled(game: Game, state: Any) -> Answer:
    """Return an answer that is kept, and keep it longer."""
    _kept.move_to_end((game.name, state))
    return _kept[game.name, state]


def keep(game: Game, state: Any, answer: Answer) -> None:
    """Keep an answer in memory, in place of the one longest unused if there are too many."""
    _kept[game.name, state] = answer
    while len(_kept) > MAX_KEPT:
        _kept.popitem(last=False)
