"""Files that an earlier version wrote (tests/golden/formats): each is read, and gives the same as then."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import piste
from piste.cli import saved_games
from piste.cli.main import main
from tests import ROOT
from tests.sizes import slow_if

FORMATS = ROOT / "tests" / "golden" / "formats"
RECORDS = sorted((FORMATS / "records").glob("*.jsonl"))
TEXTS = [json.loads(line) for line in (FORMATS / "texts.jsonl").read_text(encoding="utf-8").splitlines()]
REVIEWED = str(FORMATS / "records" / "1-positive-negative-over.jsonl")
COMMANDS = {
    "games": ["games"],
    "bots": ["bots", "prime-duel"],
    "where": ["where"],
    "solve": ["solve", "positive-negative", "--set", "top=3"],
    "solve-grid": ["solve", "zero-sum-grid", "--set", "top=1"],
    "simulate": ["simulate", "zero-sum-grid", "--set", "turns=6", "--games", "20", "--interpreted"],
    "match": ["match", "positive-negative", "steady", "novice", "--games", "4"],
    "replay": ["replay", REVIEWED],
    "review": ["review", REVIEWED],
    "verify": ["verify", REVIEWED],
    "puzzle": ["puzzle", "zero-sum-grid", "--number", "1"],
    "balance": ["balance", "positive-negative", "--set", "top=2", "--games", "8"],
}


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_replays_to_the_same_record(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert piste.replay(text).record() == text
    if "over" in path.stem:
        assert piste.load(path).ending is not None


def test_positions_and_information_sets_are_read_and_written_as_they_were() -> None:
    for text in TEXTS:
        for kind, line in text.items():
            parsed: Any = piste.Position.parse(line) if kind == "position" else piste.InformationSet.parse(line)
            assert str(parsed) == line


def test_saved_games_are_listed_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FORMATS / "saved", tmp_path / "games")
    monkeypatch.setenv("PISTE_HOME", str(tmp_path))
    assert len(saved_games.entries()) == 3
    running = saved_games.newest(running=True)
    assert "prime-duel" in running
    for path in (tmp_path / "games").glob("*.jsonl"):
        assert piste.replay(piste.load(path)).game.name in path.name


def fields(value: Any, at: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from fields(inner, f"{at}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from fields(inner, f"{at}[]")
    else:
        yield at


@pytest.mark.parametrize("name", slow_if(lambda name: name in ("review", "balance"), COMMANDS))
def test_json_documents_have_every_field_that_they_had(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path))
    expected = json.loads((FORMATS / "json_fields.json").read_text(encoding="utf-8"))[name]
    assert main((*COMMANDS[name], "--json")) == 0
    assert set(expected) <= set(fields(json.loads(capsys.readouterr().out)))
