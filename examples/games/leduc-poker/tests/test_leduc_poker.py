"""Leduc poker: every check of piste, and examples of how games end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import piste


@pytest.mark.piste_game("leduc-poker", games=4)
def test_game(piste_check: Callable[[], None]) -> None:
    piste_check()


@pytest.mark.parametrize(
    ("cards", "decisions", "payoffs", "reason"),
    [
        (("K", "Q", "J"), ("raise", "raise", "call", "call", "call"), (5, -5), "showdown"),
        (("J", "K", "J"), ("raise", "raise", "call", "raise", "raise", "call"), (13, -13), "showdown"),
        (("Q", "Q", "K"), ("raise", "call", "call", "call"), (0, 0), "showdown"),
        (("J", "K"), ("call", "raise", "fold"), (-1, 1), "folded"),
    ],
)
def test_examples(cards: tuple[str, ...], decisions: tuple[str, ...], payoffs: tuple[int, ...], reason: str) -> None:
    table = piste.open_table("leduc-poker", outcomes=cards)
    for decision in decisions:
        assert table.to_act is not None
        table.decide(table.to_act, decision)
    ending = table.ending()
    assert ending is not None
    assert (ending.payoffs, ending.reason) == (payoffs, reason)
