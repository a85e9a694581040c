"""Sets, small tuples and lanes as whole numbers: helpers for rules, in the part numba compiles.

Everything stays below 2**62: compiled numbers have 64 bits and do not say when they overflow.
"""

from __future__ import annotations


def count(cards: int) -> int:
    """Return how many bits are set."""
    cards = cards - ((cards >> 1) & 0x5555555555555555)
    cards = (cards & 0x3333333333333333) + ((cards >> 2) & 0x3333333333333333)
    cards = (cards + (cards >> 4)) & 0x0F0F0F0F0F0F0F0F
    cards = cards + (cards >> 8)
    cards = cards + (cards >> 16)
    return (cards + (cards >> 32)) & 127


def lowest(cards: int) -> int:
    """Return the number of the lowest bit that is set."""
    return count((cards & -cards) - 1)


def nth(cards: int, n: int) -> int:
    """Return the number of the n-th bit that is set, counted from the lowest, which is 0."""
    for _ in range(n):
        cards &= cards - 1
    return lowest(cards)


def one(cards: int) -> bool:
    """Say whether exactly one bit is set."""
    return cards != 0 and cards & (cards - 1) == 0


def set2(pair: tuple[int, int], i: int, value: int) -> tuple[int, int]:
    """Return the pair with entry i replaced."""
    return (value, pair[1]) if i == 0 else (pair[0], value)


def set4(four: tuple[int, int, int, int], i: int, value: int) -> tuple[int, int, int, int]:
    """Return the four with entry i replaced."""
    a, b, c, d = four
    return (
        value if i == 0 else a,
        value if i == 1 else b,
        value if i == 2 else c,
        value if i == 3 else d,
    )


def lane(lanes: int, i: int) -> int:
    """Return the i-th small count (0 to 15) of those packed into one number."""
    return (lanes >> (4 * i)) & 15


def lane_one(i: int) -> int:
    """Return 1 in the i-th lane: add or subtract it to count there."""
    return 1 << (4 * i)


def won_or_lost(winner: int, seat: int) -> int:
    """Return the payoff of a game between two: 1, -1, or 0 while there is no winner."""
    if winner < 0:
        return 0
    return 1 if winner == seat else -1
