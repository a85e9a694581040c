"""Prime Duel's verdicts without the full solution: right by half a point, and exact in the last third of a deck."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from piste.analysis.coach.puzzles import LEVELS, puzzle
from piste.compiled import table_cache
from piste.core.evaluation import ESTIMATED, EXACT
from piste.core.position import Position
from piste.games.prime_duel.rules import Options
from piste.games.prime_duel.solver import solver, tablebase
from tests.game_setups import games
from tests.games.solver.prime_duel_verdicts import GAME, Compared, compare, played_states, summary, true_values
from tests.sizes import sized

VALUES = Path(__file__).with_name("prime_duel_values.txt")
"""Positions with the mover's true chances: `python -m tests.games.solver.prime_duel_verdicts 400 FILE`."""


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full solution of the person who runs the tests must not change them."""
    monkeypatch.setattr(table_cache, "folder", lambda: tmp_path / "solved")


def check(compared: list[Compared]) -> None:
    assert all(each.off <= min(each.within, 0.005) for each in compared if each.known != EXACT), summary(compared)
    assert all(each.known != ESTIMATED for each in compared if each.cards <= 13)
    estimated = [each for each in compared if each.known == ESTIMATED]
    off = np.quantile([each.off for each in estimated], 0.95)
    assert np.median([each.within for each in estimated]) <= 3 * off, summary(compared)


def test_verdicts_agree_with_the_full_solution() -> None:
    lines = VALUES.read_text(encoding="utf-8").splitlines()
    compared = []
    for line in lines[: sized(60, len(lines))]:
        position, values = line.split(" | ")
        compared.append(compare(Position.parse(position).state, tuple(map(float, values.split()))))
    check(compared)


def test_what_is_shipped_is_small_and_is_read_only_for_the_sheets_size() -> None:
    assert tablebase.SHIPPED.stat().st_size <= 2_000_000
    assert tablebase.load(Options()) is tablebase.shipped()
    assert tablebase.load(Options(target=49)) is None


def test_puzzles_of_every_level_need_no_full_solution() -> None:
    for level, (least, most) in LEVELS.items():
        example = puzzle(GAME, Options(), "verdicts", 1, level)
        assert least <= example.margin - 2 * example.evaluation.within < most


if games(0) >= 100_000:  # only in a proof: the game is solved whole

    def test_ten_thousand_verdicts_agree_with_the_full_solution(capsys: pytest.CaptureFixture[str]) -> None:
        states = [s for s, _ in zip(played_states("proof"), range(10_000), strict=False)]
        values = true_values(states)
        solver.prepare(Options())
        compared = [compare(s, v) for s, v in zip(states, values, strict=True)]
        with capsys.disabled():
            print(summary(compared))
        check(compared)
