"""Simple ways to play Zero-Sum Grid in bulk: given what the seat sees, its decisions and 32 random bits."""

from __future__ import annotations

from piste.core.bits import lowest
from piste.games.zero_sum_grid.rules import View


def _line(v: View, line: int) -> int:
    """Return the sum of a row (0 to 2) or column (3 to 5)."""
    if line < 3:
        return v.cells[3 * line] + v.cells[3 * line + 1] + v.cells[3 * line + 2]
    return v.cells[line - 3] + v.cells[line] + v.cells[line + 3]


def nearer(v: View, choices: int, word: int) -> int:
    """Move the line whose sum is farthest from zero towards it; of equals any."""
    farthest = 0
    found = 0
    for line in range(6):
        total = _line(v, line)
        far = abs(total)
        move = 1 << (2 * line + int(total > 0))
        if far > farthest:
            farthest = far
            found = 0
        if far == farthest and far > 0:
            found |= move
    found &= choices
    if found == 0:
        found = choices
    while found & (found - 1) and word & 1:
        found &= found - 1
        word >>= 1
    return lowest(found)
