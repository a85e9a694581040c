"""Pieces of work for engines: a module that loads nothing, so that processes which die start again quickly."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def square(number: int) -> int:
    return number * number


def die_once(folder: str, number: int) -> int:
    """End this process the first time that a number is asked for."""
    mark = Path(folder) / str(number)
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(number: int) -> int:
    from piste.core.errors import PisteError

    if number == 3:
        raise PisteError("Three is refused.")
    return number


def lacking(table: tuple[str, str]) -> bool:
    """Say whether a solved table is not in the cache here."""
    from piste.analysis.engine import lacking_tables

    return bool(lacking_tables((table,)))
