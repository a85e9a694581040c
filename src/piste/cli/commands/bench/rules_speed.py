"""`piste bench`: how fast the rules run, interpreted and compiled. All times are CPU times of this process."""

from __future__ import annotations

import argparse
import os
from typing import Any

from piste.cli.arguments import named_games
from piste.cli.commands.bench import harness
from piste.cli.commands.bench.harness import Speed, Work, calibration, measure, rate_text, ticker
from piste.cli.output import print_json
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.compiled.simulate import can_compile, simulate
from piste.core.game import Game

BATCH_SIZE = 4096


def random_games(game: Game, options: Any, *, compiled: bool, threads: int = 1) -> Work:
    """Return work that plays `size` games at random."""

    def work(size: int) -> tuple[int, int]:
        tally = simulate(game, options, size, threads=threads, compiled=compiled)
        return tally.steps, tally.games

    return work


def batch_steps(game: Game, options: Any) -> Work:
    """Return work that steps a batch of games `size` times, at random."""
    from piste.compiled.vector_games import VectorGames

    batch = VectorGames(game, options, BATCH_SIZE, threads=1)

    def work(size: int) -> tuple[int, int]:
        before, games = batch.steps, 0
        for _ in range(size):
            batch.step(batch.pick())
            games += len(batch.restart())
        return batch.steps - before, games

    return work


def bench(args: argparse.Namespace, terminal: Terminal) -> int:
    games = named_games(args.game)
    threads, runs = os.cpu_count() or 1, harness.RUNS
    compiled = can_compile()
    if not compiled:
        terminal.note("Without compiled play only interpreted play is measured: pip install 'piste[fast]'")
    rows: dict[str, dict[str, Speed]] = {}
    with ProgressBar("measuring") as bar:
        tick = ticker(bar, len(games) * runs * (4 if compiled else 1))
        first = calibration()
        for game in games:
            options = game.options()
            row = {"interpreted": measure(random_games(game, options, compiled=False), 1, tick)}
            if compiled:
                row["compiled"] = measure(random_games(game, options, compiled=True), 1000, tick)
                parallel = random_games(game, options, compiled=True, threads=threads)
                row["all threads"] = measure(parallel, 1000, tick)
                row["many together"] = measure(batch_steps(game, options), 1, tick)
            rows[game.name] = row
        last = calibration()
    if args.json:
        loop = {"rounds": harness.CALIBRATION_ROUNDS, "before": first, "after": last}
        table = {name: {way: speed._asdict() for way, speed in row.items()} for name, row in rows.items()}
        document = {"calibration": loop, "threads": threads, "runs": runs, "games": table}
        return print_json(terminal, document, version=1)
    terminal.line(f"Calibration loop: {first / 1e6:.2f} M rounds a CPU second before, {last / 1e6:.2f} M after")
    terminal.line(f"Random play; medians of {runs} runs; {threads} threads for all, {BATCH_SIZE} games together")
    for name, row in rows.items():
        terminal.line(name)
        for way, speed in row.items():
            cores = f", {speed.cores:.2f} cores" if way == "all threads" else ""
            terminal.line(
                f"  {way:13} {rate_text(speed.steps):>7} steps, {rate_text(speed.games):>7} games a CPU s, "
                f"{speed.ratio:.3g} x the loop{cores}"
            )
    return 0
