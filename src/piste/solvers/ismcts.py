"""Information set Monte Carlo tree search (ISMCTS) of any game: what a seat knows, searched for so many passes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from piste.core.dealer import RandomStream
from piste.core.evaluation import ESTIMATED, Choice, Evaluation, Progress, quiet
from piste.core.extras import COMPILED, has
from piste.core.game import Game, counted, members
from piste.core.information_set import InformationSet
from piste.core.protocols import SPECTATOR
from piste.solvers.scale import Array, Scale
from piste.solvers.solution import seat_of
from piste.solvers.tree import MAX_WALK, estimate, tree_code

EXPLORATION = 1.0  # the constant of UCB1
LOW_EXPLORATION = 0.3  # while the value is measured; a third of it at last
EVALUATION_PASSES = 100_000
PASSES_PER_CALL = 10_000
UNCOMPILED_SLOWDOWN = 100  # without numba everything takes about this many times as long: search less by as much
MAX_ROOTS = 500  # possible states of which one is drawn for each pass
MAX_TABLE = 1 << 20

Stages = tuple[tuple[int, float], ...]
"""Passes and exploration of each stage."""


class Stage(NamedTuple):
    """What one stage of a search found: of each choice visits, payoffs, wins and losses; of each seat the last."""

    visits: Array
    totals: Array  # payoffs are brought into 0 to 1
    earned: Array
    passes: int


@lru_cache(maxsize=64)
def scale_of(game: Game, options: Any) -> Scale:
    """Return what payoffs can be, by a sample of games."""
    return estimate(game, game.rules.start(options)).scale


def search(
    game: Game, states: Mapping[Any, float], seat: int, stages: Stages, seed: int, progress: Progress = quiet
) -> list[Stage]:
    """Search from possible states in stages over one table; return the result of each stage by itself."""
    code, run = tree_code(game, compiled=False), tree_code(game, compiled=has(COMPILED)).run_ismcts
    roots, weights = sampled(states, seed)
    options, seats = roots[0].options, game.rules.seats(roots[0].options)
    rows, keys = np.zeros((len(roots), code.WIDTH), np.int64), np.zeros((len(roots), seats), np.int64)
    for i, state in enumerate(roots):
        code.pack(state, rows, i)
        keys[i] = [code.first_key(state, one) for one in range(seats)]
    whole = sum(passes for passes, _ in stages)
    size = 1 << min(MAX_TABLE.bit_length() - 1, max(10, (4 * whole).bit_length()))
    table, visits, totals = np.zeros(size, np.int64), np.zeros(size, np.int32), np.zeros((size, 3))
    path, now = np.zeros((MAX_WALK, 2), np.int64), np.zeros(seats, np.int64)
    choices = members(game.rules.legal(roots[0])) if game.rules.to_act(roots[0]) == seat else []
    largest, sums = scale_of(game, options).largest, np.cumsum(weights)
    tried, got = np.zeros(len(choices), np.int64), np.zeros((len(choices), 3))
    done, results = 0, []
    for passes, exploration in stages:
        earned = np.zeros((seats, 3))
        for begin in range(0, passes, PASSES_PER_CALL):
            n = min(PASSES_PER_CALL, passes - begin)
            progress(done, whole, "searching")
            run(options, rows, keys, sums, n, seed + done, exploration, largest, table, visits, totals, earned,
                path, now)  # fmt: skip
            done += n
        slots = [code.decision_slot(table, int(keys[0, seat]), action) for action in choices]
        results.append(Stage(visits[slots] - tried, totals[slots] - got, earned, passes))
        tried, got = visits[slots].astype(np.int64), totals[slots].copy()
    return results


def sampled(states: Mapping[Any, float], seed: int) -> tuple[list[Any], list[float]]:
    """Return the states with their weights; of very many a fair sample."""
    if len(states) <= MAX_ROOTS:
        return list(states), list(states.values())
    stream, known = RandomStream(b"piste search", str(seed)), list(states)
    weights = list(states.values())
    drawn = [known[stream.weighted(weights)] for _ in range(MAX_ROOTS)]
    return drawn, [1.0] * len(drawn)


def best_decision(game: Game, states: Mapping[Any, float], seat: int, passes: int, seed: int) -> int:
    """Return the decision that a search of so many passes tries most often."""
    passes = passes if has(COMPILED) else max(50, passes // UNCOMPILED_SLOWDOWN)
    (stage,) = search(game, states, seat, ((passes, EXPLORATION),), seed)
    return members(game.rules.legal(next(iter(states))))[int(np.argmax(stage.visits))]


def evaluate(known: InformationSet, progress: Progress = quiet, passes: int = EVALUATION_PASSES) -> Evaluation:
    """Search long, then measure play with low exploration: while seats still explore much, the value is off.

    One stage learns, the next two show how far the value has settled, and the last is the value.
    """
    game, seat, states = known.base.game, seat_of(known), dict(known.belief.states)
    passes = passes if has(COMPILED) else passes // UNCOMPILED_SLOWDOWN
    parts = ((2, EXPLORATION), (4, EXPLORATION), (8, LOW_EXPLORATION), (8, LOW_EXPLORATION / 3))
    stages = tuple((max(1, passes // part), exploration) for part, exploration in parts)
    first = next(iter(states))
    scale, deciding = scale_of(game, first.options), game.rules.to_act(first) == known.seat != SPECTATOR
    settling = search(game, states, seat, stages, 1, progress)[1:]
    how = (
        f"{counted(sum(n for n, _ in stages), 'sampled game')} over {counted(len(states), 'possible state')}: "
        f"{why_searched(game, first.options)}. The interval is that of the sampling and how far the value moved "
        "while the search settled; what it never found is not covered."
    )
    if not deciding:
        means = [stage.earned[seat] / stage.passes for stage in settling]
        off = error([float(mean[0]) / scale.largest for mean in means], settling[-1].passes)
        chances, payoff = scale.worth(means[-1])
        return Evaluation(seat, chances, (), ESTIMATED, off, how, payoff=payoff)
    visits: Array = np.sum([stage.visits for stage in settling], axis=0)
    totals: Array = np.sum([stage.totals for stage in settling], axis=0)
    best = int(np.argmax(visits))
    shares = [worth(stage.visits[best], stage.totals[best], scale) for stage in settling if stage.visits[best]]
    off = error([float(one[0]) / scale.largest for one in shares], int(settling[-1].visits[best]))
    choices = []
    for i, action in enumerate(members(game.rules.legal(first))):
        own = shares[-1] if i == best else worth(visits[i], totals[i], scale)
        if i != best and own[0] > shares[-1][0]:
            own = shares[-1]  # tried less often, so that it is not known to be better
        chances, payoff = scale.worth(own)
        choices.append(Choice(action, chances, float(i == best), payoff=payoff))
    chances, payoff = scale.worth(shares[-1])
    return Evaluation(seat, chances, tuple(choices), ESTIMATED, off, how, payoff=payoff)


def why_searched(game: Game, options: Any) -> str:
    """Return why a game was not solved."""
    seats = game.rules.seats(options)
    if seats > 2:
        return f"with {seats} players a game is solved only if its tree is small and nothing is hidden"
    return "the tree is too large to solve"


def worth(visits: int, totals: Array, scale: Scale) -> Array:
    """Return payoff, wins and losses of a choice on average; of one that was never tried, the lowest."""
    if not visits:
        return np.array([-scale.largest, 0.0, 1.0])
    payoff, wins, losses = totals / visits
    return np.array([(2 * payoff - 1) * scale.largest, wins, losses])


def error(values: list[float], samples: int) -> float:
    """Return the error of the last of some values from -1 to 1, in chances to win: its sampling, and how far it is
    from the others."""
    return 1.96 * math.sqrt(0.25 / max(1, samples)) + max(abs(values[-1] - value) for value in values) / 2
