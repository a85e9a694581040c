"""A person's own games: where their records lie, which are running, and how they ended."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from piste.core.errors import PisteError
from piste.core.game import quoted
from piste.core.record import Record

RESEATED = "now on seat"
"""How a mark begins that says that somebody else took a seat; such a game counts for nobody."""


def data_folder() -> Path:
    """Return where games are kept: PISTE_HOME, or the place the system has for such files."""
    chosen = os.environ.get("PISTE_HOME")
    if chosen:
        return Path(chosen)
    from platformdirs import user_data_path

    return user_data_path("piste", appauthor=False)


def games_folder() -> Path:
    return data_folder() / "games"


def new_id(game: str) -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{game}-{os.urandom(2).hex()}"


class Kept:
    """A record on disk that grows as the game goes; nobody else may write to it meanwhile."""

    def __init__(self, name: str, *, again: bool = False) -> None:
        """Begin a record of that name, or open one again."""
        self.name = name
        self.path = path_of(name)
        try:
            if again:
                self._file: TextIO = self.path.open("r+", encoding="utf-8", newline="\n")
            else:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self.path.open("x", encoding="utf-8", newline="\n")
        except FileNotFoundError:
            raise PisteError(f"There is no kept game {quoted(name)}. `piste games --played` lists them.") from None
        except OSError as e:
            raise PisteError(f"The game cannot be kept in {self.path.parent}: {e.strerror or e}.") from None
        _lock(self._file, name)

    def go_on_after(self, size: int) -> None:
        """Keep the first bytes, and write after them: a line that a crash cut off is left out."""
        self._file.truncate(size)
        self._file.seek(0, os.SEEK_END)

    def write(self, text: str) -> None:
        try:
            self._file.write(text)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as e:
            raise PisteError(f"The game cannot be kept any further: {e.strerror or e}.") from None

    def close(self) -> None:
        with contextlib.suppress(OSError):  # what could not be written was told when it was tried
            self._file.close()


def _lock(file: TextIO, name: str) -> None:
    try:
        import fcntl
    except ImportError:  # not on this system: the record's checks still find two writers
        return
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise PisteError(f"The game {name} is open in another window. Go on there, or close it first.") from None


def path_of(name: str) -> Path:
    if not re.fullmatch(r"[a-z0-9-]{1,80}", name):
        raise PisteError(f"{quoted(name)} is not the name of a kept game. `piste games --played` lists them.")
    return games_folder() / f"{name}.jsonl"


class Entry(NamedTuple):
    """What the list of games says of one."""

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
    found = []
    for path in sorted(folder.glob("*.jsonl"), reverse=True) if folder.is_dir() else []:
        try:
            record = read(path.stem)
        except PisteError as e:
            found.append(Entry(path.stem, "?", (), (), None, False, str(e)))
            continue
        specs = tuple(record.head.notes.get(f"seat {i}", "?") for i in range(1, len(record.head.seats) + 1))
        ending = None if record.ending is None else dict(record.ending)
        name = record.head.game.name
        counts = record.head.counts and not any(str(s.get("mark", "")).startswith(RESEATED) for s in record.steps)
        found.append(Entry(path.stem, name, record.head.seats, specs, ending, counts, "", record.head.options))
    return found


def read(name: str) -> Record:
    """Return a kept record; a last line that a crash cut off is left out."""
    from piste.api import load

    path = path_of(name)
    if not path.exists():
        raise PisteError(f"There is no kept game {quoted(name)}. `piste games --played` lists them.")
    return load(path, mend=True)


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
        found = which(path.name)
        return path.name if found is not None and Path(found).resolve() == path.resolve() else quote(str(path))

    script = Path(sys.argv[0] or "piste")
    if script.name == "__main__.py":
        return f"{short(Path(sys.executable))} -m piste {word} {name}"
    return f"{short(script) if script.exists() else 'piste'} {word} {name}"


def standings(found: list[Entry]) -> list[dict[str, Any]]:
    """Return won, drawn and lost for each game and opponent, over finished games that count (G8)."""
    table: dict[tuple[str, str], list[int]] = {}
    for entry in found:
        people = [i for i, spec in enumerate(entry.specs) if spec == "you"]
        if entry.ending is None or not entry.counts or len(people) != 1 or len(entry.specs) < 2:
            continue
        others = "+".join(sorted(spec for spec in entry.specs if spec != "you"))
        row = table.setdefault((entry.game, others), [0, 0, 0])
        paid = entry.ending["payoffs"][people[0]]
        row[0 if paid > 0 else 2 if paid < 0 else 1] += 1
    return [
        {"game": game, "against": others, "won": won, "drawn": drawn, "lost": lost}
        for (game, others), (won, drawn, lost) in sorted(table.items())
    ]
