"""The few functions that most programs need: tables, records, a bot's decision and the evaluation of a position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from piste.core import replay as _replay
from piste.core.dealer import Dealer, ScriptedDealer
from piste.core.errors import DealError, PisteError, PositionError, RecordError
from piste.core.game import find, names, quoted
from piste.core.position import Position
from piste.core.protocols import CHANCE, OVER
from piste.core.record import MAX_BYTES, Head, Record, Write
from piste.core.steps import Resignation, apply_step
from piste.core.table import Table
from piste.core.views import SeatView

if TYPE_CHECKING:
    from piste.bots import Bot
    from piste.core.evaluation import Evaluation
    from piste.core.information_set import InformationSet


def open_table(
    game: str | None = None,
    options: Mapping[str, int | str] | None = None,
    *,
    position: Position | InformationSet | SeatView | str | None = None,
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

    With a `position` the game goes on from there; it names the game and its options itself. All seats know a
    `Position`, secrets included. From an information set one of the games that fit it is drawn, by its probability
    and with the seed, so that each seat knows what it would know.

    >>> table = open_table("zero-sum-grid", {"first": 1}, laid="1 1 1 / 0 0 0 / 0 0 0")
    >>> table.decide(0, "R1-")
    >>> table.ending()
    Ending(winner=0, reason='grid is zero', payoffs=(1, -1))
    """
    if outcomes is not None and (laid or seed is not None):
        raise DealError("A table takes outcomes that are given, or a seed and a deal that is laid, not both.")
    if position is not None:
        if game is not None or options is not None or laid:
            raise PositionError("A position names its game and options, and what is dealt: give it alone.")
        return _continued(information_set(position), seed, tuple(seats), outcomes, write)
    if game is None:
        raise PisteError(f"Name a game, or give a position. The games are: {', '.join(names())}.")
    head = _replay.new_head(game, options, seed=seed, seats=tuple(seats), laid=laid)
    if outcomes is None:
        return _replay.seated(head, write)[0]
    return _replay.seated(_unseeded(head), write, ScriptedDealer(outcomes))[0]


def _unseeded(head: Head) -> Head:
    return head._replace(seed=None, commitment=None, named=False)


def _continued(
    asked: InformationSet,
    seed: str | bytes | None,
    seats: tuple[str, ...],
    outcomes: Sequence[int | str] | None,
    write: Write | None,
) -> Table:
    """Open a table at an information set: play one of the histories that fit it, and deal on."""
    base, rules = asked.base, asked.base.game.rules
    if rules.to_act(next(iter(asked.belief.states))) == OVER:
        raise PositionError("The game is over in this position.")
    origin = "" if base.state == rules.start(base.state.options) else str(base)
    head = _replay.new_head(base.game, base.state.options, seed=seed, seats=seats, position=origin)
    assert head.seed is not None
    dealer = Dealer(head.seed) if outcomes is None else ScriptedDealer(outcomes)
    if not asked.events:
        return _replay.seated(head if outcomes is None else _unseeded(head), write, dealer)[0]
    state, dealt, decided = base.state, [], []
    for step in asked.retell(Dealer(head.seed).stream("information set")):
        if rules.to_act(state) == CHANCE:
            assert isinstance(step, int)
            dealt.append(step)
        else:
            decided.append(step)
        state = apply_step(rules, state, step)
    # The seed did not deal what is drawn here, so that the record gives the outcomes one by one and no seed.
    table = _replay.seated(_unseeded(head), write, ScriptedDealer(dealt, dealer))[0]
    for step in decided:
        if isinstance(step, Resignation):
            table.resign(step.seat)
        else:
            assert table.to_act is not None
            table.decide(table.to_act, step)
    return table


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
            text = file.read(MAX_BYTES + 1)
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


def decide(
    bot: str | Bot, position: Position | InformationSet | SeatView | str, *, seed: str | bytes | None = None
) -> str:
    """Return a bot's decision, by name. A bot is named as for `piste play`, or is an object with `choose`.

    The bot is given what the seat to act knows: of a position everything, of an information set or a view no more
    than these say. What it leaves to chance comes from the seed.

    >>> decide("steady", "zero-sum-grid cells=1,1,1/0,0,0/0,0,0 to=1 phase=move turns=0")
    'R1-'
    """
    from piste import bots
    from piste.core.evaluation import quiet

    seed = _replay.checked_seed(seed)
    if not isinstance(position, SeatView):
        asked = information_set(position)
        actor = asked.base.game.rules.to_act(next(iter(asked.belief.states)))
        if actor != asked.seat:
            who = {OVER: "the game is over", CHANCE: "chance is to act"}.get(actor, "another seat is to act")
            raise PositionError(f"There is nothing to decide here: {who}.")
        position = open_table(position=asked, seed=seed).view(asked.seat)
    if not position.actions:
        raise PositionError("There is nothing to decide here: this seat is not to act.")
    player = bots.find(bot, find(position.game), position.options) if isinstance(bot, str) else bot
    try:
        bots.prepare(player, position.options, quiet)
        action = player.choose(position, Dealer(seed).stream(bots.stream_name(position)))
    finally:
        if isinstance(bot, str):
            player.close()
    return position.decisions[position.actions.index(action)]


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
