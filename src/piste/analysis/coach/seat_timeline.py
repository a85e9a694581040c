"""A finished game as one seat met it: what it knew at each moment, and what that was worth."""

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


class Held(Belief):
    """What a seat holds possible; it can be asked what it would be after something else."""

    def after(self, told: LogEntry) -> Held:
        """Return what would be held possible after one more event; this one stays as it is."""
        other = Held(self.game, None, self.seat, most=self._most)
        other._layers, other._ways, other.sampled = list(self._layers), list(self._ways), self.sampled
        other.see(told)
        return other


class SeatTimeline:
    """One seat on its way through a game: at each moment it knows its log so far, and nothing else."""

    def __init__(self, game: Game, whole: SeatView, judge: Evaluator) -> None:
        self.game = game
        self.seat = whole.seat
        self._whole = whole
        self._judge = judge
        start = Position.parse(whole.origin).state if whole.origin else game.rules.start(whole.options)
        self._base = Position(game, start)
        self._held = Held(game, start, self.seat)
        self._events: tuple[WrittenEvent, ...] = ()
        self._verdict: Evaluation | None = None

    @property
    def at(self) -> int:
        """How many events it has been told."""
        return len(self._events)

    def known(self) -> InformationSet:
        return InformationSet(self.seat, self._base, self._events, self._held)

    def evaluate(self) -> Evaluation:
        """Return what it is worth to the seat to know what it knows now."""
        if self._verdict is None:
            self._verdict = self._judge.evaluate(self.known())
        return self._verdict

    def go_on(self) -> None:
        """Take in the next event."""
        told = self._whole.log[self.at]
        self._held.see(told)
        self._events = (*self._events, WrittenEvent.of(told.event))
        self._verdict = None

    def view(self, state: Any) -> SeatView:
        """Return what the seat had before it at this moment of the game."""
        return view_at(self.game, self._whole, state, self.at)

    def expected(self) -> float:
        """Return the winning chance over all that chance may bring now, on average, as this seat sees it."""
        total, found = 0.0, 0.0
        for told, likely in self._may_come().items():
            known = InformationSet(
                self.seat, self._base, (*self._events, WrittenEvent.of(told.event)), self._held.after(told)
            )
            found += likely * chance(self._judge.evaluate(known))
            total += likely
        return found / total

    def _may_come(self) -> Mapping[LogEntry, float]:
        """Return all that the seat may be told next, while chance acts, and how likely that is."""
        rules, found = self.game.rules, dict[LogEntry, float]()
        for state, likely in self._judge.weights(self.known()).items():
            weights = {o: rules.weight(state, o) for o in members(rules.outcomes(state))}
            total = sum(weights.values())
            for outcome, weight in weights.items():
                after = rules.look(rules.apply(state, outcome), self.seat)
                told = LogEntry(rules.tell(state, outcome, self.seat), after)
                found[told] = found.get(told, 0.0) + likely * weight / total
        return found


def view_at(game: Game, whole: SeatView, state: Any, at: int) -> SeatView:
    """Return what a seat had before it after so many events of a game, from what it has at the end."""
    rules = game.rules
    position = rules.look(state, whole.seat)
    actions = tuple(members(rules.legal(state))) if rules.to_act(state) == whole.seat else ()
    names = tuple(game.notation.spell(position, action)[0] for action in actions)
    kind = HIDDEN if rules.to_act(state) == OVER else rules.kind(state)
    return whole._replace(
        number=at, kind=kind, position=position, decisions=names, actions=actions, log=whole.log[:at], ending=None
    )
