"""A table as a program meets it: what it says of itself, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

import piste


@pytest.mark.parametrize("seed", [5, 5.0, True, ["5"]])
def test_a_seed_that_is_no_text_is_refused_with_a_sentence(seed: Any) -> None:
    with pytest.raises(piste.PisteError, match=r"A seed is text or bytes, not a value of the type \w+\."):
        piste.open_table("prime-duel", seed=seed)


def test_seeds_of_text_and_of_bytes_are_taken() -> None:
    assert piste.open_table("prime-duel", seed="5").to_act is not None
    assert piste.open_table("prime-duel", seed=b"5").to_act is not None


def test_a_table_and_its_position_agree_on_who_is_to_act() -> None:
    table = piste.open_table("prime-duel", {"first": 1}, laid="7 10 9")
    for _ in range(2):
        assert table.to_act == piste.Position.parse(table.position_text()).to_act
        if table.to_act is not None:
            table.resign(0)
    assert table.to_act is piste.Position.parse(table.position_text()).to_act is None


def test_a_table_says_what_it_is_and_tells_no_secret() -> None:
    table = piste.open_table("zero-sum-duel", {"first": "a"}, seed="a seed", laid="+3 -2 -5 +4 +1 -1 +5")
    assert repr(table) == "<Table zero-sum-duel: 2 seats, 7 steps, Player A to act>"
    other = piste.open_table("zero-sum-duel", {"first": "a"}, seed="another seed", laid="-3 +2 +5 -4 -1 +1 -5")
    assert repr(other) == repr(table)  # neither the seed nor a card is in it
    table.resign(0)
    assert repr(table) == "<Table zero-sum-duel: 2 seats, 8 steps, over>"
