"""Charts of winning chances: plain text for a terminal, SVG, and PNG with matplotlib."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from piste.analysis.coach.review import Review, certainty
from piste.core.errors import OptionError, PisteError
from piste.core.evaluation import IN_CHANCES, Unit
from piste.core.extras import PNG, need
from piste.core.game import quoted

ROWS = 11
SUFFIXES = (".svg", ".png")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""A palette that people with colour blindness can tell apart."""


def text_chart(
    chances: Sequence[float],
    width: int,
    marks: Mapping[str, Sequence[tuple[int, str]]] | None = None,
    unit: Unit = IN_CHANCES,
) -> list[str]:
    """Return a chart of at most `width` columns; under it a row of marks for each label, every mark at its step."""
    room = max(10, width - 7)
    last = max(1, len(chances) - 1)
    wide = min(room, max(len(chances), min(room, 2 * len(chances))))
    grid = [[" "] * wide for _ in range(ROWS)]
    half = ROWS // 2
    grid[half] = ["."] * wide
    before: int | None = None
    for column in range(wide):
        at = round(column * last / max(1, wide - 1))
        row = round((ROWS - 1) * (1 - min(1.0, max(0.0, chances[min(at, len(chances) - 1)]))))
        if before is not None:
            for between in range(min(row, before) + 1, max(row, before)):
                grid[between][column] = "|"
        grid[row][column] = "*"
        before = row
    scale = {0: scale_text(1.0, unit), half: scale_text(0.5, unit), ROWS - 1: scale_text(0.0, unit)}
    lines = [f"{scale.get(row, '     ')} {''.join(cells)}".rstrip() for row, cells in enumerate(grid)]
    for label, row_marks in (marks or {}).items():
        under = [" "] * wide
        for at, mark in row_marks:
            under[min(wide - 1, round(at * (wide - 1) / last))] = mark
        lines.append(f"{label[:5]:>5} {''.join(under)}".rstrip())
    return lines


def scale_text(part: float, unit: Unit) -> str:
    """Return what stands beside a line of a chart, five characters wide."""
    text = f"{100 * part:.0f} %" if unit.largest is None else f"{(2 * part - 1) * unit.largest:.3g}"
    return f"{text:>5}"


def svg(
    title: str,
    lines: Sequence[tuple[str, Sequence[float]]],
    marks: Sequence[tuple[int, int, str]],
    note: str,
    unit: Unit = IN_CHANCES,
) -> str:
    """Return a chart as SVG: a line for each name, and marks as (line, step, text)."""
    wide, high, left, top = 640.0, 240.0, 52.0, 44.0
    last = max(1, max(len(chances) for _, chances in lines) - 1)

    def x(at: int) -> float:
        return left + wide * at / last

    def y(chance: float) -> float:
        return top + high * (1 - chance)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 340" role="img" aria-label="{escape(title)}" '
        'font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        '<rect width="720" height="340" fill="white"/>',
        f'<text x="{left}" y="24" font-size="16">{escape(title)}</text>',
    ]
    for percent in (0, 25, 50, 75, 100):
        at, shade = y(percent / 100), "#888" if percent == 50 else "#ddd"
        parts.append(f'<line x1="{left}" y1="{at}" x2="{left + wide}" y2="{at}" stroke="{shade}"/>')
        parts.append(f'<text x="{left - 6}" y="{at + 4}" text-anchor="end">{scale_text(percent / 100, unit)}</text>')
    for number, (name, chances) in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x(at):.1f},{y(chance):.1f}" for at, chance in enumerate(chances))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<rect x="{left + 160 * number}" y="300" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{left + 160 * number + 18}" y="311">{escape(name)}</text>')
    for number, at, what in marks:
        chance = lines[number][1][at]
        colour = COLOURS[number % len(COLOURS)]
        parts.append(
            f'<circle cx="{x(at):.1f}" cy="{y(chance):.1f}" r="4" fill="white" stroke="{colour}" stroke-width="2">'
            f"<title>{escape(what)}</title></circle>"
        )
    parts.append(f'<text x="{left}" y="332" font-size="11" fill="#555">{escape(note)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def chart_path(name: str) -> Path:
    """Return the file for a chart; refuse another suffix or a missing library before the work begins."""
    path = Path(name)
    if path.suffix.lower() not in SUFFIXES:
        raise OptionError(f"A plot is written as .svg or .png; {quoted(name)} is neither.")
    if path.suffix.lower() == ".png":
        need(PNG)
    return path


def save_chart(review: Review, seats: tuple[int, ...], path: Path) -> None:
    """Write a chart of the winning chances of these seats."""
    title = f"{review.game.notation.TITLE}: {review.unit.name}, as each saw it"
    lines = [(review.names[seat], [chances[seat] for chances in review.attribution.chances]) for seat in seats]
    marks = [
        (seats.index(d.seat), d.step, f"{review.names[d.seat]}: {review.told(d)}, {review.label(d)}")
        for d in review.decisions()
        if d.seat in seats and review.label(d)
    ]
    note = certainty(review)
    try:
        if path.suffix.lower() == ".svg":
            path.write_text(svg(title, lines, marks, note, review.unit), encoding="utf-8")
        else:
            _png(title, lines, marks, note, path, review.unit)
    except OSError as e:
        raise PisteError(f"The plot {quoted(path, 200)} cannot be written: {e.strerror or e}.") from None


def _png(
    title: str, lines: list[tuple[str, list[float]]], marks: list[tuple[int, int, str]], note: str, path: Path,
    unit: Unit,
) -> None:  # fmt: skip
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(7.2, 3.4), layout="constrained")
    axes = figure.subplots()
    for number, (name, chances) in enumerate(lines):
        axes.plot([100 * chance for chance in chances], color=COLOURS[number % len(COLOURS)], label=name)
    for number, at, _ in marks:
        axes.plot([at], [100 * lines[number][1][at]], "o", color=COLOURS[number % len(COLOURS)], fillstyle="none")
    axes.set(title=title, ylim=(-2, 102), ylabel="%", xlabel=note)
    if unit.largest is not None:
        axes.set_yticks([0, 50, 100], [scale_text(part, unit).strip() for part in (0.0, 0.5, 1.0)])
        axes.set_ylabel(unit.name)
    axes.axhline(50, color="#888", linewidth=0.8)
    axes.legend()
    figure.savefig(path, format="png", dpi=150)
