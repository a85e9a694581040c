"""Let `perfect` of Duel play rounds against itself without its opening book, as it was before, or against `steady`.

    python -m tools.duel_match --deals 1000                   each deal once in each seat: 2,000 rounds
    python -m tools.duel_match --deals 200 --against steady

The deals are the same whoever plays, and whoever is the first to decide leads. The interval is that of the mean of
pairs, at 95 %.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable

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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=1000, help="each once in each seat (default: %(default)s)")
    parser.add_argument("--against", choices=OPPONENTS, default="search", help="(default: %(default)s)")
    parser.add_argument("--one", choices=("book", "search"), default="book", help="(default: %(default)s)")
    parser.add_argument("--begin", type=int, default=0, help="the first deal (default: %(default)s)")
    given = parser.parse_args()
    one = perfect if given.one == "book" else without_book
    led = followed = squares = 0
    begun = time.process_time()
    for deal in range(given.begin, given.begin + given.deals):
        pair = [won(deal, seat, one, OPPONENTS[given.against]) for seat in range(2)]
        led, followed, squares = led + pair[0], followed + pair[1], squares + sum(pair) ** 2
        n = deal + 1 - given.begin
        if n % 50 == 0 or n == given.deals:
            mean = (led + followed) / (2 * n)
            off = 1.96 * math.sqrt(max(0.0, squares / (4 * n) - mean**2) / n)
            print(
                f"{2 * n} rounds against {given.against}: {mean:.1%} ({mean - off:.1%} to {mean + off:.1%}); "
                f"{led / n:.1%} as the leader, {followed / n:.1%} as the other, "
                f"{time.process_time() - begun:.0f} CPU s",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
