"""What can run with the libraries that are installed: decided here, for every door, before any work begins.

`pip install piste` brings neither numpy nor numba. What needs more is a `Feature`; it names the extra that brings it.
Libraries are looked for, not imported: that is quick and loads nothing. What a game's solver needs depends on the
game and its options; the game's `guarantees.py` says so.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any, NamedTuple

from piste.core.errors import MissingExtraError
from piste.core.game import Game

NOTHING: tuple[str, ...] = ()
NUMPY = ("numpy",)
NUMBA = ("numpy", "numba")


class Feature(NamedTuple):
    """Something that runs only where some libraries are."""

    purpose: str  # begins the sentence that refuses it
    extra: str  # brings the libraries
    libraries: tuple[str, ...]


COMPILED = Feature("Compiled play", "fast", NUMBA)
MANY = Feature("Play of many games together", "fast", NUMBA)
PETTINGZOO = Feature("PettingZoo", "rl", ("numpy", "gymnasium", "pettingzoo"))
GYMNASIUM = Feature("Gymnasium", "rl", ("numpy", "gymnasium"))
OPENSPIEL = Feature("OpenSpiel", "openspiel", ("numpy", "pyspiel"))
CLUSTER = Feature("A cluster", "cluster", ("distributed",))
POSTGRES = Feature("A database of PostgreSQL", "postgres", ("psycopg", "procrastinate"))
MCP = Feature("`piste mcp`", "mcp", ("mcp",))
MODELS = Feature("A language model", "inspect", ("inspect_ai",))
PNG = Feature("A plot as PNG", "plot", ("matplotlib",))
SERVE = Feature(
    "`piste serve`",
    "web",
    (
        "starlette", "jinja2", "uvicorn", "websockets", "sqlalchemy", "alembic", "segno", "markdown_it",
        "prometheus_client", "orjson",
    ),
)  # fmt: skip


def missing(feature: Feature) -> MissingExtraError | None:
    """Return why a feature cannot run here, or None if it can."""
    if all(find_spec(library) is not None for library in feature.libraries):
        return None
    return MissingExtraError(feature.extra, feature.purpose)


def has(feature: Feature) -> bool:
    return missing(feature) is None


def need(feature: Feature) -> None:
    """Refuse a feature that cannot run here."""
    refused = missing(feature)
    if refused is not None:
        raise refused


def load(feature: Feature) -> None:
    """Import the libraries of a feature; one that is there but broken is refused with the reason."""
    need(feature)
    for library in feature.libraries:
        try:
            importlib.import_module(library)
        except Exception as e:  # a broken library may fail in any way
            raise MissingExtraError(feature.extra, feature.purpose, f"{library} is installed but broken ({e})") from e


def solving(game: Game, options: Any = None, purpose: str = "The solver") -> Feature:
    """Return what the solver of a game with these options is and needs; without any, with those of its sheet."""
    needed = getattr(game.guarantees, "libraries", None)
    libraries = NOTHING if needed is None else needed(game.options() if options is None else options)
    return Feature(f"{purpose} of {game.notation.TITLE}", "fast", libraries)


def solver_of(game: Game, options: Any = None, purpose: str = "The solver") -> Any:
    """Return a game's solver, or the one for any game; or say what it needs with these options."""
    load(solving(game, options, purpose))
    return game.solver
