"""The storage and the world around it: other processes, crashes, full disks, odd places."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from piste.core.errors import PisteError
from piste.web.storage.schema import PlayerRow, RoomRow, StorageError, add_lines, put
from piste.web.storage.storage import Storage

ROW = RoomRow("ROOM", "prime-duel", "{}", "ann", False, 100.0, 200.0)

WRITES_FOR_EVER = """
import sys
from piste.web.storage.schema import *
from piste.web.storage.storage import *
storage = Storage(Path(sys.argv[1]))
storage.open()
storage.write(put(RoomRow("ROOM", "prime-duel", "{}", "ann", False, 1.0, 2.0))).result()
n = 0
while True:
    waiting = [storage.write(add_lines("ROOM", k, [f"line {k}"])) for k in range(n, n + 3)]
    for future in waiting:
        future.result()
        print(n, flush=True)
        n += 1
"""

FILLS_THE_DISK = """
import resource, sys
from piste.web.storage.schema import *
from piste.web.storage.storage import *
with Storage(Path(sys.argv[1])) as storage:
    storage.write(put(RoomRow("ROOM", "prime-duel", "{}", "ann", False, 1.0, 2.0))).result()
    none, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
    kept = 0
    while (error := storage.write(add_lines("ROOM", kept, ["x" * 5000])).exception()) is None:
        kept += 1
    assert isinstance(error, StorageError), error
    refused = [storage.write(add_lines("ROOM", kept + k, ["y" * 5000])) for k in range(10)]
    assert all(isinstance(future.exception(), StorageError) for future in refused)
    assert storage.room("ROOM").lines == ("x" * 5000,) * kept
    resource.setrlimit(resource.RLIMIT_FSIZE, (none, hard))
    storage.write(add_lines("ROOM", kept, ["z"])).result()
    assert storage.room("ROOM").lines == ("x" * 5000,) * kept + ("z",)
    print(kept, error)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "piste.db"


def opened_elsewhere(path: Path) -> str:
    """Try to open a storage in another process and return what it says."""
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from piste.web.storage.storage import Storage\nfrom piste.core.errors import PisteError\n"
        "try:\n    Storage(Path(sys.argv[1])).open()\n    print('opened')\nexcept PisteError as e:\n    print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("acknowledged", [1, 40, pytest.param(301, marks=pytest.mark.slow)])
def test_everything_acknowledged_is_there_after_the_process_was_killed(path: Path, acknowledged: int) -> None:
    command = [sys.executable, "-c", WRITES_FOR_EVER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        seen = [int(process.stdout.readline()) for _ in range(acknowledged)]
        process.kill()
        seen += [int(line) for line in process.stdout if line.endswith("\n")]
    assert process.returncode != 0
    assert seen == list(range(len(seen)))
    with Storage(path) as storage:  # and the lock went with the process
        kept = storage.room("ROOM")
        assert kept is not None
        assert len(kept.lines) >= len(seen)
        assert kept.lines == tuple(f"line {k}" for k in range(len(kept.lines)))
        storage.write(add_lines("ROOM", len(kept.lines), ["goes on"])).result()


def test_a_second_process_is_refused_with_a_sentence_until_the_first_has_closed(path: Path) -> None:
    with Storage(path) as storage:
        said = opened_elsewhere(path)
        assert "is in use by another server. Stop that one first" in said
        storage.ready()  # and the first one is not disturbed
    assert opened_elsewhere(path) == "opened"


def test_a_second_store_in_the_same_process_is_refused_too(path: Path) -> None:
    with Storage(path) as storage:
        with pytest.raises(PisteError, match="in use by another server"):
            Storage(path).open()
        with pytest.raises(PisteError, match="open already"):
            storage.open()
        assert "in use" in opened_elsewhere(path)  # the refusal did not let go of the lock


def test_a_link_to_the_file_is_the_same_file(path: Path) -> None:
    link = path.with_name("link.db")
    try:
        link.symlink_to(path)
    except OSError as e:
        pytest.skip(f"no links can be made here: {e}")
    with Storage(path), pytest.raises(PisteError, match="in use by another server"):
        Storage(link).open()


def test_a_store_can_be_closed_and_opened_again(path: Path) -> None:
    storage = Storage(path)
    for n in range(3):
        storage.open()
        storage.write(put(PlayerRow("ann", f"Ann {n}", 1.0))).result()
        assert storage.player("ann") == f"Ann {n}"
        storage.close()


@pytest.mark.skipif(sys.platform == "win32", reason="limits of this kind are not known on Windows")
def test_a_full_disk_refuses_writes_and_loses_none_that_were_acknowledged(path: Path) -> None:
    command = [sys.executable, "-c", FILLS_THE_DISK, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kept, _, said = done.stdout.partition(" ")
    assert int(kept) > 10
    assert said.startswith("This could not be kept (")


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such modes on Windows")
def test_only_the_owner_can_read_the_files(path: Path) -> None:
    with Storage(path) as storage:
        storage.write(put(ROW)).result()
        names = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert set(names) == {"piste.db", "piste.db-wal", "piste.db-shm", "piste.db.lock"}
    assert set(names.values()) == {0o600}


def test_a_folder_that_is_not_there_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PisteError, match="its folder is not there"):
        Storage(tmp_path / "none" / "piste.db").open()
    assert not (tmp_path / "none").exists()


def test_a_folder_in_place_of_the_file_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PisteError, match="cannot be opened"):
        Storage(tmp_path).open()


def test_a_lock_file_that_is_something_else_gets_a_sentence(path: Path) -> None:
    beside = path.with_name("piste.db.lock")
    beside.write_text("a letter, and a long one\n" * 1000)
    with pytest.raises(PisteError, match="cannot be locked"):
        Storage(path).open()
    assert not path.exists()


def test_closing_writes_what_waits_and_refuses_what_comes_later(path: Path) -> None:
    storage = Storage(path)
    storage.open()
    storage.write(put(ROW)).result()
    waiting = [storage.write(add_lines("ROOM", n, [str(n)])) for n in range(700)]
    storage.close()
    storage.close()
    assert all(future.exception(0) is None for future in waiting)
    late = storage.write(add_lines("ROOM", 700, ["late"]))
    assert isinstance(late.exception(0), StorageError)
    with pytest.raises(PisteError, match="closed"):
        storage.room("ROOM")
    with Storage(path) as storage:
        kept = storage.room("ROOM")
    assert kept is not None
    assert len(kept.lines) == 700
