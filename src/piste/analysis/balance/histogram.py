"""What tables and pictures share: lengths put together in few bins."""

from __future__ import annotations

from collections.abc import Mapping

Bin = tuple[int, int, float]
"""The shortest and the longest length in it, and which part of the games."""


RARE = 0.005
"""So small a part of the games at either end goes into the first and the last bin, however far it lies."""


def bins(lengths: Mapping[int, float], most: int) -> list[Bin]:
    """Return lengths in at most so many bins of one width, but for rare ones at the ends."""
    whole = sum(lengths.values())
    low, high = usual(lengths, whole, reverse=False), usual(lengths, whole, reverse=True)
    wide = -(-(high - low + 1) // most)
    count = -(-(high - low + 1) // wide)
    found = [0.0] * count
    for length, part in lengths.items():
        found[min(max(0, (length - low) // wide), count - 1)] += part / whole
    edges = [[low + i * wide, low + (i + 1) * wide - 1] for i in range(count)]
    edges[0][0], edges[-1][1] = min(lengths), max(lengths)
    return [(a, b, part) for (a, b), part in zip(edges, found, strict=True)]


def usual(lengths: Mapping[int, float], whole: float, *, reverse: bool) -> int:
    """Return the first length, from below or above, that is not rare."""
    seen = 0.0
    for length in sorted(lengths, reverse=reverse):
        seen += lengths[length]
        if seen > RARE * whole:
            return length
    raise AssertionError("all of it is more than a part of it")
