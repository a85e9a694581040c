"""What a loss is called, and how well somebody played."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from piste.analysis.coach.attribution import RESIGNATION, Decision
from piste.core.errors import OptionError
from piste.core.game import quoted

NAMES = ("slip", "mistake", "blunder")
MISSED = "missed win"
LETTERS = {"slip": "s", "mistake": "m", "blunder": "b", MISSED: "w"}
"""What stands for them under a graph."""

CERTAIN = 1e-4
"""A win is certain if its chance is so close to 1, and known so closely."""


class Labels(NamedTuple):
    """From how many points of winning chance on a loss has a name."""

    slip: float = 5.0
    mistake: float = 10.0
    blunder: float = 15.0


def read_labels(text: str) -> Labels:
    """Return labels written as 5,10,15."""
    parts = [part.strip() for part in text.split(",")]
    good = len(parts) == 3 and all(re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", part) for part in parts)
    found = [float(part) for part in parts] if good else []
    if not good or not 0 < found[0] < found[1] < found[2] <= 100:
        raise OptionError(
            f"Labels cannot be {quoted(text)}: they are three numbers of points, each more than the one before, "
            "such as 5,10,15."
        )
    return Labels(*found)


def unsure(decision: Decision) -> float:
    """Return by how much a loss may be off: by what both its ends may be off together."""
    return 2 * decision.verdict.within


def is_clear(decision: Decision) -> bool:
    """Say whether a loss is larger than it may be off; of one that is not nothing is said but that."""
    return decision.loss > unsure(decision)


def is_missed_win(decision: Decision, labels: Labels) -> bool:
    """Say whether a certain win was let go."""
    certain = decision.before >= 1 - CERTAIN and decision.verdict.within <= CERTAIN
    return certain and 100 * decision.loss >= labels.slip


def label(decision: Decision, labels: Labels) -> str:
    """Return what a loss is called; nothing where it is small, or no larger than it may be off."""
    if is_missed_win(decision, labels):
        return MISSED
    if not is_clear(decision):
        return ""
    found = ""
    for name, points in zip(NAMES, labels, strict=True):
        if 100 * decision.loss >= points:
            found = name
    return found


def is_choice(decision: Decision) -> bool:
    """Say whether there was anything to choose."""
    return len(decision.verdict.choices) > 1 or decision.action == RESIGNATION


def accuracy(decisions: Iterable[Decision]) -> float | None:
    """Return how much of what could be lost was kept, in percent; None if nothing could be lost.

    Who always takes the best decision has 100, who always takes the worst has 0. A decision counts by how much
    depends on it: the best less the worst.
    """
    lost = at_stake = 0.0
    for decision in decisions:
        lost += decision.loss
        at_stake += decision.before - decision.worst
    return 100 * (1 - lost / at_stake) if at_stake > 1e-9 else None
