"""Measure with `piste bench` and write the numbers of docs/speed.md between its marks.

python -m tools.speed_page
"""

from __future__ import annotations

import platform
import sys
from typing import Any

from tools.pages import DOCS, piste, rate, replace_part, table, written_by

PAGE = DOCS / "speed.md"
WAYS = {"interpreted": "interpreted", "compiled": "compiled", "all threads": "all threads",
        "many together": "4096 together"}  # fmt: skip
# Millions of steps a second of hand-written C for the same rules on one idle core, and their ratio to the loop there.
C_STEPS = {"prime-duel": (190, 46), "zero-sum-duel": (118, 29)}


def rules(games: dict[str, Any]) -> str:
    """Return the table of the rules, interpreted and compiled."""
    head, rows = ["game"], []
    for way, heading in WAYS.items():
        head += [heading, "x loop", *(["games"] if way == "compiled" else [])]
    for name, ways in games.items():
        cells = [name]
        for way in WAYS:
            cells += [rate(ways[way]["steps"]), f"{ways[way]['ratio']:.3g}"]
            cells += [rate(ways[way]["games"])] if way == "compiled" else []
        rows.append(cells)
    return table(head, rows)


def beside_c(games: dict[str, Any]) -> str:
    shares = []
    for name, (steps, ratio) in C_STEPS.items():
        ours = games[name]["compiled"]
        by_rate, by_loop = steps * 1e6 / ours["steps"], ratio / ours["ratio"]
        shares.append(f"for {name} {by_rate:.1f} times as fast as ours by the rate and {by_loop:.1f} by the loop")
    return f"So C is {', and '.join(shares)}."


def compiling(games: dict[str, Any]) -> str:
    kernels = list(next(iter(games.values()))["first"])
    rows = [
        [name, *(f"{row['first'][k]:.1f} / {row['cached'][k]:.2f}" if k in row["first"] else "-" for k in kernels)]
        for name, row in games.items()
    ]
    return table(["game", *kernels], rows)


def batch(threads: int, games: dict[str, Any]) -> str:
    sizes = [key for key in next(iter(games.values())) if key != "pettingzoo"]
    head = ["game", "PettingZoo", *(text for size in sizes for text in (f"{size} games", "x loop", "x it"))]
    rows, parallel = [], []
    for name, row in games.items():
        cells = [name, rate(row["pettingzoo"]["steps"])]
        for size in sizes:
            cells += [rate(row[size]["steps"]), f"{row[size]['ratio']:.3g}", f"{row[size]['times']:.0f}"]
        rows.append(cells)
        all_threads = row[sizes[-1]]["threads"]
        parallel.append(f"{name} {rate(all_threads['steps'])} ({all_threads['ratio']:.3g} times the loop)")
    text = f"With {threads} threads, by the clock on the wall, at {sizes[-1]} games: {', '.join(parallel)}."
    return f"{table(head, rows)}\n\n{text}"


def main() -> int:
    import numba

    speeds, batches = piste("bench"), piste("bench", "--batch")
    loop = speeds["calibration"]
    versions = f"Python {platform.python_version()}, numba {numba.__version__}"
    head = (
        f"{written_by('speed_page')}: {versions}, {speeds['threads']} cores, {platform.machine()}.\n"
        f"The loop ([below](#the-loop)) did {loop['before'] / 1e6:.2f} M rounds a CPU second at the beginning and "
        f"{loop['after'] / 1e6:.2f} M at the end: the machine is shared, so\ntrust the ratios more than the rates."
    )
    parts = {
        "head": head,
        "rules": rules(speeds["games"]),
        "c": beside_c(speeds["games"]),
        "compiling": compiling(piste("bench", "--compile")["cpu_seconds"]),
        "batch": batch(batches["threads"], batches["games"]),
    }
    page = PAGE.read_text(encoding="utf-8")
    for name, text in parts.items():
        page = replace_part(page, name, text)
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
