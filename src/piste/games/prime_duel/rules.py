"""Prime Duel: draw, keep or try the next card; a prime score earns an extra turn; exactly 50 wins.

Action `v - 1` is the card with value v. The deck is a count for each value, four bits each. The pile is not
stored: every card that is not in the deck nor waiting for a decision lies on it (Q1), so that a reshuffle is
always of the whole deck (Q4).
"""

from __future__ import annotations

from typing import NamedTuple

from piste.core.bits import lane, lane_at, lane_one, of2, set2, units, won_or_lost
from piste.core.protocols import CHANCE, HIDDEN, OVER, Event

VERSION = 1

# Phases; the first four are the kinds of events too.
TOSS, DRAW, DECIDE, REDRAW, DONE = 0, 1, 2, 3, 4

# Decisions.
KEEP, DISCARD = 0, 1

# Reasons for an end.
TARGET_REACHED, TURN_LIMIT, RESIGNED = 1, 2, 3

ONE_OF_EACH = 0x111111111111111  # of fifteen values
PRIMES = sum(1 << n for n in range(2, 62) if all(n % d for d in range(2, n)))  # those below 62, as a set


class Options(NamedTuple):
    first: int = 0  # 0 tosses a coin (G1); 1 or 2 names who starts
    turns: int = 0  # turn limit, 0 for none (G2)
    top: int = 10  # the highest card
    copies: int = 4  # how many there are of each card
    target: int = 50  # the score that wins


class State(NamedTuple):
    options: Options
    phase: int
    seat: int  # whose turn it is
    scores: tuple[int, int]
    deck: int
    card: int  # the card drawn and not yet decided on, as an action, or HIDDEN
    extra: int  # 1 in an extra turn
    turns: int  # turns completed by both together; an extra turn is part of its turn (G5)
    winner: int
    reason: int


class View(NamedTuple):
    options: Options
    viewer: int
    phase: int
    seat: int
    scores: tuple[int, int]
    deck: int  # what is left of each card: known to all, since every card is shown (Q5)
    card: int
    extra: int
    turns: int
    winner: int
    reason: int


def seats(options: Options) -> int:
    return 2


def whole_deck(options: Options) -> int:
    return options.copies * (ONE_OF_EACH & (lane_one(options.top) - 1))


def is_prime(n: int) -> bool:
    if n < 62:
        return (PRIMES >> n) & 1 == 1
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1
    return True


def start(options: Options) -> State:
    phase = TOSS if options.first == 0 else DRAW
    seat = max(options.first - 1, 0)
    return State(options, phase, seat, (0, 0), whole_deck(options), HIDDEN, 0, 0, HIDDEN, 0)


def to_act(s: State) -> int:
    if s.phase == DECIDE:
        return s.seat
    return OVER if s.phase == DONE else CHANCE


def kind(s: State) -> int:
    return s.phase


def legal(s: State) -> int:
    return 0b11


def draw_from(s: State) -> int:
    return s.deck if s.deck else whole_deck(s.options)  # Q4


def outcomes(s: State) -> int:
    if s.phase == TOSS:
        return 0b11
    lanes, cards, card = draw_from(s), 0, 1
    while lanes:  # interpreted, a call of `lane` for each would take twice as long
        if lanes & 15:
            cards |= card
        lanes, card = lanes >> 4, card << 1
    return cards


def weight(s: State, outcome: int) -> int:
    if s.phase == TOSS:
        return 1
    return lane(draw_from(s), outcome)


def spread(s: State) -> int:
    return 2 if s.phase == TOSS else units(draw_from(s))


def drawn(s: State, at: int) -> int:
    return at if s.phase == TOSS else lane_at(draw_from(s), at)


def apply(s: State, action: int) -> State:
    if s.phase == DECIDE:
        if action == KEEP:
            return scored(s, of2(s.scores, s.seat) + s.card + 1, s.deck)
        return State(s.options, REDRAW, s.seat, s.scores, s.deck, HIDDEN, s.extra, s.turns, HIDDEN, 0)
    if s.phase == TOSS:
        return State(s.options, DRAW, action, s.scores, s.deck, HIDDEN, 0, 0, HIDDEN, 0)
    deck = draw_from(s) - lane_one(action)
    after = of2(s.scores, s.seat) + action + 1
    if s.phase == DRAW:
        if after > s.options.target:  # Q2: nothing to decide, the second draw follows
            return State(s.options, REDRAW, s.seat, s.scores, deck, HIDDEN, s.extra, s.turns, HIDDEN, 0)
        return State(s.options, DECIDE, s.seat, s.scores, deck, action, s.extra, s.turns, HIDDEN, 0)
    if after > s.options.target:  # Q3: discarded, no score, no extra turn
        return next_turn(s, s.scores, deck, False)
    return scored(s, after, deck)


def scored(s: State, score: int, deck: int) -> State:
    scores = set2(s.scores, s.seat, score)
    if score == s.options.target:  # Q6: before the prime check and the pass
        turns = s.turns + 1
        return State(s.options, DONE, s.seat, scores, deck, HIDDEN, 0, turns, s.seat, TARGET_REACHED)
    return next_turn(s, scores, deck, is_prime(score))


def next_turn(s: State, scores: tuple[int, int], deck: int, extra: bool) -> State:
    seat, turns = (s.seat, s.turns) if extra else (1 - s.seat, s.turns + 1)
    if s.options.turns and turns == s.options.turns:
        return State(s.options, DONE, s.seat, scores, deck, HIDDEN, 0, turns, HIDDEN, TURN_LIMIT)
    return State(s.options, DRAW, seat, scores, deck, HIDDEN, int(extra), turns, HIDDEN, 0)


def leave(s: State, seat: int) -> State:
    return State(s.options, DONE, s.seat, s.scores, s.deck, s.card, s.extra, s.turns, 1 - seat, RESIGNED)


def payoff(s: State, seat: int) -> int:
    return won_or_lost(s.winner, seat)


def reason(s: State) -> int:
    return s.reason


def look(s: State, seat: int) -> View:
    return View(s.options, seat, s.phase, s.seat, s.scores, s.deck, s.card, s.extra, s.turns, s.winner, s.reason)


def tell(s: State, action: int, seat: int) -> Event:
    if s.phase == TOSS:
        return Event(TOSS, action, action, HIDDEN)
    return Event(s.phase, s.seat, action, s.card)  # a decision names its card again
