"""Positive-Negative: keep the card you drew, or discard it and take the next one whatever it is.

Cards are numbered by value, -top first: with top 10, card 0 is -10, card 9 is -1, card 10 is 1, card 19 is 10.
Scores are the sums of the cards kept (P4); the pile is every card that is nowhere else.
"""

from __future__ import annotations

from typing import NamedTuple

from piste.core.bits import count, nth, of2, set2, signed_sum, won_or_lost
from piste.core.protocols import CHANCE, HIDDEN, OVER, Event

VERSION = 1

# Phases; the first three are the kinds of events too.
DRAW, DECIDE, REDRAW, DONE = 0, 1, 2, 3

# Decisions.
KEEP, DISCARD = 0, 1

# Reasons for an end.
HIGHER_SCORE, SAME_SCORE, RESIGNED = 1, 2, 3


class Options(NamedTuple):
    top: int = 10  # the highest card


class State(NamedTuple):
    options: Options
    phase: int
    seat: int  # whose turn it is
    kept: tuple[int, int]
    deck: int
    card: int  # the card drawn and not yet decided on, or HIDDEN
    winner: int
    reason: int


class View(NamedTuple):
    options: Options
    viewer: int
    phase: int
    seat: int
    scores: tuple[int, int]
    kept: tuple[int, int]
    pile: int
    left: int  # how many cards the deck has
    card: int  # the card to decide on, if the viewer may see it (P2)
    winner: int
    reason: int
    undrawn: int  # empty until the game is over (G9)


def seats(options: Options) -> int:
    return 2


def every_card(options: Options) -> int:
    return (1 << (2 * options.top)) - 1


def score(s: State, seat: int) -> int:
    return signed_sum(s.options.top, s.kept[seat])


def pile(s: State) -> int:
    held = 0 if s.card == HIDDEN else 1 << s.card
    return every_card(s.options) & ~(s.deck | s.kept[0] | s.kept[1] | held)


def start(options: Options) -> State:
    return State(options, DRAW, 0, (0, 0), every_card(options), HIDDEN, HIDDEN, 0)


def to_act(s: State) -> int:
    if s.phase == DECIDE:
        return s.seat
    return OVER if s.phase == DONE else CHANCE


def kind(s: State) -> int:
    return s.phase


def legal(s: State) -> int:
    return 0b11


def outcomes(s: State) -> int:
    return s.deck


def weight(s: State, outcome: int) -> int:
    return (s.deck >> outcome) & 1


def spread(s: State) -> int:
    return count(s.deck)


def drawn(s: State, at: int) -> int:
    return nth(s.deck, at)


def apply(s: State, action: int) -> State:
    if s.phase == DRAW:
        return State(s.options, DECIDE, s.seat, s.kept, s.deck ^ (1 << action), action, HIDDEN, 0)
    if s.phase == DECIDE:
        if action == KEEP:
            return pass_on(s, set2(s.kept, s.seat, of2(s.kept, s.seat) | (1 << s.card)), s.deck)
        if s.deck == 0:  # P1: the last card was discarded, and there is none to draw
            return pass_on(s, s.kept, s.deck)
        return State(s.options, REDRAW, s.seat, s.kept, s.deck, HIDDEN, HIDDEN, 0)
    card = 1 << action
    return pass_on(s, set2(s.kept, s.seat, of2(s.kept, s.seat) | card), s.deck ^ card)


def pass_on(s: State, kept: tuple[int, int], deck: int) -> State:
    if deck:
        return State(s.options, DRAW, 1 - s.seat, kept, deck, HIDDEN, HIDDEN, 0)
    lead = signed_sum(s.options.top, kept[0]) - signed_sum(s.options.top, kept[1])
    if lead == 0:
        return State(s.options, DONE, s.seat, kept, deck, HIDDEN, HIDDEN, SAME_SCORE)
    return State(s.options, DONE, s.seat, kept, deck, HIDDEN, 0 if lead > 0 else 1, HIGHER_SCORE)


def leave(s: State, seat: int) -> State:
    return State(s.options, DONE, s.seat, s.kept, s.deck, s.card, 1 - seat, RESIGNED)


def payoff(s: State, seat: int) -> int:
    return won_or_lost(s.winner, seat)


def reason(s: State) -> int:
    return s.reason


def look(s: State, seat: int) -> View:
    over = s.phase == DONE
    return View(
        s.options,
        seat,
        s.phase,
        s.seat,
        (score(s, 0), score(s, 1)),
        s.kept,
        pile(s),
        count(s.deck),
        s.card if over or seat == s.seat else HIDDEN,
        s.winner,
        s.reason,
        s.deck if over else 0,
    )


def tell(s: State, action: int, seat: int) -> Event:
    if s.phase == DRAW and seat != s.seat:
        return Event(DRAW, s.seat, HIDDEN, HIDDEN)  # P2
    if s.phase == DECIDE:
        return Event(DECIDE, s.seat, action, s.card)  # kept or discarded, the card is now public
    return Event(s.phase, s.seat, action, HIDDEN)
