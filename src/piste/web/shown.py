"""One step of a game that is over, and what the coach's review adds to it: a graph and words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from piste.core.scene import Area


class Shown(NamedTuple):
    """One step of a game that is over, as it is shown again."""

    code: str
    game: str
    title: str
    people: tuple[str, ...]  # by seat
    labels: tuple[str, ...]  # what the seats are called in the game, as the review names them
    step: int
    steps: int  # the last one
    seat: int  # through whose eyes; WATCHER for everybody's
    areas: tuple[Area, ...]
    lines: tuple[str, ...]  # what was said at this step
    result: str
    review: Mapping[str, Any] | None  # the coach's document, once there is one
    looking: bool = False  # the coach is still looking
    note: str = ""  # how the coach's numbers are known, or why there are none


class Graph(NamedTuple):
    """Winning chances drawn in a box of 1000 by 100: lines, marks and where we are."""

    lines: tuple[tuple[str, str, str], ...]  # name, points, the chance at this step in percent
    marks: tuple[tuple[int, float, float, str], ...]  # which line, where, what it is called
    now: float
    told: tuple[tuple[int, str], ...]  # step and sentence of each decision that has a name


def drawn_graph(shown: Shown) -> Graph | None:
    """Return the graph of a reviewed game."""
    if shown.review is None or not shown.review["chances"]:
        return None
    chances = shown.review["chances"]
    wide = 1000 / max(1, len(chances) - 1)
    seats = [label for label in shown.labels if label in chances[0]]
    who = dict(zip(shown.labels, shown.people, strict=False))
    lines, marks, told = [], [], []
    at = min(shown.step, len(chances) - 1)
    for label in seats:
        points = " ".join(f"{i * wide:.1f},{100 * (1 - moment[label]):.1f}" for i, moment in enumerate(chances))
        lines.append((who[label], points, f"{100 * chances[at][label]:.0f} %"))
    for decision in shown.review["decisions"]:
        if decision["label"] and decision["seat"] in seats:
            step = min(decision["step"] + 1, len(chances) - 1)
            height = 100 * (1 - chances[step][decision["seat"]])
            marks.append((seats.index(decision["seat"]), step * wide, height, decision["label"]))
            said = f"{who[decision['seat']]}: {decision['decision']}, {decision['label']}"
            told.append((step, f"{said}, {100 * decision['loss']:.0f} points"))
    return Graph(tuple(lines), tuple(marks), at * wide, tuple(told))


def spoken(shown: Shown) -> dict[str, Any] | None:
    """Return what the coach says of the decision that led to this step, if it was one."""
    if shown.review is None:
        return None
    for decision in shown.review["decisions"]:
        if decision["step"] == shown.step - 1:
            return {**decision, "who": dict(zip(shown.labels, shown.people, strict=True))[decision["seat"]]}
    return None
