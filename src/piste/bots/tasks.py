"""What a worker process does for bots: make what they need, and decide.

The same functions serve the terminal and the server, and give the same decisions as a bot that is asked directly.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from piste import bots
from piste.core.dealer import RandomStream
from piste.core.evaluation import Progress, quiet
from piste.core.extras import solver_of
from piste.core.game import Game, find
from piste.core.views import SeatView

MAX_READY_BOTS = 256
"""How many prepared bots a process keeps, each with the options that it is ready for."""

_ready: dict[tuple[str, str, Any], bots.Bot] = {}


def prepare(game: str, level: str, options: Any, progress: Progress = quiet) -> None:
    """Load or compute what this bot needs in a game with these options, if this process has not done so lately."""
    if (game, level, options) not in _ready:
        bot = bots.find(level, find(game), options)
        bots.prepare(bot, options, progress)
        _ready[game, level, options] = bot
        if len(_ready) > MAX_READY_BOTS:
            del _ready[next(iter(_ready))]


def choose(game: str, level: str, view: SeatView, stream: RandomStream, progress: Progress = quiet) -> int:
    """Return a bot's decision."""
    prepare(game, level, view.options, progress)
    with _compiling_for(find(game), level, view.options, progress):
        return int(_ready[game, level, view.options].choose(view, stream))


def _compiling_for(game: Game, level: str, options: Any, progress: Progress) -> AbstractContextManager[Any]:
    """Report what a decision compiles, in a game whose solver says that some of them compile much."""
    solver = solver_of(game, options) if bots.asks_solver(level, game) else None
    shares = getattr(solver, "DECISION_COMPILE_SHARES", None)
    if shares is None:
        return nullcontext()
    from piste.compiled.compile_progress import compiling

    return compiling(progress, shares)
