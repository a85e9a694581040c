"""`piste bench --solve`: CPU time and memory of each solver's one-off work, with ratios to the calibration loop."""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

from piste.cli.arguments import named_games
from piste.cli.commands.bench.harness import calibration, run_python
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.core.extras import COMPILED, need, solver_of
from piste.core.game import find, names

PROGRAM = """
import json, sys
from pathlib import Path
from piste.cli.commands.bench.harness import used
from piste.core.game import find
from piste.core.evaluation import quiet
from piste.compiled import table_cache
table_cache.folder = lambda: Path(sys.argv[2])
game = find(sys.argv[1])
began = used()["seconds"]
said = game.solver.solve_fully(game.options(), quiet)
after = used()
print(json.dumps({"seconds": after["seconds"] - began, "mib": after["mib"], "said": said}))
"""


def measure_all(args: argparse.Namespace, bar: ProgressBar) -> dict[str, Any]:
    need(COMPILED)
    games = [game.name for game in named_games(args.game) if args.game or not is_heavy(game.name)]
    rows: dict[str, dict[str, Any]] = {}
    for i, name in enumerate(games):
        bar(i, len(games), f"solving {name}")
        if not is_heavy(name):
            solve_once(name)  # so that all is compiled
        before = calibration()
        row = solve_once(name)
        row["loop"] = (before + calibration()) / 2
        row["rounds"] = row["seconds"] * row["loop"]
        rows[name] = row
    return {"solves": rows}


def show(document: dict[str, Any], terminal: Terminal) -> None:
    terminal.line(
        "What is computed once: CPU time with code that is compiled already, as rounds of the loop, and peak memory"
    )
    for name, row in document["solves"].items():
        terminal.line(
            f"{name}: {row['seconds']:.1f} s ({row['rounds'] / 1e6:.3g} M rounds of the loop), {row['mib']:.0f} MiB"
        )
        terminal.line(f"  {row['said']}")
    left = [name for name in names() if is_heavy(name) and name not in document["solves"]]
    if left:
        terminal.note(f"Not measured, because it takes minutes and gigabytes: {', '.join(left)}; name it to do so.")


def is_heavy(name: str) -> bool:
    """Return whether a game's solver needs minutes and gigabytes: then it runs only when it is named."""
    return bool(getattr(solver_of(find(name)), "HEAVY", False))


def solve_once(name: str) -> dict[str, Any]:
    """Solve a game in a fresh interpreter with an empty table cache."""
    with tempfile.TemporaryDirectory() as folder:
        return run_python(f"The solver of {name}", "-c", PROGRAM, name, folder)
