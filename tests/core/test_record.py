"""Records: exact on replay, and a sentence with the line for each that is not what it says."""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path

import pytest

import piste
from piste.core.errors import RecordError
from piste.core.marks import Hint, Mark, Note, Replaced, Reseated, mark_text, read_mark
from piste.core.record import chained, dumped
from piste.core.replay import new_head, replay, seated
from tests.game_setups import FULL, Kind, played


def finished() -> list[str]:
    return played(Kind("zero-sum-duel", {"turns": 30}), "record").record().splitlines()


def rechecked(lines: list[str]) -> str:
    """Return lines with checks that fit: what somebody who knows the format could write."""
    check = ""
    out: list[str] = []
    for line in lines:
        found = {key: value for key, value in json.loads(line).items() if key != "check"}
        if "checksum" in found:
            found["checksum"] = blake2b("\n".join(out).encode(), digest_size=16).hexdigest()
        check = chained(check, dumped(found))
        out.append(dumped({**found, "check": check}))
    return "\n".join(out) + "\n"


def refused(text: str | bytes, words: str) -> None:
    with pytest.raises(RecordError, match=words):
        replay(piste.Record.parse(text))


def test_records_are_written_as_the_game_goes() -> None:
    written: list[str] = []
    table = piste.open_table("positive-negative", seed="journal", write=written.append)
    assert len(written) == 2  # the head and the first card
    table.decide(0, "discard")
    assert "".join(written) == table.record()
    assert '"decide": "discard"' in written[2]


def test_a_record_reads_as_a_person_would_tell_it() -> None:
    table = piste.open_table("zero-sum-duel", {"first": "a"}, seed="s", laid="+3 -2 -5 +4 +2", seats=("Ann", "Bo"))
    lines = [json.loads(line) for line in table.record().splitlines()]
    assert lines[0]["game"] == "zero-sum-duel"
    assert lines[0]["seats"] == ["Ann", "Bo"]
    assert [line["outcome"] for line in lines[1:-1]] == ["+3", "-2", "-5", "+4", "+2"]
    assert (lines[-1]["ending"], lines[-1]["winner"]) == ("sum is zero", "A")


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_files_round_trip(kind: Kind, tmp_path: Path) -> None:
    table = played(kind, "file")
    piste.save(table, tmp_path / "game.jsonl")
    assert piste.load(tmp_path / "game.jsonl").text == table.record()
    assert piste.replay(piste.load(tmp_path / "game.jsonl")).record() == table.record()


def test_a_cut_record_says_so_and_can_be_mended() -> None:
    text = "\n".join(finished()[:6])
    refused(text[:-10], "Line 6 .* cut off or damaged")
    mended = piste.Record.parse(text[:-10], mend=True)
    assert len(mended.lines) == 5
    assert piste.replay(mended).to_act is not None


def test_every_cut_of_a_record_is_a_running_game_or_refused() -> None:
    text = "\n".join(finished()) + "\n"
    for at in range(0, len(text), 7):
        try:
            table = piste.replay(piste.Record.parse(text[:at], mend=True))
        except RecordError:
            continue
        assert table.record().startswith(text[: text.rfind("\n", 0, at) + 1])


@pytest.mark.parametrize("at", [1, 2, 5, 8])
def test_an_edited_line_is_found(at: int) -> None:
    lines = finished()
    lines[at] = lines[at].replace("+", "-") if "+" in lines[at] else lines[at].replace("-", "+", 1).replace("A", "B")
    refused("\n".join(lines), f"Line {at + 1} ")


def test_a_lost_or_swapped_line_is_found() -> None:
    lines = finished()
    refused("\n".join(lines[:3] + lines[4:]), "Line 4 ")
    refused("\n".join([*lines[:3], lines[4], lines[3], *lines[5:]]), "Line 4 ")
    refused("\n".join([*lines, lines[-1]]), f"Line {len(lines) + 1} ")


def test_an_edit_with_checks_that_fit_is_found_by_playing_it() -> None:
    lines = finished()
    other = list(lines)
    first = json.loads(lines[2])["outcome"]
    other[2] = lines[2].replace(f'"{first}"', '"+1"' if first != "+1" else '"+2"')
    refused(rechecked(other), "Line 3 .*(seed did not deal|cannot come up)")
    decision = next(i for i, line in enumerate(lines) if '"discard"' in line)
    other = list(lines)
    other[decision] = lines[decision].replace(json.loads(lines[decision])["discard"], "+9")
    refused(rechecked(other), f"Line {decision + 1} .*")
    other = list(lines)
    other[-1] = lines[-1].replace("turn limit", "resigned").replace("sum is zero", "resigned")
    refused(rechecked(other), f"Line {len(lines)} .*went otherwise")
    refused(rechecked(lines[:-3] + lines[-1:]).replace(f'"n": {len(lines) - 1}', f'"n": {len(lines) - 3}'), "Line")


def test_foreign_and_other_rules_are_refused() -> None:
    lines = finished()
    refused("", "empty")
    refused("hello\n", "Line 1 .*JSON")
    refused('{"game": "chess"}\n', "no record of piste")
    refused(rechecked([lines[0].replace('"piste": 1', '"piste": 99')]), "format '99'")
    refused(rechecked([lines[0].replace('"rules": 1', '"rules": 7')]), "rules '7'")
    refused(rechecked([lines[0].replace("zero-sum-duel", "zero-sum-dual", 1)]), "Did you mean zero-sum-duel")
    refused(rechecked([lines[0].replace('"top": "5"', '"top": "99"')]), "option 'top'")
    refused(rechecked([lines[0].replace('"seed": "', '"seed": "x')]), "not the one that was promised")
    refused(rechecked([lines[0].replace('"counts": false', '"counts": true')]), "does not count")
    refused(b"\xff\xfe" + lines[0].encode(), "Line 1 .*UTF-8")
    refused("[" * 100_000, "Line 1")
    refused('{"piste": 1, "game": "\\ud800"}', "Line 1")
    refused("x" * (17 << 20), "more than")


def test_marks_stay_in_their_place_on_replay() -> None:
    table, recorder = seated(new_head("positive-negative", seed="marks"))
    recorder.mark(Note("hint for Player 1"))
    table.decide(0, "keep")
    again, copied = replay(piste.Record.parse(table.record()))
    assert copied.lines == recorder.lines
    again.resign(1)
    assert piste.replay(again.record()).ending() == again.ending()


def test_a_record_without_a_seed_replays_what_was_given() -> None:
    table = piste.open_table("prime-duel", {"first": 1}, outcomes=[6, 9, 8])
    table.decide(0, "keep")
    assert piste.replay(table.record()).record() == table.record()


def test_a_missing_file_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be opened"):
        piste.load(tmp_path / "nothing.jsonl")


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        (Hint(1, "keep"), "hint for seat 2: keep"),
        (Reseated(0, "cmd:bot a: b"), "now on seat 1: cmd:bot a: b"),
        (Replaced("steady", "Perfect", "broke, which is bad"), None),
        (Note("hint for seat 9: keep"), "hint for seat 9: keep"),
        (Note("Back again: hint for seat 1: keep."), "Back again: hint for seat 1: keep."),
    ],
)
def test_a_mark_is_read_back_as_what_it_was(mark: Mark, text: str | None) -> None:
    game = piste.find("prime-duel")
    written = mark_text(game, mark)
    assert written == (text or "From here on the bot steady plays for Perfect, which broke, which is bad.")
    assert read_mark(game, written) == mark


def test_a_note_that_reads_as_another_mark_is_refused() -> None:
    _, recorder = seated(new_head("prime-duel", seed="forged"))
    with pytest.raises(ValueError, match="another kind of mark"):
        recorder.mark(Note("hint for seat 1: keep"))
