"""Positive-Negative: what its players read, in the words of its sheet."""

from __future__ import annotations

from piste.core.game import counted, members
from piste.core.presentation import EventContext, Key, Mark, Prompt, Row, number_marks
from piste.core.protocols import HIDDEN, RESIGNS
from piste.core.views import Ending, SeatView
from piste.games.positive_negative import notation, rules
from piste.games.positive_negative.rules import DECIDE, DISCARD, DONE, DRAW, KEEP, REDRAW, Options, View

OWN_VOICE = True
HAND_OVER = False
TIPS: tuple[str, ...] = (
    "A card you keep is added to your score.",
    "Discard it, and the next one must be added.",
    "Higher score wins when the deck is empty.",
)


def welcome(_view: SeatView, _names: tuple[str, ...]) -> list[str]:
    return []  # the sheet begins with the first turn


def lines(moment: EventContext) -> list[str]:
    if moment.event.kind == RESIGNS:
        return []  # said in the farewell, together with who wins
    return own_lines(moment) if moment.own else other_lines(moment)


def own_lines(moment: EventContext) -> list[str]:
    kind, seat, what, also = moment.event
    before: View = moment.before
    after: View = moment.after
    top = after.options.top
    if kind == DRAW:
        gap = [""] if len(moment.log) > 1 else []
        return [
            *gap,
            f"[{moment.who(seat)}'s Turn]",
            f"It's your turn. Your current score is {before.scores[seat]}.",
            f"{moment.who(1 - seat)}'s score is {before.scores[1 - seat]}.",
            f"You have drawn: {notation.card_name(top, what)}",
        ]
    new_score = f"Your new score is {after.scores[seat]}."
    if kind == REDRAW:
        return [
            f"You have drawn: {notation.card_name(top, what)}",
            "You must add this card to your score.",
            new_score,
        ]
    if what == KEEP:
        return [new_score]
    # P1: after the last card of the deck there is none that could be drawn.
    more = ["You must draw the next card."] if after.phase == REDRAW else []
    return [f"You discarded {notation.card_name(top, also)}.", *more]


def other_lines(moment: EventContext) -> list[str]:
    """Return what those are told whose turn it is not; a card only once it is public (P2)."""
    kind, seat, what, also = moment.event
    after: View = moment.after
    top = after.options.top
    who = moment.who(seat)
    if kind == DRAW:
        return [f"{who} drew a card."]
    if kind == DECIDE and what == DISCARD:
        return [f"{who} discarded {notation.card_name(top, also)}."]
    did = f"kept {notation.card_name(top, also)}" if kind == DECIDE else f"drew {notation.card_name(top, what)}"
    return [f"{who} {did}. Score: {after.scores[seat]}."]


def ask(_view: SeatView, _names: tuple[str, ...]) -> Prompt:
    # The sheet's answer stands on a line of its own.
    return Prompt(
        "Do you want to keep this card?",
        (Key("yes", "keep", KEEP, ("y", "keep", "k")), Key("no", "discard", DISCARD, ("n", "discard", "d"))),
        " (yes/no)\n",
    )


def picture(view: SeatView, names: tuple[str, ...]) -> list[Row]:
    position: View = view.position
    top = position.options.top
    rows = [
        Row(f"{names[seat]} (you)" if seat == view.seat else names[seat], texts(top, kept), f"score {score}")
        for seat, (kept, score) in enumerate(zip(position.kept, position.scores, strict=True))
    ]
    if position.card != HIDDEN:
        rows.append(Row("Card drawn", (notation.card_name(top, position.card),)))
    pile = texts(top, position.pile)
    rows.append(Row("Pile", pile, counted(len(pile), "card")))
    rows.append(Row("Deck", texts(top, position.undrawn), counted(position.left, "card")))
    if position.phase != DONE:
        rows.append(Row("Turn", (names[position.seat],)))
    return rows


def farewell(view: SeatView, names: tuple[str, ...], ending: Ending) -> list[str]:
    """Return the result, which no event's lines tell, and what was hidden (G9)."""
    position: View = view.position
    top = position.options.top
    result = "It's a draw!" if ending.winner is None else f"{names[ending.winner]} wins!"
    if position.reason != rules.RESIGNED or ending.winner is None:
        scores = [f"{name}: {score}" for name, score in zip(names, position.scores, strict=True)]
        return ["", "[End of Game]", "The deck is empty. Final scores are:", *scores, result]
    text = ["", f"{names[1 - ending.winner]} resigned. {result}"]
    if position.card != HIDDEN:
        text.append(f"{names[position.seat]} had drawn: {notation.card_name(top, position.card)}")
    text.append(f"Undrawn cards: {', '.join(texts(top, position.undrawn)) or 'none'}")
    return text


def texts(top: int, cards: int) -> tuple[str, ...]:
    return tuple(notation.card_name(top, card) for card in members(cards))


def marks(line: str, _names: tuple[str, ...], _options: Options, _seat: int) -> list[Mark]:
    """Return the cards and scores of a line: numbers that neither count cards nor name a player."""
    return number_marks(r"(?<![\w.+-])(?<!Player )-?\d+(?!\w|\.\d| %| cards?\b| of\b| (?:is|are)\b)", line)
