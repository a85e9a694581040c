"""One room: a table, its seats, and what a player may do. No network and no storage; time and codes are arguments."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from piste import bots
from piste.core.dealer import ChanceSource
from piste.core.errors import (
    IllegalDecisionError,
    PisteError,
    StaleDecisionError,
    UnreadableDecisionError,
)
from piste.core.game import Game, listed, quoted, tidy
from piste.core.input_parser import Question
from piste.core.marks import Hint, Mark, Note, Replaced
from piste.core.presentation import Prompt
from piste.core.protocols import SPECTATOR
from piste.core.record import Head, Record, Recorder
from piste.core.replay import follow, new_head, replay, seated
from piste.core.table import Table
from piste.web.tables.levels import level_basis, level_name
from piste.web.tables.notices import RoomNotice
from piste.web.tables.seats import BOT, MAX_NAME_LENGTH, OPEN, PERSON, RESERVED, Seat, clean_name
from piste.web.tables.series import Series
from piste.web.tables.transcript import Transcript

MAX_DECISION_LENGTH = 40
MAX_DEVICES = 20  # that may have one seat
PROGRAM = "program"  # stands in a record for who played a seat over the API
AWAY_AFTER_S = 10.0  # a player who has sent nothing for this time is away; reloading a page takes less
STAND_IN = "steady"
MAX_DECISIONS = 2000  # no game of people comes near it; a longer one would be slow to replay


Opener = Callable[["Room"], tuple[Head, ChanceSource | None]]


def default_opener(room: Room) -> tuple[Head, ChanceSource | None]:
    """Return the head of a new game with a random seed."""
    head = new_head(room.game.name, room.options, seats=room.names())
    return head._replace(notes=room.player_notes()), None


@dataclass(eq=False)
class Room:
    """A table and its seats, before, during and after a game."""

    code: str
    game: Game
    options: Mapping[str, int | str]
    seats: list[Seat]
    host: str
    created: float
    touched: float  # the last change, as far as it is stored
    listed: bool = False
    ended: float | None = None
    previous: str | None = None
    successor: str | None = None
    series: Series | None = None  # the score of the games before, in a rematch
    rematch_by: int = SPECTATOR  # the seat that asked for the rematch
    table: Table | None = None
    head: Head | None = None
    transcript: Transcript | None = None
    hints: dict[tuple[int, int], str] = field(default_factory=dict)  # by seat and question
    no_hints: dict[tuple[int, int], str] = field(default_factory=dict)  # why there is none, by seat and question
    network: str = ""  # of the player who acted last: its bots count as work for that network
    stuck: str = ""  # why a bot could not decide, if it could not
    preparing: int | None = None  # percent; None while no bot is prepared
    version: int = 0  # counts every change of what is shown
    sockets: Counter[int] = field(default_factory=Counter)  # open websockets of each seat
    seen: dict[int, float] = field(default_factory=dict)  # when a seat last sent something, monotonic
    used: float = 0.0  # when the room was last asked for, monotonic
    stored_fields: dict[str, Any] = field(default_factory=dict)  # as they are in storage
    stored_seats: tuple[Seat, ...] = ()
    stored_lines: int = 0  # of the record
    stored_version: int = -1  # of the room; -1 before it is stored
    stale: bool = False  # whether another process has changed it, so that it must be read again
    notices: list[RoomNotice] = field(default_factory=list)  # of other processes' changes, not followed yet
    elsewhere: dict[tuple[str, int], int] = field(default_factory=dict)  # websockets, by other process and seat
    announced: dict[int, float] = field(default_factory=dict)  # when other processes were told of a seat, monotonic
    telling: dict[str, Any] = field(default_factory=dict)  # told to other processes with the next change
    bots_elsewhere: float = 0.0  # until then another process lets the bots decide, monotonic
    _asked: tuple[tuple[int, int], Question] | None = None  # by seat and version
    _recorder: Recorder | None = None

    # Seats

    def seat_of(self, player: str) -> int:
        """Return the seat of a device; SPECTATOR if it has none."""
        for at, seat in enumerate(self.seats):
            if player in seat.players:
                return at
        return SPECTATOR

    def names(self) -> tuple[str, ...]:
        """Return the name of each seat: the player's, or the game's."""
        return tuple(seat.name or f"Player {self.game.seat_name(i)}" for i, seat in enumerate(self.seats))

    def player_notes(self) -> dict[str, str]:
        """Return who plays on each seat, as the head of a record notes it."""
        return {f"seat {i}": seat.bot or (PROGRAM if seat.program else "you") for i, seat in enumerate(self.seats, 1)}

    @property
    def to_act(self) -> int | None:
        """The seat that has to decide; None before and after the game."""
        return None if self.table is None else self.table.to_act

    @property
    def over(self) -> bool:
        return self.table is not None and self.table.to_act is None

    @property
    def people(self) -> list[int]:
        return [i for i, seat in enumerate(self.seats) if seat.kind in (PERSON, RESERVED)]

    @property
    def attended(self) -> bool:
        """Whether a person plays here, or might still sit down; the others are bots and programs."""
        return any(seat.attended for seat in self.seats)

    def attended_without(self, at: int | None) -> bool:
        """Whether that is so without this seat; None is the next that somebody sits down on."""
        free = next((i for i, seat in enumerate(self.seats) if seat.kind == OPEN), None)
        taken = free if at is None else at
        return any(seat.attended for i, seat in enumerate(self.seats) if i != taken)

    def place(self, at: int, seat: Seat) -> None:
        """Change a seat."""
        self.seats[at] = seat
        self.version += 1

    def free_name(self, wanted: str) -> str:
        """Return the name, with a number if another seat has it."""
        taken = {tidy(name) for name in self.names()}
        name, number = wanted, 1
        while tidy(name) in taken:
            number += 1
            name = f"{wanted[: MAX_NAME_LENGTH - 3]} {number}"
        return name

    def sit(self, player: str, name: str, *, program: bool = False) -> int:
        """Give a player the first open seat; a player who has a seat keeps it."""
        at = self.seat_of(player)
        if at != SPECTATOR:
            return at
        if self.table is not None:
            raise IllegalDecisionError("The game has begun, and every seat is taken. You can watch.")
        at = next((i for i, seat in enumerate(self.seats) if seat.kind == OPEN), SPECTATOR)
        if at == SPECTATOR:
            raise IllegalDecisionError("Every seat here is taken. You can watch.")
        named = self.free_name(clean_name(name)) if name.strip() else ""
        self.place(at, Seat(PERSON, named, players=frozenset({player}), program=program))
        return at

    def arrive(self, at: int) -> bool:
        """Note that the player of a reserved seat has come; return whether that is new."""
        if self.seats[at].kind != RESERVED:
            return False
        self.place(at, self.seats[at]._replace(kind=PERSON))
        return True

    def fill(self, player: str, level: str) -> None:
        """Let bots take every free seat; reservations end."""
        self._only_host(player)
        if self.table is not None:
            raise IllegalDecisionError("The game has begun: there is no free seat.")
        for at, seat in enumerate(self.seats):
            if seat.kind in (OPEN, RESERVED):
                shown = bots.shown(self.game, level, self.game.options(self.options))
                self.place(at, Seat(BOT, self.free_name(shown.capitalize()), bot=level))

    def basis(self, level: str) -> str:
        """Return what the play of a bot is based on, in a word; "" for no bot."""
        return level_basis(self.game, level, tuple(self.options.items()), bots.made(self.game)) if level else ""

    def level_name(self, level: str) -> str:
        """Return what people call the level of a bot; "" for no bot."""
        return level_name(self.game, level, tuple(self.options.items()), bots.made(self.game)) if level else ""

    def revoke_link(self, at: int, player: str) -> None:
        """Revoke the private link of a seat; only this device keeps the seat."""
        seat = self.seats[at]
        self.place(at, seat._replace(players=frozenset({player}), link=seat.link + 1, program=False))

    def admit(self, at: int, player: str, *, program: bool) -> None:
        """Let one more device have a seat."""
        seat = self.seats[at]
        if len(seat.players) >= MAX_DEVICES:
            raise IllegalDecisionError(
                f"{MAX_DEVICES} devices and programs have this seat already. Make a new private link at the table: "
                "then only the device that you do it on has it."
            )
        self.place(at, seat._replace(players=seat.players | {player}, program=program or seat.program))
        if program and not seat.program:
            self.mark(Note(f"From here on a program plays for {self.names()[at]}."))

    def set_listed(self, player: str, listed: bool) -> None:
        self._only_host(player)
        self.listed = listed
        self.version += 1

    def is_host(self, player: str) -> bool:
        """Whether this device belongs to the player who opened the room."""
        seat = self.seat_of(player)
        return bool(player) and (player == self.host or (seat != SPECTATOR and seat == self.seat_of(self.host)))

    def _only_host(self, player: str) -> None:
        if not self.is_host(player):
            raise IllegalDecisionError("Only whoever opened this table can do that.")

    # The game

    @property
    def full(self) -> bool:
        """Whether every seat is taken and the game can begin."""
        return all(seat.kind in (PERSON, BOT) for seat in self.seats)

    def deal(self, opener: Opener = default_opener) -> None:
        """Begin the game."""
        head, dealer = opener(self)
        self.begin(head, *seated(head, dealer=dealer))

    def restore(self, lines: tuple[str, ...]) -> None:
        """Continue from a stored record."""
        record = Record.parse("".join(f"{line}\n" for line in lines))
        self.begin(record.head, *replay(record))

    def begin(self, head: Head, table: Table, recorder: Recorder) -> None:
        """Begin with a game that is dealt already."""
        self.head, self.table, self._recorder = head, table, recorder
        self.transcript = Transcript(table, head.seats, recorder, self.names())
        self.hints |= self.transcript.hints
        self.version += 1

    def unwritten(self) -> list[str]:
        """Return the lines of the record that are not in storage yet."""
        return [] if self._recorder is None else self._recorder.lines[self.stored_lines :]

    def changing_fields(self) -> dict[str, Any]:
        """Return what is stored of a room and changes, besides its seats and its record."""
        return {"listed": self.listed, "touched": self.touched, "ended": self.ended, "successor": self.successor}

    def written(self, version: int) -> None:
        """Note that all of it is in storage, as this version."""
        self.stored_version, self.telling = version, {}
        self.stored_fields, self.stored_seats = self.changing_fields(), tuple(self.seats)
        self.stored_lines = 0 if self._recorder is None else len(self._recorder.lines)

    def follow(self, notice: RoomNotice) -> bool:
        """Make a change that another process has stored; False if that cannot be done, and it must be read again."""
        if notice.version != self.stored_version + 1 or notice.values is None:
            return False
        if notice.lines:
            if self.table is None or self._recorder is None:
                return False
            try:
                follow(self.table, self._recorder, notice.lines)
            except (PisteError, ValueError):
                return False
            self._changed()
            self.preparing = None  # whoever was prepared has decided, or dies without a word
            self.hints = self.transcript.hints | self.hints if self.transcript else self.hints
        for name, value in notice.values.items():
            setattr(self, name, value)
        self.take_shown(notice.shown)
        self.written(notice.version)
        return True

    def take_shown(self, shown: Mapping[str, Any]) -> bool:
        """Take what is shown at the table and not stored; return whether that changes anything."""
        question = (shown.get("seat", SPECTATOR), shown.get("number", -1))
        before = self.preparing, self.stuck, self.hints.get(question), self.no_hints.get(question)
        self.preparing = shown.get("preparing", self.preparing)
        if "stuck" in shown and self.table is not None and self.table.number == question[1]:
            self.stuck = shown["stuck"]
        self.hints |= {question: shown["hint"]} if "hint" in shown else {}
        self.no_hints |= {question: shown["no_hint"]} if "no_hint" in shown else {}
        return before != (self.preparing, self.stuck, self.hints.get(question), self.no_hints.get(question))

    def take_over(self, old: Room) -> None:
        """Take over from a copy that is out of date who is here, and what is shown but not stored."""
        self.sockets, self.seen = old.sockets, self.seen | old.seen
        self.network, self.preparing, self.used = old.network, old.preparing, old.used
        self.no_hints, self.hints = old.no_hints, self.hints | old.hints
        self.version = old.version + 1

    def record(self) -> str:
        """Return the whole record; of a finished game only."""
        if self.table is None or not self.over:
            raise IllegalDecisionError("The game is not over: its record would tell what is still secret.")
        return self.table.record()

    def _playing(self) -> Table:
        if self.table is None:
            raise IllegalDecisionError("The game has not begun: somebody is still missing.")
        return self.table

    def decide(self, seat: int, text: str, number: int) -> str:
        """Take a decision and return its name. One that is sent twice is taken once and answered twice."""
        table = self._playing()
        if len(text) > MAX_DECISION_LENGTH:
            raise UnreadableDecisionError(f"{quoted(text)} is no answer here: it is too long.")
        assert self.transcript is not None
        if 0 <= number < table.number:
            before = self.transcript.answers[number]
            if text and before.seat == seat and text in (before.name, before.typed):
                return before.name
            own = f": you decided {before.name}" if before.seat == seat else ""
            raise StaleDecisionError(f"That question has been answered{own}. Look again: the table has moved on.")
        if number != table.number:
            raise StaleDecisionError("That question is not open. Look again.")
        if table.to_act is None:
            raise IllegalDecisionError("The game is over.")
        if table.to_act != seat:
            raise IllegalDecisionError(f"It is not your turn: {self.names()[table.to_act]} decides.")
        if self.seats[seat].stand_in:
            raise IllegalDecisionError("A bot plays for you. Take your seat back first.")
        if number >= MAX_DECISIONS:
            raise IllegalDecisionError(
                f"A table here carries {MAX_DECISIONS} decisions and no more. Resign, then have a rematch."
            )
        action = self._read(table, seat, text)
        return self._take(table, seat, action, text)

    def _read(self, table: Table, seat: int, text: str) -> int:
        view = table.view(seat)
        if text in view.decisions:  # buttons and programs
            return view.actions[view.decisions.index(text)]
        question = self._question(table, seat)
        if not text.strip():
            raise UnreadableDecisionError(
                f"Nothing was decided. You can choose {listed(list(view.decisions), 'or')}."
            )
        action = question.read(text)
        if isinstance(action, Prompt):
            keys = listed([key.key for key in action.keys], "or")
            raise UnreadableDecisionError(f"{quoted(text)} is only the beginning of a decision. Add {keys}.")
        return action

    def _question(self, table: Table, seat: int) -> Question:
        """Return the question that is open: it stays the same until something changes, whatever is answered."""
        key = (seat, self.version)
        if self._asked is None or self._asked[0] != key:
            view = table.view(seat)
            self._asked = key, Question(self.game, view, self.game.text.ask(view, self.names()))
        return self._asked[1]

    def _take(self, table: Table, seat: int, action: int, text: str = "") -> str:
        number = table.number
        table.decide(seat, action, number)
        self._changed()
        assert self.transcript is not None
        self.transcript.answers[number] = self.transcript.answers[number]._replace(typed=text)
        return self.transcript.answers[number].name

    def resign(self, seat: int) -> None:
        self._playing().resign(seat)
        self._changed()

    def _changed(self) -> None:
        assert self.transcript is not None
        self.transcript.update(self.names())
        self.stuck = ""
        self.version += 1

    def mark(self, mark: Mark) -> None:
        """Note something in the record that is no part of the game."""
        if self._recorder is not None and self._recorder.running:
            self._recorder.mark(mark)
            self._changed()

    # Bots

    def bot_to_act(self) -> tuple[int, str] | None:
        """Return the seat that a bot is to decide for, and its level."""
        at = self.to_act
        level = "" if at is None else self.seats[at].bot or self.seats[at].stand_in
        return (at, level) if at is not None and level else None

    def bot_decides(self, seat: int, action: int, number: int) -> bool:
        """Take a bot's decision if its question is still open; return whether it was."""
        if self.table is None or self.table.number != number or self.bot_to_act() is None:
            return False
        self._take(self.table, seat, action)
        return True

    def replace_bot(self, seat: int, why: str) -> None:
        """Let an easier bot play on for one that cannot; the seat is named after who plays there."""
        was = self.seats[seat]
        self.place(seat, was._replace(bot=STAND_IN, name=self.free_name(f"{STAND_IN.capitalize()} for {was.name}")))
        self.mark(Replaced(STAND_IN, was.name, why))

    def hint_question(self, seat: int) -> int:
        """Return the number of the question for which this seat may have a hint now."""
        table = self._playing()
        if not self.against_bots(seat):
            raise IllegalDecisionError("No hints here: people play each other.")
        if table.to_act != seat:
            raise IllegalDecisionError("There is nothing to decide for you now.")
        return table.number

    def against_bots(self, seat: int) -> bool:
        return all(other.kind == BOT for i, other in enumerate(self.seats) if i != seat)

    def give_hint(self, seat: int, number: int, level: str, action: int) -> str:
        """Note a hint in the record and return it; "" if its question is no longer open."""
        table = self._playing()
        if table.number != number or table.to_act != seat:
            return ""
        if (seat, number) in self.hints:
            return self.hints[seat, number]  # on record once
        view = table.view(seat)
        name = view.decisions[view.actions.index(action)]
        self.mark(Hint(seat, name))
        told = self.game.told(view, action)
        self.hints[seat, number] = f"The strongest bot here, {self.level_name(level)}, would {told}."
        self.telling = {"seat": seat, "number": number, "hint": self.hints[seat, number]}
        return self.hints[seat, number]

    # Away and back

    def silence(self, at: int, now: float) -> float:
        """Return how long ago a seat was heard of; bots and those who are connected always are."""
        connected = self.seats[at].kind == BOT or self.sockets[at] > 0 or self._elsewhere(at)
        return 0.0 if connected else now - self.seen.get(at, -math.inf)

    def _elsewhere(self, at: int) -> bool:
        """Whether a seat is connected to another process."""
        return any(sockets and seat == at for (_, seat), sockets in self.elsewhere.items())

    def here(self, at: int, now: float) -> bool:
        return self.silence(at, now) < AWAY_AFTER_S

    def absent(self, now: float, patience: float) -> int:
        """Return the seat that is to decide and has been away for too long; SPECTATOR if there is none."""
        at = self.to_act
        away = at is not None and not self.seats[at].stand_in and self.silence(at, now) >= patience
        return at if at is not None and away else SPECTATOR

    def claim(self, seat: int, now: float, patience: float) -> None:
        """End the turn of somebody who is away: they leave the game."""
        at = self._other_absent(seat, now, patience)
        # A note must not begin with a name: one that reads as another kind of mark is refused.
        self.mark(Note(f"Claimed by {self.names()[seat]}: the turn of {self.names()[at]}, who was away."))
        self.resign(at)

    def stand_in(self, seat: int, now: float, patience: float) -> None:
        """Let a bot play for somebody who is away."""
        at = self._other_absent(seat, now, patience)
        self.place(at, self.seats[at]._replace(stand_in=STAND_IN))
        self.mark(Note(f"The bot {STAND_IN} plays on for {self.names()[at]}, who is away."))

    def come_back(self, seat: int) -> None:
        """Take one's seat back from a bot."""
        if self.seats[seat].stand_in:
            self.place(seat, self.seats[seat]._replace(stand_in=""))
            self.mark(Note(f"Back again: {self.names()[seat]}."))

    def _other_absent(self, seat: int, now: float, patience: float) -> int:
        self._playing()
        at = self.absent(now, patience)
        if at in (SPECTATOR, seat) or seat == SPECTATOR:
            raise IllegalDecisionError("Nobody is away whose turn it is. Wait a little longer.")
        if self.has_left(seat):
            raise IllegalDecisionError("You have resigned: those who still play decide about that.")
        return at

    def has_left(self, seat: int) -> bool:
        """Whether a seat has resigned."""
        return self.transcript is not None and seat in self.transcript.resigned

    # Afterwards

    def series_now(self) -> Series:
        """Return the score over this game, once it is over, and those it is a rematch of."""
        before = self.series or Series((0,) * len(self.seats))
        ending = None if self.table is None else self.table.ending()
        counts = self.head is not None and self.head.counts
        return before.with_game(ending.winner) if ending is not None and counts else before

    def rematch_seats(self, seat: int) -> list[Seat]:
        """Return who sits where in the rematch: everybody one seat on, with places kept for those who did not ask."""
        if not self.over:
            raise IllegalDecisionError("The game is not over: a rematch comes after it.")
        if seat == SPECTATOR:
            raise IllegalDecisionError("Only those who played can ask for a rematch.")
        kept = [
            one._replace(kind=RESERVED if one.kind == PERSON and i != seat else one.kind, stand_in="")
            if one.bot or one.players
            else Seat()  # who deleted the game does not come back by themselves
            for i, one in enumerate(self.seats)
        ]
        return [*kept[1:], kept[0]]
