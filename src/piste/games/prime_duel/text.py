"""Prime Duel: what a screen says. The sheet's own lines for the player, short ones for everybody else.

A turn begins with a draw, so the heading belongs to that event. A win is told with the score that brings it;
every other end by `farewell`.
"""

from __future__ import annotations

import re

from piste.core.bits import lane, lane_one
from piste.core.game import counted
from piste.core.presentation import EventContext, Key, Mark, Prompt, Row, number_marks
from piste.core.protocols import HIDDEN
from piste.core.views import Ending, SeatView
from piste.games.prime_duel.rules import (
    DECIDE,
    DISCARD,
    DRAW,
    KEEP,
    REDRAW,
    RESIGNED,
    TARGET_REACHED,
    TOSS,
    Options,
    View,
    whole_deck,
)

OWN_VOICE = True
HAND_OVER = False

RESHUFFLE = "The deck is empty. Shuffling the pile..."


def tips(options: Options) -> tuple[str, ...]:
    few = [str(prime) for prime in (2, 3, 5, 7, 11) if prime < options.target]
    again = f"A score of {', '.join(few)} or another prime: go again." if few else "A prime score: go again."
    return (
        "Keep the card you draw, or give it up for the next one.",
        again,
        f"Land on {options.target} exactly. No card can take you past it.",
    )


TIPS = tips(Options())


def welcome(_view: SeatView, _names: tuple[str, ...]) -> list[str]:
    return []  # the sheet begins with the first turn


def lines(moment: EventContext) -> list[str]:
    kind = moment.event.kind
    if kind == TOSS:
        return [f"{moment.who(moment.event.seat)} will go first.", ""]
    if kind == DRAW:
        return draw_lines(moment)
    if kind == DECIDE:
        return decision_lines(moment)
    return redraw_lines(moment) if kind == REDRAW else []  # a resignation is told at the end


def draw_lines(moment: EventContext) -> list[str]:
    before: View = moment.before
    seat, card = moment.event.seat, moment.event.what + 1
    who = moment.who(seat)
    too_much = f" (over {before.options.target}, must discard)" if moment.after.phase == REDRAW else ""  # Q2
    first = not any(entry.event.kind == DRAW for entry in moment.log[:-1])
    if not moment.own:
        gap = [] if first or before.extra else [""]
        return [*gap, *reshuffled(before), f"{who} draws {card}{too_much}."]
    text = [] if first else [""]
    other = before.scores[1 - seat]
    if other and before.turns >= 2 and not before.extra:
        # Once both have had a turn: the sheet's sample, two first turns, stays word for word.
        text.append(f"({moment.who(1 - seat)}: {other})")
    text += [f"{who} Extra Turn:" if before.extra else f"{who} Turn:", f"Current Score: {before.scores[seat]}"]
    return [*text, *reshuffled(before), f"Card drawn: {card}{too_much}"]


def decision_lines(moment: EventContext) -> list[str]:
    who = moment.who(moment.event.seat)
    if moment.event.what == DISCARD:
        return [] if moment.own else [f"{who} discards it."]
    return score_lines(moment, "" if moment.own else f"{who} keeps it.")


def redraw_lines(moment: EventContext) -> list[str]:
    before: View = moment.before
    seat, card = moment.event.seat, moment.event.what + 1
    who = moment.who(seat)
    target = before.options.target
    drew = f"Card drawn: {card}" if moment.own else f"{who} draws {card}"
    if before.scores[seat] + card > target:  # Q3
        if moment.own:
            return [*reshuffled(before), f"{drew} (over {target}, discarded)", "Score unchanged. Turn ends."]
        return [*reshuffled(before), f"{drew} (over {target}, discarded).", f"{who} stays at {before.scores[seat]}."]
    if moment.own:
        return [*reshuffled(before), f"{drew} (must keep)", *score_lines(moment, "")]
    return [*reshuffled(before), *score_lines(moment, f"{drew} (must keep).")]


def score_lines(moment: EventContext, deed: str) -> list[str]:
    """Return the new score and what it brings; another's stands in one line with what they did."""
    after: View = moment.after
    seat = moment.event.seat
    who, score = moment.who(seat), after.scores[seat]
    text = [f"New Score: {score}" if moment.own else f"{deed} Score: {score}."]
    if after.reason == TARGET_REACHED:  # Q6: before the prime check
        text.append(f"{who} wins!")
    elif after.extra:
        text.append("Prime number! You get an extra turn." if moment.own else f"Prime number! {who} goes again.")
    elif moment.own:
        text.append("No prime number. Turn ends.")
    return text


def reshuffled(before: View) -> list[str]:
    return [] if before.deck else [RESHUFFLE]  # Q4: when a draw finds no card


def ask(_view: SeatView, _names: tuple[str, ...]) -> Prompt:
    yes = Key("yes", "Keep", KEEP, ("y", "keep", "k"))
    no = Key("no", "Discard", DISCARD, ("n", "discard", "d"))
    return Prompt("Do you want to keep this card?", (yes, no), " (yes/no): ")


def counts(options: Options, cards: int) -> tuple[str, ...]:
    """Return how many there are of each card, as card:count, without those of which there is none."""
    return tuple(f"{i + 1}:{lane(cards, i)}" for i in range(options.top) if lane(cards, i))


def size(options: Options, cards: int) -> int:
    return sum(lane(cards, i) for i in range(options.top))


def picture(view: SeatView, names: tuple[str, ...]) -> list[Row]:
    position: View = view.position
    options = position.options
    in_hand = 0 if position.card == HIDDEN else lane_one(position.card)
    pile = whole_deck(options) - position.deck - in_hand  # Q1: wherever else a card is, it is on the pile
    rows = [Row(names[seat], (str(position.scores[seat]),), f"of {options.target}") for seat in range(2)]
    if in_hand:
        rows.append(Row("Card drawn", (str(position.card + 1),)))
    for label, cards in (("Deck", position.deck), ("Pile", pile)):
        rows.append(Row(label, counts(options, cards), f"{counted(size(options, cards), 'card')}, as card:count"))
    if view.ending is None:
        limit = f" of {options.turns}" if options.turns else ""
        extra = ", extra turn" if position.extra else ""
        rows.append(Row("Turn", (names[position.seat],), f"turn {position.turns + 1}{limit}{extra}"))
    return rows


def farewell(view: SeatView, names: tuple[str, ...], ending: Ending) -> list[str]:
    """Return the ends that no card told, and the cards that nobody drew (G9)."""
    position: View = view.position
    text = [""]
    if ending.winner is None:
        text.append("Draw by turn limit.")
    elif position.reason == RESIGNED:
        text.append(f"{names[1 - ending.winner]} resigned. {names[ending.winner]} wins!")
    undrawn = counts(position.options, position.deck)
    return [*text, *(["Undrawn, as card:count:", " ".join(undrawn)] if undrawn else ["Undrawn cards: none"])]


def marks(line: str, _names: tuple[str, ...], _options: Options, _seat: int) -> list[Mark]:
    """Return the card of a line, the score that follows from it, and the words that tell of an extra turn."""
    extra = [Mark(*found.span(), "good") for found in re.finditer(r"^Prime number!", line)]
    numbers = r"(?:Card drawn: |Score: | draws |[Kk]eep(?:ing)? |[Dd]iscard(?:ing)? )(\d+)"
    return [*number_marks(numbers, line), *extra]
