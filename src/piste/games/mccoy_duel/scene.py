"""Duel as a browser draws it: hands around a tower, and the pile of buried cards."""

from __future__ import annotations

from piste.core.presentation import EventContext
from piste.core.scene import CARDS, FACT, HAND, TOWER, Area, Card, RoundEnd, face_down, other_seats, owner_label
from piste.core.views import SeatView
from piste.games.mccoy_duel import text
from piste.games.mccoy_duel.notation import FROM_TOWER, NAMES, POWERS, TITLE, by_power, colour_name, why_not
from piste.games.mccoy_duel.rules import DONE, GIVE, NEXT, PLAY, TRUMP, Options, View


def scene(view: SeatView, names: tuple[str, ...]) -> tuple[Area, ...]:
    p: View = view.position
    hands = [player(view, names, seat) for seat in range(len(names))]
    opponents = [hands[seat] for seat in other_seats(view.seat, len(names))]
    number = Area(FACT, "Round", (Card(str(text.round_number(p))),), f"best of {p.options.rounds}")
    own = [hands[view.seat]] if view.seat >= 0 else []
    return (*opponents, number, *(table(view) if text.dealt(p) else []), *own)


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
    """Return what lies between the players: the tower, the power to beat, and the buried pile."""
    p: View = view.position
    order = text.tower(view.opening, view.log)
    asked = bool(view.actions) and p.phase in FROM_TOWER
    areas = [Area(TOWER, "Tower", tuple(face(view, card, asked) for card in order), "" if order else "empty")]
    if p.phase != DONE:
        power, note = text.power_to_beat(p)
        areas += [Area(FACT, "Power to beat", (Card(power),), note)]
    if p.grave:
        return [*areas, Area(CARDS, "Buried", faces(view, p.grave))]
    return [*areas, Area(CARDS, "Buried", (face_down(p.buried),), text.buried_note(p, *text.known_buried(view.log)))]


def player(view: SeatView, names: tuple[str, ...], seat: int) -> Area:
    """Return a player's hand; others' are shown when the round is over (D15), or cards revealed before it (D2)."""
    p: View = view.position
    own, colour = seat == view.seat, colour_name(p.options, 9 * seat)
    if p.revealed[seat]:
        return Area(CARDS, f"{'You' if own else names[seat]} revealed", faces(view, p.revealed[seat]), colour, seat)
    hand = p.hand if own else p.hands[seat]
    asked = own and bool(view.actions) and p.phase in (PLAY, GIVE)
    cards = faces(view, hand, asked) if hand or not p.sizes[seat] else (face_down(p.sizes[seat]),)
    notes = [colour, *([] if cards else ["no cards"]), text.player_note(p, seat)]
    return Area(HAND, owner_label(view, names, seat, "hand"), cards, ", ".join(notes), seat)


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


def plain_face(options: Options, card: int) -> Card:
    power, colour = card % 9, colour_name(options, card)
    name = f"{'trump' if power == TRUMP else POWERS[power]} of {colour}, {NAMES[power]}"
    return Card(POWERS[power], name, colour[0], colour[0], f"{NAMES[power]}: {text.ABILITIES[power]}")


EMBLEM = Area(TOWER, TITLE, tuple(plain_face(Options(players=4), card) for card in (7, 14, 21, 35)))
