"""Play bots against each other: `python tools/match.py GAME BOT BOT --games N [--option key=value]`.

Every deal is played once from each seat. In a game for more than two the first bot has one seat and the second all
the others, and the first bot's seat goes round. Shares are given with Wilson's 95 % interval.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping

from piste import api, bots
from piste.core.dealer import Dealer
from piste.core.errors import PisteError
from piste.core.game import find
from piste.core.views import Ending

TURNS = 200
"""The turn limit, unless one is given, of games that could otherwise go on for ever (G2)."""


def wilson(hits: int, of: int, z: float = 1.959964) -> tuple[float, float]:
    """Return the interval in which a share of hits lies, with 95 % confidence."""
    share = hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def played(name: str, options: Mapping[str, int | str], specs: list[str], seed: str) -> Ending:
    """Return how one game between these bots ended, the first of them in seat 0."""
    table = api.open_table(name, options, seed=seed)
    dealer = Dealer(seed)
    seated: list[bots.Bot] = []
    try:
        seated += [bots.find(spec, table.game) for spec in specs]
        while (seat := table.to_act) is not None:
            view = table.view(seat)
            table.decide(seat, seated[seat].choose(view, dealer.stream(bots.stream_name(view))), view.number)
        for seat, bot in enumerate(seated):
            bots.finish(bot, table.view(seat))
    finally:
        for bot in seated:
            bot.close()
    ending = table.ending()
    assert ending is not None
    return ending


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("bots", nargs=2, metavar="BOT", help="random, steady, an installed bot, or cmd:COMMAND LINE")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="an option of the game")
    parser.add_argument("--seed", default="match", help="another seed deals other games")
    given = parser.parse_args()
    if given.games < 1:
        parser.error("--games is at least 1")
    try:
        game = find(given.game)
        options: dict[str, int | str] = dict(pair.partition("=")[::2] for pair in given.option)
        if "turns" not in options and getattr(game.rules.Options(), "turns", 1) == 0:
            options["turns"] = TURNS
        seats = game.rules.seats(game.options(options))
        counts = {"won": 0, "drawn": 0, "lost": 0}
        for number in range(given.games):
            deal, seat = divmod(number, seats)
            specs = [given.bots[1]] * seats
            specs[seat] = given.bots[0]
            winner = played(game.name, options, specs, f"{given.seed} {deal}").winner
            counts["drawn" if winner is None else "won" if winner == seat else "lost"] += 1
    except (PisteError, ValueError) as e:
        parser.error(str(e))
    text = " ".join(f"{key}={value}" for key, value in options.items())
    print(f"{game.name} {text}".rstrip() + f": {given.bots[0]} against {given.bots[1]}, {given.games} games")
    for what, hits in counts.items():
        low, high = wilson(hits, given.games)
        print(f"{what:>6} {hits:6}  {hits / given.games:6.1%}  ({low:.1%} to {high:.1%})")


if __name__ == "__main__":
    main()
