"""Duel as a browser draws it: hands around a tower, and the pile of buried cards."""

from __future__ import annotations

from functools import lru_cache

from piste.core.bits import count
from piste.core.game import listed
from piste.core.presentation import EventContext
from piste.core.scene import (
    CARDS,
    HAND,
    TOWER,
    Area,
    Card,
    RoundEnd,
    Score,
    Standing,
    face_down,
    other_seats,
    owner_label,
    player_name,
)
from piste.core.views import SeatView
from piste.games.mccoy_duel import text
from piste.games.mccoy_duel.notation import (
    FROM_TOWER,
    NAMES,
    POWERS,
    TITLE,
    WORDS,
    by_power,
    colour_name,
    why_not,
)
from piste.games.mccoy_duel.rules import (
    COPY,
    DISARM,
    DONE,
    DRAW,
    FEINT,
    GIVE,
    KILL,
    LEAD,
    LOT,
    NEXT,
    PICK,
    PLAY,
    SEAT,
    STANCE,
    TAKE,
    TARGET,
    TRUMP,
    TRUMPED,
    Options,
    View,
)

# By power: what the ability does, in clearer words than the sheet's, and as a picture.
MEANINGS = (
    "Bury another card of the tower. Not playable right after a trump.",
    "Draw a random card of the buried pile.",
    "Take another card of the tower into your hand.",
    "A random card of an opponent's hand is played. Its number counts, its ability does not.",
    "Use the ability of another card of the tower, but not that of a 4.",
    "The next card must be a 6, a 7 or the trump.",
    "An opponent loses a random card to the buried pile.",
    "An opponent chooses a card of their hand and gives it to you.",
    "Goes on any card and counts as 8. No 0 may follow at once.",
)
ICONS = (
    "M7 3h10v12H7zM10 7l4 4M14 7l-4 4M3 20h18",  # a card crossed out, above the ground
    "M12 16V3M7 8l5-5 5 5M3 20h18",  # up from the ground
    "M12 3v11M8 10l4 4 4-4M4 13v7h16v-7",  # into what one holds
    "M4 4h16v16H4zM9 9h.01M15 9h.01M12 12h.01M9 15h.01M15 15h.01",  # a die
    "M9 8h11v13H9zM5 16V3h11",  # a card and another like it
    "M5 12l7-7 7 7M5 19l7-7 7 7",  # higher
    "M21 3l-7 7M11 13l-2 2M6 11l7 7M8 16l-4 4",  # a broken sword
    "M8 3h8v9H8zM3 15c4 0 5 5 9 5s5-5 9-5",  # a card above a hollow hand
    "M4 19h16M4 15L3 6l5 4 4-6 4 6 5-4-1 9z",  # a crown
)
QUESTIONS = {
    PLAY: "Choose a card of your hand to play",
    KILL: "Choose a card in the tower to bury",
    TAKE: "Choose a card in the tower to take",
    COPY: "Choose a card in the tower to copy",
}
TARGETS = {  # by the power whose ability asks
    3: "Choose whose random card is played",
    6: "Choose who buries a card at random",
    7: "Choose who gives you a card",
}
ABILITY_HAPPENS = (KILL, TAKE, COPY, TARGET, FEINT, DRAW, DISARM, GIVE)


def scene(view: SeatView, names: tuple[str, ...]) -> tuple[Area, ...]:
    p: View = view.position
    hands = [player(view, names, seat) for seat in range(len(names))]
    opponents = [hands[seat] for seat in other_seats(view.seat, len(names))]
    own = [hands[view.seat]] if view.seat >= 0 else []
    return (*opponents, *(table(view) if text.dealt(p) else []), *own)


def round_end(view: SeatView, names: tuple[str, ...]) -> RoundEnd | None:
    """Return who won the round, and every hand and the buried pile, which are shown now (D15)."""
    p: View = view.position
    if p.phase != NEXT:
        return None
    context = EventContext(view.seat, names, view.opening, view.log)
    seats = [*other_seats(view.seat, len(names)), *([view.seat] if view.seat >= 0 else [])]
    hands = [player(view, names, seat) for seat in seats if p.hands[seat] or p.present >> seat & 1]
    return RoundEnd(
        sum(p.wins),
        text.round_won(context, p),
        (*text.eliminations(context), text.standing(p, names)),
        (*hands, Area(CARDS, "Buried", faces(view, p.grave), "" if p.grave else "no cards")),
    )


def table(view: SeatView) -> list[Area]:
    """Return what lies between the players: the tower with the power to beat, and the buried pile."""
    p: View = view.position
    order = text.tower(view.opening, view.log)
    asked = bool(view.actions) and p.phase in FROM_TOWER
    cards = [face(view, card, asked) for card in order]
    if order and order[-1] == p.top and p.phase in ABILITY_HAPPENS and not asked:
        cards[-1] = cards[-1]._replace(active=True)  # who has to choose looks at the cards below it instead
    badge = ("", "", "")
    if p.phase != DONE:
        badge = ("Power to beat", "any" if p.power == LEAD else str(p.power), may_follow(p))
    areas = [Area(TOWER, "Tower", tuple(cards), "" if order else "empty", badge=badge)]
    if p.grave:
        return [*areas, Area(CARDS, "Buried", faces(view, p.grave))]
    return [*areas, Area(CARDS, "Buried", (face_down(p.buried),), text.buried_note(p, *text.known_buried(view.log)))]


def may_follow(p: View) -> str:
    """Return which cards may be played next (D5, D11): that lower ones beat is not what "beat" suggests."""
    if p.power == LEAD:
        return "any card may lead"
    if p.demand == STANCE:
        powers = [POWERS[power] for power in (6, 7, TRUMP) if p.options.powers >> power & 1]
        return f"play {listed(powers, 'or')}" if powers else "no card may follow"
    if p.demand == TRUMPED:
        return "play any card but 0"
    lower = [f"lower than {p.power}"] if p.power else []
    lower += [POWERS[TRUMP]] if p.options.powers >> TRUMP & 1 else []
    return f"play {'' if p.power else 'only '}{' or '.join(lower)}" if lower else "no card may follow"


def player(view: SeatView, names: tuple[str, ...], seat: int) -> Area:
    """Return a player's hand; others' are shown when the round is over (D15), or cards revealed before it (D2)."""
    p: View = view.position
    own = seat == view.seat
    if p.revealed[seat]:
        label = f"{player_name(view, names, seat)} revealed"
        return Area(CARDS, label, faces(view, p.revealed[seat]), seat=seat)
    hand = p.hand if own else p.hands[seat]
    asked = own and bool(view.actions) and p.phase in (PLAY, GIVE)
    cards = faces(view, hand, asked) if hand or not p.sizes[seat] else (face_down(p.sizes[seat]),)
    notes = [*([] if cards else ["no cards"]), *filter(None, [absence(p, seat)])]
    return Area(HAND, owner_label(view, names, seat, "hand"), cards, ", ".join(notes), seat)


def absence(p: View, seat: int) -> str:
    """Return why a player takes no more turns in this round; "" for those who do."""
    if p.playing >> seat & 1:
        return ""
    return "out" if p.present >> seat & 1 else "left the match"


def standing(view: SeatView, names: tuple[str, ...]) -> Standing:
    """Return the rounds that each has won, with the colours of their cards."""
    p: View = view.position
    scores = []
    for seat in range(len(names)):
        colour = colour_name(p.options, 9 * seat)
        note = absence(p, seat) if text.dealt(p) and p.phase not in (NEXT, DONE) else ""  # all but one are out then
        scores.append(Score("", note, p.wins[seat], p.options.rounds // 2 + 1, colour[0], colour[0], colour))
    best_of = f"best of {p.options.rounds}" if p.options.rounds > 1 else ""
    return Standing(tuple(scores), "Round", str(text.round_number(p)), best_of)


def question(view: SeatView, names: tuple[str, ...]) -> str:
    """Return what is asked, with where the cards are among which to choose."""
    p: View = view.position
    if p.phase == GIVE:
        return f"Choose a card of your hand to give to {names[p.seat]}"
    if p.phase == TARGET:
        return TARGETS[p.ability]
    return f"Choose who goes first{why_one_picks(view)}" if p.phase == PICK else QUESTIONS[p.phase]


def why_one_picks(view: SeatView) -> str:
    """Return why this seat picks who goes first (D2, D4); nothing if it may stand in for a leaver (D20)."""
    p: View = view.position
    if count(p.present) < p.options.players:
        return ""
    if any(p.wins):
        return ": you were first out last round"
    lot = any(entry.event.kind == LOT for entry in view.log)
    return ": the lot fell on you" if lot else ": you showed the lowest card"


def choice_texts(view: SeatView) -> dict[int, tuple[str, str]]:
    """Return each card by the word printed on it, with what it does; and the viewer's own seat in a pick."""
    texts = {card: (WORDS[card % 9], MEANINGS[card % 9]) for card in view.actions if card < SEAT}
    own = SEAT + view.seat
    return {**texts, own: ("Me", "")} if own in view.actions else texts


def faces(view: SeatView, cards: int, asked: bool = False) -> tuple[Card, ...]:
    return tuple(face(view, card, asked) for card in by_power(cards))


def face(view: SeatView, card: int, asked: bool) -> Card:
    """Return a card face up; where one like it is asked for, also whether it may be chosen."""
    plain = plain_face(view.options, card)
    if not asked:
        return plain
    if card in view.actions:
        return plain._replace(decision=card)
    return plain._replace(note=f"{plain.note} {why_not(view.position, card)}", dim=True)


@lru_cache(maxsize=1024)
def plain_face(options: Options, card: int) -> Card:
    power, colour = card % 9, colour_name(options, card)
    name = f"{'trump' if power == TRUMP else POWERS[power]} of {colour}"
    also = "" if NAMES[power] == WORDS[power] else f" ({NAMES[power]})"  # what the sheet calls it
    note = f"{WORDS[power]}{also}: {MEANINGS[power]}"
    return Card(POWERS[power], name, colour[0], colour[0], note, icon=ICONS[power], word=WORDS[power])


EMBLEM = Area(TOWER, TITLE, tuple(plain_face(Options(players=4), card) for card in (7, 14, 21, 35)))
