"""Puts a game's rules and the kernels into one namespace, interpreted or compiled.

The functions are the same in both: compiled, each copy is wrapped by numba. Nothing else in the tree knows that
numba exists. Compiled code is kept in the user's cache, in a folder named after a digest of all sources that go in:
numba alone looks at the outermost function only, and would serve old rules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from piste.core import bits, contract
from piste.core.errors import MissingExtra
from piste.core.game import Game
from piste.fast import kernels


@cache
def bind(game: Game, *, compiled: bool) -> Any:
    """Return a module with the game's rules and the kernels over them."""
    rules = game.rules
    assert isinstance(rules, ModuleType)
    sources = (contract, bits, rules, kernels)
    way = "compiled" if compiled else "plain"
    short = game.name.replace("-", "_")
    twin = ModuleType(f"piste.fast.{way}_{short}")
    sys.modules[twin.__name__] = twin  # numba's cache finds the functions again by this name
    space = vars(twin)
    for source in sources:
        space.update({name: value for name, value in vars(source).items() if not name.startswith("__")})
    owners: dict[str, str] = {}
    wrap = _compiler(sources) if compiled else _unchanged
    for source in sources:
        for name, function in _functions_of(source):
            if name in owners:
                raise ValueError(f"{name} is defined both in {owners[name]} and in {source.__name__}")
            owners[name] = source.__name__
            copy = FunctionType(function.__code__, space, name, function.__defaults__)
            copy.__module__ = twin.__name__
            copy.__qualname__ = f"{short}.{name}"  # a cache file of its own for each game
            space[name] = wrap(copy)
    return twin


def _functions_of(source: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    for name, value in vars(source).items():
        if isinstance(value, FunctionType) and value.__module__ == source.__name__:
            yield name, value


def _unchanged(function: FunctionType) -> Callable[..., Any]:
    return function


def _compiler(sources: tuple[ModuleType, ...]) -> Callable[[FunctionType], Callable[..., Any]]:
    try:
        import numba
    except ImportError:
        raise MissingExtra("fast", "Compiled play") from None
    folder = cache_folder() / digest(sources)

    def wrap(function: FunctionType) -> Callable[..., Any]:
        # numba asks for its folder at the moment a function is wrapped; other users of numba keep theirs.
        config: Any = numba.config
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            wrapped: Callable[..., Any] = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
        finally:
            config.CACHE_DIR = before
        return wrapped

    return wrap


def cache_folder() -> Path:
    """Return where compiled code is kept."""
    from platformdirs import user_cache_path

    return user_cache_path("piste", appauthor=False) / "compiled"


def digest(sources: tuple[ModuleType, ...]) -> str:
    """Return a name that changes with any source, and with the Python that runs it."""
    found = blake2b(sys.version.encode(), digest_size=12)
    for source in sources:
        assert source.__file__ is not None
        found.update(Path(source.__file__).read_bytes())
    return found.hexdigest()
