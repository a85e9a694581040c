"""`piste verify`: what it checks, what it says of a record that is not sound, and what it cannot show."""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path

import pytest

import piste
from piste.cli.main import main
from piste.core.record import chained, dumped
from piste.core.replay import new_head, seated
from tests.game_setups import FULL, Kind, played


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")


def finished() -> list[str]:
    """Return the record of a game that nobody named the seed of, resigned after two decisions."""
    head = new_head("positive-negative", seats=("Ann", "Bo"))
    table, recorder = seated(head)
    table.decide(0, "keep")
    table.decide(1, "keep")
    table.resign(0)
    return recorder.lines


def rechecked(lines: list[str]) -> list[str]:
    """Return lines with checks that fit: what somebody who knows the format could write."""
    check = ""
    out: list[str] = []
    for line in lines:
        found = {key: value for key, value in json.loads(line).items() if key != "check"}
        if "checksum" in found:
            found["checksum"] = blake2b("\n".join(out).encode(), digest_size=16).hexdigest()
        check = chained(check, dumped(found))
        out.append(dumped({**found, "check": check}))
    return out


def verify(lines: list[str], place: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    path = place / "game.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    code = main(["verify", str(path), *words])
    done = capsys.readouterr()
    assert done.err == ""
    return code, done.out


def test_a_sound_record_is_told_check_by_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = finished()
    promise = json.loads(lines[0])["commitment"]
    code, text = verify(lines, tmp_path, capsys)
    assert code == 0
    holds = [line for line in text.splitlines() if line.startswith("Holds: ")]
    assert len(holds) == 6
    for words in (
        f"The record has {len(lines)} lines",
        "checksum of the whole record",
        f"promised at the deal: {promise}",
        "The seed deals every outcome of chance: 3 of 3",
        "The rules allow every decision: 3 of 3",
        "Bo won, resigned",
    ):
        assert sum(words in line for line in holds) == 1, words
    assert "Fails" not in text
    assert "The record is sound." in text
    assert "cannot show that nobody" in text


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_every_game_can_be_verified(kind: Kind, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = verify(played(kind, "verify").record().splitlines(), tmp_path, capsys, "--json")
    found = json.loads(text)
    assert (code, found["sound"], found["running"]) == (0, True, False)
    assert [check["check"] for check in found["checks"]] == [
        "chain",
        "checksum",
        "promise",
        "dealt",
        "rules",
        "ending",
    ]


def test_a_kept_game_is_found_by_name_and_as_the_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "home" / "games"
    games.mkdir(parents=True)
    (games / "20260101-120000-positive-negative-ab12.jsonl").write_text(
        "\n".join(finished()) + "\n", encoding="utf-8"
    )
    for name in ("last", "20260101-120000-positive-negative-ab12"):
        assert main(["verify", name]) == 0
        assert "The record is sound." in capsys.readouterr().out


@pytest.mark.parametrize("digits", [16, 40, 64])
def test_the_promise_is_compared_with_what_was_shown(
    digits: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = finished()
    shown = json.loads(lines[0])["commitment"][:digits].upper()
    assert verify(lines, tmp_path, capsys, "--commitment", f" {shown[:8]} {shown[8:]}")[0] == 0
    other = ("1" if shown[0] != "1" else "2") + shown[1:]
    code, text = verify(lines, tmp_path, capsys, "--commitment", other)
    assert code == 1
    assert "Fails: The promise in the record is not the one that you were shown" in text
    assert "The record is not sound." in text


@pytest.mark.parametrize("text", ["abc", "0123456789abcde", "x" * 64, "0" * 65, ""])
def test_what_is_no_commitment_is_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text("\n".join(finished()) + "\n", encoding="utf-8")
    assert main(["verify", str(path), "--commitment", text]) == 2
    assert "64 hexadecimal digits" in capsys.readouterr().err


def test_a_changed_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = finished()
    lines[3] = lines[3].replace('"outcome": "', '"outcome": "1')
    code, text = verify(lines, tmp_path, capsys)
    assert code == 1
    assert text.startswith("Fails: Line 4 of the record cannot be used: its check does not fit")


def test_a_lost_ending_is_not_taken_for_a_finished_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = verify(finished()[:-1], tmp_path, capsys)
    assert code == 1
    assert "the ending is missing" in text
    assert "running" not in text


def test_a_card_that_the_seed_did_not_deal_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = finished()
    found = json.loads(lines[1])
    lines[1] = dumped({**found, "outcome": "1" if found["outcome"] != "1" else "2"})
    code, text = verify(rechecked(lines), tmp_path, capsys)
    assert code == 1
    assert "Holds: The seed is the one that was promised" in text
    assert "Fails: Line 2 of the record cannot be used: the seed did not deal" in text


def test_another_seed_than_the_promised_one_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = finished()
    lines[0] = dumped({**json.loads(lines[0]), "seed": "another"})
    code, text = verify(rechecked(lines), tmp_path, capsys)
    assert code == 1
    assert "Fails: Line 1 of the record cannot be used: the seed is not the one that was promised" in text


def test_a_decision_against_the_rules_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = finished()
    lines[2] = dumped({**json.loads(lines[2]), "seat": "2"})
    code, text = verify(rechecked(lines), tmp_path, capsys)
    assert code == 1
    assert "Fails: Line 3 of the record cannot be used" in text


def test_another_winner_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = finished()
    lines[-1] = dumped({**json.loads(lines[-1]), "winner": "1"})
    code, text = verify(rechecked(lines), tmp_path, capsys, "--json")
    found = json.loads(text)
    assert (code, found["sound"]) == (1, False)
    assert found["checks"][-1]["holds"] is False
    assert f"Line {len(lines)} of the record" in found["checks"][-1]["text"]


def test_a_running_game_is_sound_so_far(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = piste.open_table("positive-negative")
    table.decide(table.to_act or 0, "keep")
    code, text = verify(table.record().splitlines(), tmp_path, capsys, "--commitment", table.commitment)
    assert code == 0
    assert "The game is still running" in text
    assert "So far the record is sound" in text
    assert "the one that you were shown" in text
    assert "checksum" not in text


def test_a_seed_that_was_named_is_said_to_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = verify(played(FULL[1], "named").record().splitlines(), tmp_path, capsys)
    assert "named the seed" in text
    assert "cannot show that nobody" not in text


@pytest.mark.parametrize("text", ["", "no record\n", '{"piste": 1}\n'])
def test_what_is_no_record_fails_with_a_sentence(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
    assert main(["verify", str(tmp_path / "x.jsonl")]) == 1
    done = capsys.readouterr()
    assert done.out.startswith("Fails: ")
    assert done.err == ""


def test_a_name_that_nothing_has_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "nothing-like-this"]) == 1
    assert "no kept game" in capsys.readouterr().err
