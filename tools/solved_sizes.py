"""Measure which sizes of the games are solved exactly within a minute of CPU time: src/piste/evals/solved_sizes.json.

python -m tools.solved_sizes [GAME ...]          # all of them take about ten minutes of one core

Each size is solved and some games of random players are graded, in a process of its own. A size is kept if no value
was only estimated and all of it took at most 60 CPU seconds.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from itertools import combinations, product

from piste import bots
from piste.analysis.arena.game_play import play_game
from piste.analysis.arena.results import GameResult
from piste.core.errors import OptionError, PisteError
from piste.core.evaluation import ESTIMATED, Basis
from piste.core.game import find, names
from piste.core.worker_process import Worker
from piste.evals.grading import grade_game, make_plan
from piste.evals.settings import VARIED, Size, usual_options
from piste.evals.sizes import FILE, MAX_CPU_S
from tools import solved_sizes
from tools.pages import git, today

Given = dict[str, int | str]

GAMES = 4
"""How many games of a size are graded."""

PATIENCE_S = 20 * MAX_CPU_S
"""Seconds on the clock after which a size is given up, on a busy machine too."""


def candidates() -> Iterator[tuple[str, Given]]:
    """Yield sizes to be tried, near those that people play."""
    for top, hand in product(range(3, 8), range(2, 7)):
        yield "zero-sum-duel", {"top": top, "hand": hand}
    for top in range(3, 10):
        yield "positive-negative", {"top": top}
    for turns, top in product((10, 12, 14, 18, 20), (3, 4, 6, 7)):
        yield "zero-sum-grid", {"variant": "harvest", "turns": turns, "top": top}
    for top, copies, target in product((4, 5, 6, 7), (1, 2, 3), (24, 33, 42, 55)):
        yield "prime-duel", {"top": top, "copies": copies, "target": target}
    for powers in list(combinations("01234567*", 4))[::14]:
        # Who picks the first player does so before the deal, where values are only estimated.
        yield "mccoy-duel", {"powers": "".join(powers), "rounds": 1, "first": 1}


def measure(name: str, given: Given) -> float | None:
    """Return the CPU seconds of solving a size and grading some games; None if a value is only estimated."""
    game = find(name)
    options = usual_options(game, given)
    plan = make_plan(Size(game, options, VARIED), "random", GAMES, "solved sizes")
    decisions = []
    for deal in range(GAMES):
        played = play_game(game, options, ["random", "random"], plan.deal_seed(0, deal))
        decisions += grade_game(plan, deal, GameResult.of((0, 1), played))["decisions"]
    used = resource.getrusage(resource.RUSAGE_SELF)
    known = decisions and all(one["known"] != ESTIMATED for one in decisions)
    return used.ru_utime + used.ru_stime if known else None


def solved_sizes_before() -> dict[str, list[dict[str, object]]]:
    """Return what the file has, to keep what is not measured again."""
    found = json.loads(FILE.read_text(encoding="utf-8"))["sizes"] if FILE.exists() else {}
    return {name: found.get(name, []) for name in names()}


def main() -> None:
    wanted = sys.argv[1:] or list(names())
    sizes = {name: [] if name in wanted else found for name, found in solved_sizes_before().items()}
    for name, given in candidates():
        if name not in wanted:
            continue
        worker = Worker()
        try:
            options = usual_options(find(name), given)
            known = bots.basis(find(name), bots.TOP, options)
            if options == usual_options(find(name), {}) or known in (Basis.ESTIMATED, Basis.PARTLY):
                continue
            cpu = worker.submit(solved_sizes.measure, name, given).result(PATIENCE_S)
        except OptionError:
            continue  # options that cannot go together
        except (PisteError, TimeoutError) as e:
            print(name, given, type(e).__name__, e, flush=True)
            continue
        finally:
            worker.kill()
        print(name, given, "estimated" if cpu is None else f"{cpu:.1f} s", flush=True)
        if cpu is not None and cpu <= MAX_CPU_S:
            sizes.setdefault(name, []).append({"options": given, "cpu": round(cpu, 1)})
    head = {"measured": today(), "commit": git("rev-parse", "HEAD")[:12], "games_graded": GAMES}
    games = ",\n".join(
        f"    {json.dumps(name)}: [\n" + ",\n".join(f"      {json.dumps(one)}" for one in found) + "\n    ]"
        for name, found in sizes.items()
    )
    start = json.dumps(head)[:-1]
    FILE.write_text(f'{start},\n  "sizes": {{\n{games}\n  }}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
