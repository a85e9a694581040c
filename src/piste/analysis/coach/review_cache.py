"""A disk cache of reviews and of puzzles.

The key is a digest of the record, or of what names the puzzle, and of all sources that evaluate it, so that nothing
old is served after an edit. Like compiled code the files are in the user's own cache, so unpickling them is as safe.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import piste
from piste import bots
from piste.analysis.coach.labels import Labels
from piste.analysis.coach.puzzles import Puzzle, puzzle
from piste.analysis.coach.review import Review, review
from piste.core.evaluation import Progress, quiet
from piste.core.game import Game
from piste.core.record import Record

T = TypeVar("T")

EVALUATING_PACKAGES = ("core", "compiled", "analysis/coach")


def cached_review(record: Record, labels: Labels | None = None, progress: Progress = quiet) -> Review:
    """Return the review of a finished game: from the cache, or computed and cached."""
    key = digest(record.head.game, record.head.options, record.text)
    made = cached(Review, key, lambda: review(record, labels, progress))
    return made._replace(labels=labels or Labels())


def cached_puzzle(game: Game, options: Any, seed: str, number: int, level: str, progress: Progress = quiet) -> Puzzle:
    """Return the puzzle with this number of a seed: from the cache, or made and cached."""
    key = digest(game, options, f"puzzle {game.option_texts(options)} {level} {number} {seed}")
    return cached(Puzzle, key, lambda: puzzle(game, options, seed, number, level, progress))


def cached(kind: type[T], key: str, make: Callable[[], T]) -> T:
    """Return what is cached under a key, or make it and cache it."""
    path = folder() / f"{key}.pickle"
    with contextlib.suppress(Exception):  # missing, damaged or unreadable: computed again
        found = pickle.loads(path.read_bytes())
        if isinstance(found, kind):
            return found
    made = make()
    with contextlib.suppress(OSError):  # what cannot be cached is returned all the same
        path.parent.mkdir(parents=True, exist_ok=True)
        making = path.with_suffix(".part")
        making.write_bytes(pickle.dumps(made))
        making.replace(path)
    return made


def folder() -> Path:
    """Return the folder of the cache."""
    from piste.compiled.compiler import cache_folder

    return cache_folder().parent / "reviews"


def digest(game: Game, options: Any, text: str) -> str:
    """Return a key that changes with the text, with the code that evaluates it and with the solver's tables."""
    hashed = blake2b(text.encode(), digest_size=16)
    hashed.update(sys.version.encode())
    # What has been solved here meanwhile, such as Prime Duel in full, makes a better review.
    hashed.update(str(bots.basis(game, bots.TOP, options)).encode())
    for source in sources(game):
        hashed.update(source.read_bytes())
    return hashed.hexdigest()


def sources(game: Game) -> list[Path]:
    """Return every source file that a review depends on."""
    package = sys.modules[game.package].__file__
    folders = [Path(piste.__file__).parent / name for name in EVALUATING_PACKAGES]
    folders += [Path(package).parent] if package is not None else []
    return [source for folder in folders for source in sorted(folder.rglob("*.py"))]
