"""Histograms of game lengths."""

from __future__ import annotations

from collections.abc import Mapping

Bin = tuple[int, int, float]
"""The shortest and the longest length, and the share of the games."""

TAIL_SHARE = 0.005
"""This share of the games at either end goes into the first and the last bin, however far it lies."""


def bins(lengths: Mapping[int, float], most: int) -> list[Bin]:
    """Return lengths in at most `most` bins of one width, with the tails in the outer bins."""
    whole = sum(lengths.values())
    low, high = first_above_tail(lengths, whole, reverse=False), first_above_tail(lengths, whole, reverse=True)
    wide = -(-(high - low + 1) // most)
    count = -(-(high - low + 1) // wide)
    shares = [0.0] * count
    for length, part in lengths.items():
        shares[min(max(0, (length - low) // wide), count - 1)] += part / whole
    edges = [[low + i * wide, low + (i + 1) * wide - 1] for i in range(count)]
    edges[0][0], edges[-1][1] = min(lengths), max(lengths)
    return [(a, b, part) for (a, b), part in zip(edges, shares, strict=True)]


def first_above_tail(lengths: Mapping[int, float], whole: float, *, reverse: bool) -> int:
    """Return the first length, from below or above, that is not in the tail."""
    seen = 0.0
    for length in sorted(lengths, reverse=reverse):
        seen += lengths[length]
        if seen > TAIL_SHARE * whole:
            return length
    raise AssertionError("all of it is more than a part of it")
