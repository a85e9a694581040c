"""Who plays at the terminal: people, bots in this process, bots in the worker, programs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from piste import bots
from piste.bots import Bot
from piste.cli.progress_bar import ProgressBar
from piste.core.errors import OptionError
from piste.core.evaluation import quiet
from piste.core.game import Game, counted, quoted, tidy

YOU = "you"
MAX_NAME_LENGTH = 24


class Player(NamedTuple):
    """Who sits on a seat: a person at this terminal, or a bot."""

    spec: str
    bot: Bot | None


def player_specs(game: Game, seats: Sequence[str], opponent: str | None, count: int) -> list[str]:
    """Return who sits on each seat, from --seat or --vs; by default you against the steady bot."""
    if seats and opponent:
        raise OptionError("Say who plays with --seat for every seat, or with --vs for all the others; not both.")
    if opponent is not None and tidy(opponent) == YOU:
        raise OptionError("--vs takes a bot. For people at one keyboard say --seat you for each of them.")
    if not seats:
        return [YOU, *[bot_spec(opponent or bots.usual(game))] * (count - 1)]
    if len(seats) != count:
        raise OptionError(f"This game has {count} seats, and --seat was given {counted(len(seats), 'time')}.")
    return [YOU if tidy(seat) == YOU else bot_spec(seat) for seat in seats]


def bot_spec(text: str) -> str:
    """Return a bot as records name it, with a program's path made absolute: the game can be resumed from anywhere."""
    if not text.startswith(bots.PROGRAM):
        return bots.level_of(text)
    try:
        program, *arguments = shlex.split(text.removeprefix(bots.PROGRAM))
    except ValueError:
        return text  # refused, with the reason, when the bot is looked for
    if os.sep in program:
        program = os.path.abspath(program)
    return f"{bots.PROGRAM}{shlex.join([program, *arguments])}"


def player_names(game: Game, names: Sequence[str], seats: int) -> tuple[str, ...]:
    """Return what each seat is called: these names, in the order of seats, then Player 2 and so on."""
    if len(names) > seats:
        raise OptionError(f"There are {seats} seats, and --name was given {counted(len(names), 'time')}.")
    for name in names:
        if not name.strip() or len(name) > MAX_NAME_LENGTH or not name.isprintable():
            raise OptionError(
                f"A name has 1 to {MAX_NAME_LENGTH} letters that can be printed; {quoted(name)} has not."
            )
    every = [*names, *(f"Player {game.seat_name(seat)}" for seat in range(len(names), seats))]
    if len(set(every)) < seats:
        raise OptionError("Two seats cannot have the same name.")
    return tuple(every)


def seat_players(game: Game, options: Any, specs: Sequence[str]) -> list[Player]:
    """Return who sits where; bots begin to prepare, those with a solver in the worker while the game begins."""
    players = [Player(spec, None if spec == YOU else _seat_bot(spec, game, options)) for spec in specs]
    for spec, bot in players:
        if bot is not None:
            _prepare(spec, bot, game, options)
    return players


def ready_bot(spec: str, game: Game, options: Any, *, limit: float | None = None) -> Bot:
    """Return a bot that begins to prepare; `limit` is how many seconds a program has for an answer."""
    bot = _seat_bot(spec, game, options, limit)
    _prepare(spec, bot, game, options)
    return bot


def _prepare(spec: str, bot: Bot, game: Game, options: Any) -> None:
    if bots.asks_solver(bots.level_of(spec), game):
        bots.prepare(bot, options, quiet)
        return
    with ProgressBar(f"{spec} gets ready") as bar:
        bots.prepare(bot, options, bar)


def _seat_bot(spec: str, game: Game, options: Any, limit: float | None = None) -> Bot:
    """Return a bot; one that asks a solver decides in the worker."""
    bot = bots.find(spec, game, options, limit=limit)  # also refuses what cannot play here
    level = bots.level_of(spec)
    if not bots.asks_solver(level, game):
        return bot
    from piste.cli.background import WorkerBot

    return WorkerBot(game, level)
