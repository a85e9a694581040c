"""Measures how the work of preparing a game's strong bots is shared out, with an empty cache.

    python -m tools.compile_shares mccoy-duel 'zero-sum-duel{turns=30}'

prints the CPU seconds of all, and the share in percent of compiling each function that takes 1 % or more, of other
functions together, and of what is no compiling; then the same of what the first late decision adds, in a game where
that is much. The solvers' `COMPILED` tables are filled from it: with them progress
moves with the work.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from time import process_time
from typing import Any


def main(name: str) -> None:
    from numba.core import event

    from piste.core.evaluation import quiet
    from piste.core.position import split

    spent: Counter[str] = Counter()
    times: Counter[str] = Counter()

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:  # noqa: ARG002
            self.began = process_time()

        def on_end(self, event: Any) -> None:
            step, _, function = event.data["name"].partition(" ")
            if step == "native_lowering":
                function = function.strip("[]").rpartition(".")[2]
                spent[function] += process_time() - self.began  # type: ignore[assignment]
                times[function] += 1

    game, options, _ = split(name)
    solver: Any = game.solver
    event.register("numba:run_pass", Listener())  # type: ignore[no-untyped-call]
    parts: dict[str, Callable[[], Any]] = {name: lambda: solver.prepare(options, quiet)}
    if hasattr(solver, "solve_smallest_round"):
        parts[f"{name}, first late decision"] = solver.solve_smallest_round
    for part, work in parts.items():
        spent.clear()
        times.clear()
        began = process_time()
        work()
        show(part, process_time() - began, spent, times)


def show(part: str, whole: float, spent: Counter[str], times: Counter[str]) -> None:
    print(f"{part}: {whole:.1f} s")
    small = 0.0
    for function, seconds in spent.most_common():
        if seconds < whole / 100:
            small += seconds
        else:
            print(f"  {function}: {100 * seconds / whole:.1f} ({times[function]} times)")
    print(f"  others: {100 * small / whole:.1f} ({sum(n for f, n in times.items() if spent[f] < whole / 100)} times)")
    print(f"  no lowering: {100 * (whole - spent.total()) / whole:.1f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for each in sys.argv[1:]:
            main(each)
