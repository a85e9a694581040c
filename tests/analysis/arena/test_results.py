"""The results file: gone on with after a crash, a cut line or a full disk, to the same table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from piste.analysis.arena import results as files
from piste.analysis.arena.results import Results, ResultsError
from piste.analysis.arena.tournament import play_tournament
from piste.analysis.engine import open_engine
from tests.analysis.arena.test_tournament import planned, played, timeless
from tests.limits import PATIENCE_S

PLAN = planned("prime-duel", "random", "novice", "steady", given={"target": 20})


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Return the file of a finished tournament."""
    path = tmp_path / "whole.jsonl"
    results = files.create(PLAN, path)
    go_on(results)
    return path


def go_on(results: Results) -> None:
    with open_engine() as engine:
        play_tournament(results, engine)
    results.close()


def test_a_file_says_all_that_was_played(whole: Path) -> None:
    assert timeless(files.read(whole)) == timeless(played(PLAN))
    assert files.read(whole).plan == PLAN


@pytest.mark.parametrize("part", [0.3, 0.5, 0.77, 0.999])
def test_a_file_that_was_cut_anywhere_is_gone_on_with(whole: Path, tmp_path: Path, part: float) -> None:
    data = whole.read_bytes()
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(data[: int(len(data) * part)])
    results = files.read(cut)
    before = len(results.deals)
    assert before < 12
    results.reopen()
    go_on(results)
    again = files.read(cut)
    assert timeless(again) == timeless(files.read(whole))
    assert len(cut.read_bytes().splitlines()) == 13  # nothing twice


def test_a_last_line_that_is_damaged_is_played_again(whole: Path) -> None:
    lines = whole.read_bytes().splitlines(keepends=True)
    whole.write_bytes(b"".join([*lines[:-1], lines[-1][:40] + b"\n"]))
    results = files.read(whole)
    assert len(results.deals) == 11
    results.reopen()
    go_on(results)
    assert timeless(files.read(whole)) == timeless(played(PLAN))


def test_a_line_in_the_middle_that_is_damaged_is_named(whole: Path) -> None:
    lines = whole.read_bytes().splitlines(keepends=True)
    whole.write_bytes(b"".join([*lines[:4], b'{"deal": [9, 1]}\n', *lines[5:]]))
    with pytest.raises(ResultsError, match=r"Line 5 of .* is damaged\. Delete that line and go on"):
        files.read(whole)


@pytest.mark.parametrize(
    "text", ["", "{}\n", "nothing\n", '{"format": "piste tournament", "version": 99}\n', "[1]\n"]
)
def test_what_is_no_results_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(ResultsError, match="does not begin with the plan of a tournament"):
        files.read(path)
    with pytest.raises(ResultsError, match="cannot be read: No such file"):
        files.read(tmp_path / "none.jsonl")


def test_a_file_of_another_piste_is_shown_but_not_gone_on_with(whole: Path) -> None:
    lines = whole.read_text().splitlines(keepends=True)
    head = {**json.loads(lines[0]), "piste": "0.0.9 (abc)"}
    whole.write_text("".join([json.dumps(head) + "\n", *lines[1:5]]))
    results = files.read(whole)
    assert len(results.deals) == 4
    with pytest.raises(ResultsError, match=r"was begun by piste 0\.0\.9 \(abc\), and this is piste "):
        results.reopen()


def test_nothing_is_overwritten_and_two_do_not_write_at_once(whole: Path) -> None:
    with pytest.raises(ResultsError, match=r"is there already\. Go on with it: piste tournament --resume"):
        files.create(PLAN, whole)
    one, two = files.read(whole), files.read(whole)
    one.reopen()
    if sys.platform != "win32":
        with pytest.raises(ResultsError, match="Another tournament is writing"):
            two.reopen()
    one.close()
    two.reopen()
    two.close()


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
from piste.cli.main import main
sys.exit(main({words!r}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are POSIX")
@pytest.mark.parametrize("size", [100, 2000])
def test_a_full_disk_ends_it_with_a_sentence_and_a_file_to_go_on_with(tmp_path: Path, size: int) -> None:
    """A limit on the size of files is a full disk that needs no rights."""
    path = tmp_path / "full.jsonl"
    words = ["tournament", "prime-duel", "random", "novice", "steady", "--set", "target=20", "--games", "8",
             "--processes", "1", "--results", str(path)]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(size=size, words=words)],
        capture_output=True, text=True, check=False, timeout=PATIENCE_S, env={**os.environ},
    )  # fmt: skip
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert (f"piste tournament --resume {path}" in done.stderr) == path.exists() == (size == 2000)
    if size == 2000:
        results = files.read(path)
        assert 0 < len(results.deals) < 12
        results.reopen()
        go_on(results)
        assert timeless(files.read(path)) == timeless(played(PLAN))
