"""Every game's rules fit the protocol: mypy checks the types, the test that no game is left out."""

from __future__ import annotations

from piste import names
from piste.core.protocols import CHANCE, HIDDEN, OVER, SPECTATOR, AnyRules, Rules
from piste.games.mccoy_duel import rules as mccoy_duel
from piste.games.positive_negative import rules as positive_negative
from piste.games.prime_duel import rules as prime_duel
from piste.games.zero_sum_duel import rules as zero_sum_duel
from piste.games.zero_sum_grid import rules as zero_sum_grid

MCCOY_DUEL: Rules[mccoy_duel.Options, mccoy_duel.State, mccoy_duel.View] = mccoy_duel
POSITIVE_NEGATIVE: Rules[positive_negative.Options, positive_negative.State, positive_negative.View] = (
    positive_negative
)
PRIME_DUEL: Rules[prime_duel.Options, prime_duel.State, prime_duel.View] = prime_duel
ZERO_SUM_DUEL: Rules[zero_sum_duel.Options, zero_sum_duel.State, zero_sum_duel.View] = zero_sum_duel
ZERO_SUM_GRID: Rules[zero_sum_grid.Options, zero_sum_grid.State, zero_sum_grid.View] = zero_sum_grid


def test_the_rules_of_every_game_are_checked_against_the_protocol() -> None:
    checked: list[AnyRules] = [MCCOY_DUEL, POSITIVE_NEGATIVE, PRIME_DUEL, ZERO_SUM_DUEL, ZERO_SUM_GRID]
    packages = {getattr(rules, "__name__", "").split(".")[-2].replace("_", "-") for rules in checked}
    assert packages == set(names())


def test_a_spectator_is_nobody_that_could_be_to_act() -> None:
    assert SPECTATOR not in (CHANCE, OVER, HIDDEN)
