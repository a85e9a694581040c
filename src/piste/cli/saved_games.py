"""A user's own games: the records on disk, which are running, how they ended; and small files beside them."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import sys
import time
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

from piste.core.errors import PisteError
from piste.core.game import quoted
from piste.core.marks import Reseated
from piste.core.paths import data_folder
from piste.core.record import Record


def read_user_file(name: str, version: int) -> dict[str, Any]:
    """Return a JSON object of the user's data folder; one that is missing, damaged or of another version is empty."""
    with contextlib.suppress(OSError, ValueError):
        content = json.loads((data_folder() / name).read_text(encoding="utf-8"))
        if isinstance(content, dict) and content.get("version") == version:
            return content
    return {}


def write_user_file(name: str, version: int, content: dict[str, Any]) -> None:
    """Replace a JSON object of the user's data folder; that it cannot be written is no reason to stop."""
    path = data_folder() / name
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps({**content, "version": version}, indent=1, sort_keys=True), encoding="utf-8")
        part.replace(path)


def games_folder() -> Path:
    return data_folder() / "games"


def new_id(game: str) -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{game}-{os.urandom(2).hex()}"


def played_at(name: str) -> str:
    """Return the day and time at which a kept game began, which its name begins with; "" if it does not."""
    found = re.match(r"(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)", name)
    return "" if found is None else "{}-{}-{} {}:{}".format(*found.groups())


DISK_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
"""Errors that say that there is no more room: on the disk, in a file, for this user."""


class RecordFile:
    """A record on disk that grows with the game; it is locked, so that no other process writes to it.

    A full disk does not end a game: what cannot be written waits, and is tried again with every line.
    """

    def __init__(
        self, name: str, *, again: bool = False, tell: Callable[[str], object] = str, folder: Path | None = None
    ) -> None:
        """Begin a record of that name, or open one again; `tell` is called when it can no longer be saved.

        Records are in the user's folder of games, or in another one. FileExistsError is raised if there is one of
        that name already.
        """
        self.name = name
        self.path = path_of(name, folder)
        self.error = ""  # why lines are waiting, for a person; "" while all is saved
        self._tell = tell
        self._file: FileIO | None = None
        self._size = 0  # bytes of whole lines
        self._waiting = b""
        try:
            self._open(again)
        except FileNotFoundError:
            raise PisteError(f"There is no kept game {quoted(name)}. `piste games --played` lists them.") from None
        except FileExistsError:
            raise
        except OSError as e:
            if again or e.errno not in DISK_FULL:
                raise PisteError(
                    f"The game cannot be kept in {self.path.parent}: {e.strerror or e}. Make it a folder that you "
                    "may write to, or set PISTE_HOME to another one."
                ) from None

    @property
    def begun(self) -> bool:
        """Whether anything of the game is on the disk."""
        return self._size > 0

    def _open(self, again: bool) -> None:
        if not again:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        file = FileIO(self.path, "r+" if again else "x")
        try:
            _lock(file, self.name)
        except PisteError:
            file.close()
            raise
        self._file = file
        self._size = os.fstat(self._file.fileno()).st_size  # a game that is only looked at is not an empty record

    def go_on_after(self, size: int) -> None:
        """Keep the first `size` bytes and write after them: a line that a crash cut off is left out."""
        assert self._file is not None
        self._size = size
        self._file.truncate(size)
        self._file.seek(size)

    def write(self, text: str) -> None:
        self._waiting += text.encode()
        try:
            self._put()
        except OSError as e:
            if self._file is not None:
                with contextlib.suppress(OSError):
                    self.go_on_after(self._size)  # no half line stays
            if not self.error:
                self.error = (
                    f"The game cannot be kept in {self.path.parent}: {e.strerror or e}. You can play on; what is "
                    "missing is written as soon as that is possible. Free some space there, or set PISTE_HOME to "
                    "another folder for your next games."
                )
                self._tell(self.error)
        else:
            if self.error:
                self._tell("The game can be kept again, and nothing of it is missing.")
            self.error = ""

    def _put(self) -> None:
        if self._file is None:
            self._open(again=False)
        assert self._file is not None
        left = memoryview(self._waiting)
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())
        self._size += len(self._waiting)
        self._waiting = b""

    def close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # what could not be written was told when it was tried
                self._file.close()
                if not self.begun:
                    self.path.unlink()


def _lock(file: FileIO, name: str) -> None:
    try:
        import fcntl
    except ImportError:  # not on this system: the record's checks still find two writers
        return
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise PisteError(f"The game {name} is open in another window. Go on there, or close it first.") from None


def path_of(name: str, folder: Path | None = None) -> Path:
    if not re.fullmatch(r"[a-z0-9-]{1,80}", name):
        raise PisteError(f"{quoted(name)} is not the name of a kept game. `piste games --played` lists them.")
    return (folder or games_folder()) / f"{name}.jsonl"


class Entry(NamedTuple):
    """A saved game in the list of games."""

    name: str
    game: str
    seats: tuple[str, ...]
    specs: tuple[str, ...]  # who played: "you" or a bot
    ending: dict[str, Any] | None
    counts: bool
    trouble: str  # why the record cannot be used, or ""
    options: Any = None


def entries() -> list[Entry]:
    """Return all kept games, newest first."""
    folder = games_folder()
    if folder.parent.exists() and not folder.parent.is_dir():
        raise PisteError(f"Your games cannot be kept in {folder.parent}: it is not a folder.")
    games = []
    for path in sorted(folder.glob("*.jsonl"), reverse=True) if folder.is_dir() else []:
        if path.is_file() and not path.stat().st_size:
            continue  # there was no room for its first line: no game began
        try:
            record = read(path.stem)
        except PisteError as e:
            games.append(Entry(path.stem, "?", (), (), None, False, str(e)))
            continue
        specs = tuple(record.head.notes.get(f"seat {i}", "?") for i in range(1, len(record.head.seats) + 1))
        ending = None if record.ending is None else dict(record.ending)
        name = record.head.game.name
        counts = record.head.counts and not any(isinstance(mark, Reseated) for mark in record.marks)
        games.append(Entry(path.stem, name, record.head.seats, specs, ending, counts, "", record.head.options))
    return games


def read(name: str) -> Record:
    """Return a kept record; a last line that a crash cut off is left out."""
    from piste.api import load

    path = path_of(name)
    if not path.exists():
        raise PisteError(f"There is no kept game {quoted(name)}. `piste games --played` lists them.")
    return load(path, mend=True)


def find_record(name: str) -> Record:
    """Return the record of a file, of a kept game, or of the last one."""
    from piste.api import load

    if name == "last":
        return read(newest(running=False))
    if Path(name).exists() or "/" in name or name.endswith(".jsonl"):
        return load(name)
    return read(name)


def newest(*, running: bool) -> str:
    """Return the newest game that is still running, or the newest that has ended."""
    for entry in entries():
        if not entry.trouble and (entry.ending is None) == running:
            return entry.name
    what = "running" if running else "finished"
    raise PisteError(f"There is no {what} game of yours. `piste play GAME` begins one.")


def command(word: str, name: str) -> str:
    """Return what to type to resume or replay a game, in the way this program was started."""
    from shlex import quote
    from shutil import which

    def short(path: Path) -> str:
        program = which(path.name)
        return path.name if program is not None and Path(program).resolve() == path.resolve() else quote(str(path))

    script = Path(sys.argv[0] or "piste")
    if script.name == "__main__.py":
        return f"{short(Path(sys.executable))} -m piste {word} {name}"
    return f"{short(script) if script.exists() else 'piste'} {word} {name}"


def standings(games: list[Entry]) -> list[dict[str, Any]]:
    """Return won, drawn and lost for each game and opponent, over finished games that count (G8)."""
    table: dict[tuple[str, str], list[int]] = {}
    for entry in games:
        people = [i for i, spec in enumerate(entry.specs) if spec == "you"]
        if entry.ending is None or not entry.counts or len(people) != 1 or len(entry.specs) < 2:
            continue
        others = "+".join(sorted(spec for spec in entry.specs if spec != "you"))
        row = table.setdefault((entry.game, others), [0, 0, 0])
        payoff = entry.ending["payoffs"][people[0]]
        row[0 if payoff > 0 else 2 if payoff < 0 else 1] += 1
    return [
        {"game": game, "against": others, "won": won, "drawn": drawn, "lost": lost}
        for (game, others), (won, drawn, lost) in sorted(table.items())
    ]
