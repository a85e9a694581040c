"""A finished game step by step, through anybody's eyes, with what the coach says of it."""

from __future__ import annotations

import json
from typing import Any

from piste.core.errors import IllegalDecisionError
from piste.core.protocols import HIDDEN, SPECTATOR
from piste.web.tables.bot_runner import ReviewStatus
from piste.web.tables.room import Room
from piste.web.views.replay_step import ReplayStep
from piste.web.views.view_models import result, scene, view_at

NOTHING_YET = ReviewStatus()


def shown(room: Room, step: int, seat: int, review: str | None, looking: ReviewStatus = NOTHING_YET) -> ReplayStep:
    """Return one step of a game that is over; steps and seats that are not there are brought to the nearest."""
    if room.table is None or room.transcript is None or not room.over:
        raise IllegalDecisionError("The game is not over: it can be seen again when it is.")
    seat = seat if SPECTATOR <= seat < room.table.seats else SPECTATOR
    view = room.table.view(seat)
    step = max(0, min(step, len(view.log)))
    names = room.names()
    ending = room.table.ending()
    assert ending is not None
    text = looking.partial_review if review is None else review
    found: dict[str, Any] | None = json.loads(text) if text else None
    failed = str(found["failed"]) if found is not None and "failed" in found else ""
    known = "" if found is None else failed or str(found.get("certainty", ""))
    return ReplayStep(
        code=room.code,
        game=room.game.name,
        title=room.game.notation.TITLE,
        people=names,
        labels=tuple(room.game.seat_name(i) for i in range(room.table.seats)),
        step=step,
        steps=len(view.log),
        seat=seat,
        areas=scene(room.game, view_at(view, step), names),
        lines=tuple(room.transcript.lines_at(seat, step)),
        result=result(ending, names, HIDDEN),
        review=None if failed else found,
        looking=review is None,
        done=looking.fraction,
        note=known,
    )
