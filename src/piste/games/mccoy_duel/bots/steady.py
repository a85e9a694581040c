"""Duel, played steadily: count the cards, corner the next player, and keep the trump and the low cards for late."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.game import members
from piste.core.views import SeatView
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import PLAIN, SEAT, STANCE, TRUMP, TRUMPED, Tower, View

LINE = "Counts the cards, corners the next player, and keeps the trump and the low cards for late."
FEEL = "Counts the cards and saves its trump. It punishes careless play."

# Tuned by self-play and rounded.
CARD_VALUES = (1.3, 2.4, 2.5, 0.7, 1.3, 0.4, 0.6, 1.1, 5.2)  # of holding a card of each power, the trump last
CORNERED_VALUE = 5.0  # that the next player cannot play
OPPONENT_LOSS_SHARE = 0.8  # that an opponent loses a card, as a share of its value
BURIED_SHARE = 0.2  # that a face-up card is out of everybody's reach, likewise

Hand = dict[int, float]
"""The cards that a player may hold, with their probabilities."""


def choose(view: SeatView, stream: RandomStream) -> int:
    hands = hand_beliefs(view)
    scored = [(decision_value(view.position, hands, action), stream.fraction(), action) for action in view.actions]
    return max(scored)[2]


def decision_value(v: View, hands: list[Hand], action: int) -> float:
    """Return how good a decision is."""
    if v.phase == rules.PICK:
        return float(action == SEAT + v.viewer)  # who leads may play any card
    if v.phase == rules.TARGET:
        return float(v.sizes[action - SEAT])
    power = rules.power_of(action)
    if v.phase in (rules.KILL, rules.TAKE):
        return CARD_VALUES[power]
    if v.phase == rules.GIVE:
        return -CARD_VALUES[power]
    if v.phase == rules.COPY:
        return ability_value(v, hands, power, v.top)
    return ability_value(v, hands, power, action) - CARD_VALUES[power]


def ability_value(v: View, hands: list[Hand], power: int, top: int) -> float:
    """Return what the ability of this power brings to the player of the card `top`."""
    others = [rules.power_of(card) for card in members(v.up & ~(1 << top))]
    best = max((CARD_VALUES[p] for p in others), default=0.0)
    target = max((seat for seat in members(v.playing) if seat != v.viewer), key=lambda seat: v.sizes[seat])
    theirs = {card: p / v.sizes[target] for card, p in hands[target].items()}  # which one a random card is
    plain = Tower(0, 0, top, rules.power_of(top), PLAIN)
    gain = 0.0
    if power == 4 and set(others) - {4}:
        return max(ability_value(v, hands, p, top) for p in set(others) - {4})
    if power == 5:
        return corner_value(v, hands, plain._replace(demand=STANCE))
    if power == TRUMP:
        return corner_value(v, hands, plain._replace(power=TRUMP, demand=TRUMPED))
    if power == 0:
        gain = BURIED_SHARE * best
    elif power == 1 and v.buried:
        gain = sum(CARD_VALUES) / len(CARD_VALUES)
    elif power == 2:
        gain = best
    elif power in (3, 6):
        gain = OPPONENT_LOSS_SHARE * sum(p * CARD_VALUES[rules.power_of(card)] for card, p in theirs.items())
    elif power == 7:
        gain = (1 + OPPONENT_LOSS_SHARE) * min((CARD_VALUES[rules.power_of(card)] for card in theirs), default=0.0)
    if power == 3 and theirs:
        return gain + sum(p * corner_value(v, hands, tower_after_feint(card)) for card, p in theirs.items())
    return gain + corner_value(v, hands, plain)


def tower_after_feint(card: int) -> Tower:
    power = rules.power_of(card)
    return Tower(0, 0, card, power, TRUMPED if power == TRUMP else PLAIN)


def corner_value(v: View, hands: list[Hand], tower: Tower) -> float:
    """Return what a tower is worth against the next player: how likely they have no answer to it."""
    stuck = 1.0
    for card, p in hands[rules.next_in(v.playing, v.viewer)].items():
        if card != tower.top and rules.playable(1 << card, tower):
            stuck *= 1 - p
    return CORNERED_VALUE * stuck


def hand_beliefs(view: SeatView) -> list[Hand]:
    """Return what each player may hold, from all that this seat has observed in the round.

    Each card has a player who holds it unless it is buried, and the probability that it is buried.
    """
    where = dealt_cards(view.opening)
    for event, after in view.log:
        if event.kind == rules.NEXT:
            where = dealt_cards(after)
        elif 0 <= event.what < SEAT:  # this seat saw which card it was
            owner = event.also if event.kind == rules.GIVE else event.seat
            where[event.what] = (owner, float(event.kind in (rules.BURY, rules.KILL, rules.DISARM)))
        elif event.kind in (rules.BURY, rules.DISARM):
            one_in = after.sizes[event.seat] + 1
            where |= {c: (s, b + (1 - b) / one_in) for c, (s, b) in where.items() if s == event.seat}
        elif event.kind == rules.DRAW:
            # A card that lies buried may be theirs now; one that hardly does stays where it was thought to be.
            left = 1 - 1 / (after.buried + 1)
            where = {c: (event.seat if b > 0.5 else s, b * left) for c, (s, b) in where.items()}
    v: View = view.position
    hands: list[Hand] = []
    for seat, size in enumerate(v.sizes):
        may = {c: 1 - b for c, (s, b) in where.items() if s == seat and b < 1 and not (v.hand | v.up) >> c & 1}
        scale = size / sum(may.values()) if may else 0.0
        hands.append({card: min(1.0, p * scale) for card, p in may.items() if size})
    return hands


def dealt_cards(after: View) -> dict[int, tuple[int, float]]:
    """Return where the cards are when a round begins: every player has their own colour."""
    return {9 * seat + p: (seat, 0.0) for seat in members(after.present) for p in members(after.options.powers)}
