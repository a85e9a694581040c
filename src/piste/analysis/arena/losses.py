"""Losses by phase: how much an entrant gives away with a decision, early, in the middle and late in its games.

A loss is the value of the best decision less that of the chosen one, in chances to win, by what the seat knew. Losses
that are computed and those that are estimated are told apart.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from piste.analysis.arena.pairs import Interval
from piste.analysis.arena.results import Results
from piste.compiled.simulate import Z_95
from piste.core.evaluation import ESTIMATED

PHASES = ("early", "middle", "late")
"""The first, second and last third of a game's decisions, those of all seats together."""


class Loss(NamedTuple):
    """What decisions of one kind cost on average."""

    decisions: int
    mean: Interval


class EntrantLosses(NamedTuple):
    """What the decisions of one entrant cost; `known` ones are computed, the others estimated."""

    entrant: int
    known: dict[tuple[str, str], Loss]  # by phase and kind of decision; "" for all together
    estimated: dict[tuple[str, str], Loss]


def phase_of(number: int, decisions: int) -> str:
    """Return the phase of a decision, by its number and how many the game had."""
    return PHASES[min(2, 3 * number // max(1, decisions))]


def losses(results: Results, entrant: int) -> EntrantLosses:
    """Return what an entrant's decisions cost in the games that were reviewed."""
    found: tuple[dict[tuple[str, str], list[list[float]]], dict[tuple[str, str], list[list[float]]]] = {}, {}
    for key in sorted(results.reviews):
        lots: dict[tuple[bool, tuple[str, str]], list[float]] = {}
        for game, review in zip(results.deals[key].games, results.reviews[key].games, strict=True):
            for one in review.decisions:
                if game.seats[one.seat] != entrant:
                    continue
                phase = phase_of(one.number, len(game.moves))
                kind = results.plan.game.kind_name(one.kind)
                for cell in {("", ""), (phase, ""), ("", kind), (phase, kind)}:
                    lots.setdefault((one.known == ESTIMATED, cell), []).append(one.loss)
        for (guessed, cell), costs in lots.items():
            found[guessed].setdefault(cell, []).append(costs)
    known, estimated = ({cell: mean_loss(deals) for cell, deals in sorted(part.items())} for part in found)
    return EntrantLosses(entrant, known, estimated)


def mean_loss(deals: list[list[float]]) -> Loss:
    """Return the mean over all decisions, with the interval of independent deals."""
    count = sum(map(len, deals))
    mean = sum(map(sum, deals)) / count
    n = len(deals)
    spread = sum((sum(costs) - mean * len(costs)) ** 2 for costs in deals) / max(1, n - 1) * n / count**2
    half = Z_95 * sqrt(spread)
    return Loss(count, Interval(mean, max(0.0, mean - half), mean + half))
