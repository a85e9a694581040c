"""The levels of a game that has none of its own: lower ones play games out at random, upper ones search or solve."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any, NamedTuple

from piste.core.belief import belief
from piste.core.dealer import RandomStream
from piste.core.evaluation import Progress
from piste.core.game import Game, actions_of
from piste.core.protocols import CHANCE, OVER
from piste.core.views import SeatView

STEPS = {"novice": 300, "steady": 2_000}
"""How many steps of random games these levels play for a decision; a whole game for each choice at least."""

MAX_GAME = 400
"""Steps after which such a game counts as a draw."""

SLIP_RATE = 5
"""One decision in so many `novice` takes without looking."""

STRONG_PASSES = 2_000


class Level(NamedTuple):
    """What a game's `bots/<level>.py` offers as a module."""

    choose: Callable[[SeatView, RandomStream], int]
    LINE: str
    FEEL: str
    ASKS_SOLVER: bool = False
    prepare: Callable[[Any, Progress], None] | None = None


@cache
def of(game: Game, level: str) -> Level:
    """Return a level of a game that has none of its own."""
    if level == "novice":
        return Level(
            lambda view, stream: choose_novice(game, view, stream),
            f"Plays a few random games for each choice; one decision in {SLIP_RATE} it takes without looking.",
            "Looks at what is near and slips at times.",
        )
    if level == "steady":
        return Level(
            lambda view, stream: best_by_playouts(game, view, stream, STEPS["steady"]),
            f"Plays out random games of {STEPS['steady']} steps together and takes what does best.",
            "Sees what usually works, and no traps.",
        )
    if level == "strong":
        return Level(
            lambda view, stream: searched(game, view, stream),
            f"Searches by sampled play, {STRONG_PASSES} games for a decision; it solves nothing.",
            "Looks ahead a good deal. You have to see more than the next move.",
            True,
            lambda options, _progress: game.solver.prepare_search(options),
        )
    return Level(
        lambda view, stream: int(game.solver.choose(view, stream)),
        "Plays the solution where the game is small enough to solve; else it searches long by sampled play.",
        "",
        True,
    )


def choose_novice(game: Game, view: SeatView, stream: RandomStream) -> int:
    if stream.below(SLIP_RATE) == 0:
        return view.actions[stream.below(len(view.actions))]
    return best_by_playouts(game, view, stream, STEPS["novice"])


def best_by_playouts(game: Game, view: SeatView, stream: RandomStream, steps: int) -> int:
    """Return the decision after which random games from what the seat holds possible pay most."""
    if len(view.actions) == 1:
        return view.actions[0]
    chance = Random(stream.below(1 << 60))
    states = belief(game, view).states
    known, weights = list(states), list(states.values())
    order = list(view.actions)
    chance.shuffle(order)  # so that equals are left to chance
    earned = dict.fromkeys(order, 0)
    left = steps
    while left > 0:
        state = chance.choices(known, weights)[0]
        for action in order:
            paid, played = playout(game, game.rules.apply(state, action), view.seat, chance)
            earned[action] += paid
            left -= played
    return max(order, key=lambda action: earned[action])


def playout(game: Game, state: Any, seat: int, chance: Random) -> tuple[int, int]:
    """Play a game out at random; return what it pays a seat, and how many steps it had."""
    rules = game.rules
    for step in range(1, MAX_GAME + 1):
        actor = rules.to_act(state)
        if actor == OVER:
            return rules.payoff(state, seat), step
        if actor == CHANCE:
            state = rules.apply(state, rules.drawn(state, chance.randrange(rules.spread(state))))
        else:
            state = rules.apply(state, chance.choice(actions_of(rules.legal(state))))
    return 0, MAX_GAME


def searched(game: Game, view: SeatView, stream: RandomStream) -> int:
    from piste.solvers.ismcts import best_decision

    return best_decision(game, belief(game, view).states, view.seat, STRONG_PASSES, stream.below(1 << 31))
