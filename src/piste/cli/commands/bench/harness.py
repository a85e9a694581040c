"""What the benchmarks share: a calibration loop, rates measured beside it, and programs in a fresh interpreter.

The speed of a machine changes with its load, and differs from the next machine's, so a rate alone says little. Each
measurement stands between two runs of one fixed loop, and its ratio to them can be compared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeVar

from piste.cli.progress_bar import ProgressBar
from piste.core.errors import PisteError

CALIBRATION_ROUNDS = 400_000
RUNS = 7
RUN_S = 0.25  # about how long each run takes

Work = Callable[[int], tuple[int, int]]
"""Work of a given size; returns how many steps and games it has done."""


Clock = Callable[[], float]
Key = TypeVar("Key")


class Speed(NamedTuple):
    """How fast something runs: the medians of a few runs, for each second of the clock that was looked at."""

    steps: float
    games: float
    ratio: float  # steps to rounds of the calibration loop
    cores: float  # CPU seconds in a second


def calibration() -> float:
    """Return rounds of the fixed loop in a CPU second."""
    table = [0] * 64
    x, total = 1, 0
    start = process_time()
    for _ in range(CALIBRATION_ROUNDS):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        table[x & 63] += 1
        if x & 64:
            total += _low_bits(x)
    return CALIBRATION_ROUNDS / (process_time() - start)


def _low_bits(x: int) -> int:
    return x & 3


def fit_size(work: Work, clock: Clock) -> int:
    """Return the size of work that takes about RUN_S on this clock; what a call loads or compiles does not count."""
    size = 1
    while True:
        if timed(work, size, clock) > RUN_S / 4:
            spent = timed(work, size, clock)  # the first time may have been spent on what is done once
            if spent > RUN_S / 4:
                return max(1, round(size * RUN_S / spent))
        size *= 4


def timed(work: Work, size: int, clock: Clock) -> float:
    start = clock()
    work(size)
    return clock() - start


def measure(work: Work, tick: Callable[[], None], clock: Clock = process_time) -> Speed:
    """Return the speed of some work: the medians of RUNS runs between calibrations."""
    return measure_in_turn({work: work}, RUNS, tick, clock)[work]


def measure_in_turn(
    works: Mapping[Key, Work], runs: int, tick: Callable[[], None], clock: Clock = process_time
) -> dict[Key, Speed]:
    """Return the speed of each work; they take turns, so that a busy spell of the machine is shared by all."""
    sizes = {key: fit_size(work, clock) for key, work in works.items()}
    speeds: dict[Key, list[Speed]] = {key: [] for key in works}
    before = calibration()
    for _ in range(runs):
        for key, work in works.items():
            start, wall_start, cpu_start = clock(), perf_counter(), process_time()
            steps, games = work(sizes[key])
            spent, cores = clock() - start, (process_time() - cpu_start) / (perf_counter() - wall_start)
            after = calibration()
            ratio = steps / spent / ((before + after) / 2)
            speeds[key].append(Speed(steps / spent, games / spent, ratio, cores))
            before = after
            tick()
    return {key: Speed(*map(median, zip(*rows, strict=True))) for key, rows in speeds.items()}


def ticker(bar: ProgressBar, total: int) -> Callable[[], None]:
    """Return a function that moves a bar on by one of a total."""
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        bar(done, total)

    return tick


def rate_text(rate: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.3g} {letter}"
    return f"{rate:.0f}"


def used() -> dict[str, float]:
    """Return the CPU seconds of this process and its peak memory, which is not that of whoever started it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    except OSError:
        import resource

        kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": process_time(), "mib": kib / 1024}


def run_python(what: str, *arguments: str, stdin: str = "", **environment: str) -> dict[str, Any]:
    """Run a fresh interpreter and return the JSON of the last line that it prints; `what` is named if it fails."""
    command, variables = [sys.executable, *arguments], {**os.environ, **environment}
    done = subprocess.run(command, input=stdin, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise PisteError(f"{what} failed: {last}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
