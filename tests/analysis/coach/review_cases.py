"""The games that the coach's tests review: exact ones of every game, played at random to all kinds of ends."""

from __future__ import annotations

from typing import Any

import piste
from piste.analysis.coach.attribution import Attribution, attribute
from piste.analysis.coach.evaluator import Evaluator, evaluator_of
from piste.core.game import find
from piste.core.record import Record
from tests.game_setups import Kind, games, played
from tests.sizes import sized

# With how many games of each kind are reviewed in a usual run.
EXACT = (
    (Kind("zero-sum-duel", {}), 3),
    (Kind("zero-sum-duel", {"turns": 40}), 3),
    (Kind("zero-sum-duel", {"top": 3, "hand": 2, "turns": 7}), 60),
    (Kind("zero-sum-duel", {"first": "b", "top": 4, "hand": 3, "turns": 30}), 6),
    (Kind("positive-negative", {}), 3),
    (Kind("positive-negative", {"top": 4}), 100),
    (Kind("positive-negative", {"top": 1}), 20),
    (Kind("zero-sum-grid", {"turns": 50}), 12),
    (Kind("zero-sum-grid", {"deal": "any", "first": 2, "turns": 12}), 20),
    (Kind("zero-sum-grid", {"top": 1, "turns": 3}), 40),
    (Kind("prime-duel", {"top": 4, "copies": 2, "target": 10}), 100),
    (Kind("prime-duel", {"top": 3, "copies": 2, "target": 9, "turns": 8}), 100),
)
KINDS = tuple(kind for kind, _ in EXACT)


def many(usual: int) -> int:
    """Return how many games to review: in a proof a fiftieth of what others play, which is thousands."""
    usual = sized(-(-usual // 3), usual)
    return max(usual, games(usual) // 50)


_judges: dict[str, Evaluator] = {}


def judge(kind: Kind) -> Evaluator:
    """Return who judges games of a kind, made ready once."""
    if str(kind) not in _judges:
        game = find(kind.game)
        _judges[str(kind)] = evaluator_of(game, game.options(kind.options))
    return _judges[str(kind)]


def walked(kind: Kind, seed: object, *, resigning: float = 0.0) -> Attribution:
    return attribute(played(kind, seed, resigning=resigning), judge(kind))


def record_of(table: piste.Table) -> Record:
    return Record.parse(table.record())


def put_out(path: Any, table: piste.Table) -> str:
    """Save a table's record and return where."""
    piste.save(table, path)
    return str(path)
