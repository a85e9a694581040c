"""`piste bench`: how fast the rules run, interpreted and compiled. All times are CPU times of this process."""

from __future__ import annotations

import argparse
import os
from typing import Any

from piste.cli.arguments import named_games
from piste.cli.commands.bench import harness
from piste.cli.commands.bench.harness import calibration, measure, rate_text, ticker
from piste.cli.commands.bench.workloads import batch_steps, simulated_games
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.compiled.simulate import can_compile

BATCH_SIZE = 4096


def measure_all(args: argparse.Namespace, bar: ProgressBar) -> dict[str, Any]:
    games = named_games(args.game)
    threads, compiled = os.cpu_count() or 1, can_compile()
    rows: dict[str, dict[str, Any]] = {}
    tick = ticker(bar, len(games) * harness.RUNS * (4 if compiled else 1))
    first = calibration()
    for game in games:
        options = game.options()
        row = {"interpreted": measure(simulated_games(game, options, compiled=False), tick)}
        if compiled:
            row["compiled"] = measure(simulated_games(game, options, compiled=True), tick)
            row["all threads"] = measure(simulated_games(game, options, compiled=True, threads=threads), tick)
            row["many together"] = measure(batch_steps(game, options, BATCH_SIZE), tick)
        rows[game.name] = {way: speed._asdict() for way, speed in row.items()}
    loop = {"rounds": harness.CALIBRATION_ROUNDS, "before": first, "after": calibration()}
    return {"calibration": loop, "threads": threads, "runs": harness.RUNS, "games": rows}


def show(document: dict[str, Any], terminal: Terminal) -> None:
    if not can_compile():
        terminal.note("Without compiled play only interpreted play is measured: pip install 'piste[fast]'")
    loop, threads = document["calibration"], document["threads"]
    before, after = loop["before"] / 1e6, loop["after"] / 1e6
    terminal.line(f"Calibration loop: {before:.2f} M rounds a CPU second before, {after:.2f} M after")
    terminal.line(
        f"Random play; medians of {document['runs']} runs; {threads} threads for all, {BATCH_SIZE} games together"
    )
    for name, row in document["games"].items():
        terminal.line(name)
        for way, speed in row.items():
            cores = f", {speed['cores']:.2f} cores" if way == "all threads" else ""
            terminal.line(
                f"  {way:13} {rate_text(speed['steps']):>7} steps, {rate_text(speed['games']):>7} games a CPU s, "
                f"{speed['ratio']:.3g} x the loop{cores}"
            )
