"""The report of an evaluation as one HTML page. Nothing is fetched, no script runs, every picture has its numbers."""

from __future__ import annotations

from html import escape

from piste.analysis.arena.page import LEFT, ROW, STYLE, WIDTH, stroke, svg, table, words
from piste.analysis.arena.report import loss_text, share_text
from piste.bots.answers import FAULTS
from piste.core.game import find
from piste.evals.metrics import Document
from piste.evals.report import Group, Report, costliest, models
from piste.evals.report_text import MEANING, best_text, points_text, result_text, title, trouble

TITLE = "Language models at piste's games"


def page(report: Report) -> str:
    """Return the whole page."""
    parts = [f"<h1>{TITLE}</h1>", *(f"<p>{escape(line)}</p>" for line in trouble(report))]
    for group in (*report.leaders, *report.groups):
        parts += [f"<h2>{escape(title(group))}</h2>", leaderboard(group), picture(group), *details(group)]
    parts += ["<h2>Faults</h2>", faults(report), "<h2>Tokens and cost</h2>", costs(report)]
    for model in models(report):
        costly = costliest(report, model)
        if costly:
            parts += [
                f"<h2>The costliest decisions of {escape(model)}</h2>",
                *(costly_part(*pair) for pair in costly),
            ]
    parts += ["<h2>How to read it</h2>", *(f"<p>{escape(line)}</p>" for line in MEANING)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{TITLE}</title><style>{STYLE}</style></head>\n<body><main>\n'
        + "\n".join(filter(None, parts))
        + "\n</main></body></html>\n"
    )


def leaderboard(group: Group) -> str:
    games = any(row.summary.games for row in group.rows)
    played = ["Points", "Games"] if games else []
    head = ["Model", "Loss", "Random's", "Best", "Kept", *played, "Decisions", "Forfeits"]
    rows = []
    for place, row in enumerate(group.rows, 1):
        one = row.summary
        rows.append([
            f"{place}. {escape(row.model)}", loss_text(one.known), points_text(one.random_loss), best_text(one),
            "-" if one.accuracy is None else f"{one.accuracy:.1f} %",
            *([result_text(one), str(one.games)] if games else []),
            "0" if one.known is None else f"{one.known.decisions:,}", str(one.forfeits),
        ])  # fmt: skip
    return table(head, rows)


def picture(group: Group) -> str:
    """Return the losses with their intervals, and beside each what random decisions would have lost."""
    bars = [
        (row.model, known.mean, row.summary.random_loss)
        for row in group.rows
        if (known := row.summary.known) is not None
    ]
    high = max((max(mean.high, random or 0.0) for _, mean, random in bars), default=0.0)
    if not high:
        return ""

    def at(loss: float) -> float:
        return LEFT + (WIDTH - LEFT - 60) * loss / high

    body = []
    for place, (model, mean, random) in enumerate(bars):
        y = ROW * (place + 0.6)
        body += [
            words(0, y + 4, model if len(model) <= 22 else f"…{model[-21:]}"),
            stroke(LEFT, y, WIDTH - 60, y),
            stroke(at(mean.low), y, at(mean.high), y, "var(--own)", 4),
            f'<circle cx="{at(mean.value):.1f}" cy="{y:.1f}" r="5" fill="var(--own)"/>',
            words(WIDTH, y + 4, f"{100 * mean.value:.2f}", "end"),
        ]
        if random is not None:
            body.append(stroke(at(random), y - 8, at(random), y + 8, "var(--other)", 2))
    label = "Loss of a decision with its 95 % interval; the upright stroke is what random decisions would have lost"
    return svg(ROW * len(bars) + 8, label, body)


def details(group: Group) -> list[str]:
    """Return what only some rows have: phases, estimated values, luck, prompts asked twice, chances stated."""
    parts = []
    phases = [
        [escape(row.model), *(loss_text(row.summary.phases.get(phase)) for phase in ("early", "middle", "late"))]
        for row in group.rows
        if row.summary.phases
    ]
    if phases:
        parts.append(table(["Loss by phase", "Early", "Middle", "Late"], phases))
    estimated = [
        [escape(row.model), loss_text(guess), f"{guess.decisions:,}"]
        for row in group.rows
        if (guess := row.summary.estimated) is not None
    ]
    if estimated:
        parts.append(table(["Estimated values only", "Loss", "Decisions"], estimated))
    adjusted = [
        [escape(row.model), share_text(found.raw), share_text(found.adjusted), f"{found.factor:.1f} times"]
        for row in group.rows
        if (found := row.summary.adjusted) is not None and found.used
    ]
    if adjusted:
        parts.append(table(["Luck taken off", "Raw", "Adjusted", "Games' worth"], adjusted))
    noise = [
        [escape(row.model), share_text(twice.same), str(twice.asked)]
        for row in group.rows
        if (twice := row.summary.noise) is not None
    ]
    if noise:
        parts.append(table(["Asked twice", "Same decision", "Prompts"], noise))
    stated = [
        [escape(row.model), f"{100 * low:.0f} %", f"{100 * true:.0f} %", str(n)]
        for row in group.rows
        if (chances := row.summary.calibration) is not None
        for n, low, true in chances.bins
    ]
    if stated:
        parts.append(table(["Chances stated", "Stated", "True", "Decisions"], stated))
    return parts


def faults(report: Report) -> str:
    rows = []
    for model in models(report):
        found = [row.summary for group in report.groups for row in group.rows if row.model == model]
        counts = [sum(one.faults.get(kind, 0) for one in found) for kind in FAULTS]
        rows.append([escape(model), *map(str, counts), f"{sum(one.asked for one in found):,}"])
    return table(["Model", *(kind.capitalize() for kind in FAULTS), "Decisions asked"], rows)


def costs(report: Report) -> str:
    rows = [
        [
            escape(f"{run.model}, {run.task}"), f"{run.tokens[0]:,}", f"{run.tokens[1]:,}",
            "not known" if run.cost is None else f"{run.cost:.4f} dollars",
        ]
        for run in report.runs
    ]  # fmt: skip
    return table(["Run", "Tokens read", "Tokens written", "Cost"], rows)


def costly_part(decision: Document, sample: Document) -> str:
    """Return one decision with its board, the answer folded away."""
    head = f"{find(sample['game']).notation.TITLE}: lost {100 * decision['loss']:.1f} points ({decision['known']})"
    board = "\n".join(decision["board"])
    best = decision["best_why"] or decision["best"]
    return (
        f"<details><summary>{escape(head)}</summary><pre>{escape(board)}</pre>"
        f"<p>Answered: {escape(decision['told'])}; {escape(decision['why'])}.</p>"
        f"<p>Best: {escape(decision['best'])}; {escape(best)}.</p>"
        f'<p class="faint">{escape(decision["position"])}</p></details>'
    )
