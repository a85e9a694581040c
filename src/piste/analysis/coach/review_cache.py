"""A disk cache of reviews.

The key is a digest of the record and of all sources that evaluate it, so that an old review is never served after an
edit. Like compiled code the files are in the user's own cache, so unpickling them is as safe.
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

EVALUATING_PACKAGES = ("core", "compiled", "analysis/coach")


def cached_review(record: Record, labels: Labels | None = None, progress: Progress = quiet) -> Review:
    """Return the review of a finished game: from the cache, or computed and cached."""
    path = folder() / f"{digest(record)}.pickle"
    with contextlib.suppress(Exception):  # missing, damaged or unreadable: computed again
        cached = pickle.loads(path.read_bytes())
        if isinstance(cached, Review):
            return cached._replace(labels=labels or Labels())
    made = review(record, labels, progress)
    with contextlib.suppress(OSError):  # a review that cannot be cached is returned all the same
        path.parent.mkdir(parents=True, exist_ok=True)
        making = path.with_suffix(".part")
        making.write_bytes(pickle.dumps(made))
        making.replace(path)
    return made


def folder() -> Path:
    """Return the folder of the cache."""
    from piste.compiled.compiler import cache_folder

    return cache_folder().parent / "reviews"


def digest(record: Record) -> str:
    """Return a key that changes with the record, with the code that evaluates it and with the solver's tables."""
    hashed = blake2b(record.text.encode(), digest_size=16)
    hashed.update(sys.version.encode())
    # What has been solved here meanwhile, such as Prime Duel in full, makes a better review.
    hashed.update(str(bots.basis(record.head.game, bots.TOP, record.head.options)).encode())
    for source in sources(record.head.game):
        hashed.update(source.read_bytes())
    return hashed.hexdigest()


def sources(game: Game) -> list[Path]:
    """Return every source file that a review depends on."""
    package = sys.modules[game.package].__file__
    folders = [Path(piste.__file__).parent / name for name in EVALUATING_PACKAGES]
    folders += [Path(package).parent] if package is not None else []
    return [source for folder in folders for source in sorted(folder.rglob("*.py"))]
