"""What a game's `text.py` gives to a terminal or a browser: lines, rows and questions as data."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Protocol

from piste.core.protocols import SPECTATOR, Event
from piste.core.views import Ending, LogEntry, SeatView


class Pause(str):
    """A line that asks to press Enter. It is no decision and is not recorded (G6)."""

    __slots__ = ()


class Drawn(str):
    """A line of a picture made of letters. Whoever draws the position otherwise can leave it out."""

    __slots__ = ()


class Heading(str):
    """A line of a browser's log that begins a part of the game: "Round 2"."""

    __slots__ = ()


class Passing(str):
    """A sentence that a browser shows while its event is shown, and does not keep: a line that follows tells it."""

    __slots__ = ()


class Mark(NamedTuple):
    """A part of a line that is drawn in a colour, where there are colours."""

    start: int
    end: int
    tone: str  # one of `core.scene.TONES`, or of those that every screen has: "heading", "good", "bad"


def number_marks(pattern: str, line: str) -> list[Mark]:
    """Return the numbers of a line in the tones of their signs; `pattern` finds them, as its group if it has one."""
    marks = []
    for found in re.finditer(pattern, line):
        group = found.lastindex or 0
        value = int(found[group])
        marks.append(Mark(*found.span(group), "plus" if value > 0 else "minus" if value else "zero"))
    return marks


class EventContext(NamedTuple):
    """One event as one audience meets it: all that a game's text may use to phrase it."""

    seat: int  # who is told: a seat, or SPECTATOR
    names: tuple[str, ...]  # what each seat is called: "Player A", or a name
    opening: Any  # the view at the very start
    log: tuple[LogEntry, ...]  # everything this seat was told, this event last

    @property
    def event(self) -> Event:
        return self.log[-1].event

    @property
    def before(self) -> Any:
        return self.log[-2].after if len(self.log) > 1 else self.opening

    @property
    def after(self) -> Any:
        return self.log[-1].after

    @property
    def own(self) -> bool:
        """Whether the event is about the one who is told: then it is phrased with "you"."""
        return self.seat != SPECTATOR and self.event.seat == self.seat

    def who(self, seat: int) -> str:
        return self.names[seat]

    def subject(self, seat: int) -> str:
        """Return whom a sentence in the past tense begins with: "You", or a name."""
        return "You" if seat == self.seat else self.names[seat]

    def goes_first(self, seat: int) -> str:
        return "You go first" if seat == self.seat else f"{self.names[seat]} goes first"


class Row(NamedTuple):
    """One labelled row of a picture: a hand, a line of the grid, a score."""

    label: str
    cells: tuple[str, ...]
    note: str = ""

    def __str__(self) -> str:
        """Return the row as one line of text."""
        label, note = f"{self.label}:" if self.label else "", f"({self.note})" if self.note else ""
        return " ".join(part for part in (label, *self.cells, note) if part)


class CardRow(Row):
    """A row of cards, which a browser draws as cards; UNKNOWN is one that the viewer does not see, NONE no card."""

    __slots__ = ()


UNKNOWN = "?"
NONE = "-"


class Key(NamedTuple):
    """One answer to a prompt: what to type, what it means, and what follows."""

    key: str
    label: str
    then: Prompt | int  # another question, or the decision
    also: tuple[str, ...] = ()  # other ways to type it
    note: str = ""  # what choosing it does, where the label does not say it

    @property
    def meaning(self) -> str:
        return f"{self.label}: {self.note}" if self.note else self.label


class Prompt(NamedTuple):
    """A question and the answers there are. A browser draws its parts; a terminal prints `text`."""

    question: str  # without what only a terminal adds, such as how to type the answer
    keys: tuple[Key, ...]
    typing: str = ": "  # what a terminal prints between the question and the answer
    above: tuple[str, ...] = ()  # lines that a terminal prints before the question
    listed: bool = False  # whether a terminal lists the keys below the question, and then asks for one
    verb: str = ""  # what is done with the chosen card, where the label does not say it: "Play"
    brief: str = ""  # all that a terminal prints for people who have played before; "" if that is `text`

    @property
    def last_line(self) -> str:
        """Return the line before the answer."""
        if self.listed:
            return f"Enter choice ({'/'.join(key.key for key in self.keys)}): "
        return f"{self.question}{self.typing}"

    @property
    def text(self) -> str:
        """Return the question as a terminal prints it."""
        offers = [f"{self.question}:", *(f"[{key.key}] {key.label}" for key in self.keys)] if self.listed else []
        return "\n".join([*self.above, *offers, self.last_line])


class GameText(Protocol):
    """A game's `text.py`, as a module: the lines of its sheet, in plain Python.

    A game whose questions come with much that only a terminal prints adds `prompt(view, names)`: `ask` without that.
    A game whose cards or numbers have colours adds `marks(line, names, options, seat)`: which parts of a line they
    are. `seat` is the one that the line calls "you".
    """

    HAND_OVER: (
        bool  # whether people at one screen keep cards from each other over several turns (Zero Sum Duel, Duel)
    )
    OWN_VOICE: bool  # whether a turn's lines name its player, so that a game told again can keep saying "you"
    TIPS: tuple[str, ...]  # a reminder of the rules, three lines; `tips(options)`, if there is one, goes before them

    def welcome(self, view: SeatView, names: tuple[str, ...], /) -> list[str]:
        """Return what is said before the first event."""

    def lines(self, moment: EventContext, /) -> list[str]:
        """Return what this audience is told of an event; some lines are a `Pause`, or `Drawn`."""

    def ask(self, view: SeatView, names: tuple[str, ...], /) -> Prompt:
        """Return the question that the seat to act has before it."""

    def picture(self, view: SeatView, names: tuple[str, ...], /) -> list[Row]:
        """Return the position as this seat sees it, to be drawn at any time."""

    def farewell(self, view: SeatView, names: tuple[str, ...], ending: Ending, /) -> list[str]:
        """Return what is said at the end: the result, and everything that was hidden (G9)."""


class GameLog(Protocol):
    """A game's `log.py`, as a module: its events in short lines for a browser. Without one the sheet's stand."""

    def start(self, view: SeatView, names: tuple[str, ...], /) -> list[str]:
        """Return what is said before the first event."""

    def lines(self, moment: EventContext, /) -> list[str]:
        """Return what this audience is told of an event; some lines are a `Heading`, or `Passing`."""

    def final_score(self, view: SeatView, /) -> tuple[int, ...] | None:
        """Return the score of each seat at the end; None where the game has none with these options."""

    def decisive(self, view: SeatView, names: tuple[str, ...], ending: Ending, /) -> str:
        """Return a sentence that says why the game ended so; "" if the reason says it all."""
