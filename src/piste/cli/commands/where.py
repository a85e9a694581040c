"""`piste where`: the folders with a user's games and with the caches."""

from __future__ import annotations

import argparse

from piste.cli import saved_games
from piste.cli.output import print_json
from piste.cli.terminal import Terminal
from piste.compiled.compiler import cache_folder
from piste.compiled.table_cache import folder as solved_folder
from piste.core.paths import MCP_GAMES, TOURNAMENTS, data_folder


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    rows = {
        "games": str(saved_games.games_folder()),
        "mcp": str(data_folder() / MCP_GAMES),
        "tournaments": str(data_folder() / TOURNAMENTS),
        "compiled": str(cache_folder()),
        "solved": str(solved_folder()),
    }
    if args.json:
        return print_json(terminal, rows)
    terminal.line(f"your games:      {rows['games']}")
    terminal.line(f"games over MCP:  {rows['mcp']}")
    terminal.line(f"tournaments:     {rows['tournaments']}")
    terminal.line(f"compiled rules:  {rows['compiled']} (may be deleted at any time)")
    terminal.line(f"solved tables:   {rows['solved']} (the same; they are computed again when they are needed)")
    return 0
