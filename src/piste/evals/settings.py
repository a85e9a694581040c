"""What a task is told with -T: games, options, sizes, the style of prompts, budgets; read and checked here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from inspect_ai._util.error import PrerequisiteError

from piste import bots
from piste.analysis.arena.match import with_turn_limit
from piste.bots.prompts import PromptStyle, prompt_style
from piste.core.errors import OptionError, PisteError
from piste.core.game import Game, find, names, quoted
from piste.evals import sizes as varied_sizes

Words = str | int | float | list[Any] | dict[str, Any] | None
"""A value as Inspect reads it from the command line."""

DEFAULT, VARIED, BOTH = SIZES = ("default", "varied", "both")
ALL = "all"
MAX_DEALS = 100_000
DEFAULT_TURNS = 40
"""Of games that could otherwise be endless: every turn of a model costs money."""


class TaskError(OptionError, PrerequisiteError):
    """A task that cannot be run as it was asked for; Inspect's commands print it as a sentence, as ours do."""


@contextmanager
def refusals() -> Iterator[None]:
    """Let whatever a task refuses be printed by Inspect without a traceback."""
    try:
        yield
    except PisteError as e:
        raise TaskError(str(e)) from None


class Size(NamedTuple):
    """A game with its options, and whether these are the usual ones or were drawn against memorising."""

    game: Game
    options: Any
    sizes: str  # DEFAULT or VARIED

    @property
    def label(self) -> str:
        """The game with the options that are not as its rules page has them."""
        changed = self.game.option_texts(self.options, changed_only=True)
        inside = ",".join(f"{key}={value}" for key, value in changed.items())
        return f"{self.game.name}[{inside}]" if inside else self.game.name

    @property
    def facts(self) -> dict[str, Any]:
        """What each sample's document says of its size."""
        options = self.game.option_texts(self.options, changed_only=True)
        return {"game": self.game.name, "options": options, "sizes": self.sizes}


class Settings(NamedTuple):
    """What the tasks have in common."""

    sizes: tuple[Size, ...]
    style: PromptStyle
    retries: int
    twice: int  # of a hundred prompts so many are asked twice
    seed: str
    max_cost: float | None  # in dollars

    def own_share(self, size: Size, many: int) -> range:
        """Return which of so many deals or positions are this size's: sizes that were drawn share those of a game."""
        group = [one for one in self.sizes if (one.game, one.sizes) == (size.game, size.sizes)]
        return range(group.index(size), many, len(group))


def read_settings(
    *, game: Words, options: Words, sizes: Words, retries: Words, twice: Words, seed: Words, max_cost: Words,
    **style: Words,
) -> Settings:  # fmt: skip
    """Return the settings, or say which of them cannot be."""
    if sizes not in SIZES:
        raise OptionError(f"sizes cannot be {quoted(sizes)}: it is {', '.join(SIZES[:-1])} or {SIZES[-1]}.")
    given = read_options(options)
    chosen = read_games(game)
    if given and len(chosen) > 1:
        raise OptionError("Options are those of one game: name it with -T game=...")
    found: list[Size] = []
    for one in chosen:
        if sizes in (DEFAULT, BOTH):
            found.append(Size(one, usual_options(one, given), DEFAULT))
        if sizes in (VARIED, BOTH):
            found += [Size(one, usual_options(one, drawn), VARIED) for drawn in varied_sizes.draw(one, str(seed))]
    return Settings(
        tuple(found), prompt_style(**style), number("retries", retries, 0, 20), number("twice", twice, 0, 100),
        str(seed), None if max_cost is None else money(max_cost),
    )  # fmt: skip


def read_games(words: Words) -> list[Game]:
    """Return the games that were named: one, several or all."""
    given = words if isinstance(words, list) else str(words).split(",")
    wanted = [str(word).strip() for word in given if str(word).strip()]
    return [find(name) for name in (names() if wanted in ([], [ALL]) else dict.fromkeys(wanted))]


def read_options(words: Words) -> dict[str, int | str]:
    """Return options written as top=7,target=30, or as a mapping."""
    if isinstance(words, Mapping):
        return {str(key): value for key, value in words.items()}
    parts: Iterable[str] = words if isinstance(words, list) else str(words or "").split(",")
    found: dict[str, int | str] = {}
    for part in map(str, parts):
        key, equals, value = part.partition("=")
        if part.strip() and not equals:
            raise OptionError(f"options cannot be {quoted(part)}: they are written as top=7,target=30.")
        if part.strip():
            found[key.strip()] = value.strip()
    return found


def usual_options(game: Game, given: Mapping[str, int | str]) -> Any:
    """Return options with a turn limit where a game could be endless, unless its values would be less well known."""
    options = game.options(dict(given))
    limited = with_turn_limit(game, dict(given), DEFAULT_TURNS)
    worse = bots.basis(game, bots.TOP, limited) != bots.basis(game, bots.TOP, options)
    return options if worse else limited


def read_opponent(word: Words, settings: Settings) -> str:
    """Return the level that plays against the model."""
    level = bots.level_of(str(word))
    for size in settings.sizes:
        if not bots.is_own(level, size.game):
            known = ", ".join(bots.playable(size.game, size.options)[0])
            raise OptionError(
                f"opponent cannot be {quoted(word)}: it is a level of {size.game.notation.TITLE}: {known}."
            )
        why = bots.refused(level, size.game, size.options)
        if why is not None:
            raise why
    return level


def number(name: str, value: Words, low: int, high: int) -> int:
    """Return a whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise OptionError(f"{name} cannot be {quoted(value)}: it is a whole number from {low} to {high}.")
    return value


def money(value: Words) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise OptionError(f"max_cost cannot be {quoted(value)}: it is an amount of dollars above 0.")
    return float(value)
