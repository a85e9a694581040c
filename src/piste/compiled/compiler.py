"""Links rules and kernels into one namespace, interpreted or JIT-compiled by numba.

The functions are the same in both: compiled, each copy is wrapped by numba. No other module imports numba. Machine
code is cached on disk, in a folder named after a digest of all sources that go in: numba alone looks at the outermost
function only, and would serve old rules.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryFile
from types import FunctionType, ModuleType
from typing import Any, cast

from piste.compiled import kernels, numba_ext
from piste.compiled.codegen import NOTHING_SHOWN, constant_options, dispatch, encoding, module, packing
from piste.compiled.table_cache import warn_not_cached
from piste.core import bits, default_rules, observation, protocols
from piste.core.errors import MissingExtraError, NameClashError
from piste.core.extras import COMPILED, load
from piste.core.game import Game
from piste.core.interrupts import Interrupts
from piste.core.observation import ObservationSpec

OBSERVATION_NAMES = ("LAYOUT", "SHOWN", "actions", "chances", "longest", "cut")
"""What an `observation.py` says; one that says all of it is taken as it is."""

Policy = Callable[[Any, int, int], int]
"""Given what a seat sees, the set of its decisions and 32 random bits, returns one of the decisions."""


@cache
def game_kernels(game: Game, *, compiled: bool, own: tuple[Policy, ...] = (), options: Any = None) -> Any:
    """Return a module with the game's rules and policies, the caller's own policies, and the kernels over them.

    With `options` it is faster, and good for these only.
    """
    rules, policies = game.rules, game.policies
    assert isinstance(rules, ModuleType)
    names = [*policy_names(game), *(f"own_{i}" for i in range(len(own)))]
    written = packing(rules.State), dispatch(names), NOTHING_SHOWN, constant_options(options)
    text = module(f"{rules.__name__}_{'written' if options is None else 'fixed'}", *written)
    vars(text)["FIXED_OPTIONS"] = options
    for i, policy in enumerate(own):
        vars(text)[f"own_{i}"] = policy
    modules = (rules, *([] if policies is None else [policies]), kernels, text)
    return link_modules(*modules, compiled=compiled, inline=(bits, rules, text), cached=not own)


@cache
def learner_kernels(game: Game, options: Any, *, compiled: bool) -> Any:
    """Return a module with the rules, `encode` for the observation layout of these options, and the kernels."""
    rules, numbers = game.rules, observation_spec(game)
    assert isinstance(rules, ModuleType)
    encode = encoding(numbers.LAYOUT, options, numbers.actions(options))
    written = packing(rules.State), encode, constant_options(options)
    name = blake2b("".join(written).encode(), digest_size=4).hexdigest()
    text = module(f"{rules.__name__}_seen_{name}", *written)
    vars(text)["FIXED_OPTIONS"] = options
    vars(text)["TEXT"] += spec_source(numbers)  # what it reads with stands there
    vars(text)["own_cut"] = numbers.cut
    for i, part in enumerate(numbers.LAYOUT):
        vars(text)[f"own_part_{i}"] = part.read
    modules = (rules, kernels, observation, text)
    return link_modules(*modules, compiled=compiled, inline=(bits, rules, observation, text))


def observation_spec(game: Game) -> ObservationSpec:
    """Return how the game's views are encoded: as its `observation.py` says, else field by field."""
    own = game.observation
    if own is not None and all(hasattr(own, name) for name in OBSERVATION_NAMES):
        return own
    from piste.compiled.default_observation import default_observation

    return default_observation(game)


def spec_source(spec: ObservationSpec) -> str:
    """Return the source of what an encoding reads with, for the digest."""
    return inspect.getsource(spec) if isinstance(spec, ModuleType) else str(vars(spec)["TEXT"])


def policy_names(game: Game) -> tuple[str, ...]:
    """Return the game's policies by name, in their order; random play, which every game has, is not among them."""
    policies = game.policies
    return () if policies is None else tuple(name for name, _ in _functions_of(policies) if name[0] != "_")


def link_modules(
    *modules: ModuleType,
    compiled: bool | None = None,
    inline: tuple[ModuleType, ...] = (bits,),
    cached: bool = True,
    entries: tuple[str, ...] = (),
) -> Any:
    """Return a module with the functions of the protocol, of bits and of these modules, which see each other.

    Without `compiled`, they are compiled where numba is installed. Functions of the modules to `inline` are compiled
    into each caller: such code is much faster, since a state then stays in registers, but a large function with many
    callers compiles slowly. `cached`: machine code is written to the cache on disk. `entries` are the functions that
    Python calls; only they are returned and cached then. The others get no wrapper for Python, which takes as long to
    compile as a small function.
    """
    if compiled is None:
        try:
            load(COMPILED)
            compiled = True
        except MissingExtraError:
            compiled = False
    return _linked(modules, compiled, inline, cached, entries)


@cache
def _linked(
    modules: tuple[ModuleType, ...],
    compiled: bool,
    inline: tuple[ModuleType, ...],
    cached: bool,
    entries: tuple[str, ...],
) -> Any:
    sources = (protocols, bits, *modules)
    twin = ModuleType("_".join(["piste.compiled." + ("compiled" if compiled else "plain"), *map(_short, modules)]))
    if cached:
        sys.modules[twin.__name__] = twin  # numba's cache finds the functions again by this name
    space = vars(twin)
    owners: dict[str, str] = {}
    for source in sources:
        for name, value in vars(source).items():
            if name.startswith("__"):
                continue
            if isinstance(space.get(name), int) and space[name] != value:
                raise NameClashError(
                    f"`{name}` is {space[name]} in {owners[name]} and something else in {source.__name__}. These are "
                    "compiled together: give it another name."
                )
            space[name], owners[name] = value, source.__name__
    owners = {}
    wrap = _compiler(sources, inline, cached, entries) if compiled else _unchanged
    for source in sources:
        for name, function in _functions_of(source):
            if name in owners:
                raise NameClashError(
                    f"`{name}` is defined both in {owners[name]} and in {source.__name__}. These are compiled "
                    "together: give it another name."
                )
            owners[name] = source.__name__
            copy = FunctionType(function.__code__, space, name, function.__defaults__)
            copy.__module__ = twin.__name__
            copy.__qualname__ = f"{twin.__name__}.{name}"  # a cache file of its own for each namespace
            space[name] = wrap(copy, source)
    if not entries:
        return twin
    callable_twin = ModuleType(twin.__name__)  # to call a function without a wrapper would crash
    vars(callable_twin).update({name: space[name] for name in entries})
    return callable_twin


def _short(module: ModuleType) -> str:
    return "_".join(module.__name__.split(".")[-2:])


def _functions_of(source: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    for name, value in vars(source).items():
        if isinstance(value, FunctionType) and (value.__module__ == source.__name__ or name.startswith("own_")):
            yield name, value


def _unchanged(function: FunctionType, _: ModuleType) -> Callable[..., Any]:
    return function


def _compiler(
    sources: tuple[ModuleType, ...], inline: tuple[ModuleType, ...], cached: bool, entries: tuple[str, ...]
) -> Callable[[FunctionType, ModuleType], Callable[..., Any]]:
    load(COMPILED)
    import numba

    numba_ext.register()
    folder = cache_folder() / digest((sys.modules[__name__], numba_ext, *sources))
    cached = cached and is_writable(folder)

    def wrap(function: FunctionType, source: ModuleType) -> Callable[..., Any]:
        if source in (bits, observation) and function.__name__ in numba_ext.intrinsics():
            return cast("Callable[..., Any]", numba_ext.intrinsics()[function.__name__])
        inner = bool(entries) and function.__name__ not in entries
        # Generated code has no file of its own: it is cached as part of what calls it.
        options: dict[str, Any] = {
            "cache": cached and not inner and source.__file__ is not None,
            "forceinline": source in inline,
            "no_cpython_wrapper": inner,
            "no_cfunc_wrapper": True,  # no function is handed to another one as a pointer
        }
        # numba reads its cache folder when a function is wrapped; other users of numba keep theirs.
        config: Any = numba.config
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            wrapped: Callable[..., Any] = numba.njit(nogil=True, error_model="numpy", **options)(function)
        finally:
            config.CACHE_DIR = before
        if options["cache"]:
            _ignore_cache_errors(wrapped, folder)
        _compile_once(wrapped)
        return wrapped

    return wrap


def _ignore_cache_errors(function: Any, folder: Path) -> None:
    """Use compiled code even if it cannot be cached: numba would raise, in the middle of a game."""
    save = function._cache.save_overload

    def try_save(*args: Any) -> None:
        try:
            save(*args)
        except OSError as e:
            warn_not_cached(folder.parent, e)

    function._cache.save_overload = try_save


def _compile_once(function: Any) -> None:
    """Compile a function once for all whole numbers; numba would do so for each size and for each constant.

    Ctrl-C waits until a function is compiled: before that it could end the process, or do nothing.
    """
    from numba.core import types as numba_types

    types: Any = numba_types
    compile_for = function.compile

    def widest(kind: Any) -> Any:
        kind = types.unliteral(kind)
        return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind

    def compiled(signature: Any) -> Any:
        called = isinstance(signature, tuple)  # else a caller has written down what it wants
        collecting = gc.isenabled()
        gc.disable()  # numba makes so many objects, and so little garbage, that a tenth of the time is saved
        try:
            with Interrupts():
                return compile_for(tuple(widest(kind) for kind in signature) if called else signature)
        finally:
            if collecting:
                gc.enable()

    function.compile = compiled


def is_writable(folder: Path) -> bool:
    """Say whether compiled code can be cached there; numba would else put it beside the sources, under no digest."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))
    except OSError as e:
        warn_not_cached(folder.parent, e)
        return False
    return True


def cache_folder() -> Path:
    """Return where compiled code is cached."""
    from platformdirs import user_cache_path

    return user_cache_path("piste", appauthor=False) / "compiled"


def digest(sources: tuple[ModuleType, ...]) -> str:
    """Return a name that changes with any source, and with the Python that runs it."""
    hashed = blake2b(sys.version.encode(), digest_size=12)
    for source in sources:
        file = source.__file__
        hashed.update(Path(file).read_bytes() if file is not None else vars(source)["TEXT"].encode())
        if default_rules.ADDED in vars(source):
            hashed.update(Path(default_rules.__file__).read_bytes())
    return hashed.hexdigest()
