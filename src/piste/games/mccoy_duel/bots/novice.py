"""Duel, played by a beginner: sees the own hand and the tower, counts nothing, and now and then slips."""

from __future__ import annotations

from piste.core.dealer import RandomStream
from piste.core.game import members
from piste.core.views import SeatView
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.rules import SEAT, TRUMP, View

LINE = "Keeps the trump, plays high cards first and low ones late; counts no cards, and slips once in ten decisions."
FEEL = "Plays high cards first, counts nothing and slips at times. Learn the abilities against it."

DECISIONS_PER_SLIP = 10  # a slip is the second best choice


def choose(view: SeatView, stream: RandomStream) -> int:
    ranked = sorted(
        view.actions, key=lambda action: (preference(view.position, action), stream.fraction()), reverse=True
    )
    slip = len(ranked) > 1 and stream.below(DECISIONS_PER_SLIP) == 0
    return ranked[1] if slip else ranked[0]


def preference(v: View, action: int) -> float:
    """Return a beginner's preference for a decision, from the hand and the tower alone."""
    if action >= SEAT:
        return float(action == SEAT + v.viewer)
    power = rules.power_of(action)
    if v.phase in (rules.KILL, rules.TAKE):
        return float(power)  # high is good, and the trump is highest
    if v.phase == rules.COPY:
        return float({TRUMP: 5, 5: 4, 2: 3, 7: 2, 6: 1}.get(power, 0))
    if v.phase == rules.GIVE:
        return -float(power if power == TRUMP else 7 - power)
    if power == TRUMP:
        return -1.0 if len(members(rules.playable(v.hand, tower_of(v)))) > 1 else 0.0
    return float(power)


def tower_of(v: View) -> rules.Tower:
    return rules.Tower(v.up, 0, v.top, v.power, v.demand)
