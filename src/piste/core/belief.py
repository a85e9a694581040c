"""What a seat can know: every whole history that it could not tell from the true one, with its probability.

This needs no code of its own in any game. A seat's log says what it was told and saw; the rules say what it would
have been told and seen in each possible case; cases that differ from the log are dropped. States hold sets, not
orders, so the cases stay few: when a seat decides, at most 81 between two in Duel and 35 in Zero Sum Duel. With three
or four players of Duel they can be very many; past `MAX_STATES` a fair sample is kept, so that probabilities are
right on average.

Probabilities are those of chance, with what players decided taken as given: a decision that the seat saw weighs
nothing, and of a decision that it did not see every choice weighs the same. A bot that has an opinion on how others
play multiplies it in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from piste.core.dealer import RandomStream
from piste.core.errors import PositionError
from piste.core.game import Game, members, quoted
from piste.core.position import Position
from piste.core.protocols import CHANCE, HIDDEN, OVER, RESIGNS, Event
from piste.core.steps import Resignation, Step
from piste.core.views import LogEntry, SeatView

MAX_STATES = 10_000
"""How many possible states are kept."""

Way = tuple[Any, Step, float]
"""A way into a state: the state before, the step, and how likely the step was there."""

Transition = tuple[Step, Any, float]
"""A step, the state after it, and how likely the step is."""


class WrittenEvent(NamedTuple):
    """An event as the notation has it: `also`, which a seat is told with some events, is not written."""

    kind: int
    seat: int
    what: int

    @classmethod
    def of(cls, event: Event) -> WrittenEvent:
        return cls(event.kind, event.seat, event.what)


class Belief:
    """The states that a seat holds possible, kept up to date from its log."""

    def __init__(self, game: Game, state: Any, seat: int, *, most: int = MAX_STATES) -> None:
        self.game = game
        self.seat = seat
        self.sampled = False  # whether some possible states were left out
        self._most = most
        name = f"{game.name} {max(seat, -1)}"  # a spectator's has always been -1
        self._thinner = RandomStream(b"piste belief", name)
        self._layers: list[dict[Any, float]] = [{state: 1.0}]
        self._ways: list[dict[Any, list[Way]]] = []

    @property
    def states(self) -> Mapping[Any, float]:
        """Each state that is possible now, with its probability."""
        return self._layers[-1]

    def see(self, entry: LogEntry) -> None:
        """Take in the next line of the seat's log."""
        look = self.game.rules.look
        self._advance(
            lambda state: self.steps(state, entry.event),
            lambda state: bool(look(state, self.seat) == entry.after),
        )

    def after(self, entry: LogEntry) -> Belief:
        """Return the belief after one more line of the log; this one stays as it is."""
        other = Belief(self.game, None, self.seat, most=self._most)
        other._layers, other._ways, other.sampled = list(self._layers), list(self._ways), self.sampled
        other.see(entry)
        return other

    def hear(self, event: WrittenEvent) -> None:
        """Take in an event without what was seen after it; what does not fit is dropped by the next one."""
        self._advance(lambda state: self._steps_written(state, event), lambda _: True)

    def next_events(self) -> Iterator[WrittenEvent]:
        """Yield every event that the seat may be told next, resignations left out, each once."""
        yielded = set()
        for state in self.states:
            for event in self._events_at(state):
                written = WrittenEvent.of(event)
                if written not in yielded:
                    yielded.add(written)
                    yield written

    def read_event(self, text: str) -> WrittenEvent:
        """Return the event that may come next which is written so, or raise PositionError."""
        for seat, name in enumerate(self.game.notation.SEATS):
            if text == f"resigns@{name}":
                return WrittenEvent.of(Resignation(seat).event)
        options = next(iter(self.states)).options
        for event in self.next_events():
            if event_text(self.game, options, event) == text:
                return event
        raise PositionError(f"{quoted(text)} cannot come next.")

    def only(self, fits: Callable[[Any], bool]) -> None:
        """Keep only the states for which `fits(state)` is true."""
        layer = {state: weight for state, weight in self._layers[-1].items() if fits(state)}
        if not layer:
            raise PositionError("No position fits what this seat was told.")
        total = sum(layer.values())
        self._layers[-1] = {state: weight / total for state, weight in layer.items()}

    def steps(self, state: Any, event: Event) -> list[Transition]:
        """Return (step, next state, chance) for each step from a state that this seat is told as `event`."""
        rules = self.game.rules
        if event.kind == RESIGNS:
            if rules.to_act(state) < 0 or event.seat >= rules.seats(state.options):
                return []
            left = rules.leave(state, event.seat)
            return [] if left == state else [(Resignation(event.seat), left, 1.0)]
        actor = rules.to_act(state)
        if actor == OVER or rules.kind(state) != event.kind:
            return []
        actions = rules.outcomes(state) if actor == CHANCE else rules.legal(state)
        total = sum(rules.weight(state, a) for a in members(actions)) if actor == CHANCE else 1
        if event.what != HIDDEN:
            actions &= 1 << event.what
        transitions: list[Transition] = []
        for action in members(actions):
            if rules.tell(state, action, self.seat) == event:
                weight = rules.weight(state, action) if actor == CHANCE else 1
                transitions.append((action, rules.apply(state, action), weight / total))
        return transitions

    def _steps_written(self, state: Any, written: WrittenEvent) -> list[Transition]:
        if written.kind == RESIGNS:
            return self.steps(state, Resignation(written.seat).event)
        events = [event for event in self._events_at(state) if WrittenEvent.of(event) == written]
        return [step for event in events for step in self.steps(state, event)]

    def _events_at(self, state: Any) -> list[Event]:
        """Return all that the seat may be told of the action to come at a state."""
        rules = self.game.rules
        actor = rules.to_act(state)
        if actor == OVER:
            return []
        actions = rules.outcomes(state) if actor == CHANCE else rules.legal(state)
        return sorted({rules.tell(state, action, self.seat) for action in members(actions)})

    def _advance(self, steps: Callable[[Any], list[Transition]], fits: Callable[[Any], bool]) -> None:
        layer: dict[Any, float] = {}
        ways: dict[Any, list[Way]] = {}
        for state, weight in self._layers[-1].items():
            for step, after, chance in steps(state):
                if after in layer or fits(after):
                    layer[after] = layer.get(after, 0.0) + weight * chance
                    ways.setdefault(after, []).append((state, step, chance))
        if not layer:
            raise PositionError("No position fits what this seat was told.")
        if len(layer) > self._most:
            layer = self._thin(layer)
        total = sum(layer.values())
        self._layers.append({state: weight / total for state, weight in layer.items()})
        self._ways.append(ways)

    def _thin(self, layer: dict[Any, float]) -> dict[Any, float]:
        """Keep a sample in which each state weighs on average what it weighed."""
        self.sampled = True
        step = sum(layer.values()) / self._most
        at = step * self._thinner.fraction()
        sample: dict[Any, float] = {}
        for state, weight in layer.items():
            at -= weight
            while at < 0:
                sample[state] = sample.get(state, 0.0) + step
                at += step
        return sample

    def retell(self, stream: RandomStream) -> tuple[Step, ...]:
        """Return a whole history that the seat cannot tell from the true one, drawn with its probability."""
        states, weights = list(self.states), list(self.states.values())
        state = states[stream.weighted(weights)]
        steps: list[Step] = []
        for layer, ways in zip(reversed(self._layers[:-1]), reversed(self._ways), strict=True):
            into = ways[state]
            weights = [layer.get(before, 0.0) * chance for before, _, chance in into]
            state, step, _ = into[stream.weighted(weights)]
            steps.append(step)
        return tuple(reversed(steps))

    @property
    def events(self) -> int:
        """How many events were taken in."""
        return len(self._ways)

    def layer(self, events: int) -> Mapping[Any, float]:
        """Return what was possible after this many events."""
        return self._layers[events]


def belief(game: Game, view: SeatView) -> Belief:
    """Return what a seat can know, from its view and its log."""
    state = Position.parse(view.origin).state if view.origin else game.rules.start(view.options)
    return believed(game, state, view.seat, view.log)


def believed(game: Game, state: Any, seat: int, log: tuple[LogEntry, ...]) -> Belief:
    """Return what a seat can know that knew the state and was then told this."""
    most = MAX_STATES
    while True:
        held = Belief(game, state, seat, most=most)
        try:
            for entry in log:
                held.see(entry)
            return held
        except PositionError:
            if not held.sampled:
                raise
            most *= 4  # the sample held nothing like the true game: take a larger one


def retell(game: Game, view: SeatView, stream: RandomStream) -> tuple[Step, ...]:
    """Return a whole history, from the start, that this seat cannot tell from the true one."""
    return belief(game, view).retell(stream)


def event_text(game: Game, options: Any, event: Event | WrittenEvent) -> str:
    """Return an event in the notation: what happened @ whose : which, with ? for what this seat may not know."""
    seat = "" if event.seat == HIDDEN else f"@{game.seat_name(event.seat)}"
    if event.kind == RESIGNS:
        return f"resigns{seat}"
    what = "?" if event.what == HIDDEN else game.notation.name(options, event.kind, event.what)
    return f"{game.kind_name(event.kind)}{seat}:{''.join(what.split())}"  # events stand apart by spaces
