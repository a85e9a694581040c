"""Measures how large the trees of some games are, which way the solver for any game takes, and how long that takes.

    python -m tools.any_game_sizes kuhn-poker 'leduc-poker{ranks=6}' tic-tac-toe

prints a row of a table for each, with CPU seconds once the kernels are compiled; `docs/solve/any-game.md` has them.
Games of the tree are solved here as if they had no solver of their own. What is in the cache is not used.
"""

from __future__ import annotations

import sys
from time import process_time

from piste.core.information_set import InformationSet
from piste.core.position import Position, split
from piste.solvers.solution import GraphSolution
from piste.solvers.solver import GameSolver
from piste.solvers.tree import estimate, max_nodes

HEAD = "| game | histories, estimated | solved by | nodes | value to the first seat | bound | CPU s |"


def row(written: str) -> str:
    """Return the row of a game with its options."""
    game, options, _ = split(written)
    state = game.rules.start(options)
    solver = GameSolver(game)
    solver.solve(state, max_nodes())  # compiles
    began = process_time()
    answer = solver.solve(state, max_nodes())
    seconds = process_time() - began
    size = estimate(game, state)
    start = f"| {written} | {size.nodes:.3g} ± {size.error:.1g} "
    solution = answer.solution
    if solution is None:
        return f"{start}| search | - | - | - | {seconds:.1f} |"
    evaluation = solution.evaluate(InformationSet.common(Position(game, state), 0))
    assert evaluation is not None
    value = evaluation.chances.value if evaluation.payoff is None else evaluation.payoff.mean
    way = "backward induction" if isinstance(solution, GraphSolution) else "CFR+"
    if isinstance(solution, GraphSolution) and solution.cycles:
        way = "value iteration"
    bound = "exact" if solution.exact else f"{solution.bound * solution.scale.largest:.1g}"
    return f"{start}| {way} | {solution.nodes} | {value:+.6f} | {bound} | {seconds:.1f} |"


if __name__ == "__main__":
    print(HEAD)
    print("| --- " * HEAD.count(" | ") + "| --- |")
    for game_text in sys.argv[1:]:
        print(row(game_text), flush=True)
