"""Bots: seats like any other. Find one by name, or let a program of your own take a seat.

>>> import piste
>>> from piste import bots
>>> game = piste.find("prime-duel")
>>> bots.names(game)[:2]
('random', 'steady')
>>> bot = bots.find("steady", game)
>>> table = piste.open_table("prime-duel", {"first": 1}, seed="an example", laid="7 10 9")
>>> view = table.view(0)
>>> table.decide(0, bot.choose(view, piste.Dealer("bots").stream(bots.stream_name(view))))
>>> bots.finish(bot, table.view(0))
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from piste.bots.base import Bot as Bot
from piste.bots.base import Plain
from piste.bots.base import finish as finish
from piste.bots.base import stream_name as stream_name
from piste.core.errors import UnknownName
from piste.core.game import Game, quoted

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "piste.bots"
PROGRAM = "cmd:"


def names(game: Game) -> tuple[str, ...]:
    """Return the bots that can be asked for here: ours first, then installed ones by name."""
    return (*_own(game), *sorted(_installed(game)))


def lines(game: Game) -> dict[str, str]:
    """Return each bot's name with one line that says what it is. No installed bot is loaded for that."""
    ours = {name: str(importlib.import_module(module).LINE) for name, module in _own(game).items()}
    installed = {
        name: f"From the installed package {entry.dist.name}." if entry.dist else "From an installed package."
        for name, entry in sorted(_installed(game).items())
    }
    return ours | installed


def find(spec: str, game: Game) -> Bot:
    """Return the bot that is asked for: by name, or as `cmd:COMMAND LINE` for a program that takes the seat."""
    wanted = spec.strip()
    if wanted.startswith(PROGRAM):
        from piste.bots.program import ProgramBot

        return ProgramBot(wanted.removeprefix(PROGRAM).strip(), game)
    ours = _own(game)
    if wanted in ours:
        return Plain(wanted, importlib.import_module(ours[wanted]).choose)
    installed = _installed(game)
    if wanted in installed:
        return cast("Bot", installed[wanted].load()(game))
    from difflib import get_close_matches

    known = names(game)
    near = get_close_matches(wanted, known, 1, 0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UnknownName(
        f"There is no bot {quoted(spec)} for {game.notation.TITLE}.{hint} "
        f"The bots are: {', '.join(known)}; {PROGRAM}PROGRAM seats a program of yours."
    )


def best(game: Game) -> Bot:
    """Return the strongest of our own bots for this game: the one to ask for a hint."""
    return find(list(_own(game))[-1], game)


def _own(game: Game) -> dict[str, str]:
    """Return our bots and their modules, weakest first; found by their files, without loading them."""
    found = {"random": "piste.bots.random"}
    if find_spec(f"{game.package}.steady") is not None:
        found["steady"] = f"{game.package}.steady"
    return found


def _installed(game: Game) -> dict[str, EntryPoint]:
    """Return the bots that installed packages offer; a name of ours stays ours."""
    from importlib.metadata import entry_points

    ours = _own(game)
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS) if entry.name not in ours}
