"""The report of a tournament as one HTML page. Nothing is fetched, no script runs, every picture has its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isfinite
from typing import NamedTuple

from piste.analysis.arena.losses import PHASES
from piste.analysis.arena.report import (
    Report,
    elo_text,
    forfeit_lines,
    loss_text,
    model_lines,
    share_text,
    title,
)

STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --faint: #52606d; --line: #d9e2ec; --page: #fff; --own: #1d5fa5;
  --other: #b35806; --third: #4d7c0f }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --faint: #9aa5b1; --line: #3e4c59; --page: #14181d;
  --own: #7ab8ff; --other: #ffb36b; --third: #b6e07a } }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, Helvetica, Arial, sans-serif }
h1 { font-size: 1.5rem; margin: 0 0 .25rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
p { margin: .25rem 0; max-width: 45rem } .faint { color: var(--faint) }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th:first-child { text-align: left; position: sticky; left: 0; padding-left: 0; background: var(--page) }
tbody th { font-weight: 400 }
td.cell { color: #111; min-width: 3.5rem; text-align: center }
svg { display: block; width: 100%; height: auto; margin: .5rem 0 }
svg text { font: 12px system-ui, Helvetica, Arial, sans-serif; fill: var(--ink) } svg .faint { fill: var(--faint) }
@media (max-width: 36rem) { svg { min-width: 36rem } svg text { font-size: 14px } }
pre { overflow-x: auto; padding: .5rem; border: 1px solid var(--line); border-radius: .25rem }
"""
COLOURS = ("var(--own)", "var(--other)", "var(--third)", "var(--faint)", "var(--ink)")
WIDTH, LEFT, ROW = 720, 150, 26
POINTS = 60
"""How many points a line over time has."""


class CostlyPosition(NamedTuple):
    """A costly position in words, for the page."""

    head: str
    position: str  # as a person is shown it
    answer: str


def page(report: Report, costly: Sequence[CostlyPosition] = ()) -> str:
    """Return the whole page."""
    name = title(report.plan)
    state = "" if report.finished else f" of {report.plan.games:,}: not finished"
    parts = [
        f"<h1>{escape(name)}</h1>",
        f'<p class="faint">{len(report.plan.entrants)} entrants, {report.games:,} games{state}, '
        f"{len(report.deals):,} deals, seed {escape(report.plan.seed)}.</p>",
        *standings(report),
        *(seats(report) if report.plan.seats > 2 else cross_table(report)),
        *over_time(report),
        *luck(report),
        *losses(report),
        *positions(costly),
        "<h2>How to read it</h2>",
        *(f"<p>{escape(line)}</p>" for line in (*model_lines(report), *forfeit_lines(report))),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{escape(name)}</title><style>{STYLE}</style></head>\n<body><main>\n'
        + "\n".join(parts)
        + "\n</main></body></html>\n"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; cells are HTML."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{first}</th>'
        + "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in others)
        + "</tr>\n"
        for first, *others in rows
    )
    return f'<div class="wide" tabindex="0"><table><thead><tr>{top}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def svg(height: float, label: str, body: Sequence[str]) -> str:
    return (
        f'<div class="wide" tabindex="0"><svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(label, quote=True)}">' + "".join(body) + "</svg></div>"
    )


def words(x: float, y: float, said: str, anchor: str = "start", kind: str = "") -> str:
    of = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{of}>{escape(said)}</text>'


def stroke(x1: float, y1: float, x2: float, y2: float, colour: str = "var(--line)", width: float = 1) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def standings(report: Report) -> list[str]:
    """Return the standings as a table, and ratings with intervals as a picture."""
    rated = report.ratings is not None
    head = ["Entrant", *(["Rating", "±", "LOS"] if rated else []), "Points", "Games", "Forfeits",
            "CPU ms a decision"]  # fmt: skip
    rows = []
    for place, one in enumerate(report.standings, 1):
        rating = []
        if one.rating is not None:
            los = "" if one.los is None else f"{100 * one.los:.1f} %"
            rating = [f"{one.rating.value:.0f}", f"{one.rating.half:.0f}", los]
        mean = f"{1000 * one.time.mean:.2f}" if one.time.decisions else ""
        rows.append([
            f"{place}. {escape(report.name(one.entrant))}", *rating, share_text(one.share), f"{one.games:,}",
            str(len(one.forfeits)), mean,
        ])  # fmt: skip
    parts = ["<h2>Standings</h2>", table(head, rows)]
    if rated:
        parts.append(rating_picture(report))
    return parts


def rating_picture(report: Report) -> str:
    bars = [(report.name(one.entrant), one.rating) for one in report.standings if one.rating is not None]
    low, high = min(bar.low for _, bar in bars), max(bar.high for _, bar in bars)
    room = max(1.0, high - low)

    def at(rating: float) -> float:
        return LEFT + (WIDTH - LEFT - 60) * (rating - low) / room

    body = []
    for row, (name, bar) in enumerate(bars):
        y = ROW * (row + 0.6)
        body += [
            words(0, y + 4, name[:22]),
            stroke(LEFT, y, WIDTH - 60, y),
            stroke(at(bar.low), y, at(bar.high), y, "var(--own)", 4),
            f'<circle cx="{at(bar.value):.1f}" cy="{y:.1f}" r="5" fill="var(--own)"/>',
            words(WIDTH, y + 4, f"{bar.value:.0f}", "end"),
        ]
    return svg(ROW * len(bars) + 8, "Ratings with 95 % intervals; the numbers are in the table above", body)


def seats(report: Report) -> list[str]:
    """Return the share of wins of each entrant in each seat."""
    head = ["Entrant", *(f"Seat {report.plan.game.seat_name(seat)}" for seat in range(report.plan.seats))]
    rows = [
        [escape(report.name(one.entrant)), *(share_text(share) for share, _ in one.by_seat)]
        for one in report.standings
    ]
    return ["<h2>Share of wins by seat</h2>", table(head, rows)]


def cross_table(report: Report) -> list[str]:
    """Return the cross table as a heat map, and the pairs of each pairing."""
    order = [one.entrant for one in report.standings]
    rows = []
    for one in order:
        cells = []
        for two in order:
            pairs = report.against(one, two)
            if pairs is None or not pairs.n:
                cells.append("")
            else:
                cells.append(f'<td class="cell" style="background:{heat(pairs.mean)}">{100 * pairs.mean:.1f}</td>')
        rows.append([escape(report.name(one)), *cells])
    pairings = [
        [
            f"{escape(report.name(one))} – {escape(report.name(two))}", *map(str, pairs.counts),
            share_text(pairs.score), elo_text(pairs.elo), f"{100 * pairs.los:.1f} %",
        ]
        for (one, two), pairs in report.pairs.items()
    ]  # fmt: skip
    return [
        "<h2>Points of the row against the column, in percent</h2>",
        table(["Entrant", *(escape(report.name(one)) for one in order)], rows),
        "<h2>Pairs</h2>",
        '<p class="faint">How often the first of the two got 0 to 2 points from the two games of a deal.</p>',
        table(["Pairing", "0", "½", "1", "1½", "2", "Points", "Elo", "LOS"], pairings),
    ]


def heat(share: float) -> str:
    """Return a colour between orange for nothing, white for half and blue for all; black is readable on each."""
    low, middle, high = (253, 174, 107), (247, 247, 247), (146, 197, 222)
    one, two, part = (low, middle, 2 * share) if share < 0.5 else (middle, high, 2 * share - 1)
    mixed = (round(a + (b - a) * part) for a, b in zip(one, two, strict=True))
    return f"rgb({', '.join(map(str, mixed))})"


def over_time(report: Report) -> list[str]:
    """Return a picture of each entrant's share of the points as games were played, in the order of deals."""
    deals = sorted(report.deals, key=lambda deal: (deal.number, deal.lineup))
    if len(deals) < 2:
        return []
    height, body = 240, list[str]()
    top, bottom = 10, height - 30
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = bottom - (bottom - top) * share
        body += [stroke(LEFT, y, WIDTH - 10, y), words(LEFT - 8, y + 4, f"{100 * share:.0f} %", "end", "faint")]
    for place, one in enumerate(report.standings):
        got = seated = 0.0
        every, line = max(1, len(deals) // POINTS), []
        for number, deal in enumerate(deals, 1):
            points, games = deal.points(one.entrant)
            got, seated = got + points, seated + games
            if seated and (number % every == 0 or number == len(deals)):
                x = LEFT + (WIDTH - 10 - LEFT) * number / len(deals)
                line.append(f"{x:.1f},{bottom - (bottom - top) * got / seated:.1f}")
        colour = COLOURS[place % len(COLOURS)]
        dash = "" if place < len(COLOURS) else ' stroke-dasharray="4 3"'
        body.append(f'<polyline points="{" ".join(line)}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        y = top + 14 + 20 * place
        body += [stroke(0, y - 4, 14, y - 4, colour, 3), words(20, y, report.name(one.entrant)[:14])]
    body.append(words(WIDTH - 10, height - 8, f"{len(deals):,} deals", "end", "faint"))
    label = "Each entrant's share of the points so far, by deals played; the last values are in the standings"
    return ["<h2>Results over time</h2>", svg(height, label, body)]


def luck(report: Report) -> list[str]:
    """Return the luck-adjusted results beside the raw ones."""
    if not report.adjusted:
        return []
    rows = []
    for (one, two), found in report.adjusted.items():
        worth = f"{found.factor:.1f} times" if found.used and isfinite(found.factor) else "not used"
        rows.append([
            f"{escape(report.name(one))} – {escape(report.name(two))}", share_text(found.raw),
            share_text(found.adjusted) if found.used else "", f"{found.coefficient:.2f}",
            f"{100 * found.mean_luck.value:+.1f} ± {100 * found.mean_luck.half:.1f}", worth,
        ])  # fmt: skip
    head = ["Pairing", "Raw", "Luck taken off", "Coefficient", "Mean luck", "Games' worth"]
    return ["<h2>Luck taken off</h2>", table(head, rows)]


def losses(report: Report) -> list[str]:
    """Return what decisions cost by phase, as pictures and tables; estimated values apart."""
    parts = []
    for heading, estimated in (("Loss by phase", False), ("Loss by phase, estimated", True)):
        rows, bars = [], []
        for lost in report.losses:
            cells = lost.estimated if estimated else lost.known
            if ("", "") not in cells:
                continue
            whole = [cells.get((phase, "")) for phase in ("", *PHASES)]
            rows.append([
                escape(report.name(lost.entrant)), *(loss_text(loss) for loss in whole),
                f"{cells['', ''].decisions:,}",
            ])  # fmt: skip
            seen = [(phase, one.mean.value) for phase, one in zip(PHASES, whole[1:], strict=True) if one is not None]
            bars.append((report.name(lost.entrant), seen))
        if rows:
            note = '<p class="faint">Points of winning chance that a decision gave away on average.</p>'
            head = ["Entrant", "All", *(phase.capitalize() for phase in PHASES), "Decisions"]
            parts += [f"<h2>{heading}</h2>", note, table(head, rows), loss_picture(bars)]
    return parts


def loss_picture(bars: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> str:
    """Return bars of each entrant's loss in the phases in which it decided anything."""
    most = max((value for _, values in bars for _, value in values), default=0.0) or 1.0
    body, y = [], 4.0
    for name, values in bars:
        body.append(words(0, y + 12, name[:14]))
        for phase, value in values:
            wide, colour = (WIDTH - LEFT - 140) * value / most, COLOURS[PHASES.index(phase)]
            body += [
                f'<rect x="{LEFT}" y="{y:.1f}" width="{wide:.1f}" height="14" fill="{colour}"/>',
                words(LEFT + wide + 6, y + 12, f"{100 * value:.2f} {phase}", kind="faint"),
            ]
            y += 18
        y += 12
    return svg(y, "Loss of a decision by phase; the numbers are in the table above", body)


def positions(costly: Sequence[CostlyPosition]) -> list[str]:
    """Return the costliest positions as puzzles, the answer folded away."""
    if not costly:
        return []
    parts = ["<h2>The costliest decisions, as puzzles</h2>"]
    for one in costly:
        parts.append(
            f"<details><summary>{escape(one.head)}</summary><pre>{escape(one.position)}</pre>"
            f"<details><summary>Answer</summary><p>{escape(one.answer)}</p></details></details>"
        )
    return parts
