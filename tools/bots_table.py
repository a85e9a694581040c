"""Let every level of every game play every other, and write the tables into docs/bots.md.

python -m tools.bots_table [GAME ...] [--scale X] [--processes P]

As it is that takes about 15 CPU minutes; `--scale 4` plays four times as many games.
"""

from __future__ import annotations

import argparse
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

from piste import bots
from piste.analysis.arena.match import Result, Score, Time, against, effort, ladder, play, with_turn_limit
from piste.cli.progress_bar import ProgressBar
from piste.core.game import Game, find
from tools.pages import DOCS, percent, replace_part, table, written_by

PAGE = DOCS / "bots.md"

OPTIONS: dict[str, dict[str, int | str]] = {"zero-sum-duel": {"turns": 200}, "zero-sum-grid": {"turns": 60}}
CHEAP = 4000
# A pair plays as many games as the one of the two that plays fewer: those take longest to decide.
SIZES: dict[str, dict[str, int]] = {
    "zero-sum-duel": {"strong": 1000, "perfect": 1000},
    "positive-negative": {"steady": 2000, "strong": 1000, "perfect": 200},
    "prime-duel": {"strong": 2000, "perfect": 200},
    "zero-sum-grid": {"random": 1000, "novice": 1000, "steady": 1000, "strong": 400, "perfect": 300},
    "mccoy-duel": {"random": 1000, "novice": 1000, "steady": 1000, "strong": 200, "perfect": 40},
}
MORE_PLAYERS = (3, 4)
AMONG = "random"
CPU_HEADING = "CPU a decision: mean, worst"
SIZES_AMONG = {"novice": 600, "steady": 600, "strong": 120, "perfect": 24}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="*", help="some games only; the page then has only these")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="so many times the usual number of games (default: 1)"
    )
    parser.add_argument(
        "--processes", type=int, default=1, help="the result is the same with any number (default: 1)"
    )
    parser.add_argument("--page", type=Path, default=PAGE, help="where to write (default: docs/bots.md)")
    given = parser.parse_args()
    page = given.page.read_text(encoding="utf-8")
    replace_part(page, "ladder", "")  # a page without the marks is refused before anything is played
    parts = [f"{written_by('bots_table')}."]
    for name in given.game or SIZES:
        game = find(name)
        part = one_game(game, given.scale, given.processes)
        if part is None:
            print("Stopped: nothing is written.", file=sys.stderr)
            return 130
        parts.append(part)
    given.page.write_text(replace_part(page, "ladder", "\n\n".join(parts)), encoding="utf-8")
    return 0


def one_game(game: Game, scale: float, processes: int) -> str | None:
    """Return the tables of a game, or None if somebody stopped it."""
    levels, missing = bots.playable(game)
    if missing:
        sys.exit("\n".join(map(str, missing)))
    own = SIZES[game.name]

    def games(one: str, two: str) -> int:
        return scaled(min(own.get(one, CHEAP), own.get(two, CHEAP)), scale)

    options = with_turn_limit(game, OPTIONS.get(game.name, {}))
    with ProgressBar(game.name) as bar:
        results = ladder(game, options, levels, games, processes=processes, progress=bar)
        if any(result.stopped for result in results):
            return None
        text = pairs_table(game, options, levels, results)
        if game.name == "mccoy-duel":
            among = among_table(game, [level for level in levels if level != AMONG], scale, processes, bar)
            return None if among is None else f"{text}\n\n{among}"
    return text


def scaled(games: int, scale: float) -> int:
    return max(1, round(games * scale))


def pairs_table(game: Game, options: Any, levels: list[str], results: list[Result]) -> str:
    scores = against(results)
    changed = ", ".join(f"`{k}={v}`" for k, v in game.option_texts(options, changed_only=True).items())
    head = ["won by", *(f"against {bots.shown(game, level, options)}" for level in levels), CPU_HEADING]
    rows = []
    for one in levels:
        cells = (cell(scores[one, two]) if one != two else "" for two in levels)
        rows.append([bots.described(game, one, options), *cells, milliseconds(effort(results, one))])
    title = f"### {game.notation.TITLE}{f' ({changed})' if changed else ''}"
    return f"{title}\n\n{table(head, rows)}\n\nGames of a pair: {sizes(game, options, results, levels)}."


def among_table(game: Game, levels: list[str], scale: float, processes: int, bar: ProgressBar) -> str | None:
    """Return how each level does alone among others that play at random, or None if somebody stopped it."""
    head = ["won by", *(f"{n} players" for n in MORE_PLAYERS), "games", CPU_HEADING]
    rows = []
    for level in levels:
        played = []
        for players in MORE_PLAYERS:
            options = with_turn_limit(game, {"players": players})
            wanted = scaled(SIZES_AMONG[level], scale)
            played.append(play(game, options, (level, AMONG), wanted, processes=processes, progress=bar))
            if played[-1].stopped:
                return None
        count = ", ".join(str(result.games) for result in played)
        time = milliseconds(effort(played, level))
        rows.append([bots.described(game, level), *(cell(result.score(0)) for result in played), count, time])
    return f"### {game.notation.TITLE}, one among others that play at random\n\n{table(head, rows)}"


def sizes(game: Game, options: Any, results: list[Result], levels: list[str]) -> str:
    """Return how many games pairs had, by the stronger of the two."""
    games = {two: [result.games for result in results if result.specs[1] == two] for two in levels[1:]}
    told = [
        (bots.shown(game, two, options), " to ".join(str(n) for n in sorted({*counts})))
        for two, counts in games.items()
    ]
    same = [(count, [two for two, _ in group]) for count, group in groupby(told, key=lambda pair: pair[1])]
    return "; ".join([same[0][0], *(f"{count} with {' or '.join(group)}" for count, group in same[1:])])


def cell(score: Score) -> str:
    drawn = f", {100 * score.drawn.share:.1f} % drawn" if score.drawn.of else ""
    return percent(score.won.share, score.won.low, score.won.high) + drawn


def milliseconds(time: Time) -> str:
    return f"{rounded(1000 * time.mean)} ms, {rounded(1000 * time.worst)} ms" if time.decisions else ""


def rounded(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.2g}"


if __name__ == "__main__":
    sys.exit(main())
