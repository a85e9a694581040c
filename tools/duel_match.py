"""Let `perfect` of Duel play rounds against itself without its opening book, as it was before, or against `steady`.

    python -m tools.duel_match --deals 1000                   each deal once in each seat: 2,000 rounds
    python -m tools.duel_match --deals 200 --against steady

The deals are the same whoever plays, and seat 0 leads. The interval is that of the mean of pairs, at 95 %.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import piste
from piste import bots
from piste.core.dealer import Dealer, RandomStream
from piste.core.views import SeatView
from piste.games.mccoy_duel.bots import search, steady

Choose = Callable[[SeatView, RandomStream], int]
WITHOUT_BOOK = search.FULL._replace(reads_book=False)


def perfect(view: SeatView, stream: RandomStream) -> int:
    return search.choose(view, stream, search.FULL)


def without_book(view: SeatView, stream: RandomStream) -> int:
    return search.choose(view, stream, WITHOUT_BOOK)


OPPONENTS: dict[str, Choose] = {"search": without_book, "steady": steady.choose}


def won(deal: int, seat: int, one: Choose, other: Choose) -> int:
    """Play one round of a deal and say whether the one in this seat won it."""
    table = piste.open_table("mccoy-duel", {"rounds": 1, "first": 1}, seed=f"duel match {deal}")
    while (actor := table.to_act) is not None:
        view = table.view(actor)
        stream = Dealer(f"duel match {deal} {actor == seat}").stream(bots.stream_name(view))
        table.decide(actor, (one if actor == seat else other)(view, stream), view.number)
    return int(table.view(seat).position.wins[seat])


class Result(NamedTuple):
    """Of pairs of rounds of one deal: the share won, half its 95 % interval, and the share won in each seat."""

    share: float
    off: float
    led: float
    followed: float


def result(pairs: list[tuple[int, ...]]) -> Result:
    n, led, followed = len(pairs), sum(first for first, _ in pairs), sum(second for _, second in pairs)
    mean = (led + followed) / (2 * n)
    variance = sum(((first + second) / 2 - mean) ** 2 for first, second in pairs) / max(1, n - 1)
    return Result(mean, 1.96 * math.sqrt(variance / n), led / n, followed / n)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=1000, help="each once in each seat (default: %(default)s)")
    parser.add_argument("--against", choices=OPPONENTS, default="search", help="(default: %(default)s)")
    parser.add_argument("--without-book", action="store_true", help="let `perfect` itself play without its book")
    parser.add_argument("--begin", type=int, default=0, help="the first deal (default: %(default)s)")
    given = parser.parse_args()
    one = without_book if given.without_book else perfect
    pairs: list[tuple[int, ...]] = []
    begun = time.process_time()
    for deal in range(given.begin, given.begin + given.deals):
        pairs.append((won(deal, 0, one, OPPONENTS[given.against]), won(deal, 1, one, OPPONENTS[given.against])))
        if len(pairs) % 50 == 0 or len(pairs) == given.deals:
            share, off, led, followed = result(pairs)
            print(
                f"{2 * len(pairs)} rounds against {given.against}: {share:.1%} +- {off:.1%}; "
                f"{led:.1%} as the leader, {followed:.1%} as the other; {time.process_time() - begun:.0f} CPU s",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
