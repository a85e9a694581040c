"""The steps of a game: a decision or an outcome is the number of its action, a resignation is a value of its own.

Rules know resignations only as `leave`; whoever follows a game from its history uses these functions.
"""

from __future__ import annotations

from typing import NamedTuple

from piste.core.protocols import HIDDEN, RESIGNS, Event, OptionsT, Rules, StateT, ViewT


class Resignation(NamedTuple):
    """A seat left the game (G3)."""

    seat: int

    @property
    def event(self) -> Event:
        """What everybody is told of it."""
        return Event(RESIGNS, self.seat, HIDDEN, HIDDEN)


Step = int | Resignation


def apply_step(rules: Rules[OptionsT, StateT, ViewT], state: StateT, step: Step) -> StateT:
    """Return the state after a step."""
    return rules.leave(state, step.seat) if isinstance(step, Resignation) else rules.apply(state, step)


def tell_step(rules: Rules[OptionsT, StateT, ViewT], state: StateT, step: Step, seat: int) -> Event:
    """Return what a seat is told of a step at a state."""
    return step.event if isinstance(step, Resignation) else rules.tell(state, step, seat)
