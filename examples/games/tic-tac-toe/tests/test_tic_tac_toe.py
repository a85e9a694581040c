"""Tic-tac-toe: every check of piste, and each line that wins."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import piste

LINES = ("a1 a2 a3", "b1 b2 b3", "c1 c2 c3", "a1 b1 c1", "a2 b2 c2", "a3 b3 c3", "a1 b2 c3", "a3 b2 c1")


@pytest.mark.piste_game("tic-tac-toe", games=4)
def test_game(piste_check: Callable[[], None]) -> None:
    piste_check()


@pytest.mark.parametrize("line", LINES)
def test_each_line_wins(line: str) -> None:
    own = line.split()
    others = [square for square in ("a1", "b3", "c2", "a2", "b1") if square not in own]
    table = piste.open_table("tic-tac-toe")
    for turn, square in enumerate(own):
        table.decide(0, square)
        if turn < 2:
            table.decide(1, others[turn])
    ending = table.ending()
    assert ending is not None
    assert (ending.winner, ending.reason) == (0, "a line")


def test_a_full_board_is_a_draw() -> None:
    table = piste.open_table("tic-tac-toe")
    for turn, square in enumerate(["b2", "a1", "a2", "c2", "b3", "b1", "c1", "a3", "c3"]):
        table.decide(turn % 2, square)
    ending = table.ending()
    assert ending is not None
    assert (ending.winner, ending.reason) == (None, "the board is full")
