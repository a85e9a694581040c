"""Duel as a browser draws it: hands around a tower, and the pile of buried cards."""

from __future__ import annotations

from piste.core.game import members
from piste.core.presentation import EventContext, Row
from piste.core.scene import CARDS, FACT, HAND, TOWER, Area, Card, RoundEnd, face_down, other_seats, owner_label
from piste.core.views import LogEntry, SeatView
from piste.games.mccoy_duel import text as words
from piste.games.mccoy_duel.notation import COLOURS, NAMES, POWERS, TITLE, letter, why_not
from piste.games.mccoy_duel.rules import COPY, GIVE, KILL, NEXT, PLAY, TAKE, TRUMP, Options, View

OF_TOWER, OF_HAND = (KILL, TAKE, COPY), (PLAY, GIVE)  # what is chosen from where


def scene(view: SeatView, names: tuple[str, ...]) -> tuple[Area, ...]:
    view = view._replace(log=since_the_deal(view.log))
    first, *rows = words.board(view, names)
    players = [player(view, names, seat, rows[seat].note) for seat in range(len(names))]
    around = [players[seat] for seat in other_seats(view.seat, len(names))]
    areas = [*around, fact(first), *table(view, {row.label: row for row in rows[len(names) :]})]
    return (*areas, players[view.seat]) if view.seat >= 0 else tuple(areas)


def round_end(view: SeatView, names: tuple[str, ...]) -> RoundEnd | None:
    """Return who won the round, and every hand and the buried pile, which are shown now (D15)."""
    p: View = view.position
    if p.phase != NEXT:
        return None
    moment = EventContext(view.seat, names, view.opening, view.log)
    seats = [*other_seats(view.seat, len(names)), *([view.seat] if view.seat >= 0 else [])]
    notes = {
        seat: words.player_row(p, seat, names[seat]).note for seat in seats if p.hands[seat] or p.present >> seat & 1
    }
    hands = [player(view, names, seat, note) for seat, note in notes.items()]
    return RoundEnd(
        sum(p.wins),
        words.round_won(moment, p),
        (*words.put_out(moment), words.standing(p, names)),
        (*hands, Area(CARDS, "Buried", in_hand(view, p.grave), "" if p.grave else "no cards")),
    )


def since_the_deal(log: tuple[LogEntry, ...]) -> tuple[LogEntry, ...]:
    """Return the log from the deal of this round on: what came before has left the table (D21)."""
    at = next((at for at in range(len(log) - 1, 0, -1) if log[at].event.kind == NEXT), 0)
    return log[at:]


def fact(row: Row) -> Area:
    return Area(FACT, row.label, tuple(map(Card, row.cells)), row.note)


def table(view: SeatView, rows: dict[str, Row]) -> list[Area]:
    """Return what lies between the players: the tower, what is to be beaten, and the buried pile."""
    p: View = view.position
    if "Tower" not in rows:
        return []  # nothing is dealt yet
    order = words.tower(view.opening, view.log)
    asked = bool(view.actions) and p.phase in OF_TOWER
    areas = [Area(TOWER, "Tower", tuple(face(view, card, asked) for card in order), "" if order else "empty")]
    areas += [fact(rows["Power to beat"])] if "Power to beat" in rows else []
    if p.grave:
        return [*areas, Area(CARDS, "Buried", in_hand(view, p.grave))]
    return [*areas, Area(CARDS, "Buried", (face_down(p.buried),), rows["Buried"].note)]


def player(view: SeatView, names: tuple[str, ...], seat: int, note: str) -> Area:
    """Return a player's hand; others' are seen when the round is over (D15), or cards revealed before it (D2)."""
    p: View = view.position
    own, has = seat == view.seat, colour(p.options, 9 * seat)
    if p.revealed[seat]:
        return Area(CARDS, f"{'You' if own else names[seat]} revealed", in_hand(view, p.revealed[seat]), has, seat)
    cards = p.hand if own else p.hands[seat]
    asked = own and bool(view.actions) and p.phase in OF_HAND
    faces = in_hand(view, cards, asked) if cards or not p.sizes[seat] else (face_down(p.sizes[seat]),)
    notes = [has, *([] if faces else ["no cards"]), note]
    return Area(HAND, owner_label(view, names, seat, "hand"), faces, ", ".join(notes), seat)


def in_hand(view: SeatView, cards: int, asked: bool = False) -> tuple[Card, ...]:
    return tuple(face(view, card, asked) for card in sorted(members(cards), key=words.by_power))


def face(view: SeatView, card: int, asked: bool) -> Card:
    """Return a card face up; where one like it is asked for, also whether it may be chosen."""
    found = plain_face(view.options, card)
    if not asked:
        return found
    if card in view.actions:
        return found._replace(decision=card)
    return found._replace(note=f"{found.note} {why_not(view.position, card)}", dim=True)


def plain_face(options: Options, card: int) -> Card:
    power, mark = card % 9, letter(options, card)
    name = f"{'trump' if power == TRUMP else POWERS[power]} of {colour(options, card)}, {NAMES[power]}"
    return Card(POWERS[power], name, mark, mark, f"{NAMES[power]}: {words.ABILITIES[power]}")


def colour(options: Options, card: int) -> str:
    return next(colour for colour in COLOURS if colour[0] == letter(options, card))


EMBLEM = Area(TOWER, TITLE, tuple(plain_face(Options(players=4), card) for card in (7, 14, 21, 35)))
