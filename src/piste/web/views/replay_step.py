"""One step of a game that is over, and what the coach's review adds to it: a graph and words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from piste.core.protocols import SPECTATOR
from piste.core.scene import Area


class ReplayStep(NamedTuple):
    """One step of a game that is over, as it is shown again."""

    code: str
    game: str
    title: str
    people: tuple[str, ...]  # by seat
    labels: tuple[str, ...]  # what the seats are called in the game, as the review names them
    step: int
    steps: int  # the last one
    seat: int  # through whose eyes; SPECTATOR for everybody's
    areas: tuple[Area, ...]
    lines: tuple[str, ...]  # what was said at this step
    result: str
    review: Mapping[str, Any] | None  # the coach's document, once there is one
    looking: bool = False  # the coach is still looking: the document is there as far as it goes
    done: float = 0.0  # how far the coach is, from 0 to 1
    note: str = ""  # how the coach's numbers are known, or why there are none


class Graph(NamedTuple):
    """Winning chances drawn in a box of 1000 by 100: lines, marks and where we are."""

    title: str  # whose chances they are, and by whose knowledge
    lines: tuple[tuple[str, str, str], ...]  # name, points, the chance at this step in percent
    marks: tuple[tuple[int, float, float, str], ...]  # which line, where, what it is called
    now: float
    told: tuple[tuple[int, str], ...]  # step and sentence of each decision that has a name


def drawn_graph(shown: ReplayStep) -> Graph | None:
    """Return the graph of a reviewed game: the chance of the one through whose eyes it is seen, or of everybody."""
    if shown.review is None or not shown.review["chances"]:
        return None
    chances = shown.review["chances"]
    wide = 1000 / max(1, shown.steps)
    who = dict(zip(shown.labels, shown.people, strict=False))
    seats = [label for i, label in enumerate(shown.labels) if label in chances[0] and shown.seat in (i, SPECTATOR)]
    title = f"Chance of winning, as {who[seats[0]] if len(seats) == 1 else 'each'} saw it"
    lines, marks, told = [], [], []
    for label in seats:
        points = " ".join(f"{i * wide:.1f},{100 * (1 - moment[label]):.1f}" for i, moment in enumerate(chances))
        now = f"{100 * chances[shown.step][label]:.0f} %" if shown.step < len(chances) else ""
        lines.append((who[label], points, now))
    for decision in shown.review["decisions"]:
        if decision["label"]:
            step = decision["step"] + 1
            if decision["seat"] in seats:
                height = 100 * (1 - chances[min(step, len(chances) - 1)][decision["seat"]])
                marks.append((seats.index(decision["seat"]), step * wide, height, decision["label"]))
            said = f"{who[decision['seat']]}: {decision['decision']}, {decision['label']}"
            told.append((step, f"{said}, {points_of(decision)}"))
    return Graph(title, tuple(lines), tuple(marks), shown.step * wide, tuple(told))


def points_of(decision: Mapping[str, Any]) -> str:
    """Return what a decision cost, with how far that may be off."""
    margin = 100 * margin_of(decision)
    return f"{100 * decision['loss']:.1f}{f' ± {margin:.1f}' if margin >= 0.05 else ''} points"


def margin_of(decision: Mapping[str, Any]) -> float:
    """Return by how much a loss may be off; a review that was kept long ago does not say it itself."""
    return float(decision.get("margin", 2 * decision.get("within", 0.0)))


def spoken(shown: ReplayStep) -> dict[str, Any] | None:
    """Return what the coach says of the decision that led to this step, if it was one."""
    if shown.review is None:
        return None
    for decision in shown.review["decisions"]:
        if decision["step"] == shown.step - 1:
            who = dict(zip(shown.labels, shown.people, strict=True))[decision["seat"]]
            clear = decision["loss"] > margin_of(decision)
            return {**decision, "who": who, "clear": clear, "cost": points_of(decision)}
    return None
