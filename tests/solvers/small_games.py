"""Games whose states come again, each one file of rules, installed for a test; and values found without piste."""

from __future__ import annotations

PIG = '''"""Pig: roll a die and add it up; a 1 loses what the turn brought. The first at the target wins."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from piste.core.protocols import CHANCE, HIDDEN, OVER, Event

ROLL, HOLD = 0, 1


class Options(NamedTuple):
    target: Annotated[int, range(2, 101), "the score that wins"] = 10


class State(NamedTuple):
    options: Options
    rolling: int
    seat: int
    scores: tuple[int, int]
    turn: int
    winner: int


class View(NamedTuple):
    options: Options
    rolling: int
    seat: int
    scores: tuple[int, int]
    turn: int
    winner: int


def start(options: Options) -> State:
    return State(options, 0, 0, (0, 0), 0, HIDDEN)


def to_act(s: State) -> int:
    if s.winner != HIDDEN:
        return OVER
    return CHANCE if s.rolling else s.seat


def legal(s: State) -> int:
    return 0b11


def outcomes(s: State) -> int:
    return 0b1111110


def apply(s: State, action: int) -> State:
    if s.rolling == 0 and action == ROLL:
        return State(s.options, 1, s.seat, s.scores, s.turn, HIDDEN)
    if s.rolling and action > 1:
        turn = s.turn + action
        own = s.scores[1] if s.seat else s.scores[0]
        return State(s.options, 0, s.seat, s.scores, turn, s.seat if own + turn >= s.options.target else HIDDEN)
    turn = 0 if s.rolling else s.turn
    scores = (s.scores[0], s.scores[1] + turn) if s.seat else (s.scores[0] + turn, s.scores[1])
    return State(s.options, 0, 1 - s.seat, scores, 0, HIDDEN)


def leave(s: State, seat: int) -> State:
    return State(s.options, 0, s.seat, s.scores, s.turn, 1 - seat)


def payoff(s: State, seat: int) -> int:
    if s.winner == HIDDEN:
        return 0
    return 1 if s.winner == seat else -1


def look(s: State, seat: int) -> View:
    return View(s.options, s.rolling, s.seat, s.scores, s.turn, s.winner)


def tell(s: State, action: int, seat: int) -> Event:
    return Event(0 if s.rolling else 1, s.seat, action, HIDDEN)
'''


def first_player_wins(target: int) -> float:
    """Return how often the first player wins, by value iteration on scores alone, written without piste's rules."""
    p = {(i, j, k): 0.5 for i in range(target) for j in range(target) for k in range(target - i)}

    def chance(i: int, j: int, k: int) -> float:
        return 1.0 if i + k >= target else p[i, j, k]

    change = 1.0
    while change > 1e-13:
        change = 0.0
        for i, j, k in reversed(list(p)):
            hold = 1 - p[j, i + k, 0]
            roll = (1 - p[j, i, 0] + sum(chance(i, j, k + die) for die in range(2, 7))) / 6
            better = max(hold, roll)
            change = max(change, abs(better - p[i, j, k]))
            p[i, j, k] = better
    return p[0, 0, 0]


TUG = '''"""Tug: each in turn moves a token on seven squares a step, or lets it be; at an end somebody has won."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from piste.core.protocols import HIDDEN, OVER, Event


class Options(NamedTuple):
    begin: Annotated[int, range(1, 6), "where the token is at first"] = 3


class State(NamedTuple):
    options: Options
    seat: int
    token: int


class View(NamedTuple):
    options: Options
    seat: int
    token: int


def start(options: Options) -> State:
    return State(options, 0, options.begin)


def to_act(s: State) -> int:
    return OVER if s.token <= 0 or s.token >= 6 else s.seat


def legal(s: State) -> int:
    return 0b111


def apply(s: State, action: int) -> State:
    return State(s.options, 1 - s.seat, s.token + action - 1)


def leave(s: State, seat: int) -> State:
    return State(s.options, s.seat, 0 if seat == 0 else 6)


def payoff(s: State, seat: int) -> int:
    won = 3 if s.token >= 6 else -2 if s.token <= 0 else 0
    return won if seat == 0 else -won


def look(s: State, seat: int) -> View:
    return View(s.options, s.seat, s.token)


def tell(s: State, action: int, seat: int) -> Event:
    return Event(1, s.seat, action, HIDDEN)
'''
