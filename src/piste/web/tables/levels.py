"""The levels of bots that can sit at a table here, and what people are told of them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from piste import bots
from piste.core.errors import OptionError, UnknownNameError
from piste.core.game import Game, listed, quoted

OFFERED = ("random", *bots.LEVELS)  # the bots that can be chosen; installed ones are for the terminal


@lru_cache(maxsize=1024)
def level_basis(game: Game, level: str, given: tuple[tuple[str, int | str], ...], made: int) -> str:  # noqa: ARG001 (key)
    return str(bots.basis(game, level, game.options(dict(given))) or "")


@lru_cache(maxsize=1024)
def level_name(game: Game, level: str, given: tuple[tuple[str, int | str], ...], made: int) -> str:  # noqa: ARG001 (key)
    return bots.level_name(game, level, game.options(dict(given)))


@lru_cache(maxsize=1024)
def levels(game: Game, options: Any = None) -> tuple[str, ...]:
    """Return the levels of bots that can sit down here, with these options or the sheet's, weakest first."""
    able = bots.playable(game, options)[0]
    return tuple(level for level in able if level in OFFERED and not bots.slowness(level, game, options))


def check_level(level: str, game: Game, options: Any) -> None:
    """Refuse a level that is none, that cannot play with these options here, or not in bearable time."""
    if level not in OFFERED or level not in bots.names(game):
        known = ", ".join(bots.level_name(game, one, options) for one in levels(game, options))
        raise UnknownNameError(f"There is no bot {quoted(level)} for {game.notation.TITLE}. There are: {known}.")
    why = bots.refused(level, game, options)
    if why is not None:
        raise why
    if level not in levels(game, options):
        others = listed([bots.level_name(game, one, options) for one in levels(game, options)], "or")
        raise OptionError(
            f"With these options {bots.level_name(game, level, options)} would think for "
            f"{bots.slowness(level, game, options)} a decision, and others wait for the same cores. "
            f"Choose {others}, or smaller options."
        )
