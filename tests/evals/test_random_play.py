"""Random play as a model loses what random games at a table say, in games that are too large to be gone through."""

from __future__ import annotations

import os
from math import hypot
from pathlib import Path

import pytest

from piste.analysis.arena.losses import Loss, mean_loss
from piste.analysis.coach.evaluator import chance, evaluator_of
from piste.core.dealer import Dealer
from piste.core.game import find
from piste.core.information_set import InformationSet
from piste.core.table import Table
from piste.evals.settings import read_options, usual_options
from tests.evals.test_calibration import EXACT, played

SAMPLED = int(os.environ.get("PISTE_SAMPLED", "200"))
DEALS = min(100, SAMPLED // 10)


def sampled_random_loss(name: str, options: str, games: int) -> Loss:
    """Return what a random player loses with a decision in so many games at a table, without any of the task."""
    game = find(name)
    chosen = usual_options(game, read_options(options))
    evaluator = evaluator_of(game, chosen)
    known: dict[str, float] = {}
    deals = []
    for number in range(games):
        dealer = Dealer(f"sampled {number}")
        table, losses = Table(game, chosen, dealer), []
        while (seat := table.to_act) is not None:
            view = table.view(seat)
            if len(view.actions) > 1:
                at = InformationSet.of(game, view)
                if str(at) not in known:
                    values = [chance(choice) for choice in evaluator.evaluate(at).choices]
                    known[str(at)] = max(values) - sum(values) / len(values)
                losses.append(known[str(at)])
            table.decide(
                seat, view.actions[dealer.stream(f"any {view.number}").below(len(view.actions))], view.number
            )
        deals.append(losses)
    return mean_loss([losses for losses in deals if losses])


@pytest.mark.slow
@pytest.mark.parametrize("game", ["zero-sum-duel", "zero-sum-grid", "prime-duel"])
def test_random_play_loses_what_plain_games_say(game: str, tmp_path: Path) -> None:
    expected = sampled_random_loss(game, EXACT[game], SAMPLED)
    found = played("random", tmp_path, game=game, options=EXACT[game], opponent="random", deals=DEALS)
    assert found.known is not None
    error = hypot(found.known.mean.half, expected.mean.half) / 1.96
    assert 0 < error < 0.05
    assert expected.mean.value > 0.005
    assert abs(found.known.mean.value - expected.mean.value) < 4 * error
    assert found.random_loss is not None
    assert abs(found.random_loss - expected.mean.value) < 4 * error
