"""Random play: results and game lengths, exact where the game is small enough, else from many games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from piste.analysis.balance.estimates import MEASURED, Estimate, points, share, sure
from piste.analysis.engine import LOCAL, Engine
from piste.compiled.simulate import can_compile, simulate
from piste.core.game import Game, members
from piste.core.protocols import CHANCE, OVER

MAX_ENUMERATED_STEPS = 100_000
"""A game with more steps is sampled instead of enumerated; so many take about a second."""

INTERPRETED_DIVISOR = 50
"""Without compiled play the number of games is divided by this."""

MAX_GAME_STEPS = 100_000
"""A game that has not ended after so many steps is counted as unfinished."""


class PlayStatistics(NamedTuple):
    """Results and lengths of games. Lengths have counts, or probabilities where exact."""

    points: Estimate  # the first player's, with a draw as an equal part of a win
    draws: Estimate
    decisions: Estimate  # the mean
    lengths: dict[int, float]
    turns: Estimate | None = None
    unfinished: int = 0
    stopped: bool = False  # interrupted before all games were played
    payoff: Estimate | None = None  # the first player's, where it was noted


class TooLargeError(Exception):
    """The game is too large to be enumerated."""


def random_play(
    game: Game,
    options: Any,
    first: int,
    games: int,
    seed: str,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PlayStatistics:
    """Return the statistics of random play: exact if that is cheap, else from `games` games.

    An engine of this machine's own processes is not needed for it: threads do, and compile only once.
    """
    try:
        return enumerated(game, options, first, MAX_ENUMERATED_STEPS)
    except TooLargeError:
        pass
    compiled = can_compile()
    wanted = games if compiled else max(2, games // INTERPRETED_DIVISOR)
    remote = engine is not None and engine.name != LOCAL
    tally = simulate(
        game, options, wanted, seed=seed, threads=1 if engine is None else engine.workers, compiled=compiled,
        most=MAX_GAME_STEPS, progress=progress, spread=engine.in_order if engine is not None and remote else None,
    )  # fmt: skip
    ended = tally.games - tally.unfinished
    won, seats = tally.wins[first], len(tally.wins)
    made = points({1.0: won, 1 / seats: tally.draws, 0.0: ended - won - tally.draws})
    middle, off = tally.length
    decisions = Estimate(middle, max(0.0, middle - off), middle + off, MEASURED, ended)
    lengths = {length: float(count) for length, count in tally.lengths.items()}
    stopped = tally.games < wanted
    return PlayStatistics(made, share(tally.draws, ended), decisions, lengths, None, tally.unfinished, stopped)


def enumerated(game: Game, options: Any, first: int, work: int) -> PlayStatistics:
    """Enumerate all games of random play, by number of decisions; raise TooLargeError beyond `work` steps."""
    rules = game.rules
    seats = rules.seats(options)
    made = drawn = 0.0
    lengths: dict[int, float] = {}
    layer: dict[Any, float] = {rules.start(options): 1.0}
    decisions = done = 0
    while layer:
        after: dict[Any, float] = {}
        while layer:
            state, likely = layer.popitem()
            actor = rules.to_act(state)
            if actor == OVER:
                lengths[decisions] = lengths.get(decisions, 0.0) + likely
                won = game.ending(state).winner
                made += likely * (1 / seats if won is None else float(won == first))
                drawn += likely * (won is None)
                continue
            chance = actor == CHANCE
            actions = members(rules.outcomes(state) if chance else rules.legal(state))
            whole = sum(rules.weight(state, action) for action in actions) if chance else len(actions)
            done += len(actions)
            if done > work:
                raise TooLargeError
            into = layer if chance else after
            for action in actions:
                part = likely * (rules.weight(state, action) if chance else 1) / whole
                then = rules.apply(state, action)
                into[then] = into.get(then, 0.0) + part
        layer = after
        decisions += 1
    middle = sum(length * part for length, part in lengths.items())
    return PlayStatistics(sure(made), sure(drawn), sure(middle), lengths)
