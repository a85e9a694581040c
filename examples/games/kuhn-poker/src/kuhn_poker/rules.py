"""Kuhn poker: each antes one chip and gets one card; one bet of one chip; the higher card wins.

Three cards, no draw. The first player passes or bets. After a bet the other passes, and so gives up the pot, or bets
too, and the cards are shown. After two passes the cards are shown. After a pass and a bet the first player decides
once more.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from piste.core.bits import of2, set2
from piste.core.protocols import CHANCE, HIDDEN, OVER, Event, OneOf

VERSION = 1

# Phases; the first two are the kinds of events too.
DEAL, BETTING, DONE = 0, 1, 2

# Decisions.
PASS, BET = 0, 1

# Reasons for an end.
SHOWDOWN, FOLDED, RESIGNED = 1, 2, 3


class Options(NamedTuple):
    cards: Annotated[int, range(2, 14), "cards in the deck, each of another rank"] = 3


class State(NamedTuple):
    options: Options
    phase: int
    seat: int  # who gets a card, or who decides
    cards: tuple[int, int]  # HIDDEN before it is dealt
    stakes: tuple[int, int]  # chips in the pot
    passed: int  # 1 after the first player passed
    winner: int
    reason: int


class View(NamedTuple):
    options: Options
    viewer: int
    phase: int
    seat: int
    cards: Annotated[tuple[int, int], OneOf(DEAL)]  # HIDDEN what the viewer may not see
    stakes: Annotated[tuple[int, int], range(1, 3)]
    passed: Annotated[int, range(2)]
    winner: int
    reason: int


def start(options: Options) -> State:
    return State(options, DEAL, 0, (HIDDEN, HIDDEN), (1, 1), 0, HIDDEN, 0)


def to_act(s: State) -> int:
    if s.phase == BETTING:
        return s.seat
    return OVER if s.phase == DONE else CHANCE


def legal(s: State) -> int:
    return 1 << PASS | 1 << BET


def outcomes(s: State) -> int:
    dealt = 0 if s.cards[0] == HIDDEN else 1 << s.cards[0]
    return (1 << s.options.cards) - 1 & ~dealt


def apply(s: State, action: int) -> State:
    if s.phase == DEAL:
        phase = DEAL if s.seat == 0 else BETTING
        return State(s.options, phase, 1 - s.seat, set2(s.cards, s.seat, action), s.stakes, 0, HIDDEN, 0)
    facing_bet = s.stakes[0] != s.stakes[1]
    if action == BET:
        stakes = set2(s.stakes, s.seat, 2)
        if facing_bet:
            return end(s, stakes, higher_card(s), SHOWDOWN)
        return State(s.options, BETTING, 1 - s.seat, s.cards, stakes, s.passed, HIDDEN, 0)
    if facing_bet:
        return end(s, s.stakes, 1 - s.seat, FOLDED)
    if s.passed:
        return end(s, s.stakes, higher_card(s), SHOWDOWN)
    return State(s.options, BETTING, 1 - s.seat, s.cards, s.stakes, 1, HIDDEN, 0)


def higher_card(s: State) -> int:
    return 0 if s.cards[0] > s.cards[1] else 1


def end(s: State, stakes: tuple[int, int], winner: int, reason: int) -> State:
    return State(s.options, DONE, s.seat, s.cards, stakes, s.passed, winner, reason)


def leave(s: State, seat: int) -> State:
    return end(s, s.stakes, 1 - seat, RESIGNED)


def payoff(s: State, seat: int) -> int:
    if s.winner == HIDDEN:
        return 0
    lost = of2(s.stakes, 1 - s.winner)
    return lost if s.winner == seat else -lost


def look(s: State, seat: int) -> View:
    over = s.phase == DONE
    cards = (s.cards[0] if over or seat == 0 else HIDDEN, s.cards[1] if over or seat == 1 else HIDDEN)
    return View(s.options, seat, s.phase, s.seat, cards, s.stakes, s.passed, s.winner, s.reason)


def tell(s: State, action: int, seat: int) -> Event:
    if s.phase == DEAL and seat != s.seat:
        return Event(DEAL, s.seat, HIDDEN, HIDDEN)
    return Event(s.phase, s.seat, action, HIDDEN)
