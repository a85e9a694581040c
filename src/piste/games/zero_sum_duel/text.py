"""Zero Sum Duel: what its players read, in the words of its sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from piste.core.bits import signed_value
from piste.core.game import counted, members
from piste.core.presentation import EventContext, Key, Mark, Pause, Prompt, Row, number_marks
from piste.core.protocols import RESIGNS
from piste.core.views import Ending, LogEntry, SeatView
from piste.games.zero_sum_duel import notation, rules
from piste.games.zero_sum_duel.rules import DISCARD, DONE, DRAW, TOSS, Options, View

OWN_VOICE = True
HAND_OVER = True
TIPS: tuple[str, ...] = (
    "Each turn you draw one card.",
    "With too many in hand, discard one.",
    "Two or more that sum to 0 win at once.",
)


def welcome(view: SeatView, names: tuple[str, ...]) -> list[str]:
    opening: View = view.opening
    text = ["Welcome to Zero Sum Duel!", "", "Shuffling deck..."]
    # Where a coin is tossed, the toss itself tells who starts.
    return text if opening.phase == TOSS else [*text, goes_first(names[opening.seat])]


def lines(moment: EventContext) -> list[str]:
    kind, seat = moment.event.kind, moment.event.seat
    if kind == RESIGNS:
        return []  # said in the farewell, together with who wins
    if kind == TOSS:
        return [goes_first(moment.who(seat))]
    return own_lines(moment) if moment.own else other_lines(moment)


def own_lines(moment: EventContext) -> list[str]:
    kind, seat, what, _ = moment.event
    who = moment.who(seat)
    after: View = moment.after
    top = after.options.top
    cards = in_order(moment.seat, moment.opening, moment.log)
    text: list[str] = []
    if kind == DRAW:
        text = ["", f"{who}'s Turn:", *shuffling(moment), f"You draw a card: {notation.card_name(top, what)}"]
    text += [f"Your hand: {bracketed(top, cards)}", f"Your hand sum: {signed(total(top, cards))}"]
    if won(after):
        return [*text, "Congratulations! Your hand sums to zero.", wins(who)]
    if after.phase == DISCARD:
        # Z1: a zero of four cards has not won.
        return text if total(top, cards) else [*text, "(Discard one card first.)"]
    if kind == DRAW:
        text.append("(No action can be taken.)")
    # After the last turn of all there is nothing to continue with.
    return text if after.phase == DONE else [*text, Pause("End of turn. Press Enter to continue.")]


def other_lines(moment: EventContext) -> list[str]:
    """Return what those are told whose turn it is not: never a card in a hand (Z3)."""
    kind, seat, what, _ = moment.event
    who = moment.who(seat)
    after: View = moment.after
    if kind == DRAW:
        text = [*shuffling(moment), f"{who} draws a card."]
    else:
        text = [f"{who} discards {notation.card_name(after.options.top, what)}."]
    return [*text, f"{who}'s hand sums to zero.", wins(who)] if won(after) else text


def shuffling(moment: EventContext) -> list[str]:
    """Return what is said before a draw that finds the deck empty (Z4)."""
    before: View = moment.before
    return [] if before.left else ["The deck is empty. Shuffling the pile..."]


def won(after: View) -> bool:
    return after.phase == DONE and after.reason == rules.SUM_IS_ZERO


def ask(view: SeatView, _names: tuple[str, ...]) -> Prompt:
    return Prompt(
        "Choose a card to discard",
        tuple(card_key(view.position, card) for card in in_order(view.seat, view.opening, view.log)),
    )


def card_key(position: View, card: int) -> Key:
    short, *more = notation.spell(position, card)
    also = dict.fromkeys([*more, short.replace("-", "−")])
    return Key(short, f"discard {short}", card, tuple(word for word in also if word != short))


def picture(view: SeatView, names: tuple[str, ...]) -> list[Row]:
    position: View = view.position
    top = position.options.top
    over = position.phase == DONE
    rows: list[Row] = []
    for seat, size in enumerate(position.sizes):
        if seat == view.seat or over:
            cards = shown_hand(view, seat)
            label = "Your hand" if seat == view.seat else f"{names[seat]}'s hand"
            rows.append(Row(label, texts(top, cards), f"sum {signed(total(top, cards))}"))
        else:
            rows.append(Row(f"{names[seat]}'s hand", ("?",) * size, counted(size, "card")))
    pile = members(position.pile)
    rows.append(Row("Pile", texts(top, pile), counted(len(pile), "card")))
    rows.append(Row("Deck", texts(top, members(position.undrawn)), counted(position.left, "card")))
    if not over:
        limit = f" of {position.options.turns}" if position.options.turns else ""
        rows.append(Row("Turn", (names[position.seat],), f"turn {position.turns + 1}{limit}"))
    return rows


def farewell(view: SeatView, names: tuple[str, ...], ending: Ending) -> list[str]:
    """Return the result, unless the winning turn has told it, and what was hidden (G9)."""
    position: View = view.position
    top = position.options.top
    text = [""]
    if position.reason == rules.RESIGNED and ending.winner is not None:
        text.append(f"{names[1 - ending.winner]} resigned. {wins(names[ending.winner])}")
    elif ending.winner is None:
        text.append("Draw by turn limit.")
    for seat, name in enumerate(names):
        text.append(f"{name}'s hand: {bracketed(top, shown_hand(view, seat))}")
    text.append(f"Undrawn cards: {bracketed(top, members(position.undrawn))}")
    return text


def in_order(seat: int, opening: View, log: Iterable[LogEntry]) -> list[int]:
    """Return a seat's own hand in the order in which it was drawn (Z5)."""
    cards = members(opening.hand)
    for event, _ in log:
        if event.seat == seat and event.kind == DRAW:
            cards.append(event.what)
        elif event.seat == seat and event.kind == DISCARD:
            cards.remove(event.what)
    return cards


def shown_hand(view: SeatView, seat: int) -> list[int]:
    """Return the own hand as drawn, or another's by value, once it is shown (Z8)."""
    if seat == view.seat:
        return in_order(seat, view.opening, view.log)
    hands: tuple[int, int] = view.position.hands
    return members(hands[seat])


def marks(line: str, _names: tuple[str, ...], _options: Options, _seat: int) -> list[Mark]:
    """Return the cards and sums of a line: numbers with a sign, and 0."""
    return number_marks(r"(?<![\w+-])(?:[+-]\d+|0)(?!\w|\.\d)", line)


def goes_first(who: str) -> str:
    return f"{who} will go first."


def wins(who: str) -> str:
    return f"{who} wins the game!"


def signed(number: int) -> str:
    return f"{number:+d}" if number else "0"


def total(top: int, cards: Iterable[int]) -> int:
    return sum(signed_value(top, card) for card in cards)


def texts(top: int, cards: Iterable[int]) -> tuple[str, ...]:
    return tuple(notation.card_name(top, card) for card in cards)


def bracketed(top: int, cards: Sequence[int]) -> str:
    return f"[{', '.join(texts(top, cards))}]"
