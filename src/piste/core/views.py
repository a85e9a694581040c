"""All that leaves a table: what a seat sees, what it was told, and how a game ended."""

from __future__ import annotations

from typing import Any, NamedTuple

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


class SeatView(NamedTuple):
    """What one seat, or a spectator, has before it. A bot is given this and nothing else."""

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

    def at_step(self, step: int) -> SeatView:
        """Return what the seat saw after `step` steps, without its decisions; at the last one, as the game ended."""
        if step >= len(self.log):
            return self
        position = self.log[step - 1].after if step else self.opening
        return self._replace(
            position=position, log=self.log[:step], kind=HIDDEN, decisions=(), actions=(), ending=None
        )
