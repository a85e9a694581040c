"""One live game. The table is the only place outside search that holds a state, and it lets none out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from piste.core.dealer import ChanceSource
from piste.core.errors import IllegalDecisionError, StaleDecisionError
from piste.core.game import Game, actions_of, counted
from piste.core.position import Position
from piste.core.protocols import CHANCE, HIDDEN, OVER, SPECTATOR
from piste.core.steps import Resignation, Step, tell_step
from piste.core.views import Ending, LogEntry, SeatView

if TYPE_CHECKING:
    from piste.core.record import Recorder


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
        self._states = [self._state]  # one more than steps in the history; both only grow
        self._logs: dict[int, tuple[LogEntry, ...]] = {}
        self._openings: dict[int, Any] = {}
        self._named: tuple[int, tuple[str, ...]] = (-1, ())
        self._append(self._dealt(self._state))

    def __repr__(self) -> str:
        """Name the game, how far it is and who is to act; tell no state and no seed."""
        actor = self.to_act
        now = "over" if actor is None else f"Player {self.game.seat_name(actor)} to act"
        return f"<Table {self.game.name}: {self.seats} seats, {counted(len(self._history), 'step')}, {now}>"

    def view(self, seat: int = SPECTATOR) -> SeatView:
        """Return what a seat has before it; without a seat, what a spectator has."""
        if not (0 <= seat < self.seats or seat == SPECTATOR):
            self._refuse_seat(seat)
        view = SeatView.__new__(SeatView)
        view.game, view.options, view.origin, view.counts = self.game.name, self.options, self._origin, self.counts
        view.seat, view.number = seat, self._number
        view.actions = actions_of(self._legal) if seat == self._actor else ()
        if seat != self._actor:
            view.decisions = ()
        if self._actor != OVER:
            view.ending = None
        view._later = partial(self._field, seat, len(self._history))
        return view

    def _field(self, seat: int, steps: int, name: str) -> Any:
        """Return a field of the view that a seat had after so many steps."""
        if name == "log":
            return self._log(seat)[:steps]
        if name == "position":
            return self._position(seat, steps)
        if name == "opening":
            return self._opening(seat)
        rules, state = self.game.rules, self._states[steps]
        actor = rules.to_act(state)
        if name == "kind":
            return HIDDEN if actor == OVER else rules.kind(state)
        if name == "ending":
            return self.game.ending(state) if actor == OVER else None
        return self._decisions(seat, steps) if actor == seat else ()

    def _decisions(self, seat: int, steps: int) -> tuple[str, ...]:
        """Return the names of the decisions that were open after so many steps; the latest are kept."""
        at, names = self._named
        if at != steps:
            legal = self.game.rules.legal(self._states[steps])
            names = tuple(self.game.short_names(self._position(seat, steps), legal))
            self._named = steps, names  # at once: another thread may be reading an older view
        return names

    def _opening(self, seat: int) -> Any:
        if seat not in self._openings:
            self._openings[seat] = self.game.rules.look(self._states[0], seat)
        return self._openings[seat]

    def _position(self, seat: int, steps: int) -> Any:
        """Return what a seat saw after so many steps: where its log has been worked out, it is there."""
        log = self._logs.get(seat, ())
        if 0 < steps <= len(log):
            return log[steps - 1].after
        return self.game.rules.look(self._states[steps], seat) if steps else self._opening(seat)

    @property
    def to_act(self) -> int | None:
        """The seat that is to decide, or None when the game is over."""
        return None if self._actor == OVER else self._actor

    @property
    def number(self) -> int:
        """The number of the decision that is open."""
        return self._number

    def decide(self, seat: int, decision: int | str, at: int | None = None) -> None:
        """Take a seat's decision, by name or number; `at` is the number of the decision it answers."""
        if seat != self._actor or seat < 0 or (at is not None and at != self._number):
            self._refuse(seat, at)
        rules, state = self.game.rules, self._state
        if isinstance(decision, str):
            view = rules.look(state, seat)
            action = self.game.read_decision(view, rules.kind(state), self._legal, decision)
        else:
            action = decision
            if not 0 <= action < 62 or not self._legal >> action & 1:
                names = ", ".join(self.game.decision_names(state))
                raise IllegalDecisionError(f"There is no decision number {action} here. You can choose {names}.")
        self._take(action, rules.apply(state, action))

    def _refuse(self, seat: int, at: int | None) -> None:
        """Say why a seat cannot decide now."""
        if not 0 <= seat < self.seats:
            self._refuse_seat(seat)
        who, actor = self.game.seat_name(seat), self.to_act
        if actor is None:
            raise IllegalDecisionError(f"Player {who} cannot decide: the game is over.")
        if at is not None and at != self._number:
            raise StaleDecisionError(
                f"That decision answers question {at}, but question {self._number} is open. Look again."
            )
        raise IllegalDecisionError(f"Player {who} cannot decide now: it is for Player {self.game.seat_name(actor)}.")

    def resign(self, seat: int) -> None:
        """Take a seat out of the game (G3)."""
        if not 0 <= seat < self.seats:
            self._refuse_seat(seat)
        if self.to_act is None:
            raise IllegalDecisionError(f"Player {self.game.seat_name(seat)} cannot resign: the game is over.")
        if Resignation(seat) in self._history:
            raise IllegalDecisionError(f"Player {self.game.seat_name(seat)} has resigned already.")
        self._take(Resignation(seat), self.game.rules.leave(self._state, seat))

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

    def _take(self, step: Step, after: Any) -> None:
        """Take a step and deal what follows. If it cannot be dealt, nothing has happened."""
        steps = [(step, after), *self._dealt(after)]
        self._number += 1
        self._append(steps)

    def _dealt(self, state: Any) -> list[tuple[Step, Any]]:
        """Return what chance brings until a seat has to decide, each with the state after it."""
        rules = self.game.rules
        dealt: list[tuple[Step, Any]] = []
        while rules.to_act(state) == CHANCE:
            outcome = self._dealer.outcome(self.game, state)
            state = rules.apply(state, outcome)
            dealt.append((outcome, state))
        return dealt

    def _append(self, steps: list[tuple[Step, Any]]) -> None:
        for step, after in steps:
            if self._journal is not None:  # on record before any seat is told
                self._journal.step(self._state, step)
            self._history.append(step)
            self._states.append(after)
            self._state = after
        rules = self.game.rules
        self._actor = rules.to_act(self._state)
        self._legal = 0 if self._actor == OVER else rules.legal(self._state)
        if self._actor == OVER and self._journal is not None:
            self._journal.end(self.game.ending(self._state))

    def _log(self, seat: int) -> tuple[LogEntry, ...]:
        """Return what a seat was told of every step; worked out when asked for, since many tables never are."""
        log, rules, states = self._logs.get(seat, ()), self.game.rules, self._states
        if len(log) < len(self._history):
            log += tuple(
                LogEntry(tell_step(rules, states[at], self._history[at], seat), rules.look(states[at + 1], seat))
                for at in range(len(log), len(self._history))
            )
            self._logs[seat] = log  # at once: another thread may be reading an older view
        return log

    def _refuse_seat(self, seat: int) -> NoReturn:
        raise IllegalDecisionError(f"There is no seat {seat} at this table: seats are 0 to {self.seats - 1}.")
