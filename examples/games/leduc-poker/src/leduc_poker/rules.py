"""Leduc poker: two of each rank, one card each, one card for all, and a round of bets before and after it.

Each antes one chip. In each round the first player begins; a raise is of two chips in the first round and of four in
the second, and there are at most two raises a round. Whoever has the rank of the card for all wins, else the higher
rank; equal ranks share the pot.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from piste.core.bits import of2, set2
from piste.core.protocols import ABSENT, CHANCE, HIDDEN, OVER, SEAT, Event, OneOf

VERSION = 1

# Phases; all but the last are the kinds of events too.
DEAL, BETTING, REVEAL, DONE = 0, 1, 2, 3

# Decisions. A call without a raise before it is a check.
FOLD, CALL, RAISE = 0, 1, 2

# Reasons for an end.
SHOWDOWN, FOLDED, RESIGNED = 1, 2, 3


class Options(NamedTuple):
    ranks: Annotated[int, range(2, 14), "ranks; there are two cards of each"] = 3


class State(NamedTuple):
    options: Options
    phase: int
    seat: int  # who gets a card, or who decides
    cards: tuple[int, int]  # ranks; HIDDEN before they are dealt
    board: int  # the card for all, or HIDDEN
    stakes: tuple[int, int]  # chips in the pot
    raises: int  # in this round
    checked: int  # 1 after the first player checked in this round, until somebody raises
    winner: int  # HIDDEN while the game goes on, and if the pot is shared
    reason: int


class View(NamedTuple):
    options: Options
    viewer: int
    phase: int
    seat: Annotated[int, SEAT]
    cards: Annotated[tuple[int, int], OneOf(DEAL)]  # HIDDEN what the viewer may not see
    board: Annotated[int, OneOf(DEAL)]  # ABSENT before it is shown
    stakes: Annotated[tuple[int, int], range(1, 14)]
    raises: Annotated[int, range(3)]
    winner: int
    reason: int


def start(options: Options) -> State:
    return State(options, DEAL, 0, (HIDDEN, HIDDEN), HIDDEN, (1, 1), 0, 0, HIDDEN, 0)


def to_act(s: State) -> int:
    return s.seat if s.phase == BETTING else OVER if s.phase == DONE else CHANCE


def legal(s: State) -> int:
    return 1 << CALL | int(s.stakes[0] != s.stakes[1]) << FOLD | int(s.raises < 2) << RAISE


def outcomes(s: State) -> int:
    gone = 1 << s.cards[0] if s.cards[0] != HIDDEN and s.cards[0] == s.cards[1] else 0
    return (1 << s.options.ranks) - 1 & ~gone


def weight(s: State, outcome: int) -> int:
    return 2 - int(s.cards[0] == outcome) - int(s.cards[1] == outcome)


def spread(s: State) -> int:
    return 2 * s.options.ranks - int(s.cards[0] != HIDDEN) - int(s.cards[1] != HIDDEN)


def drawn(s: State, at: int) -> int:
    rank = 0
    while at >= weight(s, rank):
        at, rank = at - weight(s, rank), rank + 1
    return rank


def apply(s: State, action: int) -> State:
    if s.phase == DEAL:
        phase = DEAL if s.seat == 0 else BETTING
        return State(s.options, phase, 1 - s.seat, set2(s.cards, s.seat, action), HIDDEN, s.stakes, 0, 0, HIDDEN, 0)
    if s.phase == REVEAL:
        return State(s.options, BETTING, 0, s.cards, action, s.stakes, 0, 0, HIDDEN, 0)
    if action == FOLD:
        return end(s, s.stakes, 1 - s.seat, FOLDED)
    called = of2(s.stakes, 1 - s.seat)
    if action == RAISE:
        stakes = set2(s.stakes, s.seat, called + (2 if s.board == HIDDEN else 4))
        return State(s.options, BETTING, 1 - s.seat, s.cards, s.board, stakes, s.raises + 1, 0, HIDDEN, 0)
    if s.raises == 0 and s.checked == 0:
        return State(s.options, BETTING, 1 - s.seat, s.cards, s.board, s.stakes, 0, 1, HIDDEN, 0)
    if s.board == HIDDEN:
        return State(s.options, REVEAL, 0, s.cards, HIDDEN, (called, called), 0, 0, HIDDEN, 0)
    return end(s, (called, called), better_card(s), SHOWDOWN)


def better_card(s: State) -> int:
    if s.cards[0] == s.cards[1]:
        return HIDDEN
    paired = s.cards[0] == s.board or s.cards[1] == s.board
    return 0 if (s.cards[0] == s.board if paired else s.cards[0] > s.cards[1]) else 1


def end(s: State, stakes: tuple[int, int], winner: int, reason: int) -> State:
    return State(s.options, DONE, s.seat, s.cards, s.board, stakes, s.raises, s.checked, winner, reason)


def leave(s: State, seat: int) -> State:
    return end(s, s.stakes, 1 - seat, RESIGNED)


def payoff(s: State, seat: int) -> int:
    lost = of2(s.stakes, 1 - s.winner) if s.winner != HIDDEN else 0
    return lost if s.winner == seat else -lost


def look(s: State, seat: int) -> View:
    over = s.phase == DONE
    cards = (s.cards[0] if over or seat == 0 else HIDDEN, s.cards[1] if over or seat == 1 else HIDDEN)
    board = ABSENT if s.board == HIDDEN else s.board
    return View(s.options, seat, s.phase, s.seat, cards, board, s.stakes, s.raises, s.winner, s.reason)


def tell(s: State, action: int, seat: int) -> Event:
    if s.phase == DEAL and seat != s.seat:
        return Event(DEAL, s.seat, HIDDEN, HIDDEN)
    return Event(s.phase, HIDDEN if s.phase == REVEAL else s.seat, action, HIDDEN)
