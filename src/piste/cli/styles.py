"""The colours of the terminal: plain ANSI codes, chosen to be read on dark and on light backgrounds.

Colour stands only around words that say the same without it. What is needed is a table of codes and two functions, so
no library is used: `import rich.console` alone took 61 ms where all of `piste --help` took 38 ms.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from piste.core.game import Game
from piste.core.presentation import Mark
from piste.core.protocols import SPECTATOR

RESET = "\x1b[0m"

# By tone: the code with 256 colours, and the one with 8. A card of Duel is a tile with a background of its own. The
# other colours are of medium lightness: their contrast is 3 or more to white, to black and to a dark grey.
STYLES = {
    "a": ("1;38;5;16;48;5;214", "30;43"),  # amber
    "b": ("1;38;5;231;48;5;26", "1;37;44"),  # blue
    "c": ("1;38;5;231;48;5;160", "1;37;41"),  # crimson
    "d": ("1;38;5;16;48;5;180", "30;47"),  # dun
    "plus": ("1;38;5;32", "1;34"),
    "minus": ("1;38;5;167", "1;31"),
    "zero": ("1;38;5;64", "1;32"),
    "good": ("1;38;5;29", "1;32"),
    "slip": ("1;38;5;136", "1;33"),
    "mistake": ("1;38;5;166", "1;33"),
    "bad": ("1;38;5;196", "1;31"),
    "heading": ("1", "1"),
    "note": ("2", "2"),
}


def has_many_colours() -> bool:
    """Return whether the terminal says that it has 256 colours; one that does not may take their codes for others."""
    return bool(os.environ.get("COLORTERM")) or "256" in os.environ.get("TERM", "")


def styled(text: str, tone: str) -> str:
    """Return text in a style, if there is one of that name."""
    codes = STYLES.get(tone)
    return f"\x1b[{codes[not has_many_colours()]}m{text}{RESET}" if codes and text else text


def painted(text: str, parts: Sequence[str], marks: Iterable[Mark]) -> list[str]:
    """Return the parts into which a line was broken in the colours of its marks; a later mark hides an earlier."""
    tones = [""] * len(text)
    for start, end, tone in marks:
        tones[start:end] = [tone] * len(tones[start:end])
    if not any(tones):
        return list(parts)
    lines: list[str] = []
    at = 0
    for part in parts:
        body = part if not lines else part.lstrip(" ")
        at = max(at, text.find(body, at))
        runs = groupby(zip(body, tones[at:], strict=False), key=lambda letter: letter[1])
        shown = "".join(styled("".join(letter for letter, _ in run), tone) for tone, run in runs)
        lines.append(part[: len(part) - len(body)] + shown)
        at += len(body)
    return lines


def game_marker(
    game: Game,
    options: Any,
    names: Sequence[str],
    seat: int | Callable[[], int] = SPECTATOR,
    own: Sequence[int] = (),
) -> Callable[[str], list[Mark]]:
    """Return what marks the lines of one game: its cards, whose turn it is, and who wins.

    `seat` is whom the lines call "you", or says who that is at the moment. Where `own` has one seat, the end is good
    or bad for it.
    """
    of_game = getattr(game.text, "marks", None)
    players = "|".join(re.escape(name) for name in names)
    turn = re.compile(rf"\[?(?:{players})(?:'s)?(?: extra)? turn[.:\]]", re.IGNORECASE)
    win = re.compile(rf"({players}) wins[^.]*!$")

    def marks(line: str) -> list[Mark]:
        found: list[Mark] = (
            [] if of_game is None else of_game(line, tuple(names), options, seat() if callable(seat) else seat)
        )
        heading, won = turn.match(line), win.search(line)
        if heading is not None:
            found = [*found, Mark(*heading.span(), "heading")]
        if won is not None:
            good = len(own) != 1 or names[own[0]] == won[1]
            found = [*found, Mark(*won.span(), "good" if good else "bad")]
        return found

    return marks
