"""Sizes against memorising: the same seed draws the same ones, all of them exactly solved in time."""

from __future__ import annotations

import pytest

from piste.core.game import find, names
from piste.evals.games_task import all_seatings
from piste.evals.settings import read_settings, usual_options
from piste.evals.sizes import DRAWN, MAX_CPU_S, draw, solved_sizes

OTHERS = {"options": None, "retries": 0, "twice": 0, "max_cost": None}


@pytest.mark.parametrize("name", names())
def test_every_game_has_sizes_to_draw_from(name: str) -> None:
    game = find(name)
    sizes = solved_sizes()[name]
    assert len(sizes) >= DRAWN
    assert all(0 < one["cpu"] <= MAX_CPU_S for one in sizes)
    options = [usual_options(game, one["options"]) for one in sizes]
    assert len(set(options)) == len(options)
    assert usual_options(game, {}) not in options


@pytest.mark.parametrize("name", names())
def test_a_seed_draws_the_same_sizes_and_another_seed_others(name: str) -> None:
    game = find(name)
    assert draw(game, "one") == draw(game, "one")
    assert len(draw(game, "one")) == DRAWN
    assert len({str(draw(game, f"seed {number}")) for number in range(8)}) > 1


def test_deals_of_both_kinds_are_the_same_number_and_each_is_played_from_every_seat() -> None:
    settings = read_settings(game="prime-duel", sizes="both", seed="both", **OTHERS)
    found = all_seatings(settings, "steady", 6)
    for sizes in ("default", "varied"):
        own = [one for one in found if one.size.sizes == sizes]
        assert len(own) == 12
        assert {one.deal for one in own} == set(range(6))
    assert len({one.name for one in found}) == len(found)
