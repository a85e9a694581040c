"""Duel: why a decision is worth what it is worth, in one sentence."""

from __future__ import annotations

from piste.core.bits import count
from piste.core.evaluation import ESTIMATED, Evaluation
from piste.core.game import counted
from piste.core.views import SeatView
from piste.games.mccoy_duel import rules, text
from piste.games.mccoy_duel.notation import NAMES, SEATS, card_name
from piste.games.mccoy_duel.rules import COPY, GIVE, KILL, PICK, PLAY, SEAT, TAKE, Tower, View


def why(view: SeatView, verdict: Evaluation, action: int) -> str:
    """Say what a decision does, what it leaves, and what one is left with."""
    v: View = view.position
    chosen = next(choice for choice in verdict.choices if choice.action == action)
    about = "about " if verdict.known == ESTIMATED else ""
    leaves = f"leaves {about}{50 * (1 + chosen.chances.value):.0f} %"
    if v.phase == PLAY:
        return played(v, action, leaves)
    if v.phase == KILL:
        return f"burying {card_name(v.options, action)} {leaves}: nobody can take it or copy it then"
    if v.phase == TAKE:
        return f"taking {card_name(v.options, action)} {leaves}: {follow(v, v.hand | 1 << action, v.power, v.demand)}"
    if v.phase == COPY:
        return f"copying {card_name(v.options, action)} {leaves}: it does what {NAMES[action % 9]} does"
    if v.phase == GIVE:
        name = text.held(v.options, view.seat, action, v.hand)
        return f"giving {name} {leaves}: {follow(v, v.hand & ~(1 << action), v.power, v.demand)}"
    other = action - SEAT
    who = f"Player {SEATS[other]}"
    if v.phase == PICK:
        first = "to go first yourself" if other == view.seat else f"to let {who} go first"
        return f"{first} {leaves}: who leads may play any card"
    return f"choosing {who} {leaves}: they hold {counted(v.sizes[other], 'card')}"


def played(v: View, action: int, leaves: str) -> str:
    power = rules.power_of(action)
    demand = {5: rules.STANCE, rules.TRUMP: rules.TRUMPED}.get(power, rules.PLAIN)
    name = text.held(v.options, v.viewer, action, v.hand)
    return f"playing {name}, {NAMES[power]}, {leaves}: {follow(v, v.hand & ~(1 << action), power, demand)}"


def follow(v: View, hand: int, power: int, demand: int) -> str:
    """Say how many cards of a hand could be played on a card of this power."""
    playable = count(rules.playable(hand, Tower(v.up, 0, v.top, power, demand)))
    cards = count(hand)
    if cards == 0:
        return "you have no card left"
    if cards == 1:
        return f"the one card you keep {'could' if playable else 'cannot'} go on top of that"
    return f"{playable or 'none'} of the {cards} cards you keep could go on top of that"
