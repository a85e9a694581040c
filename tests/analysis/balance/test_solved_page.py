"""docs/solved.md is what its data make, its values are what the solvers say, and heavy rows are kept."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from piste.analysis.balance.report import evaluate_start, fix_first_seat
from piste.core.game import find, names
from tools import solved_page as tool


def test_the_page_is_what_its_data_make() -> None:
    page = tool.PAGE.read_text(encoding="utf-8")
    assert tool.written(page, tool.read(page)) == page


def test_every_game_has_a_row_with_its_cost_and_a_picture() -> None:
    rows = tool.read(tool.PAGE.read_text(encoding="utf-8"))
    assert set(names()) <= set(rows)
    for key, row in rows.items():
        assert row["seconds"] >= 0
        assert row["mib"] > 10
        assert row["date"] >= "2026"
        picture = ElementTree.parse(tool.IMAGES / f"balance-{key}.svg").getroot()
        assert tool.titled(key)[0].notation.TITLE in [node.text for node in picture.iter()]
    assert (tool.IMAGES / "first-player.svg").read_text(encoding="utf-8") == tool.seats(rows)


@pytest.mark.parametrize("name", ["positive-negative", "zero-sum-duel", "zero-sum-grid"])
def test_what_the_page_calls_exact_is_what_the_solver_says(name: str) -> None:
    rows = tool.read(tool.PAGE.read_text(encoding="utf-8"))
    for key, game, options in tool.kinds():
        if game.name == name:
            fixed, first = fix_first_seat(game, options)
            best = evaluate_start(game, game.options(fixed), first)
            assert best.known == rows[key]["known"]
            assert rows[key]["known"] in ("exact", "proven")
            assert best.chances.value == pytest.approx(rows[key]["chances"]["value"], abs=1e-9)


def test_a_heavy_row_is_kept_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is solved or played here: only which rows are made anew is looked at."""
    row = {
        "date": "2001-01-01", "seconds": 250.0, "mib": 9000.0, "said": "Said.", "known": "exact", "within": 0.0,
        "how": "How.", "chances": {"win": 0.5, "draw": 0.0, "loss": 0.5, "value": 0.0}, "command": "piste",
    }  # fmt: skip
    page = tool.PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(tool, "PAGE", tmp_path / "solved.md")
    monkeypatch.setattr(tool, "IMAGES", tmp_path)
    monkeypatch.setattr(tool, "solved", lambda *_, **__: row | {"date": "2002-02-02"})
    monkeypatch.setattr(tool, "weighed", lambda *_: {"weighed": {"sentences": ["Played."], "truths": []}})
    tool.PAGE.write_text(tool.written(page, {key: row for key, _, _ in tool.kinds()}), encoding="utf-8")

    def dates(*words: str) -> dict[str, str]:
        monkeypatch.setattr(sys, "argv", ["solved_page.py", *words])
        assert tool.main() == 0
        return {key: row["date"] for key, row in tool.read(tool.PAGE.read_text(encoding="utf-8")).items()}

    row_dates = dates()
    assert row_dates.pop("prime-duel") == "2001-01-01"
    assert set(row_dates.values()) == {"2002-02-02"}
    assert dates("prime-duel", "--heavy")["prime-duel"] == "2002-02-02"
    assert find("prime-duel").notation.TITLE in tool.PAGE.read_text(encoding="utf-8")
    test_the_page_is_what_its_data_make()
