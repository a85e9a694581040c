"""Zero Sum Duel: draw, discard down to three, and win with a hand that sums to zero.

Cards are numbered by value, -top first: with top 5, card 0 is -5, card 4 is -1, card 5 is +1, card 9 is +5.
The pile is not stored: it is every card that is neither in the deck nor in a hand.
"""

from __future__ import annotations

from typing import NamedTuple

from piste.core.bits import count, nth, of2, set2, signed_sum, won_or_lost
from piste.core.protocols import CHANCE, HIDDEN, OVER, Event

VERSION = 1

# Phases; the first three are the kinds of events too.
TOSS, DRAW, DISCARD, DONE = 0, 1, 2, 3

# Reasons for an end.
SUM_IS_ZERO, TURN_LIMIT, RESIGNED = 1, 2, 3


class Options(NamedTuple):
    first: int = 0  # 0 tosses a coin (G1); 1 or 2 names who starts
    turns: int = 0  # turn limit, 0 for none (G2)
    top: int = 5  # the highest card
    hand: int = 3  # how many cards may be kept


class State(NamedTuple):
    options: Options
    phase: int
    seat: int  # whose turn it is
    hands: tuple[int, int]
    deck: int
    turns: int  # turns completed by both together (G5)
    winner: int
    reason: int


class View(NamedTuple):
    options: Options
    viewer: int
    phase: int
    seat: int
    hand: int  # the viewer's own cards
    sizes: tuple[int, int]
    left: int  # how many cards the deck has
    pile: int
    turns: int
    winner: int
    reason: int
    hands: tuple[int, int]  # both empty until the game is over (G9)
    undrawn: int  # empty until the game is over


def seats(options: Options) -> int:
    return 2


def every_card(options: Options) -> int:
    return (1 << (2 * options.top)) - 1


def pile(s: State) -> int:
    return every_card(s.options) & ~(s.deck | s.hands[0] | s.hands[1])


def start(options: Options) -> State:
    phase = TOSS if options.first == 0 else DRAW
    return State(options, phase, max(options.first - 1, 0), (0, 0), every_card(options), 0, HIDDEN, 0)


def to_act(s: State) -> int:
    if s.phase == DISCARD:
        return s.seat
    return OVER if s.phase == DONE else CHANCE


def kind(s: State) -> int:
    return s.phase


def legal(s: State) -> int:
    return of2(s.hands, s.seat)  # Z2: the card just drawn is one of them


def outcomes(s: State) -> int:
    if s.phase == TOSS:
        return 0b11
    return s.deck if s.deck else pile(s)  # Z4: rebuilt only when a draw finds the deck empty


def weight(s: State, outcome: int) -> int:
    return (outcomes(s) >> outcome) & 1


def spread(s: State) -> int:
    return count(outcomes(s))


def drawn(s: State, at: int) -> int:
    return nth(outcomes(s), at)


def apply(s: State, action: int) -> State:
    if s.phase == TOSS:
        return State(s.options, DRAW, action, s.hands, s.deck, s.turns, HIDDEN, 0)
    card = 1 << action
    if s.phase == DISCARD:
        return judge(s, of2(s.hands, s.seat) ^ card, s.deck)
    deck = (s.deck if s.deck else pile(s)) ^ card
    hand = of2(s.hands, s.seat) | card
    if count(hand) > s.options.hand:
        return State(s.options, DISCARD, s.seat, set2(s.hands, s.seat, hand), deck, s.turns, HIDDEN, 0)
    return judge(s, hand, deck)


def judge(s: State, hand: int, deck: int) -> State:
    """Look at the hand left at the end of its owner's turn (Z1, Z6), then pass the turn."""
    hands = set2(s.hands, s.seat, hand)
    turns = s.turns + 1
    if signed_sum(s.options.top, hand) == 0:
        return State(s.options, DONE, s.seat, hands, deck, turns, s.seat, SUM_IS_ZERO)
    if turns == s.options.turns:
        return State(s.options, DONE, s.seat, hands, deck, turns, HIDDEN, TURN_LIMIT)
    return State(s.options, DRAW, 1 - s.seat, hands, deck, turns, HIDDEN, 0)


def leave(s: State, seat: int) -> State:
    return State(s.options, DONE, s.seat, s.hands, s.deck, s.turns, 1 - seat, RESIGNED)


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
        of2(s.hands, seat) if seat >= 0 else 0,
        (count(s.hands[0]), count(s.hands[1])),
        count(s.deck),
        pile(s),
        s.turns,
        s.winner,
        s.reason,
        s.hands if over else (0, 0),
        s.deck if over else 0,
    )


def tell(s: State, action: int, seat: int) -> Event:
    if s.phase == TOSS:
        return Event(TOSS, action, action, HIDDEN)
    if s.phase == DRAW and seat != s.seat:
        return Event(DRAW, s.seat, HIDDEN, HIDDEN)  # Z3
    return Event(s.phase, s.seat, action, HIDDEN)
