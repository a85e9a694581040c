"""Simple policies of Zero-Sum Grid for simulation: from a view, its decisions and 32 random bits."""

from __future__ import annotations

from piste.core.bits import lowest
from piste.games.zero_sum_grid.rules import View, on


def nearer(v: View, choices: int, word: int) -> int:
    """Move the line whose sum is largest from zero towards it; of equals any."""
    largest = 0
    best = 0
    for line in range(6):
        a, b, c = on(v.cells, line)
        total = a + b + c
        size = abs(total)
        move = 1 << (2 * line + int(total > 0))
        if size > largest:
            largest = size
            best = 0
        if size == largest and size > 0:
            best |= move
    best &= choices
    if best == 0:
        best = choices
    while best & (best - 1) and word & 1:
        best &= best - 1
        word >>= 1
    return lowest(best)
