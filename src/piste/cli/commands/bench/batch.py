"""`piste bench --batch`: how fast thousands of games are stepped together, beside the PettingZoo environment.

A step is one decision with the chance that follows, what the next seat sees as numbers, and its mask; decisions are
random. Times are CPU times of one thread between two runs of the calibration loop, then wall times with all threads.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from piste.cli.commands.bench.rules_speed import RUNS, calibration, fitting, measured, short
from piste.cli.output import print_json
from piste.cli.progress_bar import ProgressBar
from piste.cli.terminal import Terminal
from piste.core.extras import MANY, PETTINGZOO, need
from piste.core.game import find, names

SIZES = (1024, 4096, 16384)
# What the best public simulator for CPUs was measured at, in steps a second and in rounds of the calibration loop.
PUBLIC = (
    ("1 024 games of comparable size", 2.9e6, 0.9),
    ("16 384 games of its smallest kind", 16.7e6, 5.2),
)


class Wall(NamedTuple):
    """How fast something runs by the clock on the wall, with all threads."""

    steps: float
    ratio: float


def stepping(name: str, size: int, threads: int) -> Callable[[int], tuple[int, int]]:
    """Return work that steps so many games together so many times."""
    from piste.rl.vector_env import VectorEnv

    env = VectorEnv(name, size, threads=threads)

    def work(rounds: int) -> tuple[int, int]:
        ended = 0
        for _ in range(rounds):
            ended += int(env.step(env.pick()).ended.sum())
        return rounds * size, ended

    return work


def one_by_one(name: str) -> Callable[[int], tuple[int, int]]:
    """Return work that takes so many decisions in the PettingZoo environment."""
    from piste.rl.pettingzoo import env as environment

    env: Any = environment(name)
    chooser = random.Random(1)

    def work(steps: int) -> tuple[int, int]:
        games = 1
        env.reset(seed=games)
        for _ in range(steps):
            seen, _, over, cut, _ = env.last()
            if over or cut:
                games += 1
                env.reset(seed=games)
                seen = env.last()[0]
            env.step(chooser.choice(seen["action_mask"].nonzero()[0]))
        return steps, games

    return work


def on_the_wall(work: Callable[[int], tuple[int, int]]) -> Wall:
    """Run some work with all threads, by the wall clock."""
    rounds = fitting(work, 1, perf_counter)
    found = []
    for _ in range(RUNS):
        loop = calibration()
        began = perf_counter()
        steps, _ = work(rounds)
        rate = steps / (perf_counter() - began)
        found.append((rate, rate / loop))
    return Wall(*(median(column) for column in zip(*found, strict=True)))


def bench(args: argparse.Namespace, terminal: Terminal) -> int:
    need(MANY)
    need(PETTINGZOO)
    games = [find(name).name for name in args.game] or list(names())
    threads = os.cpu_count() or 1
    rows: dict[str, dict[str, Any]] = {}
    done, whole = 0, len(games) * (RUNS + len(SIZES) * (RUNS + 1))
    with ProgressBar("measuring") as bar:

        def tick() -> None:
            nonlocal done
            done += 1
            bar(done, whole)

        for name in games:
            alone = measured(one_by_one(name), 10, tick)
            row: dict[str, Any] = {"pettingzoo": {"steps": alone.steps, "ratio": alone.ratio}}
            for size in SIZES:
                one = measured(stepping(name, size, 1), 1, tick)
                every = on_the_wall(stepping(name, size, threads))
                tick()
                row[str(size)] = {
                    "steps": one.steps, "ratio": one.ratio, "times": one.ratio / alone.ratio,
                    "threads": every._asdict(),
                }  # fmt: skip
            rows[name] = row
    if args.json:
        public = [{"what": what, "steps": steps, "ratio": ratio} for what, steps, ratio in PUBLIC]
        document = {"threads": threads, "runs": RUNS, "public": public, "games": rows}
        return print_json(terminal, document, version=1)
    terminal.line(f"Random decisions, with observations and masks; medians of {RUNS} runs")
    for name, row in rows.items():
        alone_row = row["pettingzoo"]
        terminal.line(
            f"{name}: PettingZoo {short(alone_row['steps'])} steps a CPU s, {alone_row['ratio']:.2g} x the loop"
        )
        for size in SIZES:
            found = row[str(size)]
            every = found["threads"]
            terminal.line(
                f"  {size:>6} games: {short(found['steps'])} steps a CPU s, {found['ratio']:.2f} x the loop, "
                f"{found['times']:.0f} x PettingZoo"
            )
            terminal.line(
                f"{'':16}{threads} threads: {short(every['steps'])} steps a s, {every['ratio']:.2f} x the loop"
            )
    terminal.line("The best public simulator for CPUs, measured elsewhere:")
    for what, steps, ratio in PUBLIC:
        terminal.line(f"  {what}: {short(steps)} steps a s, {ratio} x the loop")
    return 0
