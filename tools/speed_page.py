"""Measure with `piste bench` and write the numbers of docs/speed.md between its marks, all or some of them.

python -m tools.speed_page [rules] [batch] [compiling] [peers] [growth] [--heavy]

With --heavy Prime Duel is solved whole, too: minutes, and gigabytes. Install what is to be compared: pgx, pygame.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable
from typing import Any

from tools.growth_plot import draw
from tools.pages import DOCS, piste, rate, replace_part, table, written_by

PAGE = DOCS / "speed.md"
WAYS = {"interpreted": "interpreted", "compiled": "compiled", "all threads": "all threads",
        "many together": "4096 together"}  # fmt: skip


def rules() -> dict[str, str]:
    """Return the table of the rules, interpreted and compiled."""
    document = piste("bench")
    head, rows = ["game"], []
    for way, heading in WAYS.items():
        head += [heading, "x loop", *(["games"] if way == "compiled" else [])]
    for name, ways in document["games"].items():
        cells = [name]
        for way in WAYS:
            cells += [rate(ways[way]["steps"]), f"{ways[way]['ratio']:.3g}"]
            cells += [rate(ways[way]["games"])] if way == "compiled" else []
        rows.append(cells)
    before, after = (document["calibration"][when] / 1e6 for when in ("before", "after"))
    loop = f"The loop did {before:.2f} M rounds a CPU second at the beginning and {after:.2f} M at the end."
    return {"rules": f"{table(head, rows)}\n\n{loop}"}


def ratios(speeds: dict[str, Any]) -> str:
    return "; ".join(f"{who} {speed['ratio']:.2g}" for who, speed in speeds.items()) or "-"


def peers(*words: str) -> dict[str, str]:
    """Return the table of every way to play, as ratios to the loop, and what was compared; then first answers."""
    document = piste("bench", "--peers", *words)
    speeds, versions = document["speeds"], document["versions"]
    games = list(next(iter(speeds.values()))["piste"])
    rows = []
    for kind, sides in speeds.items():
        rows.append([kind, *(f"{sides['piste'][game]['ratio']:.2g}" for game in games), ratios(sides["peers"])])
    used = ", ".join(f"{library} {text}" for library, text in versions.items())
    left_out = " ".join(document["left_out"])
    loop = f"The loop did {document['loop'] / 1e6:.2f} M rounds a CPU second. Installed: {used}. {left_out}".rstrip()
    text = f"{table(['x loop', *games, 'others, same run'], rows)}\n\n{loop}"
    return {"peers": text, "answers": first_answers(document)}


def first_answers(document: dict[str, Any]) -> str:
    kinds = ("empty cache", "code compiled", "all kept")

    def cell(row: dict[str, Any], kind: str) -> str:
        memory = f", {row[kind]['mib']:.0f} MiB" if "mib" in row.get(kind, {}) else ""
        return f"{row[kind]['seconds']:.2f} s{memory}" if kind in row else ""

    rows = [[name, *(cell(row, kind) for kind in kinds)] for name, row in document["first_answers"].items()]
    solutions = [
        f"The full solution of {name} took {row['seconds']:.0f} CPU s and {row['mib'] / 1024:.1f} GiB."
        for name, row in document["solutions"].items()
    ]
    return "\n\n".join([table(["first answer", *kinds], rows), *solutions])


def growth() -> dict[str, str]:
    series = piste("bench", "--growth")["series"]
    draw(series, DOCS / "images" / "growth.svg")

    def slope(number: float | None) -> str:
        return "-" if number is None else f"{number:.2f}"

    rows = []
    for row in series.values():
        points = "; ".join(f"{p['size']:,}: {p['seconds']:.2g} s, {p['mib']:.1f} MiB" for p in row["points"])
        exponents = row["exponents"]
        rows.append([row["what"], row["unit"], points, slope(exponents["seconds"]), slope(exponents["mib"])])
    return {"growth": table(["what", "by", "CPU time and memory", "exponent of time", "of memory"], rows)}


def compiling() -> dict[str, str]:
    games = piste("bench", "--compile")["cpu_seconds"]
    kernels = list(next(iter(games.values()))["first"])
    rows = [
        [name, *(f"{row['first'][k]:.1f} / {row['cached'][k]:.2f}" if k in row["first"] else "-" for k in kernels)]
        for name, row in games.items()
    ]
    return {"compiling": table(["game", *kernels], rows)}


def batch() -> dict[str, str]:
    document = piste("bench", "--batch")
    threads, games = document["threads"], document["games"]
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
    return {"batch": f"{table(head, rows)}\n\n{text}"}


PARTS: dict[str, Callable[[], dict[str, str]]] = {
    "rules": rules,
    "batch": batch,
    "compiling": compiling,
    "peers": peers,
    "growth": growth,
}


def main() -> None:
    import numba

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", help=f"some of: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--heavy", action="store_true", help="also what takes minutes and gigabytes")
    given = parser.parse_args()
    where = f"Python {platform.python_version()}, numba {numba.__version__}, {platform.machine()}"
    for part in given.part or PARTS:
        texts = peers(*["--heavy"] * given.heavy) if part == "peers" else PARTS[part]()
        page = PAGE.read_text(encoding="utf-8")
        for name, text in texts.items():
            page = replace_part(page, name, f"{text}\n\n{written_by('speed_page', part)}: {where}.")
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
