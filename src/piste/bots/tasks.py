"""What a worker process does for bots: make what they need, and decide.

The same functions serve the terminal and the server, and give the same decisions as a bot that is asked directly.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from piste import bots
from piste.core.dealer import Stream
from piste.core.game import find
from piste.core.verdict import Progress, quiet
from piste.core.views import SeatView


@cache
def _bot(game: str, level: str) -> bots.Bot:
    return bots.find(level, find(game))


_prepared: dict[tuple[str, str, Any], None] = {}
MOST = 256


def prepare(game: str, level: str, options: Any, progress: Progress = quiet) -> None:
    """Load or compute what this bot needs in a game with these options, if this process has not done so lately."""
    if (game, level, options) not in _prepared:
        bots.prepare(_bot(game, level), options, progress)
        _prepared[game, level, options] = None
        if len(_prepared) > MOST:
            del _prepared[next(iter(_prepared))]


def choose(game: str, level: str, view: SeatView, stream: Stream, progress: Progress = quiet) -> int:
    """Return a bot's decision."""
    prepare(game, level, view.options, progress)
    return int(_bot(game, level).choose(view, stream))
