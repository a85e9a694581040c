"""The balance report as SVG: the first player's share, game lengths, and the levels against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from piste.analysis.balance.estimates import SURE, Estimate, bins
from piste.analysis.balance.report import ANY, Report

WIDTH, HEIGHT, TOP, GAP = 960, 290, 64, 26
PANEL = (260, 290, 250)  # widths of the three panels
INK, FAINT, PALE, BLUE, ORANGE = "#1f2933", "#616e7c", "#d9e2ec", "#2166ac", "#b35806"
STYLE = 'font-family="system-ui, Helvetica, Arial, sans-serif"'


def page(reports: Sequence[Report]) -> str:
    """Return one picture with a row of panels for each report."""
    height = TOP + len(reports) * HEIGHT + 14
    title = reports[0].game.notation.TITLE
    told = f"{title} balance report: first player's share, length of games, levels against each other"
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(told, quote=True)}" {STYLE}>',
        f"<title>{escape(told)}</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
        text(24, 38, title, 22, weight=600),
    ]
    for i, report in enumerate(reports):
        y = TOP + i * HEIGHT
        if len(reports) > 1 or report.changed:
            body.append(text(24, y + 4, report.title, 14, FAINT))
        x = 24
        for draw, wide in zip((shares, lengths, levels), PANEL, strict=True):
            body += [f'<g transform="translate({x} {y + 12})">', *draw(report, wide), "</g>"]
            x += wide + 46
    return "\n".join([*body, "</svg>", ""])


def text(
    x: float, y: float, words: str, size: int = 12, fill: str = INK, anchor: str = "start", weight: int = 400
) -> str:
    heavy = f' font-weight="{weight}"' if weight != 400 else ""
    side = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}"{side}{heavy}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, stroke: str = PALE, width: float = 1.0, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="{stroke}" stroke-width="{width}"{dashed}/>'
    )


def shares(report: Report, wide: int) -> list[str]:
    """Draw the share of the player who begins, by who plays, with intervals; a diamond needs none."""
    estimates = report.shares
    even = 1 / report.game.rules.seats(report.options)
    edges = [end for n in estimates.values() for end in (n.low, n.high)] + [even]
    low, high = max(0.0, min(edges) - 0.02), min(1.0, max(edges) + 0.02)
    left = 76

    def at(share: float) -> float:
        return left + (wide - left) * (share - low) / (high - low)

    drawn = [text(0, 16, "First player's share", 14, weight=600)]
    bottom = 30 + GAP * len(estimates) + 6
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if (high - low) / s <= 6)
    tick = -int(-low // step) if low % step else round(low / step)
    while tick * step <= high + 1e-9:
        x = at(tick * step)
        drawn += [line(x, 28, x, bottom), text(x, bottom + 16, f"{100 * tick * step:.0f} %", 11, FAINT, "middle")]
        tick += 1
    drawn.append(line(at(even), 28, at(even), bottom, FAINT, 1.5, "4 3"))
    for i, (who, number) in enumerate(estimates.items()):
        y = 30 + GAP * i + 14
        drawn += [text(0, y + 4, report.shown(who)), *mark(number, at, y)]
    return drawn


def mark(number: Estimate, at: Callable[[float], float], y: float) -> list[str]:
    x = at(number.value)
    if number.known in SURE:
        return [f'<path d="M{x:.1f} {y - 7:.1f} l7 7 l-7 7 l-7 -7 z" fill="{ORANGE}"/>']
    return [
        line(at(number.low), y, at(number.high), y, BLUE, 2.5),
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{BLUE}"/>',
    ]


def lengths(report: Report, wide: int) -> list[str]:
    """Draw how many decisions games have, of the strongest level that played itself."""
    chosen = [who for who in (*reversed(report.levels), ANY) if who in report.statistics]
    if not chosen:
        return []
    who = chosen[0]
    histogram = bins(report.statistics[who].lengths, 14)
    most = max(part for _, _, part in histogram)
    how = "random play" if who == ANY else f"{report.shown(who)} bots"
    drawn = [text(0, 16, f"Decisions in a game ({how})", 14, weight=600)]
    base, tall = 200.0, 158.0
    each = wide / max(len(histogram), 6)
    for i, (low, high, part) in enumerate(histogram):
        height = tall * part / most
        drawn.append(
            f'<rect x="{i * each + 1:.1f}" y="{base - height:.1f}" width="{each - 2:.1f}" height="{height:.1f}" '
            f'fill="{BLUE}" opacity="0.85"><title>{low} to {high}: {100 * part:.1f} %</title></rect>'
        )
        if i % (1 + len(histogram) // 8) == 0:
            drawn.append(text(i * each + each / 2, base + 16, f"{low}", 11, FAINT, "middle"))
    mean = report.statistics[who].decisions
    drawn += [line(0, base, wide, base, FAINT), text(0, base + 34, f"mean {mean.value:.1f}", 11, FAINT)]
    return drawn


def levels(report: Report, wide: int) -> list[str]:
    """Draw the points of each level against each other as a table of colours."""
    names = report.levels
    if not report.points:
        return []
    drawn = [text(0, 16, "% of points, row against column", 14, weight=600)]
    left, head = 54, 44
    each = min((wide - left) / len(names), 46.0)
    for i, one in enumerate(names):
        drawn.append(text(left - 6, head + each * (i + 0.5) + 4, report.shown(one), 12, INK, "end"))
        drawn.append(text(left + each * (i + 0.5), head - 6, report.shown(one), 11, FAINT, "middle"))
        for j, two in enumerate(names):
            share = report.points.get((one, two))
            x, y = left + each * j, head + each * i
            fill = "#f5f7fa" if share is None else colour(share.value, 1 / report.matches[0].seats)
            side = f"{each - 2:.1f}"
            drawn.append(f'<rect x="{x + 1:.1f}" y="{y + 1:.1f}" width="{side}" height="{side}" fill="{fill}"/>')
            if share is not None:
                drawn.append(text(x + each / 2, y + each / 2 + 4, f"{100 * share.value:.0f}", 12, INK, "middle"))
    if report.split is not None:
        y = head + each * len(names) + 20
        parts = zip(("skill", "who begins", "luck"), report.split, strict=True)
        drawn.append(text(0, y, ", ".join(f"{name} {100 * n.value:.0f} %" for name, n in parts), 11, FAINT))
    return drawn


def colour(share: float, even: float) -> str:
    """Return a pale blue for more than an even share and a pale orange for less; black words stand well on both."""
    far = (share - even) / (1 - even) if share > even else (even - share) / even
    end = (120, 170, 220) if share > even else (240, 175, 110)
    return "#" + "".join(f"{round(247 + (to - 247) * min(1.0, far)):02x}" for to in end)
