"""Random play: how it ends and how long it takes, exactly where the game is small enough, else in many games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from piste.analysis.balance.estimates import MEASURED, Estimate, mean, points, share, sure
from piste.compiled.simulate import can_compile, simulate
from piste.core.game import Game, members
from piste.core.protocols import CHANCE, OVER

WORK = 100_000
"""So many steps may be looked through to get random play exactly: about a second."""

PLAIN = 50
"""Without compiled play so many times fewer games are played."""

STEPS = 100_000
"""A game that has not ended after so many steps is given up."""


class Spread(NamedTuple):
    """How games went: who won, and how many had so many decisions. Counts, or probabilities where exact."""

    points: Estimate  # the first player's, with a draw as an equal part of a win
    draws: Estimate
    decisions: Estimate  # the mean
    lengths: dict[int, float]
    turns: Estimate | None = None
    unfinished: int = 0
    stopped: bool = False  # somebody ended it before all games were played


class TooLargeError(Exception):
    """There is too much to look through."""


def random_play(
    game: Game,
    options: Any,
    first: int,
    games: int,
    seed: str,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Spread:
    """Return what random play comes to: exact if that is cheap, else from so many games."""
    try:
        return enumerated(game, options, first, WORK)
    except TooLargeError:
        pass
    compiled = can_compile()
    wanted = games if compiled else max(2, games // PLAIN)
    tally = simulate(
        game, options, wanted, seed=seed, threads=threads, compiled=compiled, most=STEPS, progress=progress
    )
    ended = tally.games - tally.unfinished
    won, seats = tally.wins[first], len(tally.wins)
    made = points({1.0: won, 1 / seats: tally.draws, 0.0: ended - won - tally.draws})
    middle, off = tally.length
    decisions = Estimate(middle, max(0.0, middle - off), middle + off, MEASURED, ended)
    lengths = {length: float(count) for length, count in tally.lengths.items()}
    cut = tally.games < wanted
    return Spread(made, share(tally.draws, ended), decisions, lengths, None, tally.unfinished, cut)


def enumerated(game: Game, options: Any, first: int, work: int) -> Spread:
    """Go through all games of random play, layer by layer of decisions; raise TooLarge if there are too many."""
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
    return Spread(sure(made), sure(drawn), sure(middle), lengths)


def counted(made: list[float], drawn: int, decisions: list[int], turns: list[int]) -> Spread:
    """Return what came of games that were played one by one: the first player's points, draws, and lengths."""
    lengths: dict[int, float] = {}
    for length in decisions:
        lengths[length] = lengths.get(length, 0.0) + 1
    n = len(decisions)
    return Spread(points(Counter(made)), share(drawn, n), mean(decisions), dict(sorted(lengths.items())), mean(turns))
