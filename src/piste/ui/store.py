"""A person's own games: where their records lie, which are running, and how they ended."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from piste.core.errors import PisteError
from piste.core.game import quoted
from piste.core.record import Record


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

    def __init__(self, name: str, *, whole: int | None = None) -> None:
        """Open the record of that name; for an old one, `whole` is how many of its bytes are kept."""
        self.name = name
        self.path = path_of(name)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: TextIO = self.path.open("a" if whole is not None else "x", encoding="utf-8", newline="\n")
        except OSError as e:
            raise PisteError(f"The game cannot be kept in {self.path.parent}: {e.strerror or e}.") from None
        _lock(self._file, name)
        if whole is not None:
            self._file.truncate(whole)

    def write(self, text: str) -> None:
        self._file.write(text)
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
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


def entries() -> list[Entry]:
    """Return all kept games, newest first."""
    folder = games_folder()
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
        found.append(Entry(path.stem, name, record.head.seats, specs, ending, record.head.counts, ""))
    return found


def read(name: str) -> Record:
    """Return a kept record; a last line that a crash cut off is left out."""
    from piste.api import load

    return load(path_of(name), mend=True)


def newest(*, running: bool) -> str:
    """Return the newest game that is still running, or the newest that has ended."""
    for entry in entries():
        if not entry.trouble and (entry.ending is None) == running:
            return entry.name
    what = "running" if running else "finished"
    raise PisteError(f"There is no {what} game of yours. `piste play GAME` begins one.")


def command(word: str, name: str) -> str:
    """Return what to type to resume or replay a game, in the way this program was started."""
    from shutil import which

    script = Path(sys.argv[0] or "piste")
    if script.name == "__main__.py":
        return f"{Path(sys.executable).name} -m piste {word} {name}"
    on_path = which("piste")
    known = on_path is not None and script.exists() and Path(on_path).resolve() == script.resolve()
    return f"{'piste' if known or script.name != 'piste' else script} {word} {name}"


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
