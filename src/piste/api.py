"""The few functions that most programs need: open a table, save, load, play a record again, evaluate a position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from piste.core import replay as _replay
from piste.core.dealer import ScriptedDealer
from piste.core.errors import DealError, PisteError, PositionError, RecordError
from piste.core.game import find, quoted
from piste.core.position import Position
from piste.core.protocols import OVER
from piste.core.record import LARGEST, Head, Record, Write
from piste.core.table import Table
from piste.core.views import SeatView

if TYPE_CHECKING:
    from piste.core.evaluation import Evaluation
    from piste.core.information_set import InformationSet


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


def evaluate(position: Position | InformationSet | SeatView | str, *, seat: int | None = None) -> Evaluation:
    """Return what a position is worth to a seat, what each of its decisions is worth, and how that is known.

    A position, or its text, is taken as known to all players; what one seat knows is an information set, its text,
    or the seat's view. Without a `seat` a position is evaluated for the one to act. The answer's `document()` is
    what `piste solve --json` prints. Some games and sizes need the extra `fast`: a MissingExtraError says so.

    >>> evaluation = evaluate("zero-sum-grid cells=1,1,1/0,0,0/0,0,0 to=1 phase=move turns=0")
    >>> evaluation.chances.win, evaluation.known, evaluation.best.name
    (1.0, 'proven', 'R1-')
    """
    from piste.core.evaluation import described
    from piste.core.extras import solver_of

    asked = information_set(position, seat)
    game = asked.base.game
    if game.rules.to_act(next(iter(asked.belief.states))) == OVER:
        raise PositionError("The game is over in this position.")
    return described(solver_of(game, asked.base.state.options).evaluate(asked), asked)


def information_set(position: Position | InformationSet | SeatView | str, seat: int | None = None) -> InformationSet:
    """Return what a seat knows, from any of the values that say it."""
    from piste.core.information_set import InformationSet

    if isinstance(position, str):
        position = InformationSet.parse(position) if "|" in position else Position.parse(position)
    if isinstance(position, Position):
        return InformationSet.common(position, seat)
    if not isinstance(position, InformationSet | SeatView):
        raise PositionError(
            "A position is asked for as a Position, an InformationSet, a SeatView or a text, "
            f"not as a value of the type {type(position).__name__}."
        )
    if seat is not None and seat != position.seat:
        raise PositionError("This says already which seat it is about: leave seat out.")
    return position if isinstance(position, InformationSet) else InformationSet.of(find(position.game), position)
