"""All that leaves a table: what a seat sees, what it was told, and how a game ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from piste.core.protocols import HIDDEN, Event


class LogEntry(NamedTuple):
    """One line of a seat's log: what it was told of an action, and what it saw right afterwards."""

    event: Event
    after: Any  # the game's View for that seat


class Ending(NamedTuple):
    """How a game ended and why."""

    winner: int | None  # a seat, or None for a draw
    reason: str
    payoffs: tuple[int, ...]


class SeatView:
    """What one seat, or a spectator, has before it. A bot is given this and nothing else.

    It is a value: it stays as it is when the game goes on. Most fields are worked out by the table when they are
    first read. What a bot is given, or what leaves the process, has all of them and no way back to the table.
    """

    game: str
    options: Any
    seat: int  # a seat, or SPECTATOR
    number: int  # of the decision that is open; a decision must name it, so that a stale one is refused
    kind: int  # the kind of that decision, as the game's notation names it; HIDDEN when the game is over
    position: Any  # the game's View
    decisions: tuple[str, ...]  # open to this seat now, by name; empty if another is to act
    actions: tuple[int, ...]  # the same decisions as numbers, in the same order
    opening: Any  # the View at the very start
    log: tuple[LogEntry, ...]
    origin: str  # the position the game began from, if it was laid by hand; all seats know it
    counts: bool  # False if the cards were laid or the seed was named (G8)
    ending: Ending | None

    __slots__ = (*__annotations__, "_later")
    _later: Callable[[str], Any]  # asked for a field that has no value yet

    def __init__(self, *values: Any, **fields: Any) -> None:
        """Take every field, in order or by name."""
        for name, value in zip(VIEW_FIELDS, values, strict=False):
            setattr(self, name, value)
        for name, value in fields.items():
            setattr(self, name, value)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in VIEW_FIELDS:
                raise AttributeError(f"a SeatView has no {name!r}")
            value = self._later(name)
            setattr(self, name, value)
            return value

    # As named tuples have it.

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in VIEW_FIELDS)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SeatView) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"SeatView({', '.join(f'{name}={getattr(self, name)!r}' for name in VIEW_FIELDS)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return SeatView, tuple(self)

    def _replace(self, **changes: Any) -> SeatView:
        """Return the same view with some fields changed."""
        return SeatView(**dict(zip(VIEW_FIELDS, self, strict=True)) | changes)

    def complete(self) -> SeatView:
        """Return the same view with every field worked out and no way back to the table, as bots are given it."""
        return SeatView(*self)

    def at_step(self, step: int) -> SeatView:
        """Return what the seat saw after `step` steps, without its decisions; at the last one, as the game ended."""
        if step >= len(self.log):
            return self
        position = self.log[step - 1].after if step else self.opening
        return SeatView(
            self.game, self.options, self.seat, self.number, HIDDEN, position, (), (), self.opening, self.log[:step],
            self.origin, self.counts, None,
        )  # fmt: skip


VIEW_FIELDS = SeatView.__slots__[:-1]
