"""What the API says of games and tables, as JSON. What a seat is told of its game is made in `bots/messages.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piste import bots
from piste.bots import messages
from piste.core.game import Game, Option, option_label, write_option
from piste.core.paths import IN_PYTHON, rules_page
from piste.core.protocols import HIDDEN, SPECTATOR
from piste.core.views import SeatView
from piste.web.tables.levels import levels
from piste.web.tables.room import PROGRAM, Room
from piste.web.tables.seats import OPEN
from piste.web.views.view_models import OVER, PLAYING, WAITING, RenderContext, Viewer, people, status

MAX_ENTRIES = 200  # of a history in one answer


def game_document(game: Game) -> dict[str, Any]:
    """Return a game with its options and the bots that can be played against here."""
    default = game.rules.Options()
    return {
        "name": game.name,
        "title": game.notation.TITLE,
        "line": game.notation.LINE,
        "credit": game.notation.CREDIT,
        "seats": list(game.notation.SEATS),
        "kinds": list(game.notation.KINDS),
        "rules": f"/api/v1/games/{game.name}/rules",
        "options": [option_document(option, getattr(default, option.name)) for option in game.notation.OPTIONS],
        "bots": [
            {"name": level, "line": bots.lines(game)[level], "basis": bots.basis(game, level)}
            for level in levels(game, default)
        ],
    }


def option_document(option: Option, default: int) -> dict[str, Any]:
    return {
        "name": option.name,
        "label": option_label(option),
        "help": option.help,
        "default": write_option(option, default),
        "low": option.low,
        "high": option.high,
        "names": dict(option.names),
    }


def rules_text(game: Game) -> str:
    """Return the rules page as it is written, in Markdown."""
    page, _, _ = rules_page(game).partition(IN_PYTHON)
    return f"{page.rstrip()}\n"


def table_document(room: Room, viewer: Viewer, context: RenderContext) -> dict[str, Any]:
    """Return what everybody may know of a table, and which seat is the viewer's."""
    game, names = room.game, room.names()
    return {
        "code": room.code,
        "link": f"{context.root.text}/t/{room.code}",
        "game": game.name,
        "title": game.notation.TITLE,
        "options": game.option_texts(game.options(room.options)),
        "stage": WAITING if room.table is None else OVER if room.over else PLAYING,
        "status": status(room, viewer, context, names),
        "number": 0 if room.table is None else room.table.number,
        "seat": None if viewer.seat == SPECTATOR else viewer.seat,
        "people": [
            {
                "seat": one.seat,
                "seat_name": game.seat_name(one.seat),
                "name": names[one.seat] if one.kind != OPEN else "",
                "kind": PROGRAM if one.program else one.kind,
                "bot": one.bot,
                "here": one.here,
                "turn": one.turn,
                "resigned": one.left,
            }
            for one in people(room, viewer, context.now, names)
        ],
        "away": away(room, viewer, context),
        "commitment": "" if room.table is None else room.table.commitment,
        "successor": room.successor or "",
    }


def away(room: Room, viewer: Viewer, context: RenderContext) -> int | None:
    """Return the seat whose turn the viewer may claim, because its player has been away for too long."""
    seat = room.absent(context.now, context.patience)
    return None if seat in (SPECTATOR, viewer.seat) else seat


def now_document(room: Room, seat: int, since: int, random: int) -> dict[str, Any]:
    """Return the message that a program at this seat is to have now; the log begins after so many events."""
    if room.table is None:
        return {"type": "waiting"}
    game, view = room.game, room.table.view(seat)
    if view.ending is not None:
        return messages.end(game, view, view.ending, since)
    if view.actions and not room.seats[seat].stand_in:
        return messages.decide(game, view, since, random)
    return {
        "type": "told",
        "number": view.number,
        "view": messages.plain(view.position),
        "log": messages.news(game, view, since),
    }


def history_document(view: SeatView, since: int) -> dict[str, Any]:
    """Return a seat's view whole, with what it saw after each event: enough to hand it to a bot of this package."""
    entries = view.log[since : since + MAX_ENTRIES]
    return {
        "number": view.number,
        "kind": None if view.kind == HIDDEN else view.kind,
        "decisions": list(view.decisions),
        "actions": list(view.actions),
        "view": messages.plain(view.position),
        "opening": messages.plain(view.opening),
        "counts": view.counts,
        "ending": None if view.ending is None else ending_document(view),
        "since": since,
        "length": len(view.log),
        "entries": [{"event": list(entry.event), "view": messages.plain(entry.after)} for entry in entries],
    }


def ending_document(view: SeatView) -> Mapping[str, Any] | None:
    ending = view.ending
    return None if ending is None else {**ending._asdict(), "payoffs": list(ending.payoffs)}
