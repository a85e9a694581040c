"""What one seat knows, as one line of text: the last position it was sure of, and what it was told since.

    prime-duel 1=26 2=8 deck=... | 1 | | 1
    zero-sum-duel A=-5,+1,+3 B=... | A | draw@B:? discard@B:-2 draw@A:+4 | A

The four parts are the last certain position, the seat, the events since, and who is to act.
"""

from __future__ import annotations

from typing import NamedTuple

from piste.core.belief import MOST, Belief, belief, believed, token
from piste.core.contract import HIDDEN, OVER
from piste.core.dealer import Stream
from piste.core.errors import BadPosition
from piste.core.game import Game, quoted
from piste.core.position import Position
from piste.core.views import SeatView

MOST_WHILE_READING = 40 * MOST

LONGEST = 40_000
"""No text of what a seat knows takes more characters than this."""


class Known(NamedTuple):
    """What a seat knows of a game: enough to draw any of the games it might be in."""

    seat: int
    base: Position  # the last position that the seat knew whole
    events: tuple[str, ...]  # what it was told since, in the notation
    belief: Belief

    @classmethod
    def of(cls, game: Game, view: SeatView) -> Known:
        """Return what a seat at a table knows, from its view."""
        full = belief(game, view)
        since = full.last_certain()
        base = Position(game, next(iter(full.layer(since))))
        events = tuple(token(game, view.options, told.event) for told in view.log[since:])
        return cls(view.seat, base, events, believed(game, base.state, view.seat, view.log[since:]))

    @classmethod
    def told(cls, game: Game, view: SeatView) -> Known:
        """Return the same from the beginning on, which every seat knows: a solver asks what the others know, too."""
        start = Position.parse(view.origin).state if view.origin else game.rules.start(view.options)
        events = tuple(token(game, view.options, told.event) for told in view.log)
        return cls(view.seat, Position(game, start), events, believed(game, start, view.seat, view.log))

    @classmethod
    def parse(cls, text: str) -> Known:
        if len(text) > LONGEST:
            raise BadPosition(f"What a seat knows takes at most {LONGEST} characters; this has {len(text)}.")
        parts = [part.strip() for part in text.split("|")]
        if len(parts) != 4:
            raise BadPosition(
                f"What a seat knows has four parts between bars: a position, the seat, what it was told "
                f"since, and who is to act. This text has {len(parts)}."
            )
        base = Position.parse(parts[0])
        game = base.game
        seat = _seat(base, parts[1], "seat")
        # A written event says less than what was seen with it, so more has to be held until the next one.
        found = Belief(game, base.state, seat, most=MOST_WHILE_READING)
        events = tuple(parts[2].split())
        for i, event in enumerate(events, 1):
            try:
                found.hear(event)
            except BadPosition:
                raise BadPosition(f"Event {i}, {quoted(event)}, cannot follow what stands before it.") from None
        to_act = OVER if parts[3] == "over" else _seat(base, parts[3], "seat to act")
        found.only(lambda state: game.rules.to_act(state) == to_act)
        if len({game.rules.look(state, seat) for state in found.states}) > 1:
            raise BadPosition("What stands here leaves open what the seat sees.")
        return cls(seat, base, events, found)

    def __str__(self) -> str:
        game = self.base.game
        to_act = game.rules.to_act(next(iter(self.belief.states)))
        who = "over" if to_act == OVER else game.seat_name(to_act)
        return f"{self.base} | {game.seat_name(self.seat)} | {' '.join(self.events)} | {who}"

    def positions(self) -> dict[Position, float]:
        """Return every position the seat might be in, with its probability."""
        return {Position(self.base.game, state): p for state, p in self.belief.states.items()}

    def retell(self, stream: Stream) -> tuple[int, ...]:
        """Return the steps from the base to now in one game that the seat cannot tell from the true one."""
        return self.belief.retell(stream)


def _seat(base: Position, text: str, what: str) -> int:
    names = [base.game.seat_name(seat) for seat in range(base.game.rules.seats(base.state.options))]
    if text == "watcher" and what == "seat":
        return HIDDEN
    if text not in names:
        raise BadPosition(f"The {what} cannot be {quoted(text)}: it is one of {', '.join(names)}.")
    return names.index(text)
