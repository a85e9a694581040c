"""A finished game step by step, from the view of any seat, with the coach's review: a graph and comments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from piste.core.errors import IllegalDecisionError
from piste.core.protocols import HIDDEN, SPECTATOR
from piste.core.scene import Area, Standing
from piste.web.tables.bot_runner import ReviewStatus
from piste.web.tables.results import result
from piste.web.tables.room import Room
from piste.web.views.view_models import scene, standing

NOTHING_YET = ReviewStatus()


class ReplayStep(NamedTuple):
    """One step of a finished game."""

    code: str
    game: str
    title: str
    people: tuple[str, ...]  # by seat
    labels: tuple[str, ...]  # what the seats are called in the game, as the review names them
    step: int
    steps: int  # the last one
    seat: int  # from whose view; SPECTATOR for what everybody may see
    areas: tuple[Area, ...]
    standing: Standing
    lines: tuple[str, ...]  # what was said at this step
    result: str
    review: Mapping[str, Any] | None  # the coach's document, once there is one
    reviewing: bool = False  # the coach is still at work: the document is there as far as it goes
    progress: float = 0.0  # of the coach, from 0 to 1
    note: str = ""  # how the coach's numbers are known, or why there are none


class ChancesGraph(NamedTuple):
    """Winning chances in a box of 1000 by 100: lines, marked decisions and the current step."""

    title: str  # whose chances they are, and by whose knowledge
    lines: tuple[tuple[str, str, str], ...]  # name, points, the chance at this step in percent
    marks: tuple[tuple[int, float, float, str], ...]  # which line, where, what it is called
    now: float  # where the current step is
    labelled: tuple[tuple[int, str], ...]  # step and sentence of each decision that the coach labels


def replay_step(
    room: Room, step: int, seat: int, review: str | None, status: ReviewStatus = NOTHING_YET
) -> ReplayStep:
    """Return one step of a finished game; a step or seat that does not exist is brought to the nearest.

    `review` is the coach's finished document; while there is none, `status` holds it as far as it goes.
    """
    if room.table is None or room.transcript is None or not room.over:
        raise IllegalDecisionError("The game is not over: it can be seen again when it is.")
    seat = seat if 0 <= seat < room.table.seats else SPECTATOR
    view = room.table.view(seat)
    step = max(0, min(step, len(view.log)))
    names = room.names()
    ending = room.table.ending()
    assert ending is not None
    text = status.partial_review if review is None else review
    document: dict[str, Any] = json.loads(text) if text else {}
    failed = str(document.get("failed", ""))
    return ReplayStep(
        code=room.code,
        game=room.game.name,
        title=room.game.notation.TITLE,
        people=names,
        labels=tuple(room.game.seat_name(i) for i in range(room.table.seats)),
        step=step,
        steps=len(view.log),
        seat=seat,
        areas=scene(room.game, view.at_step(step), names),
        standing=standing(room.game, view.at_step(step), names),
        lines=tuple(room.transcript.lines_at(seat, step)),
        result=result(ending, names, HIDDEN),
        review=None if failed else document or None,
        reviewing=review is None,
        progress=status.fraction,
        note=failed or str(document.get("certainty", "")),
    )


def chances_graph(replay: ReplayStep) -> ChancesGraph | None:
    """Return the graph of a reviewed game: the chances of the seat from whose view it is seen, or of every seat."""
    if replay.review is None or not replay.review["chances"]:
        return None
    chances = replay.review["chances"]
    wide = 1000 / max(1, replay.steps)
    who = dict(zip(replay.labels, replay.people, strict=False))
    seats = [label for i, label in enumerate(replay.labels) if label in chances[0] and replay.seat in (i, SPECTATOR)]
    title = f"Chance of winning, as {who[seats[0]] if len(seats) == 1 else 'each'} saw it"
    lines, marks, labelled = [], [], []
    for label in seats:
        points = " ".join(f"{i * wide:.1f},{100 * (1 - moment[label]):.1f}" for i, moment in enumerate(chances))
        now = f"{100 * chances[replay.step][label]:.0f} %" if replay.step < len(chances) else ""
        lines.append((who[label], points, now))
    for decision in replay.review["decisions"]:
        if decision["label"]:
            step = decision["step"] + 1
            if decision["seat"] in seats:
                height = 100 * (1 - chances[min(step, len(chances) - 1)][decision["seat"]])
                marks.append((seats.index(decision["seat"]), step * wide, height, decision["label"]))
            sentence = f"{who[decision['seat']]}: {decision['decision']}, {decision['label']}, {cost_text(decision)}"
            labelled.append((step, sentence))
    return ChancesGraph(title, tuple(lines), tuple(marks), replay.step * wide, tuple(labelled))


def cost_text(decision: Mapping[str, Any]) -> str:
    """Return what a decision cost, with how far that may be off."""
    margin = 100 * margin_of(decision)
    return f"{100 * decision['loss']:.1f}{f' ± {margin:.1f}' if margin >= 0.05 else ''} points"


def margin_of(decision: Mapping[str, Any]) -> float:
    """Return by how much a loss may be off; old stored reviews do not say it themselves."""
    return float(decision.get("margin", 2 * decision.get("within", 0.0)))


def coach_comment(replay: ReplayStep) -> dict[str, Any] | None:
    """Return the coach's comment on the decision that led to this step, if it was one."""
    if replay.review is None:
        return None
    for decision in replay.review["decisions"]:
        if decision["step"] == replay.step - 1:
            who = dict(zip(replay.labels, replay.people, strict=True))[decision["seat"]]
            clear = decision["loss"] > margin_of(decision)
            return {**decision, "who": who, "clear": clear, "cost": cost_text(decision)}
    return None
