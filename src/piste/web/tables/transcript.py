"""The log of a game, line by line, as each audience reads it; the number of a line never changes.

The lines come from the seat's own log and the game's text, with notes of the server where the record has marks: the
short lines of its `log.py`, or the sheet's where a game has none. The transcript of a seat is made from what that
seat may know and nothing else.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from piste.core.marks import Hint, Note, Replaced, Reseated, mark_text
from piste.core.presentation import Drawn, EventContext, Heading, Passing, Pause
from piste.core.protocols import SPECTATOR
from piste.core.record import DecisionEntry, Entry, OutcomeEntry, Recorder
from piste.core.steps import Resignation
from piste.core.table import Table
from piste.core.views import Ending, SeatView
from piste.web.tables.results import final_score, result


class LogLine(NamedTuple):
    """One line of the log."""

    number: int  # from 0; it never changes
    text: str
    # said, own (about a decision of the reader), yours (what chance did to them), heading, drawn (in letters),
    # note (by the server)
    kind: str


class Answer(NamedTuple):
    """The answer to a question."""

    seat: int
    name: str  # of the decision, in the notation
    typed: str = ""  # as the player typed it


class _Event(NamedTuple):
    """A step of the game, or a note."""

    step: int  # the number of steps up to here
    seat: int  # who decided; SPECTATOR for chance and notes
    text: str  # the decision's name, or the note
    names: tuple[str, ...]  # of the seats at that time


@dataclass
class _AudienceLog:
    """What one audience has been told."""

    lines: list[LogLine] = field(default_factory=list)
    reach: list[int] = field(default_factory=list)  # the number of lines after each step, from step 0 on
    said: list[list[str]] = field(default_factory=list)  # the sentences about each step, from step 0 on
    events: int = 0  # how many of the events are in the lines
    ended: bool = False  # whether the last lines are there

    def append(self, sentences: list[str], kind: str = "said") -> None:
        """Add what was said of the latest step."""
        for sentence in sentences:
            if not sentence.strip() or isinstance(sentence, Pause):
                continue
            text = minus(sentence)
            if not isinstance(sentence, Drawn):
                self.said[-1].append(text)
            if not isinstance(sentence, Passing):
                of_all = kind == "yours" and not text.startswith("You")  # such as a new deck
                self.add(text, KINDS.get(type(sentence), "said" if of_all else kind))
                kind = "said" if kind == "own" else kind  # what follows is about what the first line brought

    def add(self, text: str, kind: str) -> None:
        self.lines.append(LogLine(len(self.lines), text, kind))


KINDS: dict[type[str], str] = {Drawn: "drawn", Heading: "heading"}


@lru_cache(8192)
def minus(text: object) -> str:
    """Return text with the minus sign that is as wide as a plus before negative numbers."""
    return re.sub(r"(?<![\w.])-(?=\d)", "−", str(text))


class Transcript:
    """The lines for each audience.

    A bot that is replaced gives its seat another name. Earlier lines keep the name in `names`, later ones have the
    one in `latest_names`: a bot is replaced once at most.
    """

    def __init__(
        self, table: Table, names: tuple[str, ...], recorder: Recorder, latest_names: tuple[str, ...]
    ) -> None:
        self._table = table
        self._first_names = self._names = names
        self._recorder = recorder
        self._entries_read = 0
        self._events: list[_Event] = []
        self._logs: dict[int, _AudienceLog] = defaultdict(_AudienceLog)
        self.deciders: list[int] = []  # of each step; SPECTATOR where chance decided
        self.answers: list[Answer] = []
        self.resigned: set[int] = set()  # seats
        self.hints: dict[tuple[int, int], str] = {}  # by seat and question
        self.update(latest_names)

    def update(self, latest_names: tuple[str, ...]) -> None:
        """Add what has been recorded since."""
        entries = self._recorder.entries
        for entry in entries[self._entries_read :]:
            self._add(entry, latest_names)
        self._entries_read = len(entries)

    def _add(self, entry: Entry, latest_names: tuple[str, ...]) -> None:
        steps = self._events[-1].step if self._events else 0
        match entry:
            case Hint(seat, hint):
                self.hints[seat, len(self.answers)] = f"The hint was {hint}."
            case Reseated() | Replaced() | Note():
                text = mark_text(self._table.game, entry)
                self._events.append(_Event(steps, SPECTATOR, text, self._names))
                if isinstance(entry, Replaced):
                    self._names = tuple(
                        new if old == entry.player else old
                        for old, new in zip(self._names, latest_names, strict=True)
                    )
            case DecisionEntry(seat, name):
                self._add_answer(seat, name, steps + 1)
            case Resignation(seat):
                self._add_answer(seat, "resigns", steps + 1)
                self.resigned.add(seat)
            case OutcomeEntry():
                self.deciders.append(SPECTATOR)
                self._events.append(_Event(steps + 1, SPECTATOR, "", self._names))

    def _add_answer(self, seat: int, name: str, step: int) -> None:
        self.answers.append(Answer(seat, name))
        self.deciders.append(seat)
        self._events.append(_Event(step, seat, name, self._names))

    def entries(self, audience: int, view: SeatView | None = None) -> Sequence[LogLine]:
        """Return all lines for an audience; a caller that has its view passes it to save work."""
        log = self._logs[audience]
        if log.reach and log.events == len(self._events) and log.ended == (self._table.to_act is None):
            return log.lines
        view = self._table.view(audience) if view is None else view
        text = self._table.game.text
        short = self._table.game.log
        if not log.reach:
            log.said.append([])
            log.append((short.start if short else text.welcome)(view, self._first_names))
            log.reach.append(len(log.lines))
        for at in range(log.events, len(self._events)):
            step, seat, event, names = self._events[at]
            if step == (self._events[at - 1].step if at else 0):
                log.add(event, "note")
                log.reach[-1] = len(log.lines)
                continue
            own, context = seat == audience != SPECTATOR, EventContext(audience, names, view.opening, view.log[:step])
            log.said.append([])
            if short:
                log.append(short.lines(context), "own" if own else "yours" if context.own else "said")
            else:
                told = text.lines(context)
                named = any(event in sentence for sentence in told)  # else the decision stands above what it led to
                if own and event != "resigns" and not named:
                    log.add(minus(event), "own")
                log.append(told, "own" if own and named else "said")
            log.reach.append(len(log.lines))
        log.events = len(self._events)
        if view.ending is not None and not log.ended:
            log.ended = True
            log.append(self._farewell(view, view.ending))
        return log.lines

    def _farewell(self, view: SeatView, ending: Ending) -> list[str]:
        game, names = self._table.game, self._names
        if game.log is None:
            return game.text.farewell(view, names, ending)
        return [result(ending, names, view.seat, final_score(game, view)).rstrip(".")]

    def has_decided(self, seat: int) -> bool:
        return any(answer.seat == seat for answer in self.answers)

    def reach(self, audience: int) -> Sequence[int]:
        """Return the number of an audience's lines after each step, from step 0 on."""
        self.entries(audience)
        return self._logs[audience].reach

    def lines_at(self, audience: int, step: int) -> list[str]:
        """Return the sentences for an audience about one step, counted from 1; of step 0, what was said before."""
        self.entries(audience)
        return self._logs[audience].said[step]
