"""Code generated from a game's types: packing of states into rows, dispatch to policies, encoding of views."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

from piste.core.observation import AMOUNTS, COUNTS, FLAGS, ONE_OF, Part

MAX_BITS = 61
"""How many flags are written at once: they stand in one number below 2**62."""

NOTHING_SHOWN = """
def own_cut(s):
    return 0
def show(s, rows, row):
    pass
"""
"""What stands for an observation layout where nobody sees anything."""


def module(name: str, *texts: str) -> ModuleType:
    """Return a module with these functions; it holds its source, for the digest and for tracebacks."""
    text = "\n\n".join(texts)
    made = ModuleType(name)
    made.__file__ = None
    file = f"<written: {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), vars(made))
    vars(made)["TEXT"] = text
    return made


def packing(state: type[Any]) -> str:
    """Return functions on states: `unpacked` makes one of a row of a table and the options, `pack` writes it there.

    `turns_of` is how many turns a game has had: by its own count, else how often the seat that decides has changed.
    """
    places = [path for path in _places(state, "s") if not path.startswith("s.options.")]
    numbers = {path: f"int(line[{i}])" for i, path in enumerate(places)}
    lines = [f"    line[{i}] = {path}" for i, path in enumerate(places)]
    return "\n".join(
        [
            f"WIDTH = {len(places)}",
            "def unpacked(options, table, row):",
            "    line = table[row]",
            f"    return {_made(state, 's', numbers)}",
            "def pack(s, table, row):",
            "    line = table[row]",
            *lines,
            "def turns_of(s, changes):",
            "    return s.turns" if "turns" in state._fields else "    return changes",
        ]
    )


def row_storage(state: type[Any], first: int) -> str:
    """Return functions on a game's own row: `stored` makes a state of the numbers from `first` on, `store` writes it.

    The options are among them, so that the same machine code serves all options.
    """
    numbers = {path: f"int(row[{i}])" for i, path in enumerate(_places(state, "s"), first)}
    return "\n".join(
        [
            f"WIDTH = {first + len(numbers)}",
            "def stored(row):",
            f"    return {_made(state, 's', numbers)}",
            "def store(s, row):",
            *(f"    row[{i}] = {path}" for i, path in enumerate(numbers, first)),
        ]
    )


def hashing(name: str, kind: type[Any]) -> str:
    """Return a function that mixes every number of a value into a key, by `mixed`; options are left out."""
    numbers = [path for path in _places(kind, "v") if not path.startswith("v.options")]
    mixing = [f"    key = mixed(key, {path})" for path in numbers]
    return "\n".join([f"def {name}(v, key):", *mixing, "    return key"])


def constant_options(options: Any) -> str:
    """Return `known`, which returns the options of a run: these, known when it is compiled, or those it is given."""
    return f"def known(options):\n    return {'options' if options is None else 'FIXED_OPTIONS'}  # {options}"


def dispatch(names: Sequence[str]) -> str:
    """Return `decide`, which calls the policy with this number; 0 is random play, which the kernels do themselves."""
    lines = ["def decide(policy, v, choices, word):"]
    for number, name in enumerate(names, 1):
        lines += [f"    if policy == {number}:", f"        return {name}(v, choices, word)"]
    return "\n".join([*lines, "    return chosen(choices, word)"])


def encoding(layout: Sequence[Part], options: Any, actions: int) -> str:
    """Return `encode`, which writes what a view holds into a row, and `show`, which adds the mask of the seat to act.

    `learner_kernels` adds the function of each part. Sizes stand in it as plain numbers: compiled, that is a third
    faster than to look them up.
    """
    lines = ["def encode(v, lines, row):"]
    at, flags_size = 0, 0
    flags: list[str] = []  # sets that stand side by side are written as one
    for i, part in enumerate([*layout, None]):
        size = 0 if part is None else len(part.names(options))
        is_set = part is not None and part.form in (FLAGS, ONE_OF)
        if flags and (not is_set or flags_size + size > MAX_BITS):
            lines.append(f"    put_flags(lines, row, {at - flags_size}, {flags_size}, {' | '.join(flags)})")
            flags, flags_size = [], 0
        if part is not None and is_set:
            members = f"own_part_{i}(v)" if part.form == FLAGS else f"only(own_part_{i}(v))"
            flags.append(f"({members} & {(1 << size) - 1}) << {flags_size}")
            flags_size += size
        elif part is not None:
            share = 1 / part.unit(options)
            lines.append(f"    put_{part.form}(lines, row, {at}, {size}, {share!r}, own_part_{i}(v))")
        at += size
    return "\n".join(
        [
            *lines,
            "def show(s, rows, row):",
            "    encode(look(s, rows.actors[row]), rows.observations, row)",
            f"    put_flags(rows.masks, row, 0, {actions}, rows.choices[row])",
        ]
    )


def sized_encoding(layout: Sequence[Part]) -> str:
    """Return `encode` for any options: it is given the size of each part, and what its numbers are multiplied by."""
    lines = ["def encode(v, sizes, shares, lines):", "    at = 0"]
    for i, part in enumerate(layout):
        share = f"shares[{i}], " if part.form in (COUNTS, AMOUNTS) else ""
        lines += [
            f"    put_{part.form.replace(' ', '_')}(lines, 0, at, sizes[{i}], {share}own_part_{i}(v))",
            f"    at += sizes[{i}]",
        ]
    return "\n".join(lines)


def _fields(kind: Any, path: str) -> list[tuple[Any, str]]:
    """Return the parts of a type and how each is reached; none for a whole number."""
    if get_origin(kind) is tuple:
        return [(part, f"{path}[{i}]") for i, part in enumerate(get_args(kind))]
    if hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        return [(hints[name], f"{path}.{name}") for name in kind._fields]
    return []


def number_paths(kind: Any, path: str) -> list[str]:
    """Return how to reach each number in a value of this type."""
    return list(_places(kind, path))


def _places(kind: Any, path: str) -> Iterator[str]:
    """Yield how to reach each number in a value of this type."""
    fields = _fields(kind, path)
    if not fields and not hasattr(kind, "_fields"):
        yield path
    for part, inside in fields:
        yield from _places(part, inside)


def _made(kind: Any, path: str, numbers: dict[str, str]) -> str:
    """Return an expression that makes a value of this type from its numbers."""
    if hasattr(kind, "_fields") and not kind._fields:  # a game without options
        return f"{kind.__name__}()"
    if path == "s.options" and f"{path}.{kind._fields[0]}" not in numbers:
        return "options"
    fields = _fields(kind, path)
    if not fields:
        return numbers[path]
    inside = ", ".join(_made(part, where, numbers) for part, where in fields)
    return f"({inside})" if get_origin(kind) is tuple else f"{kind.__name__}({inside})"
