"""Duel: why a decision is worth what it is worth, in one sentence."""

from __future__ import annotations

from piste.core.bits import count
from piste.core.evaluation import ESTIMATED, Evaluation
from piste.core.game import counted
from piste.core.views import SeatView
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.notation import SEATS, card_name
from piste.games.mccoy_duel.rules import COPY, GIVE, KILL, PICK, PLAY, SEAT, TAKE, Tower, View

EFFECTS = (
    "you bury a card of the tower",
    "you draw a buried card",
    "you take a card out of the tower",
    "a random card of an opponent is played without its ability",
    "you use an ability of the tower",
    "the next card must be greater than 5",
    "an opponent buries a card at random",
    "an opponent gives you a card",
    "it counts as an 8, and only a 0 cannot follow",
)
"""What each ability does, in few words."""

NO_PUZZLE = (PICK,)
"""Who goes first is asked before a card is seen: nothing there can be found out by thinking."""

VERBS = {PLAY: "play", KILL: "bury", TAKE: "take", COPY: "copy", GIVE: "give"}


def told(view: SeatView, action: int) -> str:
    """Return a decision with its card and the letter of its colour."""
    v: View = view.position
    if action >= SEAT:
        verb = "let" if v.phase == PICK else "choose"
        return f"{verb} Player {SEATS[action - SEAT]}{' go first' if v.phase == PICK else ''}"
    return f"{VERBS[v.phase]} {card_name(v.options, action)}"


def why(view: SeatView, verdict: Evaluation, action: int) -> str:
    """Say what a decision does, what it leaves, and what one is left with."""
    v: View = view.position
    chosen = next(choice for choice in verdict.choices if choice.action == action)
    about = "about " if verdict.known == ESTIMATED else ""
    leaves = f"leaves {about}{50 * (1 + chosen.chances.value):.1f} %"
    if action >= SEAT:
        return chosen_player(v, view.seat, action - SEAT, leaves)
    card, power = card_name(v.options, action), rules.power_of(action)
    if v.phase == PLAY:
        demand = {5: rules.STANCE, rules.TRUMP: rules.TRUMPED}.get(power, rules.PLAIN)
        after = follow(v, v.hand & ~(1 << action), power, demand)
        return f"playing {card} {leaves}: {EFFECTS[power]}, and {after}"
    if v.phase == KILL:
        return f"burying {card} {leaves}: nobody can take or copy it then"
    if v.phase == TAKE:
        after = follow(v, v.hand | 1 << action, v.power, v.demand)
        return f"taking {card} {leaves}: you can play it later, and {after}"
    if v.phase == COPY:
        return f"copying {card} {leaves}: {EFFECTS[power]}"
    after = follow(v, v.hand & ~(1 << action), v.power, v.demand)
    return f"giving {card} {leaves}: Player {SEATS[v.seat]} can play it later, and {after}"


def chosen_player(v: View, viewer: int, other: int, leaves: str) -> str:
    who = f"Player {SEATS[other]}"
    if v.phase != PICK:
        return f"choosing {who} {leaves}: {who} holds {counted(v.sizes[other], 'card')}"
    if other == viewer:
        return f"to go first yourself {leaves}: you may lead any card"
    return f"to let {who} go first {leaves}: {who} leads, and you play on that card"


def follow(v: View, hand: int, power: int, demand: int) -> str:
    """Say how many cards of a hand could be played on a card of this power."""
    playable = count(rules.playable(hand, Tower(v.up, 0, v.top, power, demand)))
    cards = count(hand)
    if cards == 0:
        return "you have no card left"
    if cards == 1:
        return f"the one card you keep {'could' if playable else 'cannot'} go on top of that"
    return f"{playable or 'none'} of the {cards} cards you keep could go on top of that"
