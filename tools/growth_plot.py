"""Draw docs/images/growth.svg: CPU time and memory against the size of the work (`piste bench --growth`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = ("#1b6ca8", "#c2571a", "#2e7d32", "#7b3fa0", "#b0243b", "#00796b", "#8d6e00", "#455a64")
MARKS = "osD^vPX*"


def draw(series: dict[str, Any], path: Path) -> None:
    """Write one picture with two panels; sizes are told as multiples of the smallest one of their series."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams |= {"svg.hashsalt": "growth", "svg.fonttype": "none", "font.family": "sans-serif"}
    figure = Figure(figsize=(10.5, 5.2), layout="constrained")
    for axes, key, title in zip(figure.subplots(1, 2), ("seconds", "mib"), ("CPU seconds", "MiB"), strict=True):
        for row, colour, mark in zip(series.values(), COLOURS, MARKS, strict=False):
            slope = row["exponents"][key]
            if slope is None:
                continue
            points = [(p["size"] / row["points"][0]["size"], p[key]) for p in row["points"] if p[key] > 0]
            label = f"{row['what']}, by {row['unit']}: {slope:.2f}"
            axes.loglog(*zip(*points, strict=True), color=colour, marker=mark, markersize=5, label=label)
        axes.set_title(f"{title}, with the exponent of each line")
        axes.set_xlabel("size, as a multiple of the smallest")
        axes.grid(True, which="major", color="#d9e2ec")
        axes.legend(fontsize=7.5, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    figure.savefig(path, metadata={"Date": None})
