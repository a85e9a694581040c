"""A finished game from one seat's view: its information set at each step, and the value of that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piste.analysis.coach.evaluator import Evaluator, chance
from piste.core.belief import Belief, WrittenEvent
from piste.core.evaluation import Evaluation
from piste.core.game import Game, members
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import HIDDEN, OVER
from piste.core.views import LogEntry, SeatView


class SeatTimeline:
    """The information sets of one seat, step by step: at each it knows its log so far, and nothing else."""

    def __init__(self, game: Game, whole: SeatView, evaluator: Evaluator) -> None:
        self.game = game
        self.seat = whole.seat
        self._whole = whole
        self._evaluator = evaluator
        start = Position.parse(whole.origin).state if whole.origin else game.rules.start(whole.options)
        self._base = Position(game, start)
        self._belief = Belief(game, start, self.seat)
        self._events: tuple[WrittenEvent, ...] = ()
        self._verdict: Evaluation | None = None

    @property
    def at(self) -> int:
        """The number of events so far."""
        return len(self._events)

    def known(self) -> InformationSet:
        return InformationSet(self.seat, self._base, self._events, self._belief)

    def evaluate(self) -> Evaluation:
        """Return the value of the current information set to the seat."""
        if self._verdict is None:
            self._verdict = self._evaluator.evaluate(self.known())
        return self._verdict

    def advance(self) -> None:
        """Go to the next step."""
        entry = self._whole.log[self.at]
        self._belief.see(entry)
        self._events = (*self._events, WrittenEvent.of(entry.event))
        self._verdict = None

    def view(self, state: Any) -> SeatView:
        """Return what the seat saw at this step of the game."""
        return view_at(self.game, self._whole, state, self.at)

    def expected(self) -> float:
        """Return the mean winning chance over all outcomes of the chance node, from the view of this seat."""
        total = weighted = 0.0
        for entry, likely in self._next_entries().items():
            known = InformationSet(
                self.seat, self._base, (*self._events, WrittenEvent.of(entry.event)), self._belief.after(entry)
            )
            weighted += likely * chance(self._evaluator.evaluate(known))
            total += likely
        return weighted / total

    def _next_entries(self) -> Mapping[LogEntry, float]:
        """Return each log entry that the seat may get at the chance node, with its probability."""
        rules, entries = self.game.rules, dict[LogEntry, float]()
        for state, likely in self._evaluator.weights(self.known()).items():
            weights = {o: rules.weight(state, o) for o in members(rules.outcomes(state))}
            total = sum(weights.values())
            for outcome, weight in weights.items():
                after = rules.look(rules.apply(state, outcome), self.seat)
                entry = LogEntry(rules.tell(state, outcome, self.seat), after)
                entries[entry] = entries.get(entry, 0.0) + likely * weight / total
        return entries


def view_at(game: Game, whole: SeatView, state: Any, at: int) -> SeatView:
    """Return what a seat saw at a step of a finished game, with the decisions that it had."""
    rules = game.rules
    actions = tuple(members(rules.legal(state))) if rules.to_act(state) == whole.seat else ()
    view = whole.at_step(at)
    names = tuple(game.notation.spell(view.position, action)[0] for action in actions)
    kind = HIDDEN if rules.to_act(state) == OVER else rules.kind(state)
    return view._replace(number=at, kind=kind, decisions=names, actions=actions, ending=None)
