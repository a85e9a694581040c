"""Labels of losses (slip, mistake, blunder, missed win), and accuracy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from piste.analysis.coach.attribution import RESIGNATION, Decision
from piste.core.errors import OptionError
from piste.core.evaluation import WITHIN
from piste.core.game import quoted

NAMES = ("slip", "mistake", "blunder")
MISSED = "missed win"
LETTERS = {"slip": "s", "mistake": "m", "blunder": "b", MISSED: "w"}
"""The marks under a chart."""

CERTAINTY = 1e-4
"""A win is certain if its chance is within this of 1, and known within this."""


class Labels(NamedTuple):
    """The smallest loss of each label, in points of winning chance."""

    slip: float = 5.0
    mistake: float = 10.0
    blunder: float = 15.0


def read_labels(text: str) -> Labels:
    """Return labels written as 5,10,15."""
    parts = [part.strip() for part in text.split(",")]
    good = len(parts) == 3 and all(re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", part) for part in parts)
    points = [float(part) for part in parts] if good else []
    if not good or not 0 < points[0] < points[1] < points[2] <= 100:
        raise OptionError(
            f"Labels cannot be {quoted(text)}: they are three numbers of points, each more than the one before, "
            "such as 5,10,15."
        )
    return Labels(*points)


def margin_of(decision: Decision) -> float:
    """Return the error bound of a loss: the sum of the bounds of its two values."""
    return 2 * decision.evaluation.within


def is_clear(decision: Decision) -> bool:
    """Say whether a loss is larger than its error bound; no other loss gets a label."""
    return decision.loss > margin_of(decision)


def label(decision: Decision, labels: Labels) -> str:
    """Return the label of a loss; "" where it is small, or no larger than its error bound."""
    certain_win = decision.before >= 1 - CERTAINTY and decision.evaluation.within <= CERTAINTY
    if certain_win and 100 * decision.loss >= labels.slip:
        return MISSED
    reached = [name for name, points in zip(NAMES, labels, strict=True) if 100 * decision.loss >= points]
    return reached[-1] if reached and is_clear(decision) else ""


def is_choice(decision: Decision) -> bool:
    """Say whether there was a choice."""
    return len(decision.evaluation.choices) > 1 or decision.action == RESIGNATION


def accuracy(decisions: Iterable[Decision]) -> float | None:
    """Return how much of what could be lost was kept, in percent; None if nothing could be lost.

    Who always takes the best decision has 100, who always takes the worst has 0. A decision counts by how much
    depends on it: the best less the worst. Where that is no more than a computed bound leaves open, as between
    decisions that an equilibrium mixes, nothing could be lost.
    """
    lost = at_stake = 0.0
    for decision in decisions:
        stake = decision.before - decision.worst
        if decision.evaluation.known != WITHIN or stake > margin_of(decision):
            lost += decision.loss
            at_stake += stake
    return 100 * (1 - lost / at_stake) if at_stake > 1e-9 else None
