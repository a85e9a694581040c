"""Sean McCoy's Duel in words. Its sheet shows no screens: these are of the same kind as those of the other sheets.

In a hand a card is its power; the letter of its colour is added where the hand holds two of that power, or where
the card is of another's colour. In the tower and in the buried pile colours mix, so there the letter is always added.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from piste.core.bits import count
from piste.core.game import counted, listed, members, tidy
from piste.core.presentation import EventContext, Key, Prompt, Row
from piste.core.protocols import HIDDEN, RESIGNS
from piste.core.views import Ending, LogEntry, SeatView
from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.notation import COLOURS, CREDIT, NAMES, POWERS, SEATS, TITLE, card_name, letter, spell
from piste.games.mccoy_duel.rules import COPY, DRAW, GIVE, KILL, PICK, PLAY, SEAT, TAKE, TARGET, Options, View

OWN_VOICE = False
BRIEFLY = ("Tower", "Power to beat", "Your hand")  # what a short question repeats of the table
HAND_OVER = True
TIPS: tuple[str, ...] = (
    "Play a card lower than the power to beat. The trump * goes on anything.",
    "Its ability happens at once. Who cannot play on their turn is out.",
    "The last one in wins the round. More than half the rounds win the match.",
)

WIDTH = 78
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
THIRD = {"bury": "buries", "copy": "copies"}
DOING = {
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
    for told in log:
        up = told.after.up
        order = [card for card in order if up >> card & 1] + [card for card in members(up) if card not in order]
    return order


def pile(log: Sequence[LogEntry]) -> tuple[int, int]:
    """Return the cards that this audience knows to be buried, and those that a draw since may have taken (D17)."""
    sure = maybe = draws = 0  # draws: how many might have taken one of `maybe`
    for event, after in log:
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


def lowest_shown(moment: EventContext) -> list[int]:
    """Return who is lowest if this reveal ends a go, else nobody (D2)."""

    def lows(shown: dict[int, int]) -> list[int]:
        return [seat for seat, power in shown.items() if power == min(shown.values())]

    go, shown = members(moment.opening.present), dict[int, int]()
    for told in moment.log:
        if len(shown) == len(go):
            go, shown = lows(shown), {}
        shown[told.event.seat] = told.event.what % 9
    return lows(shown) if len(shown) == len(go) and not any(moment.opening.revealed) else []


# Cards and players


def by_power(card: int) -> tuple[int, int]:
    return (card % 9, card)


def held(options: Options, holder: int, card: int, hand: int) -> str:
    """Return a card's name in this hand; an unseen hand is 0."""
    alone = count(hand & rules.of_powers(1 << card % 9)) < 2
    return POWERS[card % 9] if card // 9 == holder and alone else card_name(options, card)


def hand_cells(options: Options, holder: int, hand: int) -> tuple[str, ...]:
    return tuple(held(options, holder, card, hand) for card in sorted(members(hand), key=by_power)) or ("no cards",)


def pile_text(options: Options, cards: int) -> str:
    return " ".join(card_name(options, card) for card in sorted(members(cards), key=by_power)) or "no cards"


def told_card(moment: EventContext, holder: int, unseen: str = "a card") -> str:
    """Return the event's card as the audience meets it in this hand."""
    if moment.event.what == HIDDEN:
        return unseen
    hand = moment.before.hand | moment.after.hand if holder == moment.seat else 0
    return held(moment.after.options, holder, moment.event.what, hand)


def whom(moment: EventContext, seat: int) -> str:
    return "you" if seat == moment.seat else moment.who(seat)


def does(moment: EventContext, seat: int, verb: str) -> str:
    """Return subject and verb: You play, Player 2 plays."""
    return f"You {verb}" if seat == moment.seat else f"{moment.who(seat)} {THIRD.get(verb, verb + 's')}"


def folded(lines: list[str]) -> list[str]:
    """Return lines that fit a screen."""
    found: list[str] = []
    for line in lines:
        found += textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False) or [""]
    return found


# Events


def welcome(view: SeatView, names: tuple[str, ...]) -> list[str]:
    options: Options = view.options
    found = [f"Welcome to {TITLE}!", CREDIT, "", f"Best of {counted(options.rounds, 'round')}."]
    for seat, name in enumerate(names):
        mark = letter(options, 9 * seat)
        found += [f"{name} has {next(colour for colour in COLOURS if colour[0] == mark)} ({mark})."]
    if options.first:
        found += [f"{names[options.first - 1]} will go first."]
    return folded(found)


def lines(moment: EventContext) -> list[str]:
    kind = moment.event.kind
    if kind == RESIGNS:
        found = resigned(moment)
    elif kind == rules.REVEAL:
        found = revealed(moment)
    elif kind in (PICK, TARGET, rules.LOT):
        found = chosen(moment)
    elif kind in (PLAY, COPY):
        found = used(moment)
    elif kind == rules.NEXT:
        found = round_over(moment)
    else:
        found = moved(moment)
    return folded(found + put_out(moment))


def put_out(moment: EventContext) -> list[str]:
    """Tell who could not play and is out, in that order (D15)."""
    after, gone = moment.after, moment.event.seat if moment.event.kind == RESIGNS else HIDDEN
    lost = [seat for seat in members(moment.before.playing & ~after.playing) if seat != gone]
    found = []
    for seat in sorted(lost, key=lambda seat: after.out[seat]):
        you, empty = seat == moment.seat, after.sizes[seat] == 0
        why = ("have" if you else "has") + " no cards left" if empty else "cannot play"
        found += [f"{'You' if you else moment.who(seat)} {why} and {'are' if you else 'is'} out of the round."]
    return found


def resigned(moment: EventContext) -> list[str]:
    before, after, seat = moment.before, moment.after, moment.event.seat
    if after.phase == rules.DONE and after.reason == rules.RESIGNED:
        return []  # the farewell says it together with who wins
    found = [f"{'You' if moment.own else moment.who(seat)} resigned."]
    if before.phase in (KILL, TAKE, COPY, TARGET, GIVE) and after.phase != before.phase:
        found += ["The ability does not happen."]
    if before.phase == PICK and before.seat == seat:
        found += [f"{does(moment, after.seat, 'pick')} who goes first."]
    return found


def revealed(moment: EventContext) -> list[str]:
    seat = moment.event.seat
    found = [f"{does(moment, seat, 'reveal')} {told_card(moment, seat)}."]
    lows = lowest_shown(moment)
    if len(lows) == 1:
        found += [f"{'You have' if lows[0] == moment.seat else moment.who(lows[0]) + ' has'} the lowest card."]
    elif lows:
        found += [f"A tie for lowest: {listed([whom(moment, low) for low in lows], 'and')}."]
    return found


def chosen(moment: EventContext) -> list[str]:
    """Tell which player was chosen: to pick, to go first, or by an ability."""
    before, seat, other = moment.before, moment.event.seat, moment.event.what - SEAT
    if moment.event.kind == rules.LOT:
        return [f"All cards are shown. Lot decides for {whom(moment, other)}."]
    if moment.event.kind == PICK:
        return [f"{does(moment, seat, 'pick')} {whom(moment, other) + ' ' if other != seat else ''}to go first."]
    if sum(1 for one in members(before.playing) if one != seat and before.sizes[one]) == 1:
        return []  # there was nothing to choose
    return [f"{does(moment, seat, 'choose')} {whom(moment, other)}."]


def used(moment: EventContext) -> list[str]:
    """Tell of a card that is played or copied, and its ability."""
    event, power = moment.event, moment.event.what % 9
    card = told_card(moment, event.seat) if event.kind == PLAY else card_name(moment.after.options, event.what)
    found = [f"{does(moment, event.seat, VERBS[event.kind])} {card}, {NAMES[power]}:", f"  {ABILITIES[power]}"]
    if moment.after.phase != FOLLOWS.get(power, moment.after.phase):
        found += ["There is nothing to act on."]  # D6
    return found


def moved(moment: EventContext) -> list[str]:
    """Tell of a card that goes elsewhere, by chance or by an ability."""
    kind, seat, card = moment.event.kind, moment.event.seat, told_card(moment, moment.event.seat)
    if kind == rules.BURY:
        begins = [] if moment.before.buried else ["", f"Round {sum(moment.after.wins) + 1} begins."]
        return [*begins, f"{does(moment, seat, 'bury')} {card}."]
    if kind == rules.DISARM:
        return [f"{does(moment, seat, 'bury')} {card} at random."]
    if kind == DRAW:
        return [f"{does(moment, seat, 'draw')} {told_card(moment, seat, 'a buried card')}."]
    if kind == rules.FEINT:
        owner = "Your" if moment.own else f"{moment.who(seat)}'s"
        return [f"{owner} {card} is played. Its ability is ignored."]
    if kind == GIVE:
        taker = moment.event.also
        if taker == moment.seat:
            return [f"{moment.who(seat)} gives you {told_card(moment, taker)}."]
        return [f"{does(moment, seat, 'give')} {card} to {moment.who(taker)}."]
    return [f"{does(moment, seat, VERBS[kind])} {card_name(moment.after.options, moment.event.what)}."]


def round_over(moment: EventContext) -> list[str]:
    over: View = moment.before
    return [round_won(moment, over), standing(over, moment.names), *uncovered(over, moment.names)]


def round_won(moment: EventContext, over: View) -> str:
    return f"{does(moment, over.seat, 'win')} round {sum(over.wins)}."


def standing(view: View, names: tuple[str, ...]) -> str:
    wins = ", ".join(f"{name} ({view.wins[seat]})" for seat, name in enumerate(names))
    return f"Rounds won, best of {view.options.rounds}: {wins}."


def uncovered(view: View, names: tuple[str, ...]) -> list[str]:
    """Return the lines that show every hand and the buried pile (D15, G9)."""
    if not any(view.hands) and not view.up | view.grave:
        return []  # nothing was dealt yet
    found = []
    for seat, name in enumerate(names):
        if view.hands[seat] or view.present >> seat & 1:
            found += [f"{name}'s hand: {' '.join(hand_cells(view.options, seat, view.hands[seat]))}"]
    return [*found, f"Buried: {pile_text(view.options, view.grave)}"]


def farewell(view: SeatView, names: tuple[str, ...], ending: Ending) -> list[str]:
    position: View = view.position
    winner = names[ending.payoffs.index(max(ending.payoffs))]
    if position.reason == rules.ROUNDS_WON:
        found = [f"{winner} wins round {sum(position.wins)}.", standing(position, names), f"{winner} wins!"]
    else:
        left = [names[told.event.seat] for told in view.log if told.event.kind == RESIGNS]
        found = [f"{left[-1]} resigned. {winner} wins!", standing(position, names)]
    return folded(["", *found, *uncovered(position, names)])


# The position and the questions


def picture(view: SeatView, names: tuple[str, ...]) -> list[Row]:
    p: View = view.position
    actor = p.target if p.phase == GIVE else p.seat
    turn = [Row("Turn", (names[actor],), DOING[p.phase])] if p.phase in DOING else []
    return turn + board(view, names)


def board(view: SeatView, names: tuple[str, ...]) -> list[Row]:
    """Return what this seat sees on the table, and its hand."""
    p: View = view.position
    over = p.phase == rules.DONE and p.reason == rules.ROUNDS_WON
    rows = [Row("Round", (str(sum(p.wins) + (0 if over else 1)),), f"best of {p.options.rounds}")]
    rows += [player_row(p, seat, name) for seat, name in enumerate(names)]
    if not any(p.sizes) and not p.up | p.buried:
        return rows  # nothing is dealt yet
    order = tower(view.opening, view.log)
    rows += [Row("Tower", tuple(card_name(p.options, card) for card in order) or ("empty",))]
    rows += [power_row(p)] if p.phase != rules.DONE else []
    rows += [Row("Buried", (counted(p.buried, "card"),), buried_note(p, *pile(view.log)))]
    if view.seat >= 0 and not any(p.hands):
        rows += [Row("Your hand", hand_cells(p.options, view.seat, p.hand))]
    return rows


def player_row(p: View, seat: int, name: str) -> Row:
    cells: tuple[str, ...] = (counted(p.sizes[seat], "card"),)
    note = counted(p.wins[seat], "round") + " won"
    if p.revealed[seat]:
        cells, note = hand_cells(p.options, seat, p.revealed[seat]), "revealed"
    if p.hands[seat]:
        cells = hand_cells(p.options, seat, p.hands[seat])
    if not p.playing >> seat & 1:
        note = f"{'out' if p.present >> seat & 1 else 'left the match'}, {note}"
    return Row(name, cells, note)


def power_row(p: View) -> Row:
    if p.power == rules.LEAD:
        return Row("Power to beat", ("none",), "any card may lead")
    note = {rules.STANCE: "play greater than 5", rules.TRUMPED: "no 0 after the trump"}.get(p.demand, "")
    return Row("Power to beat", (str(p.power),), note)


def buried_note(p: View, sure: int, maybe: int) -> str:
    if p.grave:
        return pile_text(p.options, p.grave)
    known = [f"you know {pile_text(p.options, sure)}"] if sure else []
    known += [f"{pile_text(p.options, maybe)} if not drawn since"] if maybe else []
    return "; ".join(known)


def ask(view: SeatView, names: tuple[str, ...]) -> Prompt:
    p: View = view.position
    text: list[str] = []  # in the middle of a turn, only the question
    if p.phase == PLAY:
        text = ["", f"{names[p.seat]}'s turn."]
    elif p.phase == PICK:
        text = ["", f"{names[p.seat]} picks who goes first."]
    elif p.phase == GIVE:
        text = ["", f"{names[p.target]} gives a card to {names[p.seat]}."]
    if text and (p.phase != PICK or p.buried):  # before the first round there is nothing to see
        text += [row_text(row) for row in board(view, names)]
    if p.phase in (PICK, TARGET):
        keys = player_keys(view, names)
        text += ["Choose who goes first:" if p.phase == PICK else "Choose an opponent:"]
        text += [f"[{key.key}] {key.label}" for key in keys]
        last = f"Enter choice ({'/'.join(key.key for key in keys)}): "
    else:
        keys = card_keys(view)
        text += [f"You can {VERBS[p.phase]}: {' '.join(key.key for key in keys)}"]
        last = f"{VERBS[p.phase].capitalize()} which card? "
    seen = [row_text(row) for row in board(view, names) if row.label in BRIEFLY]
    short = [] if p.phase == PICK and not p.buried else ["", *folded(seen)]
    return Prompt("\n".join([*folded(text), last]), keys, "\n".join([*short, last]))


def row_text(row: Row) -> str:
    return f"{row.label}: {' '.join(row.cells)}" + (f" ({row.note})" if row.note else "")


def card_keys(view: SeatView) -> tuple[Key, ...]:
    """Return a key for each card: those of the tower in the order played, those of the hand by power."""
    p: View = view.position
    of_tower = p.phase in (KILL, TAKE, COPY)
    order = tower(view.opening, view.log) if of_tower else sorted(view.actions, key=by_power)
    typed = [word for card in view.actions for word in spell(p, card)]
    keys = []
    for card in order:
        if card in view.actions:
            key = card_name(p.options, card) if of_tower else held(p.options, view.seat, card, p.hand)
            also = tuple(word for word in spell(p, card) if word != key and typed.count(word) == 1)  # D22
            keys += [Key(key, f"{NAMES[card % 9]}: {ABILITIES[card % 9]}", card, also)]
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
