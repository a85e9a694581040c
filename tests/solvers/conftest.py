"""Games for the solvers, and a cache of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import piste
from piste.compiled import table_cache
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.solvers import cfr, induction, ismcts, solver, tree
from tests.bare_game import bare_game
from tests.installed_games import EXAMPLES, Install

Example = Callable[[str], piste.Game]


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a person who runs the tests has solved must not change them."""
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path / "solved")
    monkeypatch.setattr(solver, "_kept", type(solver._kept)())
    return tmp_path / "solved"


@pytest.fixture
def example(install_game: Install) -> Example:
    """Give a function that installs one of the example games for a test."""

    def installed(name: str) -> piste.Game:
        install_game(EXAMPLES / name)
        return piste.find(name)

    return installed


@pytest.fixture
def written(tmp_path: Path, install_game: Install) -> Callable[[str, str], piste.Game]:
    """Give a function that installs a game that is one text of rules."""
    return lambda name, rules: bare_game(tmp_path, install_game, rules, name)


def from_start(game: piste.Game, seat: int = 0, /, **options: int | str) -> InformationSet:
    """Return the start of a game as everybody knows it."""
    return InformationSet.common(Position(game, game.rules.start(game.options(options))), seat)


def without_numba(patch: pytest.MonkeyPatch) -> None:
    """Let everything be interpreted."""
    for module in (cfr, induction, ismcts, tree):
        patch.setattr(module, "has", lambda _: False)
