"""The few functions that most programs need: open a table, save, load, play a record again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from piste.core import replay as _replay
from piste.core.dealer import ScriptedDealer
from piste.core.errors import DealError, PisteError, RecordError
from piste.core.game import quoted
from piste.core.record import LARGEST, Head, Record, Write
from piste.core.table import Table


def open_table(
    game: str,
    options: Mapping[str, int | str] | None = None,
    *,
    seed: str | bytes | None = None,
    seats: Sequence[str] = (),
    laid: str = "",
    outcomes: Sequence[int | str] | None = None,
    write: Write | None = None,
) -> Table:
    """Open a table for a game, ready for the first decision.

    Without a seed the game is dealt from one that nobody can guess. `laid` puts down a deck (its top first) or a
    grid; `outcomes` gives every outcome of chance in order, by name or number, instead of a dealer. `write` is called
    with each line of the record as it happens.

    >>> table = open_table("zero-sum-grid", {"first": 1}, laid="1 1 1 / 0 0 0 / 0 0 0")
    >>> table.decide(0, "R1-")
    >>> table.ending()
    Ending(winner=0, reason='grid is zero', payoffs=(1, -1))
    """
    if outcomes is not None and (laid or seed is not None):
        raise DealError("A table takes outcomes that are given, or a seed and a deal that is laid, not both.")
    head = _replay.new_head(game, options, seed=seed, seats=tuple(seats), laid=laid)
    if outcomes is None:
        return _replay.seated(head, write)[0]
    given = Head(head.game, head.options, head.seats, None, None, head.laid)
    return _replay.seated(given, write, ScriptedDealer(outcomes))[0]


def save(table: Table, path: str | Path) -> None:
    """Write a table's record to a file; of a running game this is for the table's owner only."""
    text, target = table.record(), Path(path)
    beside = target.with_name(f"{target.name}.new")
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        beside.replace(target)  # an older record is there, whole, until the new one is
    except (OSError, ValueError) as e:
        raise PisteError(
            f"The record {quoted(path, 200)} cannot be written: {getattr(e, 'strerror', None) or e}."
        ) from None


def load(path: str | Path, *, mend: bool = False) -> Record:
    """Read a record from a file; with `mend`, forgive a last line that a crash cut off."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(LARGEST + 1)
    except (OSError, ValueError) as e:
        why = getattr(e, "strerror", None) or e
        raise RecordError(f"The record {quoted(path, 200)} cannot be opened: {why}.") from None
    return Record.parse(text, mend=mend)


def replay(record: Record | str) -> Table:
    """Play a record again and return its table; a running game can go on there.

    >>> table = open_table("positive-negative", seed="again")
    >>> table.decide(0, "keep")
    >>> replay(table.record()).view(1) == table.view(1)
    True
    """
    return _replay.replay(Record.parse(record) if isinstance(record, str) else record)[0]
