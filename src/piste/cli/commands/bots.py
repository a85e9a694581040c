"""`piste bots`: the bots of a game, or of all."""

from __future__ import annotations

import argparse

from piste import bots
from piste.cli.output import print_json
from piste.cli.terminal import Terminal
from piste.core.game import find, names


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    wanted = [args.game] if args.game else names()
    rows = [
        {
            "game": game.name,
            "bot": bot,
            "shown": bots.shown(game, bot),
            "basis": bots.basis(game, bot),
            "line": line,
            "missing": None if (why := bots.refused(bot, game)) is None else why.extra,
        }
        for game in map(find, wanted)
        for bot, line in bots.lines(game).items()
    ]
    if args.json:
        return print_json(terminal, {"bots": rows})
    for row in rows:
        basis = f" ({row['basis']})" if row["basis"] not in (None, row["shown"]) else ""
        needs = (
            f" Needs the extra '{row['missing']}': pip install 'piste[{row['missing']}]'" if row["missing"] else ""
        )
        terminal.line(f"{row['game']} {row['shown']}{basis}: {row['line']}{needs}")
    terminal.note(
        "\nIn brackets: how its play is known. perfect and expert are names of the same level in every game."
    )
    terminal.note("Any program can take a seat: --seat 'cmd:./mybot' (docs/bots.md says how).")
    return 0
