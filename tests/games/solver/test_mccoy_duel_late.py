"""Duel between two with few cards left: what the perfect bot solves."""

from __future__ import annotations

import pytest

from piste.games.mccoy_duel import rules
from piste.games.mccoy_duel.bots import search
from piste.games.mccoy_duel.solver import infosets
from piste.games.mccoy_duel.solver.infoset_kernels import KEY_COLUMN
from tests.game_setups import Kind
from tests.games.solver.mccoy_duel_plain_cfr import views

pytestmark = pytest.mark.slow  # compiling Duel's solver takes many seconds


def test_what_is_asked_in_the_middle_of_a_turn_is_solved_when_few_cards_are_left() -> None:
    """Also after play that no solution of a whole turn has learned, such as random play."""
    asked = 0
    for seed in range(25):
        for view in views(Kind("mccoy-duel", {"rounds": 1}), f"middle {seed}"):
            if view.kind not in (rules.PICK, rules.PLAY) and len(view.actions) > 1 and sum(view.position.sizes) <= 5:
                state, told = infosets.observed_round(view)
                assert state is not None
                key = int(infosets.possible_states(state, told, view.seat).rows[0, KEY_COLUMN + view.seat])
                mix, _, _ = search.solved_strategy(state, told, key, search.FULL)
                assert mix is not None
                asked += 1
    assert asked > 3
