"""Values of command-line arguments: whole numbers, options of a game, names of games."""

from __future__ import annotations

import os
from collections.abc import Sequence

from piste.core.errors import OptionError
from piste.core.game import Game, find, names, quoted


def whole_number(option: str, text: str, low: int, high: int, where: str = "") -> int:
    """Return the number that was given to an option, written without its dashes; `where` if not typed."""
    if text.isascii() and text.isdigit() and len(text) < 20 and low <= int(text) <= high:
        return int(text)
    raise OptionError(
        f"{where or f'--{option}'} cannot be {quoted(text)}: it is a whole number from {low} to {high}."
    )


def worker_count(option: str, text: str | None) -> int:
    """Return how many threads or processes to use; without a number, one for each core."""
    return (os.cpu_count() or 1) if text is None else whole_number(option, text, 1, 1024)


def option_pairs(texts: Sequence[str] | None) -> dict[str, int | str]:
    """Return a game's options that were written as name=value."""
    options: dict[str, int | str] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise OptionError(f"{quoted(text)} is not written as option=value, such as turns=40.")
        options[key.strip()] = value.strip()
    return options


def named_games(words: Sequence[str]) -> list[Game]:
    """Return the games of these names, or all of them."""
    return [find(name) for name in words or names()]
