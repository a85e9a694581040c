"""Let the bots be evaluated as models and write the table into docs/evaluation.md.

python -m tools.calibration [--deals N]          # about ten minutes of two cores with 25 deals

The very task that grades a language model grades the levels here. Only what was measured is written.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from inspect_ai import eval as inspect_eval

from piste.analysis.arena.report import loss_text
from piste.core.game import find
from piste.evals.games_task import games
from piste.evals.report import Row, make_report
from piste.evals.report_text import best_text, points_text, result_text
from tools.pages import DOCS, replace_part, table, written_by

PAGE = DOCS / "evaluation.md"
LEVELS = ("random", "novice", "steady", "strong", "perfect")
SIZES = {
    "zero-sum-duel": "",
    "positive-negative": "top=5",
    "zero-sum-grid": "variant=harvest",
    "prime-duel": "top=6,copies=2,target=42",
    "mccoy-duel": "powers=357*,rounds=1,first=1",
}
"""The sheet's size where it is exact and quick to grade, else one of those that are drawn against memorising."""


def measured(game: str, deals: int, folder: Path) -> dict[str, Row]:
    """Return what each level came to as a model."""
    for level in LEVELS:
        task = games(game=game, options=SIZES[game], deals=deals, rules="none", twice=0)
        inspect_eval(task, model=f"piste/{level}", log_dir=str(folder), display="none")
    (group,) = make_report([str(folder)]).groups
    return {row.model: row for row in group.rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=25)
    deals = parser.parse_args().deals
    rows = []
    for game, options in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            found = measured(game, deals, Path(folder))
        for level in LEVELS:
            one = found[f"piste/{level}"].summary
            known = "-" if one.known is None else f"{one.known.decisions:,}"
            title = f"{find(game).notation.TITLE} {options.replace(',', ' ')}".strip()
            rows.append([
                title, f"`piste/{level}`", loss_text(one.known), points_text(one.random_loss), best_text(one),
                result_text(one), known, "0" if one.estimated is None else f"{one.estimated.decisions:,}",
            ])  # fmt: skip
            print(*rows[-1], flush=True)
    head = ["game", "model", "loss", "random's", "best", "points against steady", "graded", "estimated only"]
    text = f"{table(head, rows)}\n\n{written_by('calibration', '--deals', str(deals))}."
    PAGE.write_text(replace_part(PAGE.read_text(encoding="utf-8"), "calibration", text), encoding="utf-8")


if __name__ == "__main__":
    main()
