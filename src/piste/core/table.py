"""One live game. The table is the only place outside search that holds a state, and it lets none out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from piste.core.dealer import ChanceSource
from piste.core.errors import IllegalDecisionError, StaleDecisionError
from piste.core.game import Game, counted, members
from piste.core.position import Position
from piste.core.protocols import CHANCE, HIDDEN, OVER, SPECTATOR
from piste.core.steps import Resignation, Step, tell_step
from piste.core.views import Ending, LogEntry, SeatView

if TYPE_CHECKING:
    from piste.core.record import Recorder


class _Taken(NamedTuple):
    """A step that can be taken, and where it leads."""

    step: Step
    actor: int  # a seat, or CHANCE
    name: str
    kind: int
    after: Any


class Table:
    """Seats, options and a dealer: gives each seat its view, takes decisions and resignations."""

    def __init__(
        self,
        game: Game,
        options: Any,
        dealer: ChanceSource,
        *,
        origin: Any = None,
        counts: bool = True,
        commitment: str = "",
        journal: Recorder | None = None,
    ) -> None:
        self.game = game
        self.options = options
        self.seats = game.rules.seats(options)
        self.counts = counts
        self.commitment = commitment  # what may be shown at the deal, so that the seed can be checked at the end
        self._dealer = dealer
        self._journal = journal
        self._state = game.rules.start(options) if origin is None else origin
        self._origin = "" if origin is None else str(Position(game, origin))
        self._number = 0
        self._history: list[Step] = []
        self._states = [self._state]  # one more than steps in the history
        self._logs: dict[int, list[LogEntry]] = {seat: [] for seat in (SPECTATOR, *range(self.seats))}
        self._append(self._dealt(self._state))

    def __repr__(self) -> str:
        """Name the game, how far it is and who is to act; tell no state and no seed."""
        actor = self.to_act
        now = "over" if actor is None else f"Player {self.game.seat_name(actor)} to act"
        return f"<Table {self.game.name}: {self.seats} seats, {counted(len(self._history), 'step')}, {now}>"

    def view(self, seat: int = SPECTATOR) -> SeatView:
        """Return what a seat has before it; without a seat, what a spectator has."""
        self._check_seat(seat, watching=True)
        rules = self.game.rules
        position = rules.look(self._state, seat)
        actions: tuple[int, ...] = ()
        decisions: tuple[str, ...] = ()
        if rules.to_act(self._state) == seat and seat >= 0:
            actions = tuple(members(rules.legal(self._state)))
            decisions = tuple(self.game.notation.spell(position, action)[0] for action in actions)
        return SeatView(
            self.game.name,
            self.options,
            seat,
            self._number,
            HIDDEN if self.to_act is None else rules.kind(self._state),
            position,
            decisions,
            actions,
            rules.look(self._states[0], seat),
            self._log(seat),
            self._origin,
            self.counts,
            self.ending(),
        )

    @property
    def to_act(self) -> int | None:
        """The seat that is to decide, or None when the game is over."""
        actor = self.game.rules.to_act(self._state)
        return None if actor == OVER else actor

    @property
    def number(self) -> int:
        """The number of the decision that is open."""
        return self._number

    def decide(self, seat: int, decision: int | str, at: int | None = None) -> None:
        """Take a seat's decision, by name or number; `at` is the number of the decision it answers."""
        self._check_seat(seat)
        rules, actor = self.game.rules, self.to_act
        who = self.game.seat_name(seat)
        if actor is None:
            raise IllegalDecisionError(f"Player {who} cannot decide: the game is over.")
        if at is not None and at != self._number:
            raise StaleDecisionError(
                f"That decision answers question {at}, but question {self._number} is open. Look again."
            )
        if actor != seat:
            raise IllegalDecisionError(
                f"Player {who} cannot decide now: it is for Player {self.game.seat_name(actor)}."
            )
        legal = rules.legal(self._state)
        view = rules.look(self._state, seat)
        if isinstance(decision, str):
            action = self.game.read_decision(view, rules.kind(self._state), legal, decision)
        else:
            action = decision
            if not 0 <= action < 62 or not legal >> action & 1:
                names = ", ".join(self.game.decision_names(self._state))
                raise IllegalDecisionError(f"There is no decision number {action} here. You can choose {names}.")
        name = self.game.notation.spell(view, action)[0]
        self._take(_Taken(action, seat, name, rules.kind(self._state), rules.apply(self._state, action)))

    def resign(self, seat: int) -> None:
        """Take a seat out of the game (G3)."""
        self._check_seat(seat)
        if self.to_act is None:
            raise IllegalDecisionError(f"Player {self.game.seat_name(seat)} cannot resign: the game is over.")
        if Resignation(seat) in self._history:
            raise IllegalDecisionError(f"Player {self.game.seat_name(seat)} has resigned already.")
        self._take(_Taken(Resignation(seat), seat, "", HIDDEN, self.game.rules.leave(self._state, seat)))

    def ending(self) -> Ending | None:
        """Return how the game ended, or None while it goes on."""
        return self.game.ending(self._state) if self.to_act is None else None

    def history(self) -> tuple[Step, ...]:
        """Return every step from the start, secrets included: for the table's owner only."""
        return tuple(self._history)

    def actors(self) -> tuple[int, ...]:
        """Return who took each step from the start: a seat, or CHANCE."""
        steps = zip(self._history, self._states, strict=False)  # there is one more state than steps
        to_act = self.game.rules.to_act
        return tuple(step.seat if isinstance(step, Resignation) else to_act(state) for step, state in steps)

    def record(self) -> str:
        """Return the game's record so far, seed included: of a running game, for the table's owner only."""
        if self._journal is None:
            raise IllegalDecisionError("This table keeps no record. Open one with piste.open_table.")
        return "".join(f"{line}\n" for line in self._journal.lines)

    def position_text(self) -> str:
        """Return the whole position in the notation, secrets included: for the table's owner only."""
        return str(Position(self.game, self._state))

    def _take(self, taken: _Taken) -> None:
        """Take a step and deal what follows. If it cannot be dealt, nothing has happened."""
        steps = [taken, *self._dealt(taken.after)]
        self._number += 1
        self._append(steps)

    def _dealt(self, state: Any) -> list[_Taken]:
        """Return what chance brings until a seat has to decide."""
        rules, dealt = self.game.rules, []
        while rules.to_act(state) == CHANCE:
            outcome = self._dealer.outcome(self.game, state)
            after = rules.apply(state, outcome)
            dealt.append(_Taken(outcome, CHANCE, self.game.outcome_name(state, outcome), rules.kind(state), after))
            state = after
        return dealt

    def _append(self, steps: list[_Taken]) -> None:
        for taken in steps:
            if self._journal is not None:  # on record before any seat is told
                if isinstance(taken.step, Resignation):
                    self._journal.resign(taken.step.seat)
                else:
                    self._journal.step(taken.actor, taken.name, taken.kind)
            self._history.append(taken.step)
            self._states.append(taken.after)
            self._state = taken.after
        ending = self.ending()
        if ending is not None and self._journal is not None:
            self._journal.end(ending)

    def _log(self, seat: int) -> tuple[LogEntry, ...]:
        """Return what a seat was told of every step; worked out when asked for, since many tables never are."""
        log, rules = self._logs[seat], self.game.rules
        for at in range(len(log), len(self._history)):
            event = tell_step(rules, self._states[at], self._history[at], seat)
            log.append(LogEntry(event, rules.look(self._states[at + 1], seat)))
        return tuple(log)

    def _check_seat(self, seat: int, *, watching: bool = False) -> None:
        if not (0 <= seat < self.seats or (watching and seat == SPECTATOR)):
            raise IllegalDecisionError(f"There is no seat {seat} at this table: seats are 0 to {self.seats - 1}.")
