"""The report of an evaluation for people, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from piste.analysis.arena.report import aligned, loss_text, share_text
from piste.bots.answers import FAULTS
from piste.core.evaluation import EXACT, PROVEN
from piste.core.game import counted, find
from piste.evals.metrics import Document, Summary
from piste.evals.report import Group, Report, Row, Run, costliest, models

MEANING = (
    "Loss: points of winning chance that a decision gave away on average, by values that are exact or within a "
    "proven bound; estimated ones stand apart. ± and brackets hold the true number 19 times out of 20; each deal or "
    "position is one trial.",
    "Random: what random decisions would have lost in the same positions. Best: the share of decisions that lost "
    "nothing. Kept: how much of what could be lost was not.",
)


def text(report: Report, width: int | None = None) -> list[str]:
    """Return the whole report; tables that are wider than the screen go on below."""
    lines: list[str] = []
    for group in (*report.leaders, *report.groups):
        lines += ["", title(group), *group_lines(group, width)]
    lines += ["", *fault_lines(report, width), "", *cost_lines(report, width)]
    for model in models(report):
        costly = costliest(report, model, 3)
        if costly:
            lines += [
                "",
                f"The costliest decisions of {model}:",
                *(line for pair in costly for line in costly_lines(*pair)),
            ]
    return [*lines[1:], "", *MEANING, *trouble(report)]


def title(group: Group) -> str:
    """Return what a group was asked, in a line."""
    style = [f"{name}={value}" for name, value in group.style if value != USUAL[name]]
    against = f" against {group.opponent}" if group.opponent else ""
    inside = ", ".join([f"{group.sizes} sizes", *style])
    return f"{group.task}: {group.game}{against} ({inside})"


USUAL = {"legal": "shown", "rules": "full", "notation": "words", "memory": "log", "retries": "2"}


def group_lines(group: Group, width: int | None) -> list[str]:
    """Return the leaderboard of a group, and below it what only some rows have."""
    games = any(row.summary.games for row in group.rows)
    head = ["", "loss", "random", "best", "kept", *(["points", "games"] if games else []), "decisions", "forfeits"]
    rows = []
    for place, row in enumerate(group.rows, 1):
        one = row.summary
        rows.append([
            f"{place} {row.model}", loss_text(one.known), points_text(one.random_loss), best_text(one),
            "-" if one.accuracy is None else f"{one.accuracy:.1f} %",
            *([result_text(one), str(one.games)] if games else []),
            "0" if one.known is None else f"{one.known.decisions:,}", str(one.forfeits),
        ])  # fmt: skip
    return [*aligned(head, rows, width), *more_lines(group.rows, width)]


def more_lines(rows: tuple[Row, ...], width: int | None) -> Iterator[str]:
    """Yield the tables of what only some rows have."""
    phases = [
        [row.model, *(loss_text(row.summary.phases.get(phase)) for phase in ("early", "middle", "late"))]
        for row in rows
        if row.summary.phases
    ]
    if phases:
        yield from aligned(["loss by phase", "early", "middle", "late"], phases, width)
    estimated = [
        [row.model, loss_text(row.summary.estimated), f"{row.summary.estimated.decisions:,}"]
        for row in rows
        if row.summary.estimated is not None
    ]
    if estimated:
        yield from aligned(["estimated only", "loss", "decisions"], estimated, width)
    adjusted = [
        [row.model, share_text(found.adjusted), f"{found.factor:.1f}"]
        for row in rows
        if (found := row.summary.adjusted) is not None and found.used
    ]
    if adjusted:
        yield from aligned(["luck taken off", "points", "games' worth"], adjusted, width)
    noise = [
        [row.model, share_text(twice.same), str(twice.asked)]
        for row in rows
        if (twice := row.summary.noise) is not None
    ]
    if noise:
        yield from aligned(["asked twice", "same decision", "prompts"], noise, width)
    stated = [
        [
            row.model, f"{100 * chances.mean_stated:.1f} %", f"{100 * chances.mean_true:.1f} %",
            f"{100 * chances.mean_error:.1f} points", str(chances.stated),
        ]
        for row in rows
        if (chances := row.summary.calibration) is not None
    ]  # fmt: skip
    if stated:
        yield from aligned(["chances stated", "stated", "true", "off by", "decisions"], stated, width)


def fault_lines(report: Report, width: int | None = None) -> list[str]:
    """Return the faults of each model by kind, over all its runs."""
    rows = []
    for model in models(report):
        found = [row.summary for group in report.groups for row in group.rows if row.model == model]
        counts = [sum(one.faults.get(kind, 0) for one in found) for kind in FAULTS]
        rows.append([model, *map(str, counts), f"{sum(one.asked for one in found):,}"])
    return aligned(["faults", *FAULTS, "decisions asked"], rows, width)


def cost_lines(report: Report, width: int | None = None) -> list[str]:
    """Return tokens and money of each model."""
    rows = []
    for model in models(report):
        runs = [run for run in report.runs if run.model == model]
        read, written = (sum(run.tokens[side] for run in runs) for side in (0, 1))
        costs = [run.cost for run in runs if run.cost is not None]
        rows.append([model, f"{read:,}", f"{written:,}", f"{sum(costs):.4f} dollars" if costs else "not known"])
    return aligned(["tokens", "read", "written", "cost"], rows, width)


def costly_lines(decision: Document, sample: Document) -> list[str]:
    """Return what a decision cost, what was best and why, and below it the command that goes on from there."""
    known = "" if decision["known"] in (EXACT, PROVEN) else f" ({decision['known']})"
    name = find(sample["game"]).notation.TITLE
    return [
        f"- {name}: {decision['told']} lost {100 * decision['loss']:.1f} points{known}; best was "
        f"{decision['best']}: {decision['best_why']}.",
        f"  piste solve {sample['game']} --position '{decision['position']}'",
    ]


def trouble(report: Report) -> list[str]:
    """Return a sentence for each run that is not finished."""
    return [line for run in report.runs if (line := unfinished(run))]


def unfinished(run: Run) -> str:
    left = run.samples - len(run.documents)
    if run.status == "success" and not left:
        return ""
    why = f" ({run.error})" if run.error else ""
    return (
        f"{run.model}, {run.task}: {counted(left, 'sample')} of {run.samples} not graded, the run is {run.status}"
        f"{why}. Go on with: inspect eval-retry {run.log}"
    )


def points_text(loss: float | None) -> str:
    return "-" if loss is None else f"{100 * loss:.2f}"


def best_text(one: Summary) -> str:
    return "-" if one.best is None else share_text(one.best)


def result_text(one: Summary) -> str:
    return "-" if one.points is None else share_text(one.points)
