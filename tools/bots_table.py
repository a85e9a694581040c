"""Let every level of every game play every other in a tournament, and write the tables into docs/bots.md.

python -m tools.bots_table [GAME ...] [--scale X] [--processes P] [--engine WHERE] [--results FOLDER]

As it is that takes about 40 CPU minutes; `--scale 4` plays four times as many games. With a folder for the results a
run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

from piste import bots
from piste.analysis.arena import results as files
from piste.analysis.arena.game_play import Time
from piste.analysis.arena.match import with_turn_limit
from piste.analysis.arena.pairs import Interval, Pairs
from piste.analysis.arena.plan import Entrant, Plan, make_plan
from piste.analysis.arena.report import Report, report
from piste.analysis.arena.results import Results
from piste.analysis.arena.tournament import play_tournament
from piste.analysis.engine import Engine, open_engine
from piste.cli.progress_bar import ProgressBar
from piste.core.game import Game, find
from tools.pages import DOCS, percent, replace_part, table, written_by

PAGE = DOCS / "bots.md"

OPTIONS: dict[str, dict[str, int | str]] = {"zero-sum-duel": {"turns": 200}, "zero-sum-grid": {"turns": 60}}
CHEAP = 4000
# A pair plays as many games as the one of the two that plays fewer: those take longest to decide.
SIZES: dict[str, dict[str, int]] = {
    "zero-sum-duel": {"strong": 4000, "perfect": 4000},
    "positive-negative": {"steady": 4000, "strong": 2000, "perfect": 400},
    "prime-duel": {"strong": 4000, "perfect": 100},
    "zero-sum-grid": {"random": 1000, "novice": 1000, "steady": 1000, "strong": 400, "perfect": 300},
    "mccoy-duel": {"random": 1000, "novice": 1000, "steady": 1000, "strong": 300, "perfect": 60},
}
MORE_PLAYERS = (3, 4)
AMONG = "random"
CPU_HEADING = "CPU a decision: mean, worst"
SIZES_AMONG = {"novice": 600, "steady": 600, "strong": 120, "perfect": 24}
ONE_POINT = 0.01
MAX_NEEDED = 100_000
"""A number of games beyond which it is not said how many it would take."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="*", help="some games only; the page then has only these")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="so many times the usual number of games (default: 1)"
    )
    parser.add_argument(
        "--processes", type=int, default=1, help="the result is the same with any number (default: 1)"
    )
    parser.add_argument("--engine", help="where it is played, as with piste tournament (default: local)")
    parser.add_argument("--results", type=Path, help="a folder in which the results are kept, to go on with")
    parser.add_argument("--page", type=Path, default=PAGE, help="where to write (default: docs/bots.md)")
    given = parser.parse_args()
    page = given.page.read_text(encoding="utf-8")
    replace_part(page, "ladder", "")  # a page without the marks is refused before anything is played
    parts = [f"{written_by('bots_table')}."]
    try:
        with open_engine(given.engine, given.processes) as engine:
            for name in given.game or SIZES:
                parts.append(one_game(find(name), given.scale, engine, given.results))
    except KeyboardInterrupt:
        print("Stopped: nothing is written.", file=sys.stderr)
        return 130
    given.page.write_text(replace_part(page, "ladder", "\n\n".join(parts)), encoding="utf-8")
    return 0


def one_game(game: Game, scale: float, engine: Engine, folder: Path | None) -> str:
    """Return the tables of a game."""
    levels, missing = bots.playable(game)
    if missing:
        sys.exit("\n".join(map(str, missing)))
    own = SIZES[game.name]
    plan = planned(game, OPTIONS.get(game.name, {}), levels)
    sizes = [min(own.get(levels[entrant], CHEAP) for entrant in lineup) for lineup in plan.lineups]
    found = played(plan._replace(deals=tuple(deals(games, scale, 2) for games in sizes)), game.name, engine, folder)
    text = pairs_table(found)
    if game.name == "mccoy-duel":
        text += f"\n\n{among_table(game, [level for level in levels if level != AMONG], scale, engine, folder)}"
    return text


def planned(game: Game, given: dict[str, int | str], levels: list[str]) -> Plan:
    entrants = [Entrant(level, level) for level in levels]
    return make_plan(game, with_turn_limit(game, given), entrants, 2)


def deals(games: int, scale: float, seats: int) -> int:
    return max(1, round(games * scale / seats))


def played(plan: Plan, name: str, engine: Engine, folder: Path | None) -> Report:
    """Play a tournament, or what is left of it."""
    if folder is None:
        results = Results(plan)
    else:
        path = folder / f"{name}.jsonl"
        if path.exists():
            results = files.read(path)
            if results.plan != plan:
                sys.exit(f"{path} has another plan: delete it, or take another folder.")
            if not report(results).finished:
                results.reopen()
        else:
            results = files.create(plan, path)
    if not report(results).finished:
        with ProgressBar(name) as bar:
            play_tournament(results, engine, bar)
    results.close()
    return report(results)


def pairs_table(found: Report) -> str:
    plan = found.plan
    game, options = plan.game, plan.options
    changed = ", ".join(f"`{k}={v}`" for k, v in game.option_texts(options, changed_only=True).items())
    order = range(len(plan.entrants))
    head = ["points of", "rating", *(f"against {found.name(entrant)}" for entrant in order), CPU_HEADING]
    rows = []
    standings = {one.entrant: one for one in found.standings}
    for one in order:
        cells = [cell(found.against(one, two)) for two in order]
        rating = standings[one].rating
        assert rating is not None
        shown = bots.described(game, plan.entrants[one].spec, options)
        rows.append([shown, rating_text(rating), *cells, milliseconds(standings[one].time)])
    title = f"### {game.notation.TITLE}{f' ({changed})' if changed else ''}"
    return f"{title}\n\n{table(head, rows)}\n\n{sizes(found)} {first_seat(found)} {apart(found)}"


def rating_text(rating: Interval) -> str:
    return f"{rating.value:.0f} ± {rating.half:.0f}" if rating.half else f"{rating.value:.0f}"


def first_seat(found: Report) -> str:
    assert found.ratings is not None
    edge, rate = found.ratings.advantage, found.ratings.draw_rate
    draws = f" Two equals draw {100 * rate:.0f} % of their games." if rate else ""
    return f"Who decides first is {edge.value:+.0f} ± {edge.half:.0f} points ahead.{draws}"


def apart(found: Report) -> str:
    """Say which neighbouring levels are apart, and of the others how many games it would take."""
    said = []
    for one, two in pairwise(range(len(found.plan.entrants))):
        pairs = found.against(two, one)
        assert pairs is not None
        score, who = pairs.score, f"{found.name(one)} and {found.name(two)}"
        if score.low > 0.5 or score.high < 0.5:
            continue
        if pairs.variance < 1e-12:
            said.append(f"{who} had the same result in every pair")
            continue
        ahead = score.value - 0.5
        wanted = ahead if ahead > 0 else ONE_POINT
        games = 2 * pairs.variance * (1.96 / wanted) ** 2
        needed = f"about {100 * ceil(games / 100):,} games" if games < MAX_NEEDED else f"over {MAX_NEEDED:,} games"
        if ahead > 0:
            said.append(f"{who} are not: at this difference it would take {needed}")
        else:
            said.append(f"{who} are not: to see a difference of one point of a hundred would take {needed}")
    if not said:
        return "Neighbouring levels are apart."
    rest = "" if len(said) == len(found.plan.entrants) - 1 else "Other neighbouring levels are apart; "
    return f"{rest}{'; '.join(said)}."


def among_table(game: Game, levels: list[str], scale: float, engine: Engine, folder: Path | None) -> str:
    """Return how each level does alone among others that play at random."""
    head = ["won by", *(f"{n} players" for n in MORE_PLAYERS), "by seat", "games", CPU_HEADING]
    rows = []
    for level in levels:
        shares, seats, games, time = [], [], [], Time()
        for players in MORE_PLAYERS:
            plan = planned(game, {"players": players}, [level, AMONG])
            alone = (0, *[1] * (players - 1))
            plan = plan._replace(lineups=(alone,), deals=(deals(SIZES_AMONG[level], scale, players),))
            found = played(plan, f"{game.name}-{level}-{players}", engine, folder)
            one = next(one for one in found.standings if one.entrant == 0)
            shares.append(percent(one.share.value, one.share.low, one.share.high))
            seats.append(" ".join(f"{100 * share.value:.0f}" for share, _ in one.by_seat))
            games.append(str(one.games))
            time += one.time
        rows.append([
            bots.described(game, level), *shares, "; ".join(seats), ", ".join(games), milliseconds(time)
        ])  # fmt: skip
    return f"### {game.notation.TITLE}, one among others that play at random\n\n{table(head, rows)}"


def sizes(found: Report) -> str:
    """Return how many games pairings had."""
    games = sorted({2 * pairs.n for pairs in found.pairs.values()}, reverse=True)
    return f"Games of a pairing: {' to '.join(f'{n:,}' for n in dict.fromkeys((games[0], games[-1])))}."


def cell(pairs: Pairs | None) -> str:
    if pairs is None:
        return ""
    return percent(pairs.score.value, pairs.score.low, pairs.score.high)


def milliseconds(time: Any) -> str:
    return f"{rounded(1000 * time.mean)} ms, {rounded(1000 * time.worst)} ms" if time.decisions else ""


def rounded(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.2g}"


if __name__ == "__main__":
    sys.exit(main())
