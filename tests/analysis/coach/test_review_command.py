"""`piste review` as somebody uses it."""

from __future__ import annotations

import json
import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import piste
from piste.cli.main import main
from piste.core.game import names
from tests.analysis.coach.review_cases import put_out
from tests.game_setups import Kind, played

SMALL: dict[str, dict[str, int | str]] = {
    "zero-sum-duel": {"turns": 30},
    "positive-negative": {"top": 4},
    "prime-duel": {"top": 4, "copies": 2, "target": 12},
    "zero-sum-grid": {"turns": 20},
    "mccoy-duel": {"powers": "0*", "rounds": 1},
}
FIVE = pytest.mark.parametrize("name", names())


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")


def record(tmp_path: Path, name: str, seed: object = 1) -> str:
    return put_out(tmp_path / f"{name}.jsonl", played(Kind(name, SMALL[name]), f"commands {seed}"))


@FIVE
def test_review_tells_each_decision_and_where_the_points_went(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record(tmp_path, name)
    assert main(("review", path, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["version"] == 1
    assert found["game"] == name
    assert found["time"] > 0
    for column in found["columns"]:
        sum_of_all = sum(column[key] for key in ("first", "own", "others", "luck", "revealed", "left"))
        assert sum_of_all == pytest.approx(column["result"], abs=1e-9)
        assert not found["exact"] or abs(column["left"]) < 1e-9
    for row in found["decisions"]:
        assert row["loss"] == pytest.approx(max(0, row["before"] - row["after"]), abs=1e-9)
        assert row["why"]
    assert main(("review", path)) == 0
    page = capsys.readouterr().out
    assert "own losses" in page
    assert "luck" in page
    assert page.count("100 %  ") + page.count("100 %\n") == 1, "one chart"
    for row in found["decisions"]:
        at_stake = row["before"] - min(choice["chance"] for choice in row["choices"]) > 1e-9
        assert not at_stake or f": {row['told']}," in page
        assert row["best_why"]
    assert "by what each player could know" in page


@FIVE
def test_a_review_fits_a_narrow_terminal(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record(tmp_path, name)
    for columns in (40, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert main(("review", path)) == 0
        assert max(map(len, capsys.readouterr().out.splitlines())) <= columns


@FIVE
def test_a_review_of_one_seat_is_about_that_seat(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seat = piste.find(name).notation.SEATS[1]
    assert main(("review", record(tmp_path, name), "--seat", seat.lower(), "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert [column["seat"] for column in found["columns"]] == [seat]
    assert {row["seat"] for row in found["decisions"]} <= {seat}
    assert set(found["chances"][0]) == {"step", seat}


@FIVE
def test_a_plot_is_a_drawing_that_can_be_read(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "plot.svg"
    assert main(("review", record(tmp_path, name), "--plot", str(target), "--json")) == 0
    json.loads(capsys.readouterr().out)  # nothing else is said there
    drawing = ElementTree.parse(target).getroot()
    assert drawing.tag.endswith("svg")
    lines = drawing.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 2
    for line in lines:
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= 720
            assert 0 <= y <= 340


def test_a_png_needs_an_extra_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "plot.png"
    code = main(("review", record(tmp_path, "positive-negative"), "--plot", str(target)))
    if find_spec("matplotlib") is None:
        assert code == 1
        assert "pip install 'piste[plot]'" in capsys.readouterr().err
        assert not target.exists()
    else:
        assert code == 0
        assert target.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--plot", "graph.gif"), 2, ".svg or .png"),
        (("--labels", "5,10"), 2, "three numbers"),
        (("--seat", "9"), 2, "no seat '9'"),
        (("--plot", "no/such/folder/graph.svg"), 1, "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_answered_with_a_sentence(
    words: tuple[str, ...], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("review", record(tmp_path, "positive-negative"), *words)) == code
    assert said in capsys.readouterr().err.replace("\n", " ")


def test_labels_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = record(tmp_path, "positive-negative", 3)
    named: list[list[Any]] = []
    for labels in ("0.001,0.002,0.003", "98,99,100"):
        assert main(("review", path, "--labels", labels, "--json")) == 0
        rows = json.loads(capsys.readouterr().out)["decisions"]
        named.append([row["label"] for row in rows if row["loss"] > 0.001])
    assert named[0]
    assert all(named[0])
    assert not any(named[1])


def test_a_running_game_tells_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put_out(tmp_path / "running.jsonl", piste.open_table("zero-sum-duel", seed="running"))
    assert main(("review", path, "--json")) == 1
    answer = capsys.readouterr()
    assert answer.out == ""
    assert "is not over" in answer.err.replace("\n", " ")
    assert main(("review", "last")) == 1
    assert "no finished game" in capsys.readouterr().err.replace("\n", " ")


def test_a_game_at_the_terminal_ends_with_the_offer_of_a_review(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("play", "positive-negative", "--seat", "random", "--seat", "random", "--no-input")) == 0
    page = capsys.readouterr().out.splitlines()
    assert page[-2] == "To learn what each decision cost:"
    name = page[-1].split()[-1]
    assert main(("review", name, "--json")) == 0
    by_name = json.loads(capsys.readouterr().out)
    assert main(("review", "last", "--json")) == 0
    last = json.loads(capsys.readouterr().out)
    assert {**by_name, "time": 0, "cpu": 0} == {**last, "time": 0, "cpu": 0}


def test_a_graph_never_leaves_its_frame() -> None:
    from piste.analysis.coach.charts import ROWS, text_chart

    chooser = random.Random(1)
    for length in (1, 2, 3, 30, 500):
        for width in (20, 40, 80):
            rows = text_chart([chooser.random() for _ in range(length)], width, {"1": [(length - 1, "B")]})
            assert len(rows) == ROWS + 1
            assert max(map(len, rows)) <= width
            assert "".join(rows).count("*") >= 1
