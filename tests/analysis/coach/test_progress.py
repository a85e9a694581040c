"""Progress: every finished game of one's own is reviewed once, and shown in its order."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from piste.cli.commands import progress
from piste.cli.main import main


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def play(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed * 40))
    assert main(["play", "positive-negative", "--set", "top=4"]) == 0


def test_games_are_reviewed_once_and_shown_with_accuracy_and_loss(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    assert main(["progress"]) == 1
    assert "no finished game of yours" in capsys.readouterr().err
    for typed in ("keep\n", "discard\n", "keep\n"):
        play(monkeypatch, typed)
    capsys.readouterr()
    assert main(["progress", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["games"]
    assert len(rows) == 3
    assert [row["name"] for row in rows] == sorted(row["name"] for row in rows)
    assert all(0 <= row["accuracy"] <= 100 for row in rows)
    assert all(row["loss"] >= 0 and row["decisions"] > 0 for row in rows)

    def fail(*_: object) -> None:
        raise AssertionError("reviewed again")

    monkeypatch.setattr("piste.analysis.coach.review.review", fail)
    assert main(["progress", "positive-negative"]) == 0
    said = capsys.readouterr().out
    assert "Positive-Negative: 3 games" in said
    assert "accuracy, " in said
    assert max(map(len, said.splitlines())) <= 80
    monkeypatch.undo()
    monkeypatch.setenv("PISTE_HOME", str(home))
    (home / "reviews.json").write_text("[1]")
    assert main(["progress", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == rows


def test_the_graph_goes_from_low_to_high() -> None:
    rows = [
        {"name": f"2026010{i + 1}-103000-x", "accuracy": accuracy, "loss": 1.0, "decisions": 2}
        for i, accuracy in enumerate((0.0, 50.0, 100.0))
    ]
    lines = progress.chart_lines("A game", rows, 40)
    assert "_+@" in lines[1]
    assert lines[0] == "A game: 3 games, 2026-01-01 to 2026-01-03"
    assert "0 % accuracy" in lines[2]
    assert "100 % accuracy" in lines[3]
