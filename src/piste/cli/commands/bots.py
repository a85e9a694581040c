"""`piste bots`: the bots of a game, or of all."""

from __future__ import annotations

import argparse
from itertools import groupby
from operator import itemgetter
from typing import Any

from piste import bots
from piste.cli.output import print_json, with_level
from piste.cli.terminal import Terminal
from piste.core.game import find, names

OWN = ("random", *bots.LEVELS)
"""The levels that have a word of their own."""


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    wanted = [args.game] if args.game else names()
    rows = [
        {
            "game": game.name,
            "bot": bot,
            "shown": bots.shown(game, bot),
            "level": bots.level_name(game, bot) if bot in OWN else None,
            "basis": bots.basis(game, bot),
            "line": line,
            "missing": None if (why := bots.refused(bot, game)) is None else why.extra,
        }
        for game in map(find, wanted)
        for bot, line in bots.lines(game).items()
    ]
    if args.json:
        return print_json(terminal, {"bots": rows})
    with terminal.paged():
        show(rows, terminal)
    return 0


def show(rows: list[dict[str, Any]], terminal: Terminal) -> None:
    """Print the bots: below the titles of their games where a person reads them, else each with its game."""
    for name, group in groupby(rows, key=itemgetter("game")):
        lines = [(called(row), f"{with_level(row['level'], row['shown'], row['line'])}{needs(row)}") for row in group]
        if terminal.out.isatty():
            terminal.toned(find(name).notation.TITLE, "heading")
            terminal.listing(lines, indent="  ")
        else:
            terminal.listing([(f"{name} {bot}", line) for bot, line in lines])
    terminal.note(
        "\nIn brackets: how its play is known. perfect and expert are names of the same level in every game."
    )
    terminal.note("Any program can take a seat: --seat 'cmd:./mybot' (docs/bots.md says how).")


def called(row: dict[str, Any]) -> str:
    """Return what a bot is called, with how its play is known."""
    return f"{row['shown']} ({row['basis']})" if row["basis"] not in (None, row["shown"]) else str(row["shown"])


def needs(row: dict[str, Any]) -> str:
    extra = row["missing"]
    return f" Needs the extra '{extra}': pip install 'piste[{extra}]'" if extra else ""
