"""The running score of players over a game and its rematches.

In each rematch everybody sits one seat on, so who is who follows from the seats. A score goes on as long as nobody
else has come in: a place that was left open, or a bot of another level, begins a new one. Games that do not count
(G8) are not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from piste.core.views import Ending


class Series(NamedTuple):
    """Games won by each seat, and drawn games."""

    wins: tuple[int, ...]
    draws: int = 0

    @property
    def games(self) -> int:
        return sum(self.wins) + self.draws

    def with_game(self, winner: int | None) -> Series:
        if winner is None:
            return self._replace(draws=self.draws + 1)
        return self._replace(wins=tuple(won + (seat == winner) for seat, won in enumerate(self.wins)))

    def one_seat_on(self) -> Series:
        """Return the same score as it stands in the rematch."""
        return self._replace(wins=(*self.wins[1:], *self.wins[:1]))

    def text(self, names: Sequence[str], seat: int) -> str:
        """Return the score in words, the viewer's own side first."""
        order = sorted(range(len(self.wins)), key=lambda at: at != seat)
        who = ["You" if at == seat else names[at] for at in order]
        drawn = f", {self.draws} drawn" if self.draws else ""
        if len(order) == 2:
            return f"{who[0]} {self.wins[order[0]]} – {self.wins[order[1]]} {who[1]}{drawn}"
        return ", ".join(f"{name} {self.wins[at]}" for name, at in zip(who, order, strict=True)) + drawn


class PlayedGame(NamedTuple):
    """A game of a series, as storage has it."""

    bots: tuple[str, ...]  # the level of each seat's bot, "" for a person
    counts: bool
    ending: Ending | None  # None if it is not known


def series_before(bots: tuple[str, ...], games: Iterable[PlayedGame]) -> Series:
    """Return the score before a game, from those it is the rematch of, the latest first."""
    wins, draws, count = [0] * len(bots), 0, len(bots)
    for back, game in enumerate(games, 1):
        if len(game.bots) != count or game.bots != (*bots[-1:], *bots[:-1]):
            break
        bots = game.bots
        if game.counts and game.ending is not None:
            if game.ending.winner is None:
                draws += 1
            else:
                wins[(game.ending.winner - back) % count] += 1
    return Series(tuple(wins), draws)
