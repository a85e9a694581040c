"""What one seat knows, as one line of text: the last position that everybody knew whole, and what it was told since.

    prime-duel 1=26 2=8 deck=... | 1 | | 1
    zero-sum-duel A=-5,+1,+3 B=... | A | draw@B:? discard@B:-2 draw@A:+4 | A

The four parts are that position, the seat, the events since, and who is to act: a seat, `chance`, or `over`.

A position that the seat alone is sure of is no place to begin: a solver asks what the others know, too, and would
take the seat's own secret for common knowledge.
"""

from __future__ import annotations

from typing import NamedTuple

from piste.core.belief import MAX_STATES, Belief, WrittenEvent, belief, believed, event_text
from piste.core.dealer import RandomStream
from piste.core.errors import PositionError
from piste.core.game import Game, listed, quoted, tidy, without_plus
from piste.core.position import Position
from piste.core.protocols import CHANCE, OVER, SPECTATOR
from piste.core.steps import Step, apply_step, tell_step
from piste.core.views import LogEntry, SeatView

MAX_STATES_WHILE_READING = 40 * MAX_STATES

NOBODY = {"over": OVER, "chance": CHANCE}
"""How it is written that no seat is to act."""

MAX_LENGTH = 40_000
"""No text of what a seat knows takes more characters than this."""


MAX_LISTED = 12
"""How many of the events that could come next a message lists."""


class InformationSet(NamedTuple):
    """What a seat knows of a game: enough to draw any of the games it might be in."""

    seat: int
    base: Position  # a position that everybody knew whole
    events: tuple[WrittenEvent, ...]  # what it was told since
    belief: Belief

    @classmethod
    def of(cls, game: Game, view: SeatView) -> InformationSet:
        """Return what a seat at a table knows, from its view, since the last position that everybody knew whole."""
        full = belief(game, view)
        since = last_shared(full)
        base = Position(game, next(iter(full.layer(since))))
        events = tuple(WrittenEvent.of(entry.event) for entry in view.log[since:])
        return cls(view.seat, base, events, believed(game, base.state, view.seat, view.log[since:]))

    @classmethod
    def common(cls, position: Position, seat: int | None = None) -> InformationSet:
        """Return a position that everybody knows, for this seat; else for the one to act or, at chance, to move."""
        seats = position.game.rules.seats(position.state.options)
        if seat is None:
            actor = position.to_act
            seat = getattr(position.state, "seat", 0) if actor is None or actor < 0 else actor
            seat = seat if 0 <= seat < seats else 0
        if not 0 <= seat < seats:
            raise PositionError(f"There is no seat {seat} here: seats are 0 to {seats - 1}.")
        return cls(seat, position, (), Belief(position.game, position.state, seat))

    @classmethod
    def told(cls, game: Game, view: SeatView) -> InformationSet:
        """Return the same from the beginning on."""
        start = Position.parse(view.origin).state if view.origin else game.rules.start(view.options)
        events = tuple(WrittenEvent.of(entry.event) for entry in view.log)
        return cls(view.seat, Position(game, start), events, believed(game, start, view.seat, view.log))

    @classmethod
    def parse(cls, text: str) -> InformationSet:
        if len(text) > MAX_LENGTH:
            raise PositionError(f"What a seat knows takes at most {MAX_LENGTH} characters; this has {len(text)}.")
        parts = [part.strip() for part in text.split("|")]
        if len(parts) != 4:
            raise PositionError(
                f"What a seat knows has four parts between bars: a position, the seat, what it was told "
                f"since, and who is to act. This text has {len(parts)}."
            )
        base = Position.parse(parts[0])
        game = base.game
        seat = _seat(base, parts[1], "seat")
        # A written event says less than what was seen with it, so more has to be held until the next one.
        held = Belief(game, base.state, seat, most=MAX_STATES_WHILE_READING)
        events = tuple(_take(held, i, event) for i, event in enumerate(parts[2].split(), 1))
        to_act = NOBODY.get(parts[3])
        if to_act is None:
            to_act = _seat(base, parts[3], "seat to act")
        actors = {game.rules.to_act(state) for state in held.states}
        if to_act not in actors:
            who = listed([_actor_name(game, actor) for actor in sorted(actors)], "or")
            raise PositionError(f"After these events {quoted(parts[3])} is not to act: write {who}.")
        held.only(lambda state: game.rules.to_act(state) == to_act)
        if len({game.rules.look(state, seat) for state in held.states}) > 1:
            raise PositionError("What stands here leaves open what the seat sees.")
        return cls(seat, base, events, held)

    def __str__(self) -> str:
        game = self.base.game
        to_act = game.rules.to_act(next(iter(self.belief.states)))
        events = " ".join(event_text(game, self.base.state.options, event) for event in self.events)
        return f"{self.base} | {game.seat_name(self.seat)} | {events} | {_actor_name(game, to_act)}"

    def positions(self) -> dict[Position, float]:
        """Return every position the seat might be in, with its probability."""
        return {Position(self.base.game, state): p for state, p in self.belief.states.items()}

    def retell(self, stream: RandomStream) -> tuple[Step, ...]:
        """Return the steps from the base to now in one game that the seat cannot tell from the true one."""
        return self.belief.retell(stream)


def _take(held: Belief, number: int, written: str) -> WrittenEvent:
    """Take in the event that a text names; or say why it cannot come next, and what can."""
    try:
        event = held.read_event(written)
        held.hear(event)
        return event
    except PositionError:
        options = next(iter(held.states)).options
        events = {event_text(held.game, options, event): event for event in held.next_events()}
        tokens = sorted(events)
    subject, _, value = written.partition(":")
    for name in tokens:
        if tidy(name.partition(":")[0]) == tidy(subject) and without_plus(name.partition(":")[2]) == without_plus(
            value
        ):
            held.hear(events[name])
            return events[name]
    kind = subject.partition("@")[0]
    subjects = sorted({name.partition(":")[0] for name in tokens})
    if not tokens:
        why = "the game is over there"
    elif subject in subjects:
        values = [name.partition(":")[2] for name in tokens if name.startswith(f"{subject}:")]
        why = f"after the colon it can be {_some(values)}"
    elif kind in held.game.notation.KINDS:
        why = f"{_some(subjects)} comes next"
    else:
        why = f"the kinds of events are {', '.join(held.game.notation.KINDS)} and resigns"
    raise PositionError(f"Event {number}, {quoted(written)}, cannot follow what stands before it: {why}.")


def _some(names: list[str]) -> str:
    return listed(names if len(names) <= MAX_LISTED else [*names[: MAX_LISTED - 1], "others"], "or")


def last_shared(held: Belief) -> int:
    """Return after how many events everybody last knew the whole state, as far as a seat can be sure of that.

    Everybody is told what a spectator is told. If each seat sees enough to tell apart all the states that one then
    holds possible, then each knows the state, and knows that the others do. Knowledge from memory alone is not
    counted: that is on the safe side.
    """
    game, seat = held.game, held.seat
    certain = [at for at in range(held.events + 1) if len(held.layer(at)) == 1]
    if seat == SPECTATOR:
        return certain[-1]  # what a spectator knows everybody knows
    # Any history will do: they are told alike to a spectator.
    steps = held.retell(RandomStream(b"piste known", f"{game.name} {seat}"))
    shared, state = 0, next(iter(held.layer(0)))
    public = Belief(game, state, SPECTATOR)
    for at in range(1, certain[-1] + 1):
        event = tell_step(game.rules, state, steps[at - 1], SPECTATOR)
        state = apply_step(game.rules, state, steps[at - 1])
        try:
            public.see(LogEntry(event, game.rules.look(state, SPECTATOR)))
        except PositionError:
            break  # a sample that holds nothing like the true game; an earlier place is as good
        if at in certain and _all_tell_apart(game, public):
            shared, public = at, Belief(game, state, SPECTATOR)
    return shared


def _all_tell_apart(game: Game, public: Belief) -> bool:
    """Say whether every seat sees which of the states that are possible to a spectator it is in."""
    states = public.states
    if len(states) == 1:
        return True
    seats = range(game.rules.seats(next(iter(states)).options))
    return not public.sampled and all(
        len({game.rules.look(state, seat) for state in states}) == len(states) for seat in seats
    )


def _actor_name(game: Game, actor: int) -> str:
    return next((name for name, nobody in NOBODY.items() if nobody == actor), None) or game.seat_name(actor)


def _seat(base: Position, text: str, what: str) -> int:
    names = [base.game.seat_name(seat) for seat in range(base.game.rules.seats(base.state.options))]
    if text == "watcher" and what == "seat":
        return SPECTATOR
    if text not in names:
        raise PositionError(f"The {what} cannot be {quoted(text)}: it is one of {', '.join(names)}.")
    return names.index(text)
