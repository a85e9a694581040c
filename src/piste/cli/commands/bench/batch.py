"""`piste bench --batch`: how fast thousands of games are stepped together, beside the PettingZoo environment.

A step is one decision with the chance that follows, what the next seat sees as numbers, and its mask; decisions are
random. Times are CPU times of one thread between two runs of the calibration loop, then wall times with all threads.
"""

from __future__ import annotations

import argparse
import os
from time import perf_counter
from typing import Any

from piste.cli.arguments import named_games
from piste.cli.commands.bench.harness import RUNS, measure, rate_text, ticker
from piste.cli.commands.bench.workloads import pettingzoo_steps, vector_steps
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.core.extras import MANY, PETTINGZOO, need

SIZES = (1024, 4096, 16384)
# The best public simulator for CPUs, as measured elsewhere: steps a second, and as a ratio to the calibration loop.
PUBLIC = (
    ("1 024 games of comparable size", 2.9e6, 0.9),
    ("16 384 games of its smallest kind", 16.7e6, 5.2),
)


def measure_all(args: argparse.Namespace, bar: ProgressBar) -> dict[str, Any]:
    need(MANY)
    need(PETTINGZOO)
    from piste.rl.pettingzoo import env as environment

    games = [game.name for game in named_games(args.game)]
    threads = os.cpu_count() or 1
    rows: dict[str, dict[str, Any]] = {}
    tick = ticker(bar, len(games) * RUNS * (1 + 2 * len(SIZES)))
    for name in games:
        single = measure(pettingzoo_steps(environment(name)), tick)
        rows[name] = {"pettingzoo": {"steps": single.steps, "ratio": single.ratio}}
        for size in SIZES:
            one = measure(vector_steps(name, size), tick)
            parallel = measure(vector_steps(name, size, threads), tick, perf_counter)
            rows[name][str(size)] = {
                "steps": one.steps, "ratio": one.ratio, "times": one.ratio / single.ratio,
                "threads": {"steps": parallel.steps, "ratio": parallel.ratio},
            }  # fmt: skip
    public = [{"what": what, "steps": steps, "ratio": ratio} for what, steps, ratio in PUBLIC]
    return {"threads": threads, "runs": RUNS, "public": public, "games": rows}


def show(document: dict[str, Any], terminal: Terminal) -> None:
    terminal.line(f"Random decisions, with observations and masks; medians of {RUNS} runs")
    for name, row in document["games"].items():
        single = row["pettingzoo"]
        terminal.line(
            f"{name}: PettingZoo {rate_text(single['steps'])} steps a CPU s, {single['ratio']:.2g} x the loop"
        )
        for size in SIZES:
            batch = row[str(size)]
            parallel = batch["threads"]
            terminal.line(
                f"  {size:>6} games: {rate_text(batch['steps'])} steps a CPU s, {batch['ratio']:.2f} x the loop, "
                f"{batch['times']:.0f} x PettingZoo"
            )
            rate = f"{rate_text(parallel['steps'])} steps a s, {parallel['ratio']:.2f} x the loop"
            terminal.line(f"{'':16}{document['threads']} threads: {rate}")
    terminal.line("The best public simulator for CPUs, measured elsewhere:")
    for what, steps, ratio in PUBLIC:
        terminal.line(f"  {what}: {rate_text(steps)} steps a s, {ratio} x the loop")
