"""What the samples of a run come to, with the laboratory's statistics: the deal is the trial, intervals hold 95 %.

A sample's document is what `grading` and the tasks wrote. Losses whose value is only estimated are a summary of their
own and never part of the headline.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from piste.analysis.arena.losses import PHASES, Loss, mean_loss
from piste.analysis.arena.luck import Adjusted, adjust
from piste.analysis.arena.pairs import Interval, Pairs, cluster_share
from piste.core.evaluation import ESTIMATED

Document = Mapping[str, Any]

BEST = 1e-9
"""A decision that loses no more than this is a best one."""

BINS = 5
"""Stated chances are compared with the true ones in so many equal parts."""


class Calibration(NamedTuple):
    """How chances that a model stated compare with the true ones, where these are known."""

    stated: int
    mean_stated: float
    mean_true: float
    mean_error: float  # the distance of the two, on average
    bins: tuple[tuple[int, float, float], ...]  # how many, mean stated, mean true; by the chance stated


class Noise(NamedTuple):
    """What the same prompt gives when it is asked twice."""

    asked: int  # twice, and answered both times
    same: Interval  # the share of equal decisions


class Summary(NamedTuple):
    """What some samples come to."""

    samples: int  # finished ones
    unfinished: int
    points: Interval | None  # the share of the points; None where no games were played
    games: int
    pairs: Pairs | None  # at tables for two, of deals that were played from both seats
    adjusted: Adjusted | None  # with luck taken off
    known: Loss | None
    estimated: Loss | None
    best: Interval | None  # share of best decisions, where values are known
    accuracy: float | None  # how much of what could be lost was kept, in percent, where values are known
    random_loss: float | None  # of a random decision in the same positions
    phases: dict[str, Loss]
    faults: dict[str, int]
    asked: int
    forfeits: int
    calibration: Calibration | None
    noise: Noise | None


def summarise(documents: Sequence[Document]) -> Summary:
    """Work out everything from the documents of samples."""
    # Samples end in any order, and no number may depend on it.
    done = sorted((one for one in documents if not one.get("unfinished")), key=lambda one: (trial(one), str(one)))
    deals: dict[tuple[str, ...], list[Document]] = defaultdict(list)
    for one in done:
        deals[trial(one)].append(one)
    lots = list(deals.values())
    known = _losses(lots, lambda one: one["known"] != ESTIMATED)
    graded = [one for document in done for one in document["decisions"] if one["known"] != ESTIMATED]
    stake = sum(one["stake"] for one in graded)
    faults: Counter[str] = Counter()
    for one in done:
        faults.update(one["faults"])
    played = [one for one in done if "points" in one]
    phases = {phase: _losses(lots, partial(_in_phase, phase)) for phase in PHASES}
    return Summary(
        samples=len(done),
        unfinished=len(documents) - len(done),
        points=cluster_share((sum(one["points"] for one in lot), len(lot)) for lot in lots)[0] if played else None,
        games=len(played),
        pairs=_pairs(lots),
        adjusted=_adjusted(lots),
        known=known,
        estimated=_losses(lots, lambda one: one["known"] == ESTIMATED),
        best=_best_share(lots),
        accuracy=100 * (1 - sum(one["loss"] for one in graded) / stake) if stake > BEST else None,
        random_loss=sum(one["random_loss"] for one in graded) / len(graded) if graded else None,
        phases={phase: loss for phase, loss in phases.items() if loss is not None},
        faults=dict(faults),
        asked=sum(one["asked"] for one in done),
        forfeits=sum(one["forfeit"] is not None for one in done),
        calibration=_calibration(graded),
        noise=_noise(lots),
    )  # fmt: skip


def trial(document: Document) -> tuple[str, ...]:
    """Return which trial a sample belongs to: the games of a deal share their cards, a position stands by itself."""
    fields = ("game", "options", "opponent", "level", "deal", "position", "run")
    return tuple(str(document.get(field, "")) for field in fields)


def _in_phase(phase: str, decision: Document) -> bool:
    return bool(decision["known"] != ESTIMATED and decision["phase"] == phase)


def _losses(lots: Iterable[list[Document]], fits: Callable[[Document], bool]) -> Loss | None:
    deals = [[one["loss"] for document in lot for one in document["decisions"] if fits(one)] for lot in lots]
    deals = [losses for losses in deals if losses]
    return mean_loss(deals) if deals else None


def _best_share(lots: Iterable[list[Document]]) -> Interval | None:
    """Return the share of best decisions; a position that was not answered counts as one that was not best."""
    shares = []
    for lot in lots:
        known = [one for document in lot for one in document["decisions"] if one["known"] != ESTIMATED]
        unanswered = sum(document["forfeit"] is not None and not document["decisions"] for document in lot)
        shares.append((float(sum(one["loss"] <= BEST for one in known)), len(known) + unanswered))
    share, decisions = cluster_share(shares)
    return share if decisions else None


def _complete(lots: Iterable[list[Document]], seats: int | None = None) -> list[list[Document]]:
    """Return the deals that were played once from every seat."""
    found = [lot for lot in lots if "seats" in lot[0] and len(lot) == lot[0]["seats"]]
    return [lot for lot in found if seats in (None, lot[0]["seats"])]


def _pairs(lots: Iterable[list[Document]]) -> Pairs | None:
    pairs = _complete(lots, 2)
    return Pairs.of(sum(one["points"] for one in lot) for lot in pairs) if pairs else None


def _adjusted(lots: Sequence[list[Document]]) -> Adjusted | None:
    """Return the result with luck taken off, where the luck of every game is exact."""
    pairs = _complete(lots, 2)
    if not pairs or not all(one["exact_luck"] for lot in pairs for one in lot):
        return None
    return adjust(
        [sum(one["points"] for one in lot) / 2 for lot in pairs],
        [sum(one["luck"] for one in lot) / 2 for lot in pairs],
    )


def _calibration(graded: Sequence[Document]) -> Calibration | None:
    stated = [(one["chance"], one["after"]) for one in graded if one.get("chance") is not None]
    if not stated:
        return None
    n = len(stated)
    parts: list[list[tuple[float, float]]] = [[] for _ in range(BINS)]
    for said, true in stated:
        parts[min(BINS - 1, int(BINS * said))].append((said, true))
    bins = tuple(
        (len(part), sum(said for said, _ in part) / len(part), sum(true for _, true in part) / len(part))
        for part in parts
        if part
    )
    said, true = (sum(pair[side] for pair in stated) / n for side in (0, 1))
    return Calibration(n, said, true, sum(abs(a - b) for a, b in stated) / n, bins)


def _noise(lots: Iterable[list[Document]]) -> Noise | None:
    shares = []
    for lot in lots:
        both = [
            (one["action"], one["again"]["action"])
            for document in lot
            for one in document["decisions"]
            if one.get("again") and one["again"]["action"] is not None
        ]
        shares.append((float(sum(first == second for first, second in both)), len(both)))
    same, asked = cluster_share(shares)
    return Noise(asked, same) if asked else None


@metric
def summary() -> Metric:
    """What the samples come to: points, losses in points of winning chance, faults; each with its 95 % interval."""

    def measure(scores: list[SampleScore]) -> Value:
        documents = [one.score.metadata for one in scores if one.score.metadata and "game" in one.score.metadata]
        return dict(figures(summarise(documents)))

    return measure


def figures(found: Summary) -> Iterable[tuple[str, float]]:
    """Yield the numbers that Inspect shows, by name; losses in points of winning chance."""
    if found.points is not None:
        yield from _with_ends("points", found.points, 1)
    if found.adjusted is not None and found.adjusted.used:
        yield from _with_ends("points_luck_adjusted", found.adjusted.adjusted, 1)
    if found.known is not None:
        yield from _with_ends("loss", found.known.mean, 100)
    if found.best is not None:
        yield from _with_ends("best", found.best, 1)
    if found.accuracy is not None:
        yield "accuracy", found.accuracy
    if found.estimated is not None:
        yield from _with_ends("estimated_loss", found.estimated.mean, 100)
    yield "faults", float(sum(found.faults.values()))
    yield "forfeits", float(found.forfeits)


def _with_ends(name: str, interval: Interval, scale: float) -> Iterable[tuple[str, float]]:
    yield name, scale * interval.value
    yield f"{name}_low", scale * interval.low
    yield f"{name}_high", scale * interval.high
