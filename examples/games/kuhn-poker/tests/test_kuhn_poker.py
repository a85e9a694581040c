"""Kuhn poker: every check of piste, and each way that a game can go."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import piste


@pytest.mark.piste_game("kuhn-poker", games=4)
def test_game(piste_check: Callable[[], None]) -> None:
    piste_check()


@pytest.mark.parametrize(
    ("cards", "decisions", "payoffs", "reason"),
    [
        (("K", "Q"), ("pass", "pass"), (1, -1), "showdown"),
        (("J", "Q"), ("pass", "bet", "pass"), (-1, 1), "folded"),
        (("J", "Q"), ("pass", "bet", "bet"), (-2, 2), "showdown"),
        (("J", "Q"), ("bet", "pass"), (1, -1), "folded"),
        (("J", "Q"), ("bet", "bet"), (-2, 2), "showdown"),
    ],
)
def test_each_way_to_an_end(
    cards: tuple[str, ...], decisions: tuple[str, ...], payoffs: tuple[int, ...], reason: str
) -> None:
    table = piste.open_table("kuhn-poker", outcomes=cards)
    for decision in decisions:
        assert table.to_act is not None
        table.decide(table.to_act, decision)
    ending = table.ending()
    assert ending is not None
    assert (ending.payoffs, ending.reason) == (payoffs, reason)
