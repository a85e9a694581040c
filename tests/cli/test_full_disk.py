"""A full disk ends nothing: a game goes on, with or without its record, and compiled code and tables are used unkept.

A limit on the size of files is a full disk that needs no rights: the system refuses to write any further.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from piste.cli import saved_games
from piste.compiled import table_cache as solved
from piste.core.errors import CacheWarning
from piste.core.replay import new_head, replay, seated
from piste.core.worker_process import Worker
from tests.limits import PATIENCE_S

LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
from piste.cli.main import main
sys.exit(main({words!r}))
"""


def limited(home: Path, size: int, typed: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in which no file can grow beyond a size."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED.format(size=size, words=list(words))],
        input=typed, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        env={**os.environ, "PISTE_HOME": str(home), **environment},
    )  # fmt: skip


@pytest.mark.parametrize("size", [0, 100, 900])
def test_a_game_goes_on_when_its_record_cannot(size: int, tmp_path: Path) -> None:
    done = limited(tmp_path, size, "yes\n" * 40, "play", "positive-negative", "--vs", "random", "--set", "top=6")
    assert done.returncode == 0, done.stderr
    assert "[End of Game]" in done.stdout
    assert done.stderr.count(f"The game cannot be kept in {tmp_path / 'games'}: File too large.") == 1
    assert "Free some space there, or set PISTE_HOME to another folder" in done.stderr
    assert "It cannot be shown again." in done.stderr
    assert "Traceback" not in done.stderr
    kept = list((tmp_path / "games").iterdir())
    assert len(kept) == (size == 900)  # no empty record, and no half line
    for path in kept:
        assert path.read_bytes().endswith(b"}\n")


def test_who_leaves_is_told_what_is_kept_and_what_not(tmp_path: Path) -> None:
    nothing = limited(tmp_path / "a", 0, "yes\nsave\nquit\n", "play", "prime-duel", "--first", "1", "--seed", "x")
    assert "There was no room for the game in" in nothing.stderr
    assert "resume" not in nothing.stderr
    some = limited(tmp_path / "b", 700, "no\n" * 4 + "quit\n", "play", "prime-duel", "--first", "1", "--seed", "x")
    assert "To go on from an earlier decision:" in some.stderr
    assert "The game cannot be kept in" not in nothing.stdout.partition("save")[0]
    assert "The game cannot be kept in" in nothing.stdout.partition("save")[2]  # asked for, it is told again


def test_an_empty_record_of_an_earlier_full_disk_is_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path))
    games = tmp_path / "games"
    games.mkdir()
    (games / "20260101-000000-prime-duel-abcd.jsonl").touch()
    assert saved_games.entries() == []
    (games / "20260101-000001-prime-duel-abcd.jsonl").write_text("no record\n")
    assert len(saved_games.entries()) == 1  # one that was damaged is told


class Flaky:
    """A file on a disk that is full at times."""

    def __init__(self, file: Any) -> None:
        self.file, self.full = file, False

    def write(self, data: Any) -> int:
        if not self.full:
            return int(self.file.write(data))
        self.file.write(bytes(data)[:5])  # a little still fits
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def test_what_waited_is_written_when_there_is_room_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PISTE_HOME", str(tmp_path))
    told: list[str] = []
    kept = saved_games.RecordFile("a-game", tell=told.append)
    flaky = kept._file = Flaky(kept._file)  # type: ignore[assignment]
    table, _ = seated(new_head("positive-negative", {"top": 3}, seed="room"), kept.write)
    flaky.full = True
    table.decide(0, "keep")
    table.decide(1, "keep")
    assert len(told) == 1
    assert "No space left on device" in told[0]
    assert kept.error
    assert saved_games.read("a-game").text.count("\n") < table.record().count("\n")  # whole lines only, and readable
    flaky.full = False
    table.decide(0, "keep")
    assert told[1:] == ["The game can be kept again, and nothing of it is missing."]
    assert not kept.error
    kept.close()
    assert saved_games.read("a-game").text == table.record()
    assert replay(saved_games.read("a-game"))[0].view(0) == table.view(0)


# The cache


def full(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_table_that_cannot_be_kept_is_told_once_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numpy = pytest.importorskip("numpy")
    monkeypatch.setattr(solved, "folder", lambda: tmp_path)
    monkeypatch.setattr(solved, "_warned", set())
    monkeypatch.setattr(Path, "rename", full)
    with pytest.warns(CacheWarning, match=f"cannot be kept in {tmp_path}: No space left on device") as found:
        solved.try_save("game", "stamp", {"a": numpy.zeros(3)})
    assert len(found) == 1
    solved.try_save("game", "stamp", {"a": numpy.zeros(3)})  # in silence; a warning would be an error here
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_compiled_code_that_cannot_be_kept_is_used(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    done = limited(
        tmp_path, 2000, "", "simulate", "zero-sum-grid", "--games", "10", "--set", "turns=5",
        XDG_CACHE_HOME=str(tmp_path / "cache"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"cannot be kept in {tmp_path / 'cache' / 'piste' / 'compiled'}: File too large.") == 1
    assert "XDG_CACHE_HOME" in done.stderr
    assert "Traceback" not in done.stderr


def warned_of_cache() -> str:
    solved.warn_not_cached(Path("a-folder"), OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    return "done"


def test_what_a_worker_cannot_keep_is_told_by_its_owner() -> None:
    worker = Worker()
    try:
        with pytest.warns(CacheWarning, match="cannot be kept in a-folder: No space left on device"):
            assert worker.submit(warned_of_cache).result(PATIENCE_S) == "done"
    finally:
        worker.kill()
