"""Open a table from a head, and play a record again to the same table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from piste.core.dealer import ChanceSource, Commitment, fresh_seed
from piste.core.errors import DealError, PisteError, RecordError
from piste.core.game import Game, find, quoted
from piste.core.marks import read_mark
from piste.core.protocols import HIDDEN
from piste.core.record import Head, Record, Recorder, Write, refuse
from piste.core.table import Table


def seated(head: Head, write: Write | None = None, dealer: ChanceSource | None = None) -> tuple[Table, Recorder]:
    """Return a new table for this head, and what writes its record."""
    chooser, origin = head.open(dealer)
    recorder = Recorder(head, write)
    return opened(head, chooser, origin, recorder), recorder


def opened(head: Head, dealer: ChanceSource, origin: Any, recorder: Recorder) -> Table:
    promise = "" if head.commitment is None else head.commitment.digest
    return Table(
        head.game, head.options, dealer,
        origin=origin, counts=head.counts, commitment=promise, journal=recorder,
    )  # fmt: skip


def new_head(
    game: Game | str,
    options: Any = None,
    *,
    seed: str | bytes | None = None,
    seats: tuple[str, ...] = (),
    laid: str = "",
    position: str = "",
) -> Head:
    """Return the head of a new game, with options by name or as the game has them.

    Without a seed it gets one that nobody can guess.
    """
    game = find(game) if isinstance(game, str) else game
    chosen = options if isinstance(options, game.rules.Options) else game.options(options)
    named = seed is not None
    seed = checked_seed(seed)
    count = game.rules.seats(chosen)
    if not seats:
        seats = tuple(f"Player {game.seat_name(seat)}" for seat in range(count))
    if len(seats) != count:
        raise PisteError(f"{game.notation.TITLE} has {count} seats with these options, not {len(seats)}.")
    for text in (*seats, laid, seed if isinstance(seed, str) else ""):
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise PisteError(f"{quoted(text)} cannot be written down: it holds half a letter.")
    return Head(game, chosen, seats, seed, Commitment.to(seed), laid.strip(), named, position=position)


def checked_seed(seed: str | bytes | None) -> str | bytes:
    """Return a seed that can be used; without one, one that nobody can guess."""
    if not isinstance(seed, str | bytes | None):
        kind = type(seed).__name__
        raise DealError(f"A seed is text or bytes, not a value of the type {kind}. Write it as text: seed='5' for 5.")
    return fresh_seed() if seed is None else seed


class _Checked:
    """Deals what the head's dealer deals, and holds the record to it; or what was given, where there is no seed."""

    def __init__(self, dealer: ChanceSource, record: Record, recorder: Recorder) -> None:
        self._dealer = dealer
        self._record = record
        self._recorder = recorder
        self.at = 0  # steps of the record taken so far

    def next(self) -> Mapping[str, Any] | None:
        """Return the next step of the game; marks on the way are copied."""
        steps = self._record.steps
        while self.at < len(steps) and "mark" in steps[self.at]:
            self._recorder.mark(read_mark(self._record.head.game, str(steps[self.at]["mark"])))
            self.at += 1
        return steps[self.at] if self.at < len(steps) else None

    def outcome(self, game: Game, state: Any) -> int:
        step = self.next()
        what = game.kind_name(game.rules.kind(state))
        if step is None:
            return self._dealer.outcome(game, state)
        if step.get("chance") != what:
            refuse(self.at + 2, f"'{what}' should come here")
        name = step.get("outcome")
        outcome = game.read_outcome(state, name) if isinstance(name, str) else None
        if outcome is None:
            refuse(self.at + 2, f"{quoted(name)} cannot come up for '{what}' here")
        if self._record.head.seed is not None and self._dealer.outcome(game, state) != outcome:
            refuse(self.at + 2, f"the seed did not deal {quoted(name)}")
        self.at += 1
        return outcome


def replay(record: Record) -> tuple[Table, Recorder]:
    """Play a record again and return the same table; a running game can go on there.

    Every outcome is dealt anew from the seed and compared, every decision is checked by the rules, and the
    ending is compared: a record that could not have been played is refused, with the line.
    """
    head = record.head
    dealer, origin = head.open()
    recorder = Recorder(head)
    checked = _Checked(dealer, record, recorder)
    table = opened(head, checked, origin, recorder)
    names = {head.game.seat_name(seat): seat for seat in range(table.seats)}
    while (step := checked.next()) is not None:
        line = checked.at + 2
        seat = names.get(str(step.get("seat")), HIDDEN)
        if table.to_act is None or seat == HIDDEN or "chance" in step:
            refuse(line, "nobody could do this here")
        checked.at += 1
        try:
            if step.get("resigns") is True:
                table.resign(seat)
            else:
                table.decide(seat, _decision(step))
        except RecordError:
            raise
        except PisteError as e:
            refuse(line, e)
    for line, text in enumerate(record.lines):
        if line >= len(recorder.lines) or recorder.lines[line] != text:
            refuse(line + 1, "the game went otherwise")
    return table, recorder


def follow(table: Table, recorder: Recorder, lines: Sequence[str]) -> None:
    """Play the next lines of a record that goes on elsewhere; refuse lines that do not follow from those before."""
    names = {table.game.seat_name(seat): seat for seat in range(table.seats)}
    first = len(recorder.lines)
    for at, line in enumerate(lines, first):
        if at == len(recorder.lines):  # what chance brings is dealt with the decision before it
            step = json.loads(line)
            if "mark" in step:
                recorder.mark(read_mark(table.game, str(step["mark"])))
            elif step.get("resigns") is True:
                table.resign(names.get(str(step.get("seat")), HIDDEN))
            else:
                table.decide(names.get(str(step.get("seat")), HIDDEN), _decision(step))
        if at >= len(recorder.lines) or recorder.lines[at] != line:
            refuse(at + 1, "the game went otherwise")
    if len(recorder.lines) != first + len(lines):
        refuse(first + len(lines), "the game went on")


def _decision(step: Mapping[str, Any]) -> str:
    extra = [key for key in step if key not in ("n", "seat", "check")]
    if len(extra) != 1 or not isinstance(step[extra[0]], str):
        raise PisteError("A decision is written as its kind and its name.")
    return str(step[extra[0]])
