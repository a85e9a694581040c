"""The same rules interpreted and compiled: step by step, by whole random games, and by counted trees."""

from __future__ import annotations

import random

import numpy as np
import pytest

from piste.check.case import Case
from piste.check.twins import check_twin
from piste.compiled.codegen import module
from piste.compiled.compiler import game_kernels, link_modules
from piste.core import observation
from piste.core.game import find, names
from tests import ROOT
from tests.compiled.playout_kernel import playout_of
from tests.game_setups import FULL, ODD, Kind, games
from tests.sizes import sized, slow_if

LONG = ("mccoy-duel", "zero-sum-grid")
"""The games that compile longest: left to the whole run."""

EVERY = pytest.mark.parametrize("kind", slow_if(lambda kind: kind.game in LONG, [*FULL, *ODD]), ids=str)
PERFT = ROOT / "tests" / "perft"


@EVERY
def test_twins_play_the_same_random_games(kind: Kind) -> None:
    game = find(kind.game)
    options = game.options(kind.options)
    plain, compiled = playout_of(game, compiled=False), playout_of(game, compiled=True)
    for seed in range(games(sized(20, 300), of=kind) if kind in FULL else sized(20, 100)):
        leaving = 16 if seed % 5 == 0 else 0
        one = plain(options, 1, seed, 5000, leaving)
        assert one == compiled(options, 1, seed, 5000, leaving)


@EVERY
def test_twins_agree_on_every_function_at_every_step(kind: Kind) -> None:
    check_twin(Case(kind.game, kind.options, games=10))
    game = find(kind.game)
    compiled = game_kernels(game, compiled=True)
    assert compiled.start(game.options(kind.options)) == game.rules.start(game.options(kind.options))


def counted(name: str) -> list[tuple[dict[str, str], int, int]]:
    """Read a file of counted trees: options, depth, count."""
    trees = []
    for line in (PERFT / f"{name}.perft").read_text().splitlines():
        if line and not line.startswith("#"):
            options, depth, count = line.split()
            pairs = {} if options == "-" else dict(pair.split("=") for pair in options.split(","))
            trees.append((pairs, int(depth), int(count)))
    return trees


@pytest.mark.parametrize("name", slow_if(lambda name: name in LONG, names()))
def test_counted_trees_agree_with_the_file_both_ways(name: str) -> None:
    game = find(name)
    plain, compiled = game_kernels(game, compiled=False), game_kernels(game, compiled=True)
    lines = counted(name)
    assert len(lines) >= 8
    for given, depth, count in lines:
        state = plain.start(game.options(given))
        assert compiled.perft(state, depth) == count
        if count <= 20_000:
            assert plain.perft(state, depth) == count


PROBE = """
def ten_flags(lines, bits):
    put_flags(lines, 1, 2, 10, bits)
def forty_flags(lines, bits):
    put_flags(lines, 1, 2, 40, bits)
def some_flags(lines, size, bits):
    put_flags(lines, 1, 2, size, bits)
def nine_counts(lines, lanes):
    put_counts(lines, 1, 2, 9, 1 / 3, lanes)
def some_counts(lines, size, lanes):
    put_counts(lines, 1, 2, size, 1 / 7, lanes)
def nth_of(cards, n):
    return nth(cards, n)
"""


def test_what_processors_do_themselves_is_what_python_does() -> None:
    """Each of `numba_ext.intrinsics`, with sizes that are known when it is compiled and others."""
    text = module("tests_intrinsics", PROBE)
    plain, compiled = (link_modules(observation, text, compiled=way, cached=False) for way in (False, True))
    chooser = random.Random(5)
    for _ in range(200):
        bits, size = chooser.getrandbits(61) | 1, chooser.randrange(16)
        for kind in (np.float32, np.int8):
            calls: list[tuple[str, tuple[int, ...]]] = [
                ("ten_flags", (bits,)), ("forty_flags", (bits,)), ("some_flags", (size, bits)),
            ]  # fmt: skip
            if kind is np.float32:
                calls += [("nine_counts", (bits,)), ("some_counts", (size, bits))]
            for name, args in calls:
                one, two = np.full((3, 50), 9, kind), np.full((3, 50), 9, kind)
                getattr(plain, name)(one, *args)
                getattr(compiled, name)(two, *args)
                assert (one == two).all(), (name, args)
        cards = bits & chooser.getrandbits(61) | 1
        at = chooser.randrange(cards.bit_count())
        assert compiled.nth_of(cards, at) == plain.nth_of(cards, at)
    assert compiled.nth_of(0b1111, 2) == 2
