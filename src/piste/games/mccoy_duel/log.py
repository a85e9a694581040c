"""Duel in a browser's log: short lines, and how it ended."""

from __future__ import annotations

from piste.core.game import counted, members
from piste.core.presentation import EventContext, Heading, Passing
from piste.core.protocols import RESIGNS
from piste.core.views import Ending, SeatView
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.notation import WORDS, card_name
from piste.games.mccoy_duel.rules import COPY, DRAW, GIVE, KILL, PICK, PLAY, SEAT, TAKE, TARGET, Options, View
from piste.games.mccoy_duel.text import (
    FOLLOWS,
    does,
    eliminations,
    event_card,
    lowest_seats,
    tell_resignation,
    whom,
)

PAST = {KILL: "buried", TAKE: "took", COPY: "copied", PLAY: "played"}


def start(view: SeatView, names: tuple[str, ...]) -> list[str]:
    options: Options = view.options
    rounds = [f"Best of {counted(options.rounds, 'round')}"] if options.rounds > 1 else []
    if not options.first:
        return rounds
    return [*rounds, EventContext(view.seat, names, view.opening, ()).goes_first(options.first - 1)]


def lines(context: EventContext) -> list[str]:
    kind = context.event.kind
    if kind in (rules.REVEAL, rules.LOT, PICK, TARGET):
        text = choice(context)
    elif kind in (PLAY, COPY):
        text = use(context)
    elif kind == rules.NEXT:
        text = [round_won(context, context.before)]
    elif kind == RESIGNS:
        text = [line.rstrip(".") for line in tell_resignation(context)]
    else:
        text = transfer(context)
    return [*text, *(line.rstrip(".") for line in eliminations(context))]


def round_won(context: EventContext, over: View) -> str:
    line = f"{context.subject(over.seat)} won round {sum(over.wins)}"
    return line if len(context.names) > 2 else f"{line}: {over.wins[over.seat]}–{over.wins[1 - over.seat]}"


def choice(context: EventContext) -> list[str]:
    """Return what chance or a player chose before a round, or whom for an ability."""
    kind, seat, before = context.event.kind, context.event.seat, context.before
    if kind == rules.REVEAL:
        line, lows = f"{context.subject(seat)} revealed {event_card(context, seat)}", lowest_seats(context)
        low = f"{does(context, lows[0], 'have')} the lowest card" if len(lows) == 1 else "A tie for the lowest card"
        return [line, low] if lows else [line]
    other = context.event.what - SEAT
    if kind == rules.LOT:
        return [f"All cards are shown: lot decides for {whom(context, other)}"]
    if kind == PICK and other == seat:
        return [context.goes_first(seat)]
    if kind == PICK:
        return [f"{context.subject(seat)} picked {whom(context, other)} to go first"]
    able = [one for one in members(before.playing) if one != seat and before.sizes[one]]
    return [f"{context.subject(seat)} chose {whom(context, other)}"] if len(able) > 1 else []


def use(context: EventContext) -> list[str]:
    """Return a card that was played or copied."""
    event, power = context.event, context.event.what % 9
    card = event_card(context, event.seat) if event.kind == PLAY else card_name(context.after.options, event.what)
    line = f"{context.subject(event.seat)} {PAST[event.kind]} {card} {WORDS[power]}"
    in_vain = context.after.phase != FOLLOWS.get(power, context.after.phase)  # D6
    return [f"{line}: nothing to act on" if in_vain else line]


def transfer(context: EventContext) -> list[str]:
    """Return a card that went elsewhere, by chance or by an ability."""
    kind, seat, what, taker = context.event
    who, card = context.subject(seat), event_card(context, seat)
    if kind == rules.BURY:
        first = not context.before.buried and context.after.options.rounds > 1
        begins = [Heading(f"Round {sum(context.after.wins) + 1}")] if first else []
        line = lost_at_random(context)
        return [*begins, line if context.own else Passing(line)]  # every player buries one, unseen (D3)
    if kind == rules.DISARM:
        return [lost_at_random(context)]
    if kind == DRAW:
        return [f"{who} drew {event_card(context, seat, 'a buried card')}"]
    if kind == rules.FEINT:
        owner = "Your" if context.own else f"{context.who(seat)}'s"
        return [f"{owner} {card} was played, without its ability"]
    if kind == GIVE:
        return [f"{who} gave {whom(context, taker)} {event_card(context, taker) if taker == context.seat else card}"]
    return [f"{who} {PAST[kind]} {card_name(context.after.options, what)}"]


def lost_at_random(context: EventContext) -> str:
    """Return a card that chance buried: its owner did not choose it (D3, D12)."""
    card = event_card(context, context.event.seat, "")
    if context.own:
        return f"Your {card} was buried at random"
    owner = context.who(context.event.seat)
    return f"{owner}'s {card} was buried at random" if card else f"A card of {owner} was buried at random"


def final_score(view: SeatView) -> tuple[int, ...] | None:
    return tuple(view.position.wins[: view.options.players]) if view.options.rounds > 1 else None


def decisive(view: SeatView, names: tuple[str, ...], ending: Ending) -> str:
    position: View = view.position
    if position.reason != rules.ROUNDS_WON or ending.winner is None:
        return ""
    why = eliminations(EventContext(view.seat, names, view.opening, view.log))
    if view.options.rounds > 1:
        why = [*why, f"The first to win {counted(max(position.wins), 'round')} wins the match."]
    return " ".join(why)
