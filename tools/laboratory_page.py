"""Measure what docs/laboratory.md says of luck and of engines, and write it there.

python -m tools.laboratory_page [luck] [cost] [--scale X] [--processes P] [--rounds R]

`luck` plays pairings of every game whose luck is exact, and says by how much taking luck off shrinks the interval:
about 15 CPU minutes. `cost` compares the CPU time of a tournament in one process, in two, and on a Dask cluster:
about 9 minutes on two cores; let nothing else run beside it.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from piste.analysis.arena.luck import Adjusted, adjusted_pairings
from piste.analysis.arena.match import with_turn_limit
from piste.analysis.arena.plan import Entrant, Plan, make_plan
from piste.analysis.arena.report import title
from piste.analysis.arena.results import Results
from piste.analysis.arena.tournament import play_tournament
from piste.analysis.coach.tournament_review import review_tournament
from piste.analysis.engine import Engine, open_engine
from piste.cli.progress_bar import ProgressBar
from piste.core.game import find
from tools import known_truth
from tools.pages import DOCS, percent, replace_part, table, written_by

PAGE = DOCS / "laboratory.md"
PAIRS = (("random", "steady"), ("steady", "strong"), ("strong", "perfect"))
# The game, its options, and how many games each pairing has.
KINDS: tuple[tuple[str, dict[str, int | str], int], ...] = (
    ("positive-negative", {}, 120),
    ("positive-negative", {"top": 5}, 600),
    ("zero-sum-grid", {"variant": "harvest"}, 200),
)
TRUTH_GAMES = 10_000
COST_GAMES, START_GAMES, ROUNDS = 10_000, "2", 5
COST = ("tournament", "prime-duel", "steady", "twin=steady", "--games")
PR_SET_CHILD_SUBREAPER = 36


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", choices=("luck", "cost", []), help="one of them (default: both)")
    parser.add_argument("--scale", type=float, default=1.0, help="so many times the usual number of games")
    parser.add_argument("--processes", type=int, default=2, help="for luck; the result is the same with any number")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="for cost: how often each engine is measured")
    parser.add_argument("--page", type=Path, default=PAGE, help="where to write (default: docs/laboratory.md)")
    given = parser.parse_args()
    for part in given.part or ("luck", "cost"):
        text = luck(given.scale, given.processes) if part == "luck" else cost(given.scale, given.rounds)
        page = given.page.read_text(encoding="utf-8")
        command = written_by("laboratory_page", part)
        given.page.write_text(replace_part(page, part, f"{text}\n\n{command}."), encoding="utf-8")
    return 0


def luck(scale: float, processes: int) -> str:
    """Return the table of what taking luck off gains, and what comes out where the truth is known."""
    rows = []
    with open_engine(None, processes) as engine:
        for name, given, games in KINDS:
            for pair in PAIRS:
                plan, found = reviewed(engine, name, given, pair, max(40, round(games * scale)))
                rows.append([title(plan), " – ".join(pair), *cells(found)])
                print(rows[-1], file=sys.stderr, flush=True)
        known = known_truth
        plan, found = reviewed(engine, known.GAME, known.OPTIONS, known.ENTRANTS, round(TRUTH_GAMES * scale))
    head = ["game", "pairing", "games", "raw", "luck taken off", "coefficient", "mean luck", "games' worth"]
    return (
        f"{table(head, rows)}\n\n{title(plan)} is small enough to sum over all games that there can be: "
        f"`{known.ENTRANTS[0]}` gets {100 * known.true_share():.2f} % of the points from `{known.ENTRANTS[1]}`. "
        f"{2 * found.deals:,} games gave {percent(*found.raw, 2)}, and with luck taken off "
        f"{percent(*found.adjusted, 2)}, worth {found.factor:.1f} times as many games."
    )


def reviewed(
    engine: Engine, name: str, given: dict[str, int | str], pair: tuple[str, str], games: int
) -> tuple[Plan, Adjusted]:
    """Play and review a pairing."""
    game = find(name)
    entrants = tuple(Entrant(one, one) for one in pair)
    results = Results(make_plan(game, with_turn_limit(game, given), entrants, games))
    with ProgressBar(" ".join((name, *pair))) as bar:
        play_tournament(results, engine, bar)
        review_tournament(results, engine, bar)
    (found,) = adjusted_pairings(results).values()
    return results.plan, found


def cells(found: Adjusted) -> list[str]:
    mean = found.mean_luck
    return [
        str(2 * found.deals), percent(*found.raw), percent(*found.adjusted) if found.used else "",
        f"{found.coefficient:.2f}", f"{100 * mean.value:+.1f} ± {100 * mean.half:.1f}",
        f"{found.factor:.1f} times" if found.used else "not used",
    ]  # fmt: skip


def cost(scale: float, rounds: int) -> str:
    """Return the CPU time of the same tournament with each engine, and what of it is starting.

    The engines take turns, since what else the machine does changes from minute to minute; the median counts.
    """
    games = str(max(100, round(COST_GAMES * scale)))
    ways = {
        "one process": ("--processes", "1"),
        "two processes": ("--processes", "2"),
        "Dask, two workers": ("--processes", "2", "--engine", "local-cluster"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    starting: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, words in ways.items():
            starting[name].append(measured([*COST, START_GAMES, *words]))
            seconds[name].append(measured([*COST, games, *words]))
            print(f"{name}: {seconds[name][-1]:.1f} s, {starting[name][-1]:.1f} s", file=sys.stderr, flush=True)
    one, two = median(seconds["one process"]), median(seconds["two processes"])
    rows = [
        [
            name, f"{median(spent):.1f} s ({min(spent):.1f} to {max(spent):.1f})", f"{median(starting[name]):.1f} s",
            f"{median(spent) / one:.2f}", "" if name == "one process" else f"{median(spent) / two:.2f}",
        ]
        for name, spent in seconds.items()
    ]  # fmt: skip
    head = ["engine", "CPU time, median (least to most)", "starting and ending", "to one process", "to two processes"]
    return (
        f"`piste {' '.join([*COST, games])}`, all processes together, starting included; {rounds} rounds, in which "
        f"the engines took turns. What starting and ending cost was measured with {START_GAMES} games instead:\n\n"
        + table(head, rows)
    )


def measured(words: list[str]) -> float:
    """Run a command and return the CPU seconds of it and of all that it starts, children that outlive it included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PISTE_HOME": folder}
        subprocess.run(
            [sys.executable, "-m", "piste", *words], env=environment, stdout=subprocess.DEVNULL, check=True
        )
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


if __name__ == "__main__":
    sys.exit(main())
