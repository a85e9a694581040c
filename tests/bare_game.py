"""The smallest game that hides something, as one file of rules, installed for a test."""

from __future__ import annotations

from pathlib import Path

import piste
from tests.installed_games import Install

BARE = '''"""Bare game: both get a coin, and the first guesses whether they are equal."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from piste.core.protocols import CHANCE, HIDDEN, OVER, Event


class Options(NamedTuple):
    stake: Annotated[int, range(1, 6), "what the loser pays"] = 2
    coins: int = 2


class State(NamedTuple):
    options: Options
    stage: int
    seat: int
    coins: tuple[int, int]
    winner: int


class View(NamedTuple):
    options: Options
    viewer: int
    stage: int
    seat: int
    coins: tuple[int, int]


def start(options: Options) -> State:
    return State(options, 0, 0, (HIDDEN, HIDDEN), HIDDEN)


def to_act(s: State) -> int:
    return CHANCE if s.stage == 0 else s.seat if s.stage == 1 else OVER


def legal(s: State) -> int:
    return 0b11


def outcomes(s: State) -> int:
    return (1 << s.options.coins) - 1 if s.stage == 0 else 0


def apply(s: State, action: int) -> State:
    if s.stage == 0 and s.seat == 0:
        return State(s.options, 0, 1, (action, HIDDEN), HIDDEN)
    if s.stage == 0:
        return State(s.options, 1, 0, (s.coins[0], action), HIDDEN)
    right = (s.coins[0] == s.coins[1]) == (action == 0)
    return State(s.options, 2, 0, s.coins, 0 if right else 1)


def leave(s: State, seat: int) -> State:
    return State(s.options, 2, 0, s.coins, 1 - seat)


def payoff(s: State, seat: int) -> int:
    if s.winner == HIDDEN:
        return 0
    return s.options.stake if s.winner == seat else -s.options.stake


def look(s: State, seat: int) -> View:
    shown = s.stage == 2
    one = s.coins[0] if shown or seat == 0 else HIDDEN
    other = s.coins[1] if shown or seat == 1 else HIDDEN
    return View(s.options, seat, s.stage, s.seat, (one, other))


def tell(s: State, action: int, seat: int) -> Event:
    if s.stage == 0:
        return Event(0, s.seat, action if seat == s.seat else HIDDEN, HIDDEN)
    return Event(1, 0, action, HIDDEN)
'''


def bare_game(folder: Path, install: Install, rules: str = BARE, name: str = "bare-game") -> piste.Game:
    """Install a game that is one file of rules."""
    package = folder / name / "src" / name.replace("-", "_")
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "rules.py").write_text(rules, encoding="utf-8")
    (folder / name / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\nversion = "1"\n'
        f'[project.entry-points."piste.games"]\n{name} = "{package.name}"\n',
        encoding="utf-8",
    )
    install(folder / name)
    return piste.find(name)
