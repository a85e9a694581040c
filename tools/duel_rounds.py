"""Rounds of Duel with few powers for docs/solved.md: solved anew, and as a table.

`python -m tools.solved_page mccoy-duel --rounds` writes the page.
"""

from __future__ import annotations

import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path
from typing import Any

from piste.compiled import table_cache
from piste.games.mccoy_duel import notation
from piste.games.mccoy_duel.rules import Options
from piste.games.mccoy_duel.solver import solutions
from tools.pages import table, today

SIX = ["".join(powers) for powers in combinations(notation.POWERS, 6)]
SEVEN = ["013456*", "013567*", "023567*"]


def measured(decks: list[str]) -> dict[str, Any]:
    """Solve these decks, with nothing in the cache, and return what is said of each."""
    found: dict[str, Any] = {}
    solutions.find(Options(powers=notation.read_powers("05*")))  # so that all is compiled
    with tempfile.TemporaryDirectory() as folder:
        table_cache.folder = lambda: Path(folder)
        for powers in decks:
            options, begun = Options(2, 1, 1, notation.read_powers(powers)), time.process_time()
            lead = solutions.find(options, max_ends=solutions.MAX_ENDS)
            seconds = time.process_time() - begun
            if lead is None:
                print(f"{powers} is too large", file=sys.stderr)
                continue
            pick = solutions.find(options, picking=True, max_ends=2 * solutions.MAX_ENDS)
            found[powers] = {
                "date": today(), "seconds": round(seconds, 1), "wins": lead.wins,
                "pick": None if pick is None else pick.wins, "leads": solutions.leads(options, lead),
            }  # fmt: skip
            print(powers, f"{lead.share:.3%}", f"{lead.bound:.4%}", f"{seconds:.1f} s", file=sys.stderr, flush=True)
    return found


def section(rounds: dict[str, Any]) -> list[str]:
    """Return the part of the page that tells of these rounds, from the data alone."""
    if not rounds:
        return []
    dates = sorted({row["date"] for row in rounds.values()})
    head = ["powers", "the leader wins", "bound", "who picks wins", "each lead: wins, how often it is led", "CPU s"]
    return [
        "### Rounds with fewer powers, solved from the opening",
        "",
        "Each player has the cards of these powers, and one of them is buried. The bound is what best responses to",
        "both strategies gain together, worked out over the whole round; the leader's share is the middle of what",
        "it leaves possible. Who picks has lost the round before and knows the own buried card (D4). What a lead",
        "wins is the mean over the cards that the leader may have buried, against the solution's answers. A dash:",
        f"another lead wins at once. Measured {dates[0] if len(dates) == 1 else f'{dates[0]} to {dates[-1]}'} by",
        "",
        "    python -m tools.solved_page mccoy-duel --rounds",
        "",
        table(head, (table_row(powers, row) for powers, row in rounds.items())),
        "",
    ]


def table_row(powers: str, row: dict[str, Any]) -> list[str]:
    leads = ", ".join(
        f"{notation.POWERS[power]} {f'{100 * share:.1f}' if share is not None else '–'} ({100 * played:.1f} %)"
        for power, share, played in row["leads"]
    )
    pick = "not solved" if row["pick"] is None else f"{100 * middle(row['pick']):.2f} %"
    bound = max(0.0, sum(row["wins"]) - 1)
    return [
        f"`{powers}`",
        f"{100 * middle(row['wins']):.2f} %",
        f"{100 * bound:.4f} %",
        pick,
        leads,
        str(row["seconds"]),
    ]


def middle(wins: list[float]) -> float:
    return (wins[0] + 1 - wins[1]) / 2
