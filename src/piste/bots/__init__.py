"""Bots: seats like any other. Find one by name, or let a program of your own take a seat.

>>> import piste
>>> from piste import bots
>>> game = piste.find("prime-duel")
>>> bots.names(game)[:2]
('random', 'novice')
>>> bot = bots.find("steady", game)
>>> table = piste.open_table("prime-duel", {"first": 1}, seed="an example", laid="7 10 9")
>>> view = table.view(0)
>>> table.decide(0, bot.choose(view, piste.Dealer("bots").stream(bots.stream_name(view))))
>>> bots.finish(bot, table.view(0))
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

from piste.core.dealer import RandomStream
from piste.core.errors import BotError, MissingExtraError, PisteError, UnknownNameError
from piste.core.evaluation import Basis, Progress
from piste.core.extras import has, missing, solver_of, solving
from piste.core.game import Game, quoted
from piste.core.views import SeatView

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "piste.bots"
PROGRAM = "cmd:"
MODEL = "model:"
REMOTE = "remote:"
_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")

LEVELS = ("novice", "steady", "strong", "perfect")
"""Weakest first. A game has those of them for which its folder has a file."""

USUAL = "steady"
"""Whom to play against if nothing else is said, where the game has this level."""

TOP = "perfect"
"""The strongest level, as commands, records and programs name it in every game."""

EXPERT = "expert"
"""What people are shown in its place where its play is not proven or exact; it can be asked for by that name too."""

LEVEL_NAMES = {"random": "Random", "novice": "Easy", "steady": "Medium", "strong": "Hard"}
"""What people call a level where they choose one. The top level is called what it is: see `level_name`."""

MAX_DECISION_S = 10.0
"""About how many seconds of one core a decision may take where others wait for the same cores."""


Prepare = Callable[[Any, Progress], None]
Choose = Callable[[SeatView, RandomStream], int]


class Bot(Protocol):
    """A seat that decides by itself. It knows what its seat knows and nothing else."""

    name: str

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        """Return one of `view.actions`. Whatever the bot leaves to chance it draws from the stream.

        The stream is a fresh one for each decision, called `stream_name(view)`: so a bot that keeps nothing in mind
        between decisions goes on the same when a game is taken up again.
        """

    def close(self) -> None:
        """Let go of whatever the bot holds. May be called at any time, and more than once."""


class Plain:
    """A bot that is one function: nothing to remember, nothing to close; perhaps something to make ready before."""

    def __init__(self, name: str, choose: Choose, prepare: Prepare | None = None) -> None:
        self.name = name
        self._choose = choose
        self._prepare = prepare

    def choose(self, view: SeatView, stream: RandomStream) -> int:
        return self._choose(view, stream)

    def prepare(self, options: Any, progress: Progress) -> None:
        """Load or compute what the first decision needs, so that it comes as quickly as the others."""
        if self._prepare is not None:
            self._prepare(options, progress)

    def close(self) -> None:
        pass


def names(game: Game) -> tuple[str, ...]:
    """Return the bots that can be asked for here: ours first, then installed ones by name."""
    return (*_own(game), *sorted(_installed(game)))


def lines(game: Game, options: Any = None) -> dict[str, str]:
    """Return each bot's name with one line that says what it is. No installed bot is loaded for that."""
    ours = {name: _sentence(game, name, "line", options) for name in _own(game)}
    installed = {
        name: f"From the installed package {entry.dist.name}." if entry.dist else "From an installed package."
        for name, entry in sorted(_installed(game).items())
    }
    return ours | installed


def usual(game: Game) -> str:
    """Return whom to play against if nothing else is said."""
    ours = _own(game)
    return USUAL if USUAL in ours else ours[-1]


def level_of(spec: str) -> str:
    """Return a bot as it is named in records: the top level has a second name."""
    wanted = spec.strip()
    return TOP if wanted == EXPERT else wanted


def basis(game: Game, spec: str, options: Any = None) -> Basis | None:
    """Return how the play of a bot of ours is known, with these options or the usual ones; None for any other bot."""
    level = level_of(spec)
    if level == "random":
        return Basis.RANDOM
    if level not in LEVELS:
        return None
    if game.guarantees is None:  # a third-party game with a solver, which claims nothing
        return Basis.ESTIMATED if asks_solver(level, game) else Basis.THUMB
    return Basis(game.guarantees.basis(level, game.rules.Options() if options is None else options))


def made(game: Game) -> int:
    """Return a number that is another one when what `basis` says of a game may be: for whoever remembers it.

    It costs at most one look at the disk, and nothing where the answer depends on the options alone.
    """
    changed = getattr(game.guarantees, "made", None)
    return 0 if changed is None else int(changed())


def shown(game: Game, spec: str, options: Any = None) -> str:
    """Return what people are told a bot is called: nothing is called perfect that is not."""
    level = level_of(spec)
    sure = level != TOP or basis(game, level, options) in (Basis.PROVEN, Basis.EXACT)
    return level if sure else EXPERT


def described(game: Game, spec: str, options: Any = None) -> str:
    """Return a bot's name with how its play is known in a word, such as `expert (searched)`."""
    known = basis(game, spec, options)
    name = shown(game, spec, options)
    return name if known in (None, name) else f"{name} ({known})"


def level_name(game: Game, spec: str, options: Any = None) -> str:
    """Return what people call a level of ours, such as Medium; the top one Perfect only where it is."""
    level = level_of(spec)
    return shown(game, level, options).capitalize() if level == TOP else LEVEL_NAMES.get(level, level)


def feel(game: Game, spec: str, options: Any = None) -> str:
    """Return a sentence on how it feels to play against a bot of ours; of a game that says nothing, what it does."""
    level = level_of(spec)
    own = _sentence(game, level, "feel", options)
    if own or level != TOP:
        return own or _sentence(game, level, "line", options)
    if shown(game, level, options) == TOP:
        return "It makes no mistakes. You need none either, and the better cards."
    return "The strongest one here, though not perfect."


def find(spec: str, game: Game, options: Any = None, *, limit: float | None = None) -> Bot:
    """Return the bot that is asked for: by name, as `cmd:COMMAND LINE` for a program that takes the seat, as
    `remote:HOST:PORT` for a program on another computer, as `model:PROVIDER/NAME` for a language model, or as
    `module:function` for a function of Python that is called with the game and returns a bot.

    One that cannot play with these options here, for want of a library, is refused; without any, with the sheet's.
    `limit` is how many seconds a program has for an answer.
    """
    wanted = level_of(spec)
    if wanted.startswith(PROGRAM):
        from piste.bots.program import ANSWER_TIMEOUT_S, ProgramBot

        command = wanted.removeprefix(PROGRAM).strip()
        return ProgramBot(command, game, limit=ANSWER_TIMEOUT_S if limit is None else limit)
    if wanted.startswith(REMOTE):
        from piste.bots.program import ANSWER_TIMEOUT_S
        from piste.bots.remote_program import RemoteBot

        address = wanted.removeprefix(REMOTE).strip()
        return RemoteBot(address, game, limit=ANSWER_TIMEOUT_S if limit is None else limit)
    if wanted.startswith(MODEL):
        from piste.bots.model import ModelBot

        return ModelBot(wanted.removeprefix(MODEL).strip(), game)
    if wanted in _own(game):
        why = refused(wanted, game, options)
        if why is not None:
            raise why
        prepare = getattr(_level(wanted, game), "prepare", None)
        if prepare is None and asks_solver(wanted, game):
            prepare = partial(_prepare_solver, game)
        return Plain(wanted, _level(wanted, game).choose, prepare)
    others = _installed(game)
    if wanted in others:
        return cast("Bot", others[wanted].load()(game))
    if _FUNCTION.fullmatch(wanted):
        return _from_function(wanted, game)
    from difflib import get_close_matches

    known = tuple(shown(game, name) for name in names(game))
    near = get_close_matches(wanted, known, 1, 0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UnknownNameError(
        f"There is no bot {quoted(spec)} for {game.notation.TITLE}.{hint} "
        f"The bots are: {', '.join(known)}; {PROGRAM}PROGRAM seats a program of yours."
    )


def _from_function(spec: str, game: Game) -> Bot:
    """Return the bot that a function of a module makes when it is called with the game."""
    import sys
    from importlib import import_module

    module, _, name = spec.partition(":")
    here = os.getcwd()
    if "" not in sys.path and here not in sys.path:
        sys.path.append(here)  # as `python -m` has it; the command `piste` has not
    try:
        made = getattr(import_module(module), name)
    except Exception as e:  # a module may fail in any way while it is loaded
        raise UnknownNameError(f"The bot {quoted(spec)} cannot be loaded: {type(e).__name__}: {e}.") from e
    try:
        bot = made(game)
    except PisteError:
        raise
    except Exception as e:
        raise BotError(f"The bot {quoted(spec)} cannot be made: {type(e).__name__}: {e}.") from e
    if not callable(getattr(bot, "choose", None)) or not callable(getattr(bot, "close", None)):
        raise BotError(
            f"The bot {quoted(spec)} is not one: {name}(game) has to return an object with choose(view, stream) and "
            "close()."
        )
    return cast("Bot", bot)


def is_program(spec: str) -> bool:
    """Say whether this is a program, here or elsewhere, whose CPU time is not seen."""
    return spec.startswith((PROGRAM, REMOTE))


def is_own(spec: str, game: Game) -> bool:
    """Say whether this is one of our bots, not a program or an installed one."""
    return level_of(spec) in _own(game)


def asks_solver(level: str, game: Game) -> bool:
    """Say whether this is a bot of ours that asks the game's solver, which then has to be made ready first."""
    return level in _own(game) and bool(getattr(_level(level, game), "ASKS_SOLVER", False))


def refused(level: str, game: Game, options: Any = None) -> MissingExtraError | None:
    """Return why one of our bots cannot play a game with these options here; None if it can."""
    if not asks_solver(level, game) or has(solving(game, options)):
        return None
    return missing(solving(game, options, f"The bot {shown(game, level, options)}"))


def playable(game: Game, options: Any = None) -> tuple[list[str], list[MissingExtraError]]:
    """Return our bots that can play here, weakest first, and why the others cannot."""
    reasons = {name: refused(name, game, options) for name in _own(game)}
    able = [name for name, why in reasons.items() if why is None]
    return able, [why for why in reasons.values() if why is not None]


def cost(level: str, game: Game, options: Any = None) -> float:
    """Return about how many seconds of one core a decision takes, or 0.0 if it is few whatever the options."""
    seconds = getattr(game.guarantees, "seconds", None)
    if level not in LEVELS or seconds is None:
        return 0.0
    return float(seconds(level, game.options() if options is None else options))


def slowness(level: str, game: Game, options: Any = None) -> str:
    """Return for how long a bot thinks about a decision, in words, if that is longer than MAX_DECISION_S; else ""."""
    seconds = cost(level, game, options)
    if seconds <= MAX_DECISION_S:
        return ""
    return f"about {round(seconds)} seconds" if seconds < 60 else "minutes"


def best(game: Game, options: Any = None, seconds: float = math.inf) -> Bot:
    """Return the strongest of our own bots that can run here, within this many seconds: the one to ask for a hint."""
    able = [level for level in playable(game, options)[0] if cost(level, game, options) <= seconds]
    return find(able[-1], game, options)


def prepare(bot: Bot, options: Any, progress: Progress) -> None:
    """Let a bot load or compute what it needs before its first decision, if it needs anything."""
    ready = getattr(bot, "prepare", None)
    if ready is not None:
        ready(options, progress)


def stream_name(view: SeatView) -> str:
    """Return the name of the stream that belongs to the decision now open."""
    return f"bot {view.seat} {view.number}"


def finish(bot: Bot, view: SeatView) -> None:
    """Tell a bot how its game ended, if it has an `end(view)` that wants to know, and close it."""
    try:
        end = getattr(bot, "end", None)
        if end is not None:
            end(view)
    finally:
        bot.close()


def _prepare_solver(game: Game, options: Any, progress: Progress) -> None:
    solver_of(game, options).prepare(options, progress)


def _own(game: Game) -> tuple[str, ...]:
    """Return our bots, weakest first; none is loaded for that."""
    return ("random", *game.levels(LEVELS))


def _level(name: str, game: Game) -> Any:
    if name == "random":
        from piste.bots import random

        return random
    return game.level(name)


def _sentence(game: Game, level: str, what: str, options: Any) -> str:
    """Return what a level says of itself: a constant, or where it depends on the options a function of them."""
    bot = _level(level, game)
    of: Callable[[Any], str] | None = getattr(bot, what, None)
    return str(getattr(bot, what.upper(), "")) if of is None else of(game.options() if options is None else options)


def _installed(game: Game) -> dict[str, EntryPoint]:
    """Return the bots that installed packages offer; a name of ours stays ours."""
    from importlib.metadata import entry_points

    ours = _own(game)
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS) if entry.name not in ours}
