"""Compare what a decision costs in this server and in that of another checkout, both at work at the same time.

    git worktree add ../before 53923f7
    python -m tools.serve_beside ../before

One run after another is no fair comparison where other programs use the machine too. Here each run has both servers,
each with clients of its own who do what those of `piste bench --serve` do. The ratio is that of their CPU times for a
decision.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import mean

from piste.cli.commands.bench.serve import run_clients, run_server
from piste.core.game import names

GAMES, SECONDS, RUNS = 250, 20, 4


def compared(other: Path, games: int, seconds: int) -> tuple[float, float]:
    """Return the CPU milliseconds a decision of the other checkout's server and of this one."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        ports = [
            stack.enter_context(run_server("serve", f"{folder}/{name}.db", source=source))
            for name, source in (("before", other / "src"), ("now", None))
        ]
        both = stack.enter_context(ThreadPoolExecutor(len(ports)))
        rows = both.map(lambda port: run_clients([port], list(names()), games, seconds), ports)
        before, now = (float(row["cpu_ms"]) for row in rows)
    return before, now


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="the folder of the other checkout")
    parser.add_argument("--games", type=int, default=GAMES, help="of each server (default: %(default)s)")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="of each run (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=RUNS, help="(default: %(default)s)")
    given = parser.parse_args()
    if not (given.other / "src" / "piste").is_dir():
        raise SystemExit(f"There is no checkout of piste in {given.other}.")
    ratios = []
    for _ in range(given.runs):
        before, now = compared(given.other.resolve(), given.games, given.seconds)
        ratios.append(now / before)
        print(f"before {before:.2f} ms, now {now:.2f} ms of CPU time a decision: {ratios[-1]:.3f}", flush=True)
    print(f"mean {mean(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f} in {given.runs} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
