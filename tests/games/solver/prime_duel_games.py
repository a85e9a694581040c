"""Compiled games of Prime Duel between two players who have the solution of a small game.

Bound together with the rules and `piste.compiled.kernels`; the stubs stand for them until then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from piste.core.bits import lane, lowest
from piste.core.protocols import CHANCE, OVER
from piste.games.prime_duel.rules import DISCARD, DRAW, KEEP

if TYPE_CHECKING:

    def start(options: Any) -> Any: ...
    def to_act(s: Any) -> int: ...
    def outcomes(s: Any) -> int: ...
    def weight(s: Any, outcome: int) -> int: ...
    def apply(s: Any, action: int) -> Any: ...
    def payoff(s: Any, seat: int) -> int: ...
    def seeded(seed: int) -> tuple[int, int]: ...
    def next_state(g: tuple[int, int]) -> tuple[int, int]: ...
    def picked_outcome(s: Any, g: tuple[int, int]) -> int: ...


def before_draw(s: Any, seat: int, values: Any, places: Any, strides: Any) -> float:
    """Return a seat's chance in a position before a draw, or after the end."""
    if s.phase != DRAW:
        return 1.0 if payoff(s, seat) > 0 else 0.0
    number = 0
    for i in range(strides.shape[0]):
        number += lane(s.deck, i) * strides[i]
    chance = float(values[places[s.scores[s.seat], s.scores[1 - s.seat]], number])
    return chance if s.seat == seat else 1.0 - chance


def wins_of_first(options: Any, values: Any, places: Any, strides: Any, games: int, seed: int) -> int:
    """Play games, both players by the solution; return how many the one who began won."""
    g = seeded(seed)
    won = 0
    for _ in range(games):
        s = start(options)
        while to_act(s) != OVER:
            g = next_state(g)
            if to_act(s) == CHANCE:
                s = apply(s, picked_outcome(s, g))
                continue
            redraw = apply(s, DISCARD)
            left = outcomes(redraw)
            total = 0.0
            cards = 0
            while left:
                card = lowest(left)
                left &= left - 1
                many = weight(redraw, card)
                total += many * before_draw(apply(redraw, card), s.seat, values, places, strides)
                cards += many
            kept = apply(s, KEEP)
            s = kept if before_draw(kept, s.seat, values, places, strides) >= total / cards else redraw
        won += 1 if payoff(s, options.first - 1) > 0 else 0
    return won
