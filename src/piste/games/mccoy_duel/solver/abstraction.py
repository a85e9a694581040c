"""Information sets of a whole round of Duel between two, as the opening book counts them; numba compiles it too.

In the first plays each information set stands for itself. Later ones are one where a seat knows the same of where
each card is (an abstraction with imperfect recall): there are too many to learn each of them by itself.
"""

from __future__ import annotations

from piste.core.bits import count, nth
from piste.core.protocols import HIDDEN
from piste.games.mccoy_duel.rules import GIVE, PLAY, State, choices, power_of
from piste.games.mccoy_duel.solver.infoset_kernels import mix_hash

EXACT_PLAYS = 7  # the plays, with their abilities, in which an information set stands for itself
ALL_CARDS = (1 << 18) - 1


def power_counts(cards: int) -> int:
    """Return how many cards there are of each power, whatever their colours, as 18 bits."""
    return (cards | cards >> 9) & 511 | (cards & cards >> 9 & 511) << 9


def number_of_play(s: State, plays: int) -> int:
    """Return which play a choice belongs to, counted from 0: a play, or what its ability asks for."""
    return plays if s.phase == PLAY else plays - 1


def abstract_key(s: State, seat: int, known: int, doubt: int) -> int:
    """Return the key of all that a seat knows of where cards are, and of what is asked."""
    mine, theirs = s.hands[seat], s.hands[1 - seat]
    own_known, other_known = (known >> 18 * seat) & ALL_CARDS, (known >> 18 * (1 - seat)) & ALL_CARDS
    top = power_of(s.tower.top) + 1 if s.tower.top != HIDDEN else 0
    asked = s.phase | s.tower.power << 4 | s.tower.demand << 8 | top << 10 | count(theirs) << 14
    places = power_counts(mine) | power_counts(s.tower.up) << 18 | power_counts(own_known & theirs) << 36
    others = power_counts(own_known & s.tower.buried) | power_counts((doubt >> 18 * seat) & ALL_CARDS) << 18
    others |= power_counts(other_known & mine) << 36
    return mix_hash(mix_hash(asked + 1, places), others) | 1


def hand_powers(s: State) -> tuple[int, int]:
    """Return the powers that the one who plays or gives a card holds in the other's colour, and in the own one."""
    actor = s.target if s.phase == GIVE else s.seat
    hand = s.hands[actor]
    return (hand >> 9 * (1 - actor)) & 511, (hand >> 9 * actor) & 511


def places_open(s: State) -> int:
    """Return the choices that are open, as a set of places 0 to 8.

    The place of a card is its power. Where both cards of a power are in the hand it is that of the one in the
    other's colour; the own one has the place of a power that the hand lacks: the first of these for the lowest such
    power, and so on. A hand has at most eight cards, so there are enough.
    """
    left = choices(s)
    places = (left | left >> 9) & 511
    if s.phase in (PLAY, GIVE):
        other, own = hand_powers(s)
        lacking, twice = 511 & ~(other | own), other & own
        while twice:
            if places & twice & -twice:
                places |= lacking & -lacking
            twice &= twice - 1
            lacking &= lacking - 1
    return places


def card_at(s: State, place: int) -> int:
    """Return the card that stands at an open place."""
    if s.phase not in (PLAY, GIVE):
        return place if choices(s) >> place & 1 else place + 9
    actor = s.target if s.phase == GIVE else s.seat
    other, own = hand_powers(s)
    if other >> place & 1:
        return place + 9 * (1 - actor)
    if own >> place & 1:
        return place + 9 * actor
    before = ~(other | own) & ((1 << place) - 1)
    return nth(other & own, count(before)) + 9 * actor
