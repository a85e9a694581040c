"""`piste bench`: how fast the rules run, interpreted and compiled, beside a small loop of plain Python.

The machine at hand is never idle and never the same, so a rate alone says little. Each measurement stands between two
runs of one fixed loop, and its ratio to them is what can be compared. All times are CPU times of this process.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

from piste.cli.output import print_json
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.compiled.simulate import can_compile, simulate
from piste.core.game import Game, find, names

LOOPS = 400_000
RUNS = 7
SECONDS = 0.25  # of CPU time, about, for each run
SIDE_BY_SIDE = 4096


class Speed(NamedTuple):
    """How fast something runs: the medians of a few runs, for each CPU second."""

    steps: float
    games: float
    ratio: float  # steps to rounds of the calibration loop
    cores: float  # CPU seconds in a second


def helper(x: int) -> int:
    return x & 3


def calibration() -> float:
    """Return rounds of the fixed loop in a CPU second."""
    table = [0] * 64
    x, total = 1, 0
    began = process_time()
    for _ in range(LOOPS):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        table[x & 63] += 1
        if x & 64:
            total += helper(x)
    return LOOPS / (process_time() - began)


def fitting(work: Callable[[int], tuple[int, int]], size: int, clock: Callable[[], float]) -> int:
    """Return a size of some work that takes about SECONDS on this clock; whatever has to be compiled is then."""
    work(size)
    while True:
        began = clock()
        work(size)
        spent = clock() - began
        if spent > SECONDS / 4:
            return max(1, round(size * SECONDS / spent))
        size *= 4


def measured(work: Callable[[int], tuple[int, int]], size: int, tick: Callable[[], None]) -> Speed:
    """Run some work of a size, which answers with (steps, games) done, between calibrations; find a size first."""
    size = fitting(work, size, process_time)
    found = []
    before = calibration()
    for _ in range(RUNS):
        wall, began = perf_counter(), process_time()
        steps, games = work(size)
        spent, passed = process_time() - began, perf_counter() - wall
        after = calibration()
        found.append(Speed(steps / spent, games / spent, steps / spent / ((before + after) / 2), spent / passed))
        before = after
        tick()
    return Speed(*(median(column) for column in zip(*found, strict=True)))


def played(game: Game, options: Any, *, compiled: bool, threads: int = 1) -> Callable[[int], tuple[int, int]]:
    """Return work that plays so many games at random."""

    def work(size: int) -> tuple[int, int]:
        tally = simulate(game, options, size, threads=threads, compiled=compiled)
        return tally.steps, tally.games

    return work


def together(game: Game, options: Any, threads: int) -> Callable[[int], tuple[int, int]]:
    """Return work that steps thousands of games together so many times, at random."""
    from piste.compiled.vector_games import VectorGames

    many = VectorGames(game, options, SIDE_BY_SIDE, threads=threads)

    def work(size: int) -> tuple[int, int]:
        before, games = many.steps, 0
        for _ in range(size):
            many.step(many.pick())
            games += len(many.restart())
        return many.steps - before, games

    return work


def bench(args: argparse.Namespace, terminal: Terminal) -> int:
    games = [find(name) for name in args.game] or [find(name) for name in names()]
    threads = os.cpu_count() or 1
    compiled = can_compile()
    if not compiled:
        terminal.note("Without compiled play only interpreted play is measured: pip install 'piste[fast]'")
    rows: dict[str, dict[str, Speed]] = {}
    done, whole = 0, len(games) * RUNS * (4 if compiled else 1)
    with ProgressBar("measuring") as bar:

        def tick() -> None:
            nonlocal done
            done += 1
            bar(done, whole)

        first = calibration()
        for game in games:
            options = game.options()
            row = {"interpreted": measured(played(game, options, compiled=False), 1, tick)}
            if compiled:
                row["compiled"] = measured(played(game, options, compiled=True), 1000, tick)
                row["all threads"] = measured(played(game, options, compiled=True, threads=threads), 1000, tick)
                row["many together"] = measured(together(game, options, 1), 1, tick)
            rows[game.name] = row
        last = calibration()
    if args.json:
        loop = {"rounds": LOOPS, "before": first, "after": last}
        table = {name: {way: speed._asdict() for way, speed in row.items()} for name, row in rows.items()}
        document = {"calibration": loop, "threads": threads, "runs": RUNS, "games": table}
        return print_json(terminal, document, version=1)
    terminal.line(f"Calibration loop: {first / 1e6:.2f} M rounds a CPU second before, {last / 1e6:.2f} M after")
    terminal.line(f"Random play; medians of {RUNS} runs; {threads} threads for all, {SIDE_BY_SIDE} games together")
    for name, row in rows.items():
        terminal.line(name)
        for way, speed in row.items():
            cores = f", {speed.cores:.2f} cores" if way == "all threads" else ""
            terminal.line(
                f"  {way:13} {short(speed.steps):>7} steps, {short(speed.games):>7} games a CPU s, "
                f"{speed.ratio:.3g} x the loop{cores}"
            )
    return 0


def short(rate: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.3g} {letter}"
    return f"{rate:.0f}"
