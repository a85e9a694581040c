"""Rounds of Duel with few powers for docs/solved.md: solved anew, and as a table.

`python -m tools.solved_page --rounds` writes the page.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from piste.compiled import table_cache
from piste.games.mccoy_duel import notation
from piste.games.mccoy_duel.rules import Options
from piste.games.mccoy_duel.solver import solutions
from tools.pages import table, today

SIX = ["".join(powers) for powers in combinations(notation.POWERS, 6)]
SEVEN = ["013456*", "013567*", "023567*", "034567*"]


def measured(decks: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Solve these decks, with nothing in the cache, and yield what is said of each."""
    with tempfile.TemporaryDirectory() as folder:
        table_cache.folder = lambda: Path(folder)
        solutions.find(Options(powers=notation.read_powers("05*")))  # so that all is compiled
        for powers in decks:
            options, begun = Options(2, 1, 1, notation.read_powers(powers)), time.process_time()
            solution = solutions.find(options, max_ends=solutions.MAX_ENDS)
            seconds = time.process_time() - begun
            if solution is None:
                raise SystemExit(f"{powers} is too large.")
            print(powers, f"{solution.share:.3%}", f"{solution.bound:.4%}", f"{seconds:.1f} s", file=sys.stderr)
            leads = solutions.leads(options, solution)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # of all decks so far
            row = {"date": today(), "seconds": round(seconds, 1), "wins": solution.wins, "leads": leads}
            yield powers, row | {"mib": peak}


def section(rounds: dict[str, Any]) -> list[str]:
    """Return the part of the page that tells of these rounds, from the data alone."""
    if not rounds:
        return []
    dates = sorted({row["date"] for row in rounds.values()})
    head = ["powers", "the leader wins", "bound", "each lead: what it wins (how often it is led)", "CPU s"]
    known = [powers for powers in rounds if "mib" in rounds[powers]]
    largest = max(known, key=lambda powers: int(rounds[powers]["mib"]), default="")
    decks = sorted(rounds, key=lambda powers: (len(powers), powers.replace("*", "8")))
    return [
        "### Rounds with fewer powers, solved from the opening",
        "",
        "Each player has the cards of these powers, and one of them is buried. The bound is what best responses to",
        "both strategies gain together, worked out over the whole round; the leader's share is the middle of what",
        "it leaves possible. What a lead wins is the mean over the cards that the leader may have buried, against",
        "the solution's answers; it is led in this share of all rounds. A dash: another lead wins at once.",
        *([f"The most memory, {rounds[largest]['mib']} MiB, was needed up to `{largest}`."] if known else []),
        f"Measured {dates[0] if len(dates) == 1 else f'{dates[0]} to {dates[-1]}'} by",
        "",
        "    python -m tools.solved_page --rounds",
        "",
        table(head, (table_row(powers, rounds[powers]) for powers in decks)),
        "",
    ]


def table_row(powers: str, row: dict[str, Any]) -> list[str]:
    leads = ", ".join(
        f"{notation.POWERS[power]} {f'{100 * share:.1f}' if share is not None else '–'} ({100 * played:.1f} %)"
        for power, share, played in row["leads"]
    )
    first, second = row["wins"]
    share, bound = f"{50 * (first + 1 - second):.2f} %", f"{100 * max(0.0, first + second - 1):.4f} %"
    return [f"`{powers}`", share, bound, leads, str(row["seconds"])]
