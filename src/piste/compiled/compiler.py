"""Puts rules and loops over them into one namespace, interpreted or compiled.

The functions are the same in both: compiled, each copy is wrapped by numba. Nothing else in the tree knows that
numba exists. Compiled code is kept in the user's cache, in a folder named after a digest of all sources that go in:
numba alone looks at the outermost function only, and would serve old rules.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryFile
from types import FunctionType, ModuleType
from typing import Any, cast

from piste.compiled import batch_kernels, env_kernels, kernels, numba_ext
from piste.compiled.codegen import dispatch, encoding, module, packing
from piste.compiled.table_cache import warn_unkept
from piste.core import bits, observation, protocols
from piste.core.errors import OptionError
from piste.core.extras import COMPILED, load
from piste.core.game import Game
from piste.core.interrupts import Interrupts
from piste.core.observation import ObservationSpec

Policy = Callable[[Any, int, int], int]
"""Given what a seat sees, the set of its decisions and 32 random bits, returns one of the decisions."""


@cache
def bind(game: Game, *, compiled: bool, own: tuple[Policy, ...] = ()) -> Any:
    """Return a module with the game's rules and policies, policies of one's own, and the kernels over them."""
    rules, policies = game.rules, game.policies
    assert isinstance(rules, ModuleType)
    names = [*policy_names(game), *(f"own_{i}" for i in range(len(own)))]
    text = module(f"{rules.__name__}_written", packing(rules.State), dispatch(names))
    for i, policy in enumerate(own):
        vars(text)[f"own_{i}"] = policy
    modules = (
        (rules, kernels, batch_kernels, text) if policies is None else (rules, policies, kernels, batch_kernels, text)
    )
    return together(*modules, compiled=compiled, inline=(bits, rules, text), kept=not own)


@cache
def bind_for_learners(game: Game, options: Any, *, compiled: bool) -> Any:
    """Return a module with the game's rules, its layout for these options as `encode`, and the kernels over them."""
    rules, numbers = game.rules, observation_spec(game)
    assert isinstance(rules, ModuleType)
    written = packing(rules.State), encoding(numbers.LAYOUT, options)
    name = blake2b("".join(written).encode(), digest_size=4).hexdigest()  # options share what they do not change
    text = module(f"{rules.__name__}_seen_{name}", *written)
    vars(text)["TEXT"] += inspect.getsource(cast("ModuleType", numbers))  # what it reads with stands there
    vars(text)["own_cut"] = numbers.cut
    for i, part in enumerate(numbers.LAYOUT):
        vars(text)[f"own_part_{i}"] = part.read
    return together(
        rules,
        kernels,
        batch_kernels,
        observation,
        env_kernels,
        text,
        compiled=compiled,
        inline=(bits, rules, observation, text),
    )


def observation_spec(game: Game) -> ObservationSpec:
    """Return how the game's views become numbers."""
    if game.observation is None:
        raise OptionError(f"{game.notation.TITLE} does not say how a learner sees it: it has no observation.py.")
    return game.observation


def policy_names(game: Game) -> tuple[str, ...]:
    """Return the game's policies by name, in their order; random play, which every game has, is not among them."""
    policies = game.policies
    return () if policies is None else tuple(name for name, _ in _functions_of(policies) if name[0] != "_")


@cache
def together(
    *modules: ModuleType, compiled: bool, inline: tuple[ModuleType, ...] = (bits,), kept: bool = True
) -> Any:
    """Return a module with the functions of the contract, of bits and of these modules, which see each other.

    Those of the modules to `inline` are compiled into each place that calls them: such code is much faster, since a
    state then stays in the machine's registers, but a large function that is called in many places compiles slowly.
    """
    sources = (protocols, bits, *modules)
    twin = ModuleType("_".join(["piste.compiled." + ("compiled" if compiled else "plain"), *map(_short, modules)]))
    if kept:
        sys.modules[twin.__name__] = twin  # numba's cache finds the functions again by this name
    space = vars(twin)
    owners: dict[str, str] = {}
    for source in sources:
        for name, value in vars(source).items():
            if name.startswith("__"):
                continue
            if isinstance(space.get(name), int) and space[name] != value:
                raise ValueError(f"{name} is {space[name]} in {owners[name]} and something else in {source.__name__}")
            space[name], owners[name] = value, source.__name__
    owners = {}
    wrap = _compiler(sources, inline, kept) if compiled else _unchanged
    for source in sources:
        for name, function in _functions_of(source):
            if name in owners:
                raise ValueError(f"{name} is defined both in {owners[name]} and in {source.__name__}")
            owners[name] = source.__name__
            copy = FunctionType(function.__code__, space, name, function.__defaults__)
            copy.__module__ = twin.__name__
            copy.__qualname__ = f"{twin.__name__}.{name}"  # a cache file of its own for each namespace
            space[name] = wrap(copy, source)
    return twin


def _short(module: ModuleType) -> str:
    return "_".join(module.__name__.split(".")[-2:])


def _functions_of(source: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    for name, value in vars(source).items():
        if isinstance(value, FunctionType) and (value.__module__ == source.__name__ or name.startswith("own_")):
            yield name, value


def _unchanged(function: FunctionType, _: ModuleType) -> Callable[..., Any]:
    return function


def _compiler(
    sources: tuple[ModuleType, ...], inline: tuple[ModuleType, ...], kept: bool
) -> Callable[[FunctionType, ModuleType], Callable[..., Any]]:
    load(COMPILED)
    import numba

    numba_ext.teach()
    folder = cache_folder() / digest((sys.modules[__name__], numba_ext, *sources))
    kept = kept and writable(folder)

    def wrap(function: FunctionType, source: ModuleType) -> Callable[..., Any]:
        # What has no file of its own is kept as part of what calls it.
        options: dict[str, Any] = {"cache": kept and source.__file__ is not None, "forceinline": source in inline}
        # numba asks for its folder at the moment a function is wrapped; other users of numba keep theirs.
        config: Any = numba.config
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            wrapped: Callable[..., Any] = numba.njit(nogil=True, error_model="numpy", **options)(function)
        finally:
            config.CACHE_DIR = before
        if options["cache"]:
            _forgive(wrapped, folder)
        _compile_whole(wrapped)
        return wrapped

    return wrap


def _forgive(function: Any, folder: Path) -> None:
    """Let compiled code that cannot be kept be used all the same: numba would raise, in the middle of a game."""
    save = function._cache.save_overload

    def tried(*given: Any) -> None:
        try:
            save(*given)
        except OSError as e:
            warn_unkept(folder.parent, e)

    function._cache.save_overload = tried


def _compile_whole(function: Any) -> None:
    """Let Ctrl-C wait until a function is compiled: in the middle of that it could end the process, or do nothing."""
    compile_for = function.compile

    def compiled(signature: Any) -> Any:
        with Interrupts():
            return compile_for(signature)

    function.compile = compiled


def writable(folder: Path) -> bool:
    """Say whether compiled code can be kept there; numba would else keep it beside the sources, under no digest."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))
    except OSError as e:
        warn_unkept(folder.parent, e)
        return False
    return True


def cache_folder() -> Path:
    """Return where compiled code is kept."""
    from platformdirs import user_cache_path

    return user_cache_path("piste", appauthor=False) / "compiled"


def digest(sources: tuple[ModuleType, ...]) -> str:
    """Return a name that changes with any source, and with the Python that runs it."""
    found = blake2b(sys.version.encode(), digest_size=12)
    for source in sources:
        file = source.__file__
        found.update(Path(file).read_bytes() if file is not None else vars(source)["TEXT"].encode())
    return found.hexdigest()
