"""`piste progress`: how well the user has decided over time, for each game, as a small chart.

Each finished game is reviewed once; the result is cached beside the records.
"""

from __future__ import annotations

import argparse
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from piste.analysis.coach.progress import Average, GameProgress, first_and_last, game_progress
from piste.cli import saved_games
from piste.cli.output import print_json
from piste.cli.terminal import Terminal
from piste.core.errors import MissingExtraError, PisteError
from piste.core.game import find, names

if TYPE_CHECKING:
    from piste.analysis.coach.review import Review

VERSION = 1  # of the JSON and of the file of reviews
REVIEWS_FILE = "reviews.json"
BARS = "_.-=+*#@"  # from 0 to 100 % accuracy


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    wanted = [find(args.game).name] if args.game else list(names())
    games = [entry for entry in saved_games.entries() if entry.game in wanted and is_own(entry)]
    games.reverse()  # the oldest first
    if not games:
        raise PisteError("There is no finished game of yours to look at yet. `piste play GAME` begins one.")
    rows, refused = review_games(games)
    if not rows:
        raise next(iter(refused.values()))
    for why in refused.values():
        terminal.note(f"{why}")
    if args.json:
        return print_json(terminal, {"games": rows}, version=VERSION)
    for name in wanted:
        own = [row for row in rows if row["game"] == name]
        if own:
            terminal.lines(chart_lines(find(name).notation.TITLE, own, terminal.width))
    return 0


def is_own(entry: saved_games.Entry) -> bool:
    """Return whether it is a finished game with one person in it."""
    return not entry.trouble and entry.ending is not None and entry.specs.count("you") == 1


def review_games(games: list[saved_games.Entry]) -> tuple[list[dict[str, Any]], dict[str, MissingExtraError]]:
    """Return for each game the accuracy, the mean loss of a decision in points, and how many there were.

    Also, by name of the game, why some could not be reviewed here.
    """
    from piste.analysis.coach.review import VERSION as COACH_VERSION
    from piste.analysis.coach.review import document

    cached = saved_games.read_user_file(REVIEWS_FILE, VERSION).get("games")
    reviews: dict[str, Any] = cached if isinstance(cached, dict) else {}
    rows = []
    refused: dict[str, MissingExtraError] = {}
    try:
        for number, entry in enumerate(games, 1):
            digest = blake2b(saved_games.path_of(entry.name).read_bytes(), digest_size=8).hexdigest()
            row = reviews.get(entry.name)
            if not isinstance(row, dict) or row.get("mark") != digest or row.get("coach") != COACH_VERSION:
                seat = entry.specs.index("you")
                try:
                    review = review_game(entry, f"game {number} of {len(games)}")
                except MissingExtraError as e:
                    refused[entry.game] = e
                    continue
                made = game_progress(document(review, (seat,)), review.game.seat_name(seat))
                row = {
                    "name": entry.name, "game": entry.game, "mark": digest, "coach": COACH_VERSION, **made._asdict()
                }  # fmt: skip
                reviews[entry.name] = row
            rows.append({key: row[key] for key in ("name", "game", "accuracy", "loss", "decisions")})
    finally:
        saved_games.write_user_file(REVIEWS_FILE, VERSION, {"games": reviews})  # Ctrl-C loses nothing
    return rows, refused


def review_game(entry: saved_games.Entry, which: str) -> Review:
    """Return the review of one game, from the worker or from the cache."""
    from piste.analysis.coach.review_cache import cached_review
    from piste.cli.background import WorkMessages, preparing, work

    record = saved_games.read(entry.name)
    unnamed = f"{which}: {preparing('the coach', record.head.game)}"
    stopped = f"Stopped at {which}. The games before it are kept; the same command goes on."
    return work(WorkMessages(f"reviewing {which}", unnamed, f"{which}: ", stopped), cached_review, record)


def chart_lines(title: str, rows: list[dict[str, Any]], width: int) -> list[str]:
    """Return one game's progress: a letter a game, the oldest first, then its first and last third."""
    reviewed = [row for row in rows if row["accuracy"] is not None]
    if not reviewed:
        return [f"{title}: {len(rows)} games, none with anything to decide."]
    latest = reviewed[-(max(20, width) - 12) :]
    chart = "".join(BARS[min(len(BARS) - 1, int(row["accuracy"] / 100 * len(BARS)))] for row in latest)
    at_first, lately = first_and_last([GameProgress(*(row[key] for key in GameProgress._fields)) for row in reviewed])
    first, last = (saved_games.played_at(row["name"]).split(" ")[0] for row in (reviewed[0], reviewed[-1]))
    count = "1 game" if len(reviewed) == 1 else f"{len(reviewed)} games"
    return [
        f"{title}: {count}, {first if first == last else f'{first} to {last}'}",
        f"  accuracy {chart}  ({BARS[0]} low, {BARS[-1]} high)",
        f"  at first {average_text(at_first)}",
        f"  lately   {average_text(lately)}",
    ]


def average_text(average: Average) -> str:
    return f"{average.accuracy:.0f} % accuracy, {average.loss:.1f} points lost a decision"
