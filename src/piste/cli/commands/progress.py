"""`piste progress`: how well you have decided over time, for each game, as a small graph.

Each finished game of yours is reviewed once; what came out is kept beside the records.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from piste.cli import saved_games
from piste.cli.output import print_json
from piste.cli.terminal import Terminal
from piste.core.errors import MissingExtraError, PisteError
from piste.core.game import find, names
from piste.core.paths import data_folder

if TYPE_CHECKING:
    from piste.analysis.coach.review import Review

VERSION = 1  # of the JSON and of the kept file
STEPS = "_.-=+*#@"  # from 0 to 100 % accuracy
DATE = 8  # a record's name begins with the day it was played


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    wanted = [find(args.game).name] if args.game else list(names())
    found = [entry for entry in saved_games.entries() if entry.game in wanted and mine(entry)]
    found.reverse()  # the oldest first
    if not found:
        raise PisteError("There is no finished game of yours to look at yet. `piste play GAME` begins one.")
    rows, refused = reviewed(found)
    if not rows:
        raise next(iter(refused.values()))
    for why in refused.values():
        terminal.note(f"{why}")
    if args.json:
        return print_json(terminal, {"games": rows}, version=VERSION)
    for name in wanted:
        own = [row for row in rows if row["game"] == name]
        if own:
            terminal.lines(drawn(find(name).notation.TITLE, own, terminal.width))
    return 0


def mine(entry: saved_games.Entry) -> bool:
    """Say whether it is a finished game with one person in it."""
    return not entry.trouble and entry.ending is not None and entry.specs.count("you") == 1


def reviewed(found: list[saved_games.Entry]) -> tuple[list[dict[str, Any]], dict[str, MissingExtraError]]:
    """Return for each game the accuracy, the mean loss of a decision in points, and how many there were.

    Also by game why some could not be reviewed here.
    """
    from piste.analysis.coach.review import VERSION as COACH

    path = data_folder() / "reviews.json"
    kept = read(path)
    rows = []
    refused: dict[str, MissingExtraError] = {}
    try:
        for number, entry in enumerate(found, 1):
            mark = blake2b(saved_games.path_of(entry.name).read_bytes(), digest_size=8).hexdigest()
            row = kept.get(entry.name)
            if not isinstance(row, dict) or row.get("mark") != mark or row.get("coach") != COACH:
                seat = entry.specs.index("you")
                try:
                    told = reviewed_one(entry, f"game {number} of {len(found)}")
                except MissingExtraError as e:
                    refused[entry.game] = e
                    continue
                losses = [decision.loss for decision in told.decisions(seat)]
                row = {
                    "name": entry.name, "game": entry.game, "mark": mark, "coach": COACH,
                    "accuracy": told.accuracy(seat), "decisions": len(losses),
                    "loss": 100 * sum(losses) / len(losses) if losses else None,
                }  # fmt: skip
                kept[entry.name] = row
            rows.append({key: row[key] for key in ("name", "game", "accuracy", "loss", "decisions")})
    finally:
        write(path, kept)  # Ctrl-C loses nothing
    return rows, refused


def reviewed_one(entry: saved_games.Entry, which: str) -> Review:
    """Return the review of one game, made in the worker or kept since another time."""
    from piste.analysis.coach.review_cache import cached_review
    from piste.cli.background import Saying, preparing, work

    record = saved_games.read(entry.name)
    first = f"{which}: {preparing('the coach', record.head.game)}"
    stopped = f"Stopped at {which}. The games before it are kept; the same command goes on."
    return work(Saying(f"reviewing {which}", first, f"{which}: ", stopped), cached_review, record)


def read(path: Path) -> dict[str, Any]:
    """Return what was kept; a damaged file is as good as none."""
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict) and found.get("version") == VERSION and isinstance(found.get("games"), dict):
            return dict(found["games"])
    return {}


def write(path: Path, kept: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        making = path.with_suffix(".part")
        making.write_text(json.dumps({"version": VERSION, "games": kept}, indent=1), encoding="utf-8")
        making.replace(path)


def drawn(title: str, rows: list[dict[str, Any]], width: int) -> list[str]:
    """Return one game's progress: a letter a game, the oldest first, then its first and last third."""
    told = [row for row in rows if row["accuracy"] is not None]
    if not told:
        return [f"{title}: {len(rows)} games, none with anything to decide."]
    shown = told[-(max(20, width) - 12) :]
    graph = "".join(STEPS[min(len(STEPS) - 1, int(row["accuracy"] / 100 * len(STEPS)))] for row in shown)
    third = max(1, len(told) // 3)
    first, last = told[0]["name"][:DATE], told[-1]["name"][:DATE]
    count = "1 game" if len(told) == 1 else f"{len(told)} games"
    return [
        f"{title}: {count}, {first} to {last}",
        f"  accuracy {graph}  ({STEPS[0]} low, {STEPS[-1]} high)",
        f"  at first {spoken(told[:third])}",
        f"  lately   {spoken(told[-third:])}",
    ]


def spoken(rows: list[dict[str, Any]]) -> str:
    decisions = sum(row["decisions"] for row in rows)
    loss = sum(row["loss"] * row["decisions"] for row in rows if row["loss"] is not None) / max(1, decisions)
    accuracy = sum(row["accuracy"] for row in rows) / len(rows)
    return f"{accuracy:.0f} % accuracy, {loss:.1f} points lost a decision"
