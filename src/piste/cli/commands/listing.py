"""The commands that list: games, games played, bots, folders. For people, or as JSON for machines."""

from __future__ import annotations

import argparse
import json
from typing import Any

from piste.cli import saved_games
from piste.cli.terminal import Terminal
from piste.core.game import find, names


def games(given: argparse.Namespace, screen: Terminal) -> int:
    if given.played:
        return played(given, screen)
    rows = []
    for name in names():
        game = find(name)
        options = {o.name: o.help for o in game.notation.OPTIONS}
        row = {"name": name, "title": game.notation.TITLE, "line": game.notation.LINE, "options": options}
        rows.append(row | ({"credit": game.notation.CREDIT} if game.notation.CREDIT else {}))
    if given.json:
        return put(screen, {"games": rows})
    for row in rows:
        screen.line(f"{row['name']}: {row['line']}")
    screen.note(f"\nTo play: piste play {names()[-2]}    The rules: piste rules {names()[-2]}")
    return 0


def played(given: argparse.Namespace, screen: Terminal) -> int:
    from piste import bots as every

    found = saved_games.entries()
    standing = saved_games.standings(found)
    if given.json:
        rows = [
            {
                "id": entry.name,
                "game": entry.game,
                "seats": list(entry.seats),
                "who": list(entry.specs),
                "ending": None if entry.ending is None else entry.ending["ending"],
                "winner": None if entry.ending is None else entry.ending["winner"],
                "counts": entry.counts,
                "trouble": entry.trouble,
            }
            for entry in found
        ]
        return put(screen, {"played": rows, "standing": standing})
    if not found:
        screen.line("You have played no games yet. Begin with: piste play zero-sum-duel")
    for entry in found:
        screen.line(f"{entry.name}: {result(entry)}")
    if standing:
        screen.line()
        for row in standing:
            score = f"won {row['won']}, drawn {row['drawn']}, lost {row['lost']}"
            against = " + ".join(every.shown(find(row["game"]), spec) for spec in row["against"].split("+"))
            screen.line(f"{row['game']} against {against}: {score}")
    return 0


def result(entry: saved_games.Entry) -> str:
    if entry.trouble:
        return entry.trouble
    from piste import bots

    game = find(entry.game)
    sitting = [bots.described(game, spec, entry.options) for spec in entry.specs]
    who = ", ".join(f"{name}: {spec}" for name, spec in zip(entry.seats, sitting, strict=False))
    if entry.ending is None:
        return f"{who}; still running"
    winner = entry.ending["winner"]
    labels = game.notation.SEATS
    label = "a draw" if winner is None else f"{entry.seats[labels.index(winner)]} won"
    return f"{who}; {label}: {entry.ending['ending']}{'' if entry.counts else ' (does not count)'}"


def bots(given: argparse.Namespace, screen: Terminal) -> int:
    from piste import bots as every

    wanted = [given.game] if given.game else names()
    rows = [
        {
            "game": game.name,
            "bot": bot,
            "shown": every.shown(game, bot),
            "basis": every.basis(game, bot),
            "line": line,
            "missing": None if (why := every.refused(bot, game)) is None else why.extra,
        }
        for game in map(find, wanted)
        for bot, line in every.lines(game).items()
    ]
    if given.json:
        return put(screen, {"bots": rows})
    for row in rows:
        basis = f" ({row['basis']})" if row["basis"] not in (None, row["shown"]) else ""
        needs = (
            f" Needs the extra '{row['missing']}': pip install 'piste[{row['missing']}]'" if row["missing"] else ""
        )
        screen.line(f"{row['game']} {row['shown']}{basis}: {row['line']}{needs}")
    screen.note("\nIn brackets: how its play is known. perfect and expert are names of the same level in every game.")
    screen.note("Any program can take a seat: --seat 'cmd:./mybot' (docs/bots.md says how).")
    return 0


def where(given: argparse.Namespace, screen: Terminal) -> int:
    from piste.compiled.compiler import cache_folder
    from piste.compiled.table_cache import folder as solved_folder

    rows = {"games": str(saved_games.games_folder()), "compiled": str(cache_folder()), "solved": str(solved_folder())}
    if given.json:
        return put(screen, rows)
    screen.line(f"your games:      {rows['games']}")
    screen.line(f"compiled rules:  {rows['compiled']} (may be deleted at any time)")
    screen.line(f"solved tables:   {rows['solved']} (the same; they are computed again when they are needed)")
    return 0


def put(screen: Terminal, document: dict[str, Any]) -> int:
    """Print one JSON document and nothing else."""
    print(json.dumps({"format": 1, **document}, ensure_ascii=False, indent=2), file=screen.out)
    return 0
