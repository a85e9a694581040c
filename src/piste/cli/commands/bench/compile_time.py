"""`piste bench --compile`: what the first compiled game costs with an empty cache, and what it costs later."""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

from piste.cli.arguments import named_games
from piste.cli.commands.bench.harness import run_python
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.core.extras import COMPILED, need

# It imports numba first, so that only what piste adds to that is measured.
PROGRAM = """
import json, sys, time
from pathlib import Path
import numba
from piste.core.game import find
from piste.compiled import compiler, simulate, vector_games
compiler.cache_folder = lambda: Path(sys.argv[2])
spent = {}
def timed(what, work):
    began = time.process_time()
    work()
    spent[what] = time.process_time() - began
game = find(sys.argv[1])
options = game.options()
timed("random games", lambda: simulate.simulate(game, options, 2))
names = compiler.policy_names(game)
if names:
    timed("policies", lambda: simulate.simulate(game, options, 2, policies=names[:1]))
def together():
    games = vector_games.VectorGames(game, options, 4)
    games.step(games.pick())
timed("many together", together)
timed("counted trees", lambda: compiler.game_kernels(game, compiled=True).perft(game.rules.start(options), 2))
print(json.dumps(spent))
"""


def measure_all(args: argparse.Namespace, bar: ProgressBar) -> dict[str, Any]:
    need(COMPILED)
    games = [game.name for game in named_games(args.game)]
    rows: dict[str, dict[str, Any]] = {}
    for i, name in enumerate(games):
        with tempfile.TemporaryDirectory() as folder:
            bar(i, len(games), f"compiling {name}")
            rows[name] = {"first": first_calls(name, folder), "cached": first_calls(name, folder)}
    return {"cpu_seconds": rows}


def show(document: dict[str, Any], terminal: Terminal) -> None:
    terminal.line("CPU seconds beyond importing numba: with an empty cache, and from it")
    for name, row in document["cpu_seconds"].items():
        terminal.line(name)
        for kernel, spent in row["first"].items():
            terminal.line(f"  {kernel:14} {spent:6.2f}   {row['cached'][kernel]:5.2f}")


def first_calls(name: str, folder: str) -> dict[str, float]:
    """Return the CPU seconds of each kernel's first call in a fresh interpreter with this cache."""
    return run_python(f"Compiling {name}", "-c", PROGRAM, name, folder)
