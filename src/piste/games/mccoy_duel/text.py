"""Sean McCoy's Duel in words. Its sheet shows no screens: these are of the same kind as those of the other sheets.

In a hand a card is its power; the letter of its colour is added where the hand holds two of that power, or where
the card is of another's colour. In the tower and in the buried pile colours mix, so there the letter is always added.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from piste.core.bits import count
from piste.core.game import counted, listed, members, tidy
from piste.core.presentation import EventContext, Key, Mark, Prompt, Row
from piste.core.protocols import HIDDEN, RESIGNS
from piste.core.views import Ending, LogEntry, SeatView
from piste.games.mccoy_duel import notation, rules
from piste.games.mccoy_duel.notation import FROM_TOWER, NAMES, POWERS, SEATS, by_power, card_name, colour_name, spell
from piste.games.mccoy_duel.rules import COPY, DRAW, GIVE, KILL, PICK, PLAY, SEAT, TAKE, TARGET, Options, View

OWN_VOICE = False
BRIEF_ROWS = ("Tower", "Power to beat", "Your hand")  # what a short question repeats of the table
HAND_OVER = True
TIPS: tuple[str, ...] = (
    "Play a card lower than the power to beat. The trump * goes on anything.",
    "Its ability happens at once. Who cannot play on their turn is out.",
    "The last one in wins the round. More than half the rounds win the match.",
)

LINE_WIDTH = 78
ABILITIES = (
    "Bury a face up card.",
    "Draw a buried card.",
    "Put a face up card in your hand.",
    "Play an opponent's random card and ignore the ability.",
    "Copy the ability of any face up card.",
    "The next card played must be greater than 5.",
    "Opponent buries a card at random.",
    "Opponent gives you a card of their choice.",
    "Trumps the last card played. Then counts as an 8.",
)
# What comes next if an ability finds something to act on; 5 and the trump need nothing.
FOLLOWS = {0: KILL, 1: DRAW, 2: TAKE, 3: TARGET, 4: COPY, 6: TARGET, 7: TARGET}
VERBS = {KILL: "bury", TAKE: "take", COPY: "copy", PLAY: "play", GIVE: "give"}
THIRD_PERSON = {"bury": "buries", "copy": "copies", "have": "has"}
TURN_NOTES = {
    PICK: "picks who goes first",
    PLAY: "plays a card",
    KILL: "buries a face up card",
    TAKE: "takes a face up card",
    COPY: "copies a face up card",
    TARGET: "chooses an opponent",
    GIVE: "gives a card",
}


def tips(options: Options) -> tuple[str, ...]:
    if options.powers >> rules.TRUMP & 1:
        return TIPS
    return ("Play a card lower than the power to beat.", *TIPS[1:])


# What the log tells


def tower(opening: View, log: Sequence[LogEntry]) -> list[int]:
    """Return the face-up cards in the order played; of a tower that was there at the start only the top is known."""
    order = sorted(members(opening.up), key=lambda card: (card == opening.top, -(card % 9), card))
    for entry in log[next((at for at in range(len(log) - 1, 0, -1) if log[at].after.up == 0), 0) :]:
        up = entry.after.up
        order = [card for card in order if up >> card & 1] + [card for card in members(up) if card not in order]
    return order


def known_buried(log: Sequence[LogEntry]) -> tuple[int, int]:
    """Return the cards that this viewer knows to be buried, and those that a later draw may have taken (D17)."""
    sure = maybe = draws = 0  # draws: the number that might have taken one of `maybe`
    for event, after in log[next((at for at in range(len(log) - 1, 0, -1) if log[at].after.buried == 0), 0) :]:
        card = 1 << event.what if event.what != HIDDEN else 0
        if after.buried == 0:
            sure = maybe = 0
        elif event.kind == DRAW and not card:
            sure, maybe, draws = 0, maybe | sure, draws + 1
        elif event.kind == DRAW:
            sure, maybe = sure & ~card, maybe & ~card
        elif event.kind in (rules.BURY, rules.DISARM, KILL):
            sure |= card
        seen = maybe & (after.up | after.hand)  # only a draw can have brought them there
        maybe, draws = maybe & ~seen, draws - count(seen)
        if count(sure) == after.buried:
            maybe = 0
        if maybe == 0 or draws == 0:  # every draw is accounted for: what is left was not drawn
            sure, maybe, draws = sure | maybe, 0, 0
    return sure, maybe


def lowest_seats(context: EventContext) -> list[int]:
    """Return who is lowest if this reveal ends a go, else nobody (D2)."""

    def lowest(powers: dict[int, int]) -> list[int]:
        return [seat for seat, power in powers.items() if power == min(powers.values())]

    seats, powers = members(context.opening.present), dict[int, int]()
    for entry in context.log:
        if len(powers) == len(seats):
            seats, powers = lowest(powers), {}
        powers[entry.event.seat] = entry.event.what % 9
    return lowest(powers) if len(powers) == len(seats) and not any(context.opening.revealed) else []


# Cards and players


def held(options: Options, holder: int, card: int, hand: int) -> str:
    """Return a card's name in this hand; an unseen hand is 0."""
    alone = count(hand & rules.of_powers(1 << card % 9)) < 2
    return POWERS[card % 9] if card // 9 == holder and alone else card_name(options, card)


def hand_cells(options: Options, holder: int, hand: int) -> tuple[str, ...]:
    return tuple(held(options, holder, card, hand) for card in by_power(hand)) or ("no cards",)


def card_list(options: Options, cards: int) -> str:
    return " ".join(card_name(options, card) for card in by_power(cards)) or "no cards"


def event_card(context: EventContext, holder: int, unseen: str = "a card") -> str:
    """Return the event's card as the viewer sees it in this hand."""
    if context.event.what == HIDDEN:
        return unseen
    hand = context.before.hand | context.after.hand if holder == context.seat else 0
    return held(context.after.options, holder, context.event.what, hand)


def whom(context: EventContext, seat: int) -> str:
    return "you" if seat == context.seat else context.who(seat)


def does(context: EventContext, seat: int, verb: str) -> str:
    """Return subject and verb: You play, Player 2 plays."""
    return f"You {verb}" if seat == context.seat else f"{context.who(seat)} {THIRD_PERSON.get(verb, verb + 's')}"


def wrap_lines(lines: list[str]) -> list[str]:
    """Return lines that fit a screen."""
    wrapper = textwrap.TextWrapper(LINE_WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return [part for line in lines for part in wrapper.wrap(line) or [""]]


# Events


def welcome(view: SeatView, names: tuple[str, ...]) -> list[str]:
    options: Options = view.options
    text = [f"Welcome to {notation.TITLE}!", notation.CREDIT, "", f"Best of {counted(options.rounds, 'round')}."]
    for seat, name in enumerate(names):
        colour = colour_name(options, 9 * seat)
        text += [f"{name} has {colour} ({colour[0]})."]
    if options.first:
        text += [f"{names[options.first - 1]} will go first."]
    return wrap_lines(text)


def lines(context: EventContext) -> list[str]:
    tell = TELL.get(context.event.kind, tell_transfer)
    return wrap_lines(tell(context) + eliminations(context))


def eliminations(context: EventContext) -> list[str]:
    """Tell who could not play and is out, in that order (D15)."""
    after, gone = context.after, context.event.seat if context.event.kind == RESIGNS else HIDDEN
    lost = [seat for seat in members(context.before.playing & ~after.playing) if seat != gone]
    text = []
    for seat in sorted(lost, key=lambda seat: after.out[seat]):
        subject, are = ("You", "are") if seat == context.seat else (context.who(seat), "is")
        why = "cannot play" if after.sizes[seat] else f"{'have' if seat == context.seat else 'has'} no cards left"
        text += [f"{subject} {why} and {are} out of the round."]
    return text


def tell_resignation(context: EventContext) -> list[str]:
    before, after, seat = context.before, context.after, context.event.seat
    if after.phase == rules.DONE and after.reason == rules.RESIGNED:
        return []  # the farewell says it together with who wins
    text = [f"{'You' if context.own else context.who(seat)} resigned."]
    if before.phase in (KILL, TAKE, COPY, TARGET, GIVE) and after.phase != before.phase:
        text += ["The ability does not happen."]
    if before.phase == PICK and before.seat == seat:
        text += [f"{does(context, after.seat, 'pick')} who goes first."]
    return text


def tell_reveal(context: EventContext) -> list[str]:
    seat = context.event.seat
    text = [f"{does(context, seat, 'reveal')} {event_card(context, seat)}."]
    lows = lowest_seats(context)
    if len(lows) == 1:
        text += [f"{does(context, lows[0], 'have')} the lowest card."]
    elif lows:
        text += [f"A tie for lowest: {listed([whom(context, low) for low in lows], 'and')}."]
    return text


def tell_choice(context: EventContext) -> list[str]:
    """Tell which player was chosen: to pick, to go first, or by an ability."""
    before, seat, other = context.before, context.event.seat, context.event.what - SEAT
    if context.event.kind == rules.LOT:
        return [f"All cards are shown. Lot decides for {whom(context, other)}."]
    if context.event.kind == PICK:
        return [f"{does(context, seat, 'pick')} {whom(context, other) + ' ' if other != seat else ''}to go first."]
    if sum(1 for one in members(before.playing) if one != seat and before.sizes[one]) == 1:
        return []  # there was nothing to choose
    return [f"{does(context, seat, 'choose')} {whom(context, other)}."]


def tell_use(context: EventContext) -> list[str]:
    """Tell of a card that is played or copied, and its ability."""
    event, power = context.event, context.event.what % 9
    card = event_card(context, event.seat) if event.kind == PLAY else card_name(context.after.options, event.what)
    text = [f"{does(context, event.seat, VERBS[event.kind])} {card}, {NAMES[power]}:", f"  {ABILITIES[power]}"]
    if context.after.phase != FOLLOWS.get(power, context.after.phase):
        text += ["There is nothing to act on."]  # D6
    return text


def tell_transfer(context: EventContext) -> list[str]:
    """Tell of a card that goes elsewhere, by chance or by an ability."""
    kind, seat, card = context.event.kind, context.event.seat, event_card(context, context.event.seat)
    if kind == rules.BURY:
        begins = [] if context.before.buried else ["", f"Round {sum(context.after.wins) + 1} begins."]
        return [*begins, f"{does(context, seat, 'bury')} {card}."]
    if kind == rules.DISARM:
        return [f"{does(context, seat, 'bury')} {card} at random."]
    if kind == DRAW:
        return [f"{does(context, seat, 'draw')} {event_card(context, seat, 'a buried card')}."]
    if kind == rules.FEINT:
        owner = "Your" if context.own else f"{context.who(seat)}'s"
        return [f"{owner} {card} is played. Its ability is ignored."]
    if kind == GIVE:
        taker = context.event.also
        if taker == context.seat:
            return [f"{context.who(seat)} gives you {event_card(context, taker)}."]
        return [f"{does(context, seat, 'give')} {card} to {context.who(taker)}."]
    return [f"{does(context, seat, VERBS[kind])} {card_name(context.after.options, context.event.what)}."]


def tell_round_end(context: EventContext) -> list[str]:
    over: View = context.before
    return [round_won(context, over), standing(over, context.names), *shown_hands(over, context.names)]


TELL = {
    RESIGNS: tell_resignation,
    rules.REVEAL: tell_reveal,
    **dict.fromkeys((PICK, TARGET, rules.LOT), tell_choice),
    **dict.fromkeys((PLAY, COPY), tell_use),
    rules.NEXT: tell_round_end,
}
"""What tells of each kind of event; all other kinds move a card."""


def round_won(context: EventContext, over: View) -> str:
    return f"{does(context, over.seat, 'win')} round {sum(over.wins)}."


def standing(view: View, names: tuple[str, ...]) -> str:
    wins = ", ".join(f"{name} ({view.wins[seat]})" for seat, name in enumerate(names))
    return f"Rounds won, best of {view.options.rounds}: {wins}."


def shown_hands(view: View, names: tuple[str, ...]) -> list[str]:
    """Return the lines that show every hand and the buried pile (D15, G9)."""
    if not any(view.hands) and not view.up | view.grave:
        return []  # nothing was dealt yet
    text = []
    for seat, name in enumerate(names):
        if view.hands[seat] or view.present >> seat & 1:
            text += [f"{name}'s hand: {' '.join(hand_cells(view.options, seat, view.hands[seat]))}"]
    return [*text, f"Buried: {card_list(view.options, view.grave)}"]


def farewell(view: SeatView, names: tuple[str, ...], ending: Ending) -> list[str]:
    position: View = view.position
    winner = names[ending.payoffs.index(max(ending.payoffs))]
    if position.reason == rules.ROUNDS_WON:
        text = [f"{winner} wins round {sum(position.wins)}.", standing(position, names), f"{winner} wins!"]
    else:
        resigned = [names[entry.event.seat] for entry in view.log if entry.event.kind == RESIGNS]
        text = [f"{resigned[-1]} resigned. {winner} wins!", standing(position, names)]
    return wrap_lines(["", *text, *shown_hands(position, names)])


# Colours

CARD = re.compile(r"(?<![\w.*])([0-7*])([a-d])(?!\w)")  # with the letter of its colour
BARE = re.compile(r"(?<![\w.*])[0-7*](?![\w*])")  # in its owner's colour
DEEDS = r" (?:(?:plays?|reveals?|bur(?:y|ies)|draws?|gives?(?: you)?|hand:|can \w+:) |(?=[0-7*] is played))"
REVEALED = r": (?=(?:[0-7*][a-d]? )+\()"  # a row that begins with a name, and not with a number of cards


def marks(line: str, names: tuple[str, ...], options: Options, seat: int) -> list[Mark]:
    """Return the cards of a line in the colours of their owners, and the names of colours."""
    words = re.compile(rf"\b(?:{'|'.join(notation.COLOURS)})\b")
    found = [Mark(*card.span(), card[2]) for card in CARD.finditer(line)]
    found += [Mark(*word.span(), word[0][0]) for word in words.finditer(line)]
    seats = {"You": seat, "Your": seat, **{name: at for at, name in enumerate(names)}}
    whose = "|".join(re.escape(name) for name in seats)
    said = re.match(rf" *({whose})(?:'s)?(?:{DEEDS}|{REVEALED})", line)
    owner = -1 if said is None else seat if "gives you" in said[0] else seats[said[1]]
    if said is not None and owner >= 0:
        tone, end = colour_name(options, 9 * owner)[0], re.split(r" \(| to ", line)[0]
        found += [Mark(*card.span(), tone) for card in BARE.finditer(line, said.end(), len(end))]
    return found


# The position and the questions


def picture(view: SeatView, names: tuple[str, ...]) -> list[Row]:
    p: View = view.position
    actor = p.target if p.phase == GIVE else p.seat
    turn = [Row("Turn", (names[actor],), TURN_NOTES[p.phase])] if p.phase in TURN_NOTES else []
    return turn + board(view, names)


def board(view: SeatView, names: tuple[str, ...]) -> list[Row]:
    """Return what this seat sees on the table, and its hand."""
    p: View = view.position
    rows = [Row("Round", (str(round_number(p)),), f"best of {p.options.rounds}")]
    for seat, name in enumerate(names):
        hand = p.hands[seat] or p.revealed[seat]
        cells = hand_cells(p.options, seat, hand) if hand else (counted(p.sizes[seat], "card"),)
        rows += [Row(name, cells, player_note(p, seat))]
    if not dealt(p):
        return rows
    order = tower(view.opening, view.log)
    rows += [Row("Tower", tuple(card_name(p.options, card) for card in order) or ("empty",))]
    if p.phase != rules.DONE:
        power, note = power_to_beat(p)
        rows += [Row("Power to beat", (power,), note)]
    rows += [Row("Buried", (counted(p.buried, "card"),), buried_note(p, *known_buried(view.log)))]
    if view.seat >= 0 and not any(p.hands):
        rows += [Row("Your hand", hand_cells(p.options, view.seat, p.hand))]
    return rows


def round_number(p: View) -> int:
    return sum(p.wins) + (0 if p.phase == rules.DONE and p.reason == rules.ROUNDS_WON else 1)


def dealt(p: View) -> bool:
    """Say whether the cards of a round are on the table."""
    return any(p.sizes) or p.up | p.buried != 0


def player_note(p: View, seat: int) -> str:
    """Return whether a player is still in, and the rounds won."""
    note = "revealed" if p.revealed[seat] else f"{counted(p.wins[seat], 'round')} won"
    if not p.playing >> seat & 1:
        note = f"{'out' if p.present >> seat & 1 else 'left the match'}, {note}"
    return note


def power_to_beat(p: View) -> tuple[str, str]:
    """Return the power to beat, and what else the next card has to be."""
    if p.power == rules.LEAD:
        return "none", "any card may lead"
    note = {rules.STANCE: "play greater than 5", rules.TRUMPED: "no 0 after the trump"}.get(p.demand, "")
    return str(p.power), note


def buried_note(p: View, sure: int, maybe: int) -> str:
    if p.grave:
        return card_list(p.options, p.grave)
    known = [f"you know {card_list(p.options, sure)}"] if sure else []
    known += [f"{card_list(p.options, maybe)} if not drawn since"] if maybe else []
    return "; ".join(known)


def prompt(view: SeatView, names: tuple[str, ...]) -> Prompt:
    p: View = view.position
    if p.phase in (PICK, TARGET):
        question = "Choose who goes first" if p.phase == PICK else "Choose an opponent"
        return Prompt(question, player_keys(view, names), listed=True)
    verb = VERBS[p.phase].capitalize()
    return Prompt(f"{verb} which card?", card_keys(view), " ", verb=verb)


def ask(view: SeatView, names: tuple[str, ...]) -> Prompt:
    p: View = view.position
    asked = prompt(view, names)
    above: list[str] = []  # in the middle of a turn, only the question
    if p.phase == PLAY:
        above = ["", f"{names[p.seat]}'s turn."]
    elif p.phase == PICK:
        above = ["", f"{names[p.seat]} picks who goes first."]
    elif p.phase == GIVE:
        above = ["", f"{names[p.target]} gives a card to {names[p.seat]}."]
    if above and (p.phase != PICK or p.buried):  # before the first round there is nothing to see
        above += [str(row) for row in board(view, names)]
    if p.phase not in (PICK, TARGET):
        above += [f"You can {VERBS[p.phase]}: {' '.join(key.key for key in asked.keys)}"]
    seen = [str(row) for row in board(view, names) if row.label in BRIEF_ROWS]
    short = [] if p.phase == PICK and not p.buried else ["", *wrap_lines(seen)]
    return asked._replace(above=tuple(wrap_lines(above)), brief="\n".join([*short, asked.last_line]))


def card_keys(view: SeatView) -> tuple[Key, ...]:
    """Return a key for each card: those of the tower in the order played, those of the hand by power."""
    p: View = view.position
    of_tower = p.phase in FROM_TOWER
    order = tower(view.opening, view.log) if of_tower else by_power(p.hand)
    typed = [word for card in view.actions for word in spell(p, card)]
    keys = []
    for card in order:
        if card in view.actions:
            key = card_name(p.options, card) if of_tower else held(p.options, view.seat, card, p.hand)
            also = tuple(word for word in spell(p, card) if word != key and typed.count(word) == 1)  # D22
            keys += [Key(key, NAMES[card % 9], card, also, ABILITIES[card % 9])]
    return tuple(keys)


def player_keys(view: SeatView, names: tuple[str, ...]) -> tuple[Key, ...]:
    """Return a key for each player; a name will do if it means nobody else."""
    p: View = view.position
    taken = [tidy(word) for seat in range(4) for word in spell(p, SEAT + seat)] + [tidy(name) for name in names]
    keys = []
    for action in view.actions:
        seat = action - SEAT
        own = (names[seat],) if taken.count(tidy(names[seat])) == 1 else ()
        label = names[seat] if p.phase == PICK else f"{names[seat]}, {counted(p.sizes[seat], 'card')}"
        keys += [Key(SEATS[seat], label, action, (*spell(p, action)[1:], *own))]
    return tuple(keys)
