"""Measures how large the trees of some games are, which way the solver for any game takes, and how long that takes.

    python -m tools.any_game_sizes kuhn-poker 'leduc-poker{ranks=6}' tic-tac-toe

prints a row of a table for each, with CPU seconds once the kernels are compiled, and how many more it took the first
time; `docs/solve/any-game.md` has them. Games of the tree are solved here as if they had no solver of their own. No
cache is used: neither solutions nor compiled code of earlier runs. The examples have to be installed.
"""

from __future__ import annotations

import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import process_time

from piste.core.information_set import InformationSet
from piste.core.position import Position, split
from piste.solvers.solution import GraphSolution
from piste.solvers.solver import GameSolver
from piste.solvers.tree import estimate, max_nodes

HEAD = "| game | histories, estimated | solved by | nodes | value to the first seat | bound | CPU s | to compile |"


def row(written: str) -> str:
    """Return the row of a game with its options."""
    game, options, _ = split(written)
    state = game.rules.start(options)
    solver = GameSolver(game)
    times = [process_time()]
    for _ in range(2):  # the first compiles
        answer = solver.solve(state, max_nodes())
        times.append(process_time())
    first, second = times[1] - times[0], times[2] - times[1]
    spent = f"{second:.1f} | {max(0.0, first - second):.1f} |"
    size = estimate(game, state)
    start = f"| {written} | {size.nodes:.3g} ± {size.error:.1g} "
    solution = answer.solution
    if solution is None:
        return f"{start}| search | - | - | - | {spent}"
    evaluation = solution.evaluate(InformationSet.common(Position(game, state), 0))
    assert evaluation is not None
    value = evaluation.chances.value if evaluation.payoff is None else evaluation.payoff.mean
    way = "backward induction" if isinstance(solution, GraphSolution) else "CFR+"
    if isinstance(solution, GraphSolution) and solution.cycles:
        way = "value iteration"
    bound = "exact" if solution.exact else f"{solution.bound * solution.scale.largest:.1g}"
    return f"{start}| {way} | {solution.nodes} | {value:+.6f} | {bound} | {spent}"


if __name__ == "__main__":
    print(HEAD)
    print("| --- " * HEAD.count(" | ") + "| --- |")
    for game_text in sys.argv[1:]:
        # Each has a process of its own: what one has compiled would be there for the next.
        with tempfile.TemporaryDirectory() as empty, ProcessPoolExecutor(1, get_context("spawn")) as process:
            os.environ["XDG_CACHE_HOME"] = empty
            print(process.submit(row, game_text).result(), flush=True)
