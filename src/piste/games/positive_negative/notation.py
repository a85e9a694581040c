"""Positive-Negative: how its options, decisions and positions are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from piste.core.bits import count, signed_value
from piste.core.cards import laid_deck, listed_cards, placed
from piste.core.errors import PositionError
from piste.core.game import Deal, Option, counted, members
from piste.core.position import Fields
from piste.core.protocols import HIDDEN
from piste.games.positive_negative import rules
from piste.games.positive_negative.rules import DECIDE, DONE, DRAW, REDRAW, Options, State, View

TITLE = "Positive-Negative"
LINE = "Keep the card you drew, or take the next one instead: the higher total wins."
CREDIT = ""
SEATS = ("1", "2")
STARTS = 0  # the seat that takes the first turn of every game
KINDS = ("draw", "decide", "redraw")
REASONS = {rules.HIGHER_SCORE: "higher score", rules.SAME_SCORE: "same score", rules.RESIGNED: "resigned"}
LAID = "deck"
OPTIONS = (
    Option(
        "top", "the highest card; there is one of each from -top to top, without 0", 1, 30,
        label="Highest card", note="the lowest is its negative",
    ),
)  # fmt: skip

ANSWERS = (("keep", "yes", "y", "k"), ("discard", "no", "n", "d"))


def check(options: Options) -> str:
    return ""


def card_name(top: int, card: int) -> str:
    return str(signed_value(top, card))


def name(options: Options, kind: int, action: int) -> str:
    return ANSWERS[action][0] if kind == DECIDE else card_name(options.top, action)


def decisions(view: View, kind: int) -> Iterable[int]:
    return (rules.KEEP, rules.DISCARD)


def spell(view: View, action: int) -> tuple[str, ...]:
    return ANSWERS[action]


def why_not(view: View, action: int) -> str:
    return f"You cannot {ANSWERS[action][0]} now."


def lay(options: Options, text: str) -> Deal:
    return Deal(rules.start(options), frozenset({DRAW, REDRAW}), laid_deck(options.top, text, card_name))


def fields(s: State) -> Mapping[str, str]:
    top = s.options.top
    written = {
        "1": listed_cards(top, s.kept[0], card_name),
        "2": listed_cards(top, s.kept[1], card_name),
        "pile": listed_cards(top, rules.pile(s), card_name),
        "to": SEATS[s.seat],
        "phase": (*KINDS, "over")[s.phase],
    }
    if s.card != HIDDEN:
        written["card"] = card_name(top, s.card)
    if s.phase == DONE and s.reason == rules.RESIGNED:
        written["resigned"] = SEATS[1 - s.winner]
    return written


def build(options: Options, fields: Mapping[str, str]) -> State:
    f = Fields(fields)
    phase = f.choice("phase", (*KINDS, "over"))
    resigned = f.choice("resigned", (*SEATS, "nobody"), "nobody") if phase == DONE else 2
    holding = phase == DECIDE or resigned < 2
    keys = (*SEATS, "pile", "card") if holding else (*SEATS, "pile")
    places = placed(options.top, f, keys, card_name)
    seat = f.choice("to", SEATS)
    f.end()
    if holding and count(places[3]) != 1:
        raise PositionError("The field 'card' holds the one card that is to be decided on.")
    card = members(places[3])[0] if holding else HIDDEN
    deck = rules.every_card(options) & ~sum(places)
    kept = (places[0], places[1])
    s = State(options, phase, seat, kept, deck, card, HIDDEN, 0)
    complaint = broken(s, resigned < 2)
    if complaint:
        raise PositionError(complaint)
    if resigned < 2:
        return rules.leave(s, resigned)
    if phase == DONE:
        # The rules say who won; they are asked through the turn that has just ended.
        return rules.pass_on(s, kept, deck)
    return s


def broken(s: State, resigned: bool) -> str:
    """Return which rule a position breaks, or ""."""
    kept, pile = (count(s.kept[0]), count(s.kept[1])), count(rules.pile(s))
    done = s.phase == DONE and not resigned
    # Each turn keeps one card, except that the very last may keep none (P1).
    lead = kept[0] - kept[1]
    if lead not in (0, 1) or (lead != s.seat and not done):
        return (
            f"The players have kept {kept[0]} and {kept[1]} cards: with Player 1 starting and turns "
            f"alternating, it cannot be Player {SEATS[s.seat]}'s turn."
        )
    kept_none = done and lead == s.seat
    turns = kept[0] + kept[1] + kept_none
    if pile > turns + (s.phase == REDRAW) or pile < (s.phase == REDRAW or kept_none):
        return f"The pile has {counted(pile, 'card')}, which does not fit the turns: each discards at most one."
    if done and s.deck:
        return f"The game is not over: the deck still has {counted(count(s.deck), 'card')}."
    if s.phase in (DRAW, REDRAW) and not s.deck:
        return "The deck is empty: the game is over."
    return ""
