"""Reviews that were made once: kept in the user's cache, so that the second look at a game costs nothing.

A review is kept under a digest of the record and of all sources that judge it: an edited coach is never answered by
an old review. Like compiled code it is in the user's own cache and is trusted as that is.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
from hashlib import blake2b
from pathlib import Path

import piste
from piste import bots
from piste.analysis.coach.labels import Labels
from piste.analysis.coach.review import Review, review
from piste.core.evaluation import Progress, quiet
from piste.core.game import Game
from piste.core.record import Record

JUDGING = ("core", "compiled", "analysis/coach")


def kept_review(record: Record, labels: Labels | None = None, progress: Progress = quiet) -> Review:
    """Return the review of a finished game: from the cache, or made now and kept."""
    path = folder() / f"{digest(record)}.pickle"
    with contextlib.suppress(Exception):  # none, damaged, or not to be read: it is made again
        found = pickle.loads(path.read_bytes())
        if isinstance(found, Review):
            return found._replace(labels=labels or Labels())
    made = review(record, labels, progress)
    with contextlib.suppress(OSError):  # a review that cannot be kept is told all the same
        path.parent.mkdir(parents=True, exist_ok=True)
        making = path.with_suffix(".part")
        making.write_bytes(pickle.dumps(made))
        making.replace(path)
    return made


def folder() -> Path:
    """Return where reviews are kept."""
    from piste.compiled.compiler import cache_folder

    return cache_folder().parent / "reviews"


def digest(record: Record) -> str:
    """Return a name that changes with the record, with whatever judges it and with how well it can."""
    found = blake2b(record.text.encode(), digest_size=16)
    found.update(sys.version.encode())
    # What has been solved here meanwhile, such as Prime Duel in full, makes a better review.
    found.update(str(bots.basis(record.head.game, bots.TOP, record.head.options)).encode())
    for source in sources(record.head.game):
        found.update(source.read_bytes())
    return found.hexdigest()


def sources(game: Game) -> list[Path]:
    """Return every file that has a say in a review."""
    package = sys.modules[game.package].__file__
    folders = [Path(piste.__file__).parent / name for name in JUDGING]
    folders += [Path(package).parent] if package is not None else []
    return [source for folder in folders for source in sorted(folder.rglob("*.py"))]
