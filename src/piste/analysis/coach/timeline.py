"""A finished game step by step: what each seat knew, and what that was worth to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from piste.analysis.coach.evaluator import Evaluator, chance
from piste.core.belief import WrittenEvent
from piste.core.evaluation import Chances, Choice, Evaluation, Payoff
from piste.core.game import Game, members
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import HIDDEN, OVER
from piste.core.steps import apply_step
from piste.core.table import Table
from piste.core.views import LogEntry, SeatView

Worth = TypeVar("Worth", Choice, Evaluation)
Evaluations = dict[tuple[int, int], Evaluation]
"""By step and seat. Those of a review that was stopped let another one go on from there."""


def evaluations_text(evaluations: Evaluations) -> str:
    """Return evaluations as JSON, from which they can be read without a loss."""
    rows = [[*key, evaluation] for key, evaluation in evaluations.items()]
    return json.dumps(rows, separators=(",", ":"), default=lambda number: number.item())  # numpy's numbers


def read_evaluations(text: str) -> Evaluations:
    """Return the evaluations of a text."""
    found: Evaluations = {}
    for at, seat, (own, chances, choices, *rest) in json.loads(text or "[]"):
        read = (_with_payoff(Choice(action, Chances(*after), *more)) for action, after, *more in choices)
        found[at, seat] = _with_payoff(Evaluation(own, Chances(*chances), tuple(read), *rest))
    return found


def _with_payoff(worth: Worth) -> Worth:
    return worth if worth.payoff is None else worth._replace(payoff=Payoff(*worth.payoff))


class Timeline:
    """The information sets of all seats at each step, and their values. Each is computed once, when asked for."""

    def __init__(self, table: Table, evaluator: Evaluator, evaluations: Evaluations | None = None) -> None:
        self.game, self.history, self.actors = table.game, table.history(), table.actors()
        self.seats = range(table.seats)
        self.states = game_states(table)
        self.evaluations: Evaluations = {} if evaluations is None else evaluations
        self._evaluator = evaluator
        self._views = [table.view(seat) for seat in self.seats]
        self._known = [[InformationSet.told(self.game, view.at_step(0))] for view in self._views]

    def view(self, at: int, seat: int) -> SeatView:
        """Return what a seat saw at a step."""
        return view_at(self.game, self._views[seat], self.states[at], at)

    def known(self, at: int, seat: int) -> InformationSet:
        """Return what a seat knew at a step: its log so far, and nothing else."""
        known = self._known[seat]
        while len(known) <= at:
            known.append(_after(known[-1], self._views[seat].log[len(known) - 1]))
        return known[at]

    def evaluate(self, at: int, seat: int) -> Evaluation:
        """Return the value of what a seat knew at a step."""
        if (at, seat) not in self.evaluations:
            self.evaluations[at, seat] = self._compute(at, seat)
        return self.evaluations[at, seat]

    def _compute(self, at: int, seat: int) -> Evaluation:
        return self._evaluator.evaluate(self.known(at, seat))

    def chance(self, at: int, seat: int) -> float:
        """Return the winning chance of a seat at a step, from its own view."""
        return chance(self.evaluate(at, seat))

    def tells_more(self, at: int, seat: int) -> bool:
        """Say whether a seat's own decision at a step told it more than that it took it: what it could have been told
        then differs by the state."""
        rules, step, found = self.game.rules, self.history[at], set()
        if not isinstance(step, int):
            return False
        for state in self.known(at, seat).belief.states:
            found.add((rules.tell(state, step, seat), rules.look(rules.apply(state, step), seat)))
            if len(found) > 1:
                return True
        return False

    def expected(self, at: int, seat: int) -> float:
        """Return the mean winning chance over all outcomes of the chance node, from the view of a seat."""
        if not self._evaluator.evaluates_outcomes:
            return self.chance(at, seat)
        total = weighted = 0.0
        known = self.known(at, seat)
        for entry, likely in self._next_entries(known).items():
            weighted += likely * chance(self._evaluator.evaluate(_after(known, entry)))
            total += likely
        return weighted / total

    def _next_entries(self, known: InformationSet) -> Mapping[LogEntry, float]:
        """Return each log entry that the seat may get at the chance node, with its probability."""
        rules, entries = self.game.rules, dict[LogEntry, float]()
        for state, likely in self._evaluator.weights(known).items():
            weights = {o: rules.weight(state, o) for o in members(rules.outcomes(state))}
            total = sum(weights.values())
            for outcome, weight in weights.items():
                after = rules.look(rules.apply(state, outcome), known.seat)
                entry = LogEntry(rules.tell(state, outcome, known.seat), after)
                entries[entry] = entries.get(entry, 0.0) + likely * weight / total
        return entries


def _after(known: InformationSet, entry: LogEntry) -> InformationSet:
    """Return what a seat knows after one more line of its log."""
    events = (*known.events, WrittenEvent.of(entry.event))
    return InformationSet(known.seat, known.base, events, known.belief.after(entry))


def game_states(table: Table) -> list[Any]:
    """Return every state of a finished game."""
    game, origin = table.game, table.view().origin
    states = [Position.parse(origin).state if origin else game.rules.start(table.options)]
    for step in table.history():
        states.append(apply_step(game.rules, states[-1], step))
    return states


def view_at(game: Game, whole: SeatView, state: Any, at: int) -> SeatView:
    """Return what a seat saw at a step of a finished game, with the decisions that it had."""
    rules = game.rules
    actions = tuple(members(rules.legal(state))) if rules.to_act(state) == whole.seat else ()
    view = whole.at_step(at)
    names = tuple(game.notation.spell(view.position, action)[0] for action in actions)
    kind = HIDDEN if rules.to_act(state) == OVER else rules.kind(state)
    return view._replace(number=at, kind=kind, decisions=names, actions=actions, ending=None)
