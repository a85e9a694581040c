"""Sean McCoy's Duel, for two to four players: play lower, use the card's ability, be the last one able to play.

Card `9 * colour + power` has its owner's seat as colour and power 0 to 7, or 8 for the trump. A decision that
names a player is `SEAT + seat`. Every movement of a card is an action of its own; where there is only one
possible answer, chance gives it and nobody is asked (D6).
"""

from __future__ import annotations

from typing import NamedTuple

from piste.core.bits import count, lane, lane_one, lowest, nth, of4, one, set4
from piste.core.protocols import CHANCE, HIDDEN, OVER, Event

VERSION = 1

# Phases, all but the last also kinds of events.
REVEAL = 0  # chance: a card of one player's nine is shown, to find out who picks
LOT = 1  # chance: who picks, among players who tied with all nine cards (D2)
PICK = 2  # decision: who goes first
BURY = 3  # chance: a card of one player's nine is buried
PLAY = 4  # decision: a card onto the tower
KILL = 5  # decision, 0: which face-up card is buried
TAKE = 6  # decision, 2: which face-up card is taken
COPY = 7  # decision, 4: which face-up card is copied
TARGET = 8  # decision, 3, 6 and 7: which opponent
FEINT = 9  # chance, 3: which card of the opponent's is played
DRAW = 10  # chance, 1: which buried card is drawn
DISARM = 11  # chance, 6: which card of the opponent's is buried
GIVE = 12  # decision of the opponent, 7: which card is given
NEXT = 13  # chance with one outcome: the round is over and shown (D15), the next one begins
DONE = 14

SEAT = 36  # SEAT + s names seat s in a decision

# What the next card has to satisfy besides the power to beat.
PLAIN = 0
TRUMPED = 1  # a trump was the last card: 0 may not follow
STANCE = 2  # Change Stance is in force: only 6, 7 and the trump

TRUMP = 8
LEAD = 9  # the power to beat while the tower is empty: every card is lower
COLOUR = 511  # the nine cards of the first seat
ONE_OF_EACH_COLOUR = 1 | 1 << 9 | 1 << 18 | 1 << 27
ONE_IN_EACH_LANE = 0x1111

# Reasons for an end.
ROUNDS_WON, RESIGNED = 1, 2

Four = tuple[int, int, int, int]


class Options(NamedTuple):
    players: int = 2
    rounds: int = 5  # best of so many (D16)
    first: int = 0  # 0 decides by the reveal (D2); 1 to 4 names who leads the first round
    powers: int = 511  # which cards are in: bit p for power p
    colours: int = 228  # two bits for each seat: the colour it plays (D22); words only


class Tower(NamedTuple):
    up: int  # the face-up cards; their order is in the log
    buried: int
    top: int  # the card played last, or HIDDEN
    power: int  # the power to beat
    demand: int  # PLAIN, TRUMPED or STANCE


class Reveal(NamedTuple):
    shown: int  # the cards revealed so far
    waiting: int  # who still has to reveal in this go
    low: int  # the lowest power of this go so far
    lows: int  # who revealed it


class State(NamedTuple):
    options: Options
    phase: int
    seat: int  # who picks, whose turn it is, who won the round; while burying, who leads if that is known
    target: int  # whom an ability acts on; while burying, whose card is next
    ability: int  # with TARGET, the ability that asks
    hands: Four
    tower: Tower
    playing: int  # who is still in the round
    present: int  # who is still in the match
    out: int  # a lane for each seat: the order in which it lost this round (1 is first), 0 if it has not
    wins: int  # rounds won, a lane for each seat
    reveal: Reveal
    reason: int


class View(NamedTuple):
    options: Options
    viewer: int
    phase: int
    seat: int
    target: int
    ability: int
    hand: int  # the viewer's own cards
    sizes: Four
    up: int
    top: int
    power: int
    demand: int
    buried: int  # how many cards are buried
    playing: int
    present: int
    out: Four
    wins: Four
    revealed: Four
    reason: int
    hands: Four  # all empty until the round is over (D15)
    grave: int  # the buried cards, empty until the round is over


EMPTY = Tower(0, 0, HIDDEN, LEAD, PLAIN)
NOTHING = Reveal(0, 0, LEAD, 0)
NOBODY = (0, 0, 0, 0)


def put(s: State, phase: int, seat: int, target: int = HIDDEN, ability: int = HIDDEN) -> State:
    """Return the same cards with another question open."""
    return State(
        s.options, phase, seat, target, ability, s.hands, s.tower,
        s.playing, s.present, s.out, s.wins, s.reveal, s.reason,
    )  # fmt: skip


def lay(s: State, hands: Four, tower: Tower) -> State:
    """Return the same question with the cards elsewhere."""
    return State(
        s.options, s.phase, s.seat, s.target, s.ability, hands, tower,
        s.playing, s.present, s.out, s.wins, s.reveal, s.reason,
    )  # fmt: skip


def seats(options: Options) -> int:
    return options.players


def power_of(card: int) -> int:
    return card % 9


def of_powers(powers: int) -> int:
    """Return the cards of these powers in every colour."""
    return powers * ONE_OF_EACH_COLOUR


def playable(hand: int, tower: Tower) -> int:
    """Return the cards of a hand that may be played (D5)."""
    if tower.demand == STANCE:
        powers = 0b111000000
    elif tower.demand == TRUMPED:
        powers = 0b111111110
    else:
        powers = (1 << tower.power) - 1 | 1 << TRUMP
    return hand & (powers * ONE_OF_EACH_COLOUR)


def next_in(players: int, seat: int) -> int:
    """Return the next of these players clockwise (D20)."""
    for step in range(1, 5):
        if (players >> ((seat + step) & 3)) & 1:
            return (seat + step) & 3
    return HIDDEN


def start(options: Options) -> State:
    present = (1 << options.players) - 1
    s = State(
        options, REVEAL, HIDDEN, HIDDEN, HIDDEN, NOBODY, EMPTY,
        present, present, 0, 0, Reveal(0, present, LEAD, 0), 0,
    )  # fmt: skip
    return s if options.first == 0 else deal(s, options.first - 1)


def deal(s: State, leader: int) -> State:
    """Give every player their colour and ask for the first burial; HIDDEN if the leader is yet to be picked."""
    nine, p = s.options.powers, s.present
    hands = (
        nine if p & 1 else 0,
        nine << 9 if p & 2 else 0,
        nine << 18 if p & 4 else 0,
        nine << 27 if p & 8 else 0,
    )
    return State(s.options, BURY, leader, lowest(p), HIDDEN, hands, EMPTY, p, p, s.out, s.wins, NOTHING, 0)


def open_round(s: State, leader: int) -> State:
    return State(
        s.options, PLAY, leader, HIDDEN, HIDDEN, s.hands, s.tower,
        s.present, s.present, 0, s.wins, s.reveal, 0,
    )  # fmt: skip


def first_to_lose(s: State) -> int:
    """Return who was first to lose the round before, among those still in the match (D4)."""
    first = HIDDEN
    for seat in range(4):
        if (s.present >> seat) & 1 and lane(s.out, seat) > 0:
            if first == HIDDEN or lane(s.out, seat) < lane(s.out, first):
                first = seat
    return first


def with_loser(out: int, seat: int) -> int:
    """Return the order in which players lost the round with one more of them."""
    lost_before = count((out | out >> 1 | out >> 2) & ONE_IN_EACH_LANE)
    return out + lane_one(seat) * (lost_before + 1)


def end_turn(s: State) -> State:
    """Find who plays next; who cannot play is out (D15), the last one in wins (D16)."""
    playing, seat = s.playing, next_in(s.playing, s.seat)
    out, wins, phase = s.out, s.wins, PLAY
    while not one(playing) and not ((playing >> seat) & 1 and playable(of4(s.hands, seat), s.tower)):
        if (playing >> seat) & 1:
            playing ^= 1 << seat
            out = with_loser(out, seat)
        seat = next_in(playing, seat)
    if one(playing):
        seat = lowest(playing)
        wins += lane_one(seat)
        phase = DONE if lane(wins, seat) * 2 > s.options.rounds else NEXT
    return State(
        s.options, phase, seat, HIDDEN, HIDDEN, s.hands, s.tower,
        playing, s.present, out, wins, s.reveal, ROUNDS_WON if phase == DONE else 0,
    )  # fmt: skip


def others_up(s: State) -> int:
    """Return the face-up cards that the ability of the card just played may act on (D7)."""
    return s.tower.up & ~(1 << s.tower.top)


def copyable(s: State) -> int:
    return others_up(s) & ~of_powers(1 << 4)  # D10: a 4 cannot be copied


def targets(s: State) -> int:
    """Return, as decisions, the opponents that hold a card (D14)."""
    opponents = 0
    for seat in range(4):
        if seat != s.seat and (s.playing >> seat) & 1 and of4(s.hands, seat):
            opponents |= 1 << (SEAT + seat)
    return opponents


def act(s: State, ability: int) -> State:
    """Let an ability of the card just played occur, as far as it has something to act on (D6)."""
    t, phase = s.tower, PLAY
    if ability == 0 and others_up(s):
        phase = KILL
    elif ability == 1 and t.buried:
        phase = DRAW
    elif ability == 2 and others_up(s):
        phase = TAKE
    elif ability == 4 and copyable(s):
        phase = COPY
    elif (ability == 3 or ability == 6 or ability == 7) and targets(s):
        phase = TARGET
    if phase != PLAY:
        return put(s, phase, s.seat, HIDDEN, ability if phase == TARGET else HIDDEN)
    if ability == 5:
        t = Tower(t.up, t.buried, t.top, t.power, STANCE)
    elif ability == TRUMP:
        t = Tower(t.up, t.buried, t.top, TRUMP, TRUMPED)
    return end_turn(lay(s, s.hands, t))


def choices(s: State) -> int:
    """Return the actions open now, whoever chooses among them."""
    phase = s.phase
    if phase == PLAY:
        return playable(of4(s.hands, s.seat), s.tower)
    if phase == KILL or phase == TAKE:
        return others_up(s)
    if phase == COPY:
        return copyable(s)
    if phase == TARGET:
        return targets(s)
    if phase == PICK:
        return s.present << SEAT
    if phase == REVEAL:
        seat = lowest(s.reveal.waiting)
        return (s.options.powers << (9 * seat)) & ~s.reveal.shown
    if phase == LOT:
        return s.reveal.lows << SEAT
    if phase == DRAW:
        return s.tower.buried
    if phase == NEXT:
        return 1
    return of4(s.hands, s.target)  # BURY, FEINT, DISARM, GIVE


def to_act(s: State) -> int:
    phase = s.phase
    if phase == PLAY or phase == PICK:
        return s.seat  # D19: a play is always asked
    if phase == KILL or phase == TAKE or phase == COPY or phase == TARGET:
        return CHANCE if one(choices(s)) else s.seat
    if phase == GIVE:
        return CHANCE if one(choices(s)) else s.target
    return OVER if phase == DONE else CHANCE


def kind(s: State) -> int:
    return s.phase


legal = choices
outcomes = choices


def weight(s: State, outcome: int) -> int:
    return (choices(s) >> outcome) & 1


def spread(s: State) -> int:
    return choices(s).bit_count()


def drawn(s: State, at: int) -> int:
    return nth(choices(s), at)


def apply(s: State, action: int) -> State:
    if s.phase == REVEAL:
        return revealed(s, action)
    if s.phase == LOT:
        return put(s, PICK, action - SEAT)
    if s.phase == NEXT:
        return deal(s, HIDDEN)
    if s.phase == PICK and s.tower.buried == 0:  # from the second round on the pick comes after the bury (D4)
        return deal(s, action - SEAT)
    return apply_in_round(s, action)


def apply_in_round(s: State, action: int) -> State:
    """Return the same once a round is dealt: searches of a round compile nothing else."""
    phase, card, hands, t = s.phase, 1 << action, s.hands, s.tower
    if phase == PLAY:
        hands = set4(hands, s.seat, of4(hands, s.seat) ^ card)
        power = power_of(action)
        return act(lay(s, hands, Tower(t.up | card, t.buried, action, power, PLAIN)), power)
    if phase == TARGET:
        asked = FEINT if s.ability == 3 else DISARM if s.ability == 6 else GIVE
        return put(s, asked, s.seat, action - SEAT)
    if phase == COPY:
        return act(s, power_of(action))
    if phase == PICK:
        return open_round(s, action - SEAT)
    if phase == TAKE or phase == DRAW or phase == GIVE:
        hands = set4(hands, s.seat, of4(hands, s.seat) | card)
    if phase == GIVE or phase == FEINT or phase == DISARM or phase == BURY:
        hands = set4(hands, s.target, of4(hands, s.target) ^ card)
    up, pile = t.up, t.buried
    if phase == KILL or phase == TAKE:
        up ^= card
    if phase == KILL or phase == DRAW or phase == DISARM or phase == BURY:
        pile ^= card
    after = lay(s, hands, Tower(up, pile, t.top, t.power, t.demand))
    if phase == FEINT:  # D9: the power counts, the ability does not
        power = power_of(action)
        after = lay(s, hands, Tower(up | card, pile, action, power, TRUMPED if power == TRUMP else PLAIN))
    return buried(after) if phase == BURY else end_turn(after)


def revealed(s: State, action: int) -> State:
    """Note a revealed card; after the last one of a go, find who picks or who has to reveal again (D2)."""
    r = s.reveal
    seat, power = lowest(r.waiting), power_of(action)
    shown = r.shown | 1 << action
    waiting = r.waiting ^ (1 << seat)
    lows = r.lows | 1 << seat if power == r.low else r.lows
    if power < r.low:
        lows = 1 << seat
    low = min(power, r.low)
    phase, picker = REVEAL, HIDDEN
    if waiting == 0:
        if one(lows):
            phase, picker = PICK, lowest(lows)
        elif (s.options.powers << (9 * seat)) & ~shown == 0:
            phase = LOT
        else:
            waiting, low, lows = lows, LEAD, 0
    return State(
        s.options, phase, picker, HIDDEN, HIDDEN, s.hands, s.tower,
        s.playing, s.present, s.out, s.wins, Reveal(shown, waiting, low, lows), 0,
    )  # fmt: skip


def buried(s: State) -> State:
    """Go on after a burial: the next player's, then the pick or the first play."""
    waiting = s.present >> (s.target + 1)
    if waiting:
        return put(s, BURY, s.seat, s.target + 1 + lowest(waiting))
    if s.seat == HIDDEN:
        return put(s, PICK, first_to_lose(s))
    return open_round(s, s.seat)


def leave(s: State, seat: int) -> State:
    """Take a player out of the match; what they had pending does not happen (D4, D20)."""
    bit = 1 << seat
    was_in = (s.playing >> seat) & 1
    out = with_loser(s.out, seat) if was_in and s.phase != PICK else s.out
    present, playing = s.present & ~bit, s.playing & ~bit
    over = one(present)
    left = State(
        s.options, s.phase, s.seat, s.target, s.ability, s.hands, s.tower,
        playing, present, out, s.wins, s.reveal, RESIGNED if over else 0,
    )  # fmt: skip
    if over:
        return put(left, DONE, lowest(present))
    if s.phase == PICK:
        return put(left, PICK, next_in(present, seat)) if seat == s.seat else left
    gone = seat == s.seat or (s.phase == GIVE and seat == s.target)
    if one(playing) or gone or (s.phase == TARGET and targets(left) == 0):
        return end_turn(left)
    return left


def payoff(s: State, seat: int) -> int:
    if s.phase != DONE:
        return 0
    return s.options.players - 1 if s.seat == seat else -1


def reason(s: State) -> int:
    return s.reason


def look(s: State, seat: int) -> View:
    shown = s.phase == NEXT or s.phase == DONE
    h, t, revealed = s.hands, s.tower, s.reveal.shown
    sizes = (count(h[0]), count(h[1]), count(h[2]), count(h[3]))
    out = (lane(s.out, 0), lane(s.out, 1), lane(s.out, 2), lane(s.out, 3))
    wins = (lane(s.wins, 0), lane(s.wins, 1), lane(s.wins, 2), lane(s.wins, 3))
    return View(
        s.options, seat, s.phase, s.seat, s.target, s.ability, of4(h, seat) if seat >= 0 else 0, sizes,
        t.up, t.top, t.power, t.demand, count(t.buried), s.playing, s.present, out, wins,
        (revealed & COLOUR, revealed & COLOUR << 9, revealed & COLOUR << 18, revealed & COLOUR << 27), s.reason,
        h if shown else NOBODY, t.buried if shown else 0,
    )  # fmt: skip


def tell(s: State, action: int, seat: int) -> Event:
    if s.phase == REVEAL:
        return Event(REVEAL, lowest(s.reveal.waiting), action, HIDDEN)
    if s.phase == LOT:
        return Event(LOT, action - SEAT, action, HIDDEN)
    if s.phase == BURY or s.phase == DISARM:  # D3, D12: only the owner sees which
        return Event(s.phase, s.target, action if seat == s.target else HIDDEN, HIDDEN)
    if s.phase == DRAW:  # D8, D17
        return Event(DRAW, s.seat, action if seat == s.seat else HIDDEN, HIDDEN)
    if s.phase == GIVE:  # D13: only the two of them see it
        return Event(GIVE, s.target, action if seat == s.target or seat == s.seat else HIDDEN, s.seat)
    if s.phase == FEINT:
        return Event(FEINT, s.target, action, HIDDEN)
    return Event(s.phase, s.seat, action, HIDDEN)
