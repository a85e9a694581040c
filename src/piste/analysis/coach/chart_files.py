"""A win-chance graph as a file: SVG by our own lines, PNG with matplotlib."""

from __future__ import annotations

import importlib
from pathlib import Path

from piste.analysis.coach.charts import COLOURS, svg
from piste.analysis.coach.review import Review, certainty
from piste.core.errors import OptionError, PisteError
from piste.core.extras import PNG, need
from piste.core.game import quoted

SUFFIXES = (".svg", ".png")


def checked(name: str) -> Path:
    """Return where to draw, or say which files can be drawn; asked before the work begins."""
    path = Path(name)
    if path.suffix.lower() not in SUFFIXES:
        raise OptionError(f"A plot is written as .svg or .png; {quoted(name)} is neither.")
    if path.suffix.lower() == ".png":
        need(PNG)
    return path


def save(found: Review, seats: tuple[int, ...], path: Path) -> None:
    """Draw the winning chances of these seats."""
    title = f"{found.game.notation.TITLE}: chance to win, as each saw it"
    lines = [(found.names[seat], [chances[seat] for chances in found.walk.chances]) for seat in seats]
    marks = [
        (seats.index(d.seat), d.step, f"{found.names[d.seat]}: {found.told(d)}, {found.label(d)}")
        for d in found.decisions()
        if d.seat in seats and found.label(d)
    ]
    note = certainty(found)
    try:
        if path.suffix.lower() == ".svg":
            path.write_text(svg(title, lines, marks, note), encoding="utf-8")
        else:
            _png(title, lines, marks, note, path)
    except OSError as e:
        raise PisteError(f"The plot {quoted(path, 200)} cannot be written: {e.strerror or e}.") from None


def _png(
    title: str, lines: list[tuple[str, list[float]]], marks: list[tuple[int, int, str]], note: str, path: Path
) -> None:
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(7.2, 3.4), layout="constrained")
    axes = figure.subplots()
    for number, (name, chances) in enumerate(lines):
        axes.plot([100 * chance for chance in chances], color=COLOURS[number % len(COLOURS)], label=name)
    for number, at, _ in marks:
        axes.plot([at], [100 * lines[number][1][at]], "o", color=COLOURS[number % len(COLOURS)], fillstyle="none")
    axes.set(title=title, ylim=(-2, 102), ylabel="%", xlabel=note)
    axes.axhline(50, color="#888", linewidth=0.8)
    axes.legend()
    figure.savefig(path, format="png", dpi=150)
