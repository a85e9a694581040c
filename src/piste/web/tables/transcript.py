"""What has been told of a game so far, line by line, to each audience: the same numbers for ever.

The lines come from the seats' logs and the game's words; notes of the house stand between them where the record has
marks. A seat's story is made of what that seat was told and of nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from piste.core.marks import Hint, Note, Replaced, Reseated, mark_text
from piste.core.presentation import Drawn, EventContext, Pause
from piste.core.protocols import SPECTATOR
from piste.core.record import DecisionEntry, Entry, OutcomeEntry
from piste.core.steps import Resignation
from piste.core.table import Table
from piste.core.views import SeatView


class LogLine(NamedTuple):
    """One line of the log."""

    number: int  # from 0; it never changes
    text: str
    kind: str  # said (by the sheet), drawn (by it, in letters), own (a decision), note (by the server)


class Answered(NamedTuple):
    """Who answered a question, and how."""

    seat: int
    name: str  # of the decision, in the notation
    said: str = ""  # as it was typed


class _Happened(NamedTuple):
    """One line of the record: a step of the game, or a note."""

    step: int  # how many steps there are with it
    seat: int  # who decided; SPECTATOR for chance and notes
    text: str  # the decision's name, or the note
    names: tuple[str, ...]  # of the seats at that time


class Transcript:
    """The lines that each audience has been told.

    A bot that is relieved gives its seat another name. Lines before that keep the one in `names`, lines after it have
    the one that `latest` returns: a seat is relieved once at most.
    """

    def __init__(
        self, table: Table, names: tuple[str, ...], record: list[Entry], latest: Callable[[], tuple[str, ...]]
    ) -> None:
        self._table = table
        self._first = self._names = names
        self._latest = latest
        self._record = record  # grows while the game goes on
        self._read = 0
        self._happened: list[_Happened] = []
        self._entries: dict[int, list[LogLine]] = {}
        self._told: dict[int, int] = {}  # how much of what happened is in an audience's entries
        self._reach: dict[int, list[int]] = {}  # for each audience, how many lines it was told up to each step
        self._ended: set[int] = set()
        self.deciders: list[int] = []  # of each step; SPECTATOR where chance decided
        self.answers: list[Answered] = []
        self._hints: list[tuple[int, int, str]] = []
        self.go_on()

    def go_on(self) -> None:
        """Read what has come to the record since."""
        for entry in self._record[self._read :]:
            self._take(entry)
        self._read = len(self._record)

    def _take(self, entry: Entry) -> None:
        steps = self._happened[-1].step if self._happened else 0
        match entry:
            case Hint(seat, hint):
                self._hints.append((seat, len(self.answers), f"The hint was {hint}."))
            case Reseated() | Replaced() | Note():
                text = mark_text(self._table.game, entry)
                self._happened.append(_Happened(steps, SPECTATOR, text, self._names))
                if isinstance(entry, Replaced):
                    self._names = tuple(
                        new if old == entry.player else old
                        for old, new in zip(self._names, self._latest(), strict=True)
                    )
            case DecisionEntry(seat, name):
                self._answered(seat, name, steps + 1)
            case Resignation(seat):
                self._answered(seat, "resigns", steps + 1)
            case OutcomeEntry():
                self.deciders.append(SPECTATOR)
                self._happened.append(_Happened(steps + 1, SPECTATOR, "", self._names))

    def _answered(self, seat: int, name: str, step: int) -> None:
        self.answers.append(Answered(seat, name))
        self.deciders.append(seat)
        self._happened.append(_Happened(step, seat, name, self._names))

    def hints(self) -> list[tuple[int, int, str]]:
        """Return every hint that was given: seat, question, words."""
        return self._hints

    def entries(self, audience: int, seen: SeatView | None = None) -> Sequence[LogLine]:
        """Return all lines that an audience has been told; its view, if somebody has it at hand, saves work."""
        found = self._entries.setdefault(audience, [])
        over = self._table.to_act is None
        if self._told.get(audience) == len(self._happened) and (not over or audience in self._ended):
            return found  # nothing has happened since
        view = self._table.view(audience) if seen is None else seen
        words = self._table.game.text
        if not found and audience not in self._told:
            self._say(found, words.welcome(view, self._first))
        reach = self._reach.setdefault(audience, [len(found)])
        for at in range(self._told.get(audience, 0), len(self._happened)):
            step, seat, text, names = self._happened[at]
            before = self._happened[at - 1].step if at else 0
            if step == before:
                found.append(LogLine(len(found), text, "note"))
                reach[-1] = len(found)
                continue
            if seat == audience != SPECTATOR and text != "resigns":
                found.append(LogLine(len(found), text, "own"))
            self._say(found, words.lines(EventContext(audience, names, view.opening, view.log[:step])))
            reach.append(len(found))
        self._told[audience] = len(self._happened)
        if view.ending is not None and audience not in self._ended:
            self._ended.add(audience)
            self._say(found, words.farewell(view, self._names, view.ending))
        return found

    def reach(self, audience: int) -> Sequence[int]:
        """Return how many lines an audience had been told after each step, from step 0 on."""
        self.entries(audience)
        return self._reach[audience]

    def lines_at(self, audience: int, step: int) -> list[str]:
        """Return what an audience was told in words of one step, counted from 1; of step 0, the welcome."""
        view = self._table.view(audience)
        words = self._table.game.text
        if step == 0:
            lines = words.welcome(view, self._first)
        else:
            names = next(one.names for one in self._happened if one.step == step)
            lines = words.lines(EventContext(audience, names, view.opening, view.log[:step]))
        if view.ending is not None and step == len(view.log):
            lines = [*lines, *words.farewell(view, self._names, view.ending)]
        return [line for line in lines if line.strip() and not isinstance(line, Pause | Drawn)]

    @staticmethod
    def _say(entries: list[LogLine], lines: list[str]) -> None:
        for line in lines:
            if line.strip() and not isinstance(line, Pause):
                entries.append(LogLine(len(entries), str(line), "drawn" if isinstance(line, Drawn) else "said"))
