"""Sets, small tuples and lanes as whole numbers: helpers for rules, in the part numba compiles.

Everything stays below 2**62, results on the way included: compiled numbers have 64 bits and do not say when they
overflow. Only `running_sums` goes beyond; of what it returns the low 56 bits count, which are the same in both.
"""

from __future__ import annotations

EVEN_LANES = 0x000F0F0F0F0F0F0F  # lanes 0, 2 ... 12, each in a byte of its own; one step to the right, 1, 3 ... 13
EACH_BYTE = 0x0001010101010101
TOP_BITS = 0x0000808080808080  # of the lower six


def count(cards: int) -> int:
    """Return how many bits are set."""
    return cards.bit_count()


def lowest(cards: int) -> int:
    """Return the number of the lowest bit that is set."""
    return (cards & -cards).bit_length() - 1


def nth(cards: int, n: int) -> int:
    """Return the number of the n-th bit that is set, counted from the lowest, which is 0."""
    if cards & (cards + 1) == 0:  # 0, 1, 2 and so on without a gap
        return n
    while n > 0:
        cards &= cards - 1
        n -= 1
    return (cards & -cards).bit_length() - 1


def places(cards: int) -> int:
    """Return the sum of the numbers of all bits that are set: each place's own bits are counted, without a loop."""
    return (
        count(cards & 0x2AAAAAAAAAAAAAAA)
        + 2 * count(cards & 0x0CCCCCCCCCCCCCCC)
        + 4 * count(cards & 0x30F0F0F0F0F0F0F0)
        + 8 * count(cards & 0x3F00FF00FF00FF00)
        + 16 * count(cards & 0x3FFF0000FFFF0000)
        + 32 * count(cards >> 32)
    )


def signed_value(top: int, card: int) -> int:
    """Return the value of a card when there is one of each from -top to top without 0, numbered in this order."""
    return card - top if card < top else card - top + 1


def signed_sum(top: int, cards: int) -> int:
    """Return the sum of the values of such cards."""
    return places(cards) - top * count(cards) + count(cards >> top)


def one(cards: int) -> bool:
    """Say whether exactly one bit is set."""
    return cards != 0 and cards & (cards - 1) == 0


def of2(pair: tuple[int, int], i: int) -> int:
    """Return entry i of a pair; compiled, pair[i] is much slower, since it looks first whether there is one."""
    return pair[1] if i else pair[0]


def from2(pair: tuple[int, int], i: int) -> tuple[int, int]:
    """Return the pair with entry i first."""
    return (pair[1], pair[0]) if i else pair


def set2(pair: tuple[int, int], i: int, value: int) -> tuple[int, int]:
    """Return the pair with entry i replaced."""
    return (value, pair[1]) if i == 0 else (pair[0], value)


def of3(three: tuple[int, int, int], i: int) -> int:
    """Return entry i of three."""
    a, b, c = three
    return c if i == 2 else b if i == 1 else a


def set3(three: tuple[int, int, int], i: int, value: int) -> tuple[int, int, int]:
    """Return the three with entry i replaced."""
    a, b, c = three
    return (value if i == 0 else a, value if i == 1 else b, value if i == 2 else c)


def of4(four: tuple[int, int, int, int], i: int) -> int:
    """Return entry i of four."""
    a, b, c, d = four
    return (d if i == 3 else c) if i >= 2 else (b if i == 1 else a)


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
    """Return the i-th small count (0 to 15) of those packed into one number, 15 at most."""
    return (lanes >> (4 * i)) & 15


def lane_one(i: int) -> int:
    """Return 1 in the i-th lane: add or subtract it to count there."""
    return 1 << (4 * i)


def running_sums(lanes: int) -> int:
    """Return for each of seven bytes the sum of it and of those below; what is above them means nothing."""
    return (lanes & EVEN_LANES) * EACH_BYTE


def units(lanes: int) -> int:
    """Return the sum of all lanes, without a loop; compiled, the work is shared with `lane_at` of the same lanes."""
    return ((running_sums(lanes) >> 48) & 255) + ((running_sums(lanes >> 4) >> 48) & 255) + (lanes >> 56)


def lane_at(lanes: int, at: int) -> int:
    """Return which lane holds unit `at`, when all units are numbered from 0, lane by lane in a fixed order.

    A deck is drawn from at every other step, so there is no loop and next to no branch: first the even lanes from the
    top down, then the odd ones. With so many units from `at` to the end of its half, the lanes below which there are
    fewer are counted: for all seven at once, and as much as possible before `at` is known.
    """
    last = lanes >> 56
    if at < last:
        return 14
    at -= last
    even, odd = running_sums(lanes), running_sums(lanes >> 4)
    in_even = (even >> 48) & 255
    in_both = in_even + ((odd >> 48) & 255)
    even, odd = (in_even + 127) * EACH_BYTE - even, (in_both + 127) * EACH_BYTE - odd
    second = int(at >= in_even)
    return 2 * count(((odd if second else even) - at * EACH_BYTE) & TOP_BITS) + second


def won_or_lost(winner: int, seat: int) -> int:
    """Return the payoff of a game between two: 1, -1, or 0 while there is no winner."""
    if winner < 0:
        return 0
    return 1 if winner == seat else -1
