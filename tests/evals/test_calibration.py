"""The scale is calibrated: perfect play loses nothing where values are exact, random play what enumeration says."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from piste.analysis.coach.evaluator import chance, evaluator_of
from piste.core.game import find, members
from piste.core.information_set import InformationSet
from piste.core.position import Position
from piste.core.protocols import CHANCE, OVER
from piste.evals.decisions_task import decisions
from piste.evals.games_task import games
from piste.evals.metrics import Summary, summarise
from piste.evals.settings import read_options, usual_options
from tests.evals.running import only_run, run
from tests.game_setups import games as how_many
from tests.sizes import sized, slow_if

EXACT = {
    "positive-negative": "top=3",
    "zero-sum-duel": "top=3,hand=2",
    "zero-sum-grid": "variant=harvest,turns=8",
    "prime-duel": "top=4,copies=1,target=17",
}
"""A size of each game that is solved exactly, and in no time."""

DEALS = sized(2, 10)


def played(model: str, folder: Path, **settings: Any) -> Summary:
    """Return what a bot comes to as a model."""
    log = run(games(**{"twice": 0, "rules": "none", **settings}), folder, f"piste/{model}")
    assert log.status == "success"
    return summarise(list(only_run(folder).documents.values()))


@pytest.mark.parametrize("game", slow_if(lambda game: game == "zero-sum-duel", EXACT))
def test_perfect_play_loses_nothing(game: str, tmp_path: Path) -> None:
    found = played("perfect", tmp_path, game=game, options=EXACT[game], deals=how_many(DEALS))
    assert found.known is not None
    assert found.known.decisions > 0
    assert found.known.mean.high <= 1e-9
    assert found.estimated is None
    assert found.best is not None
    assert found.best.value == 1.0
    assert found.faults == {}


def expected_random_loss(name: str, options: str) -> float:
    """Return what a random player loses with a decision against another one, by going through the whole game."""
    game = find(name)
    chosen = usual_options(game, read_options(options))
    rules, evaluator = game.rules, evaluator_of(game, chosen)

    @cache
    def totals(s: Any) -> tuple[float, float]:
        """Return the loss that is to be expected of both players together from here on, and how many decisions."""
        actor = rules.to_act(s)
        if actor == OVER:
            return 0.0, 0.0
        if actor == CHANCE:
            steps = [(rules.weight(s, step), totals(rules.apply(s, step))) for step in members(rules.outcomes(s))]
            whole = sum(weight for weight, _ in steps)
            loss, asked = (sum(weight * each[part] for weight, each in steps) / whole for part in (0, 1))
            return loss, asked
        steps = [(1, totals(rules.apply(s, step))) for step in members(rules.legal(s))]
        loss, asked = (sum(each[part] for _, each in steps) / len(steps) for part in (0, 1))
        if len(steps) == 1:
            return loss, asked
        evaluation = evaluator.evaluate(InformationSet.common(Position(game, s), actor))
        values = [chance(choice) for choice in evaluation.choices]
        return loss + max(values) - sum(values) / len(values), asked + 1

    loss, asked = totals(rules.start(chosen))
    return loss / asked


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("positive-negative", "top=2"),
        pytest.param("positive-negative", "top=3", marks=pytest.mark.slow),
        pytest.param("prime-duel", "top=3,copies=1,target=9", marks=pytest.mark.slow),
        pytest.param("zero-sum-grid", "variant=harvest,top=1,turns=4", marks=pytest.mark.slow),
    ],
)
def test_random_play_loses_what_enumeration_says(game: str, options: str, tmp_path: Path) -> None:
    expected = expected_random_loss(game, options)
    settings: dict[str, Any] = {"game": game, "options": options, "opponent": "random"}
    found = played("random", tmp_path, **settings, deals=how_many(sized(20, 50)))
    assert found.known is not None
    error = found.known.mean.half / 1.96
    assert expected > 0.01
    assert abs(found.known.mean.value - expected) < 4 * error
    # What random decisions would have lost on average in the positions that came: the same, with less noise.
    assert found.random_loss is not None
    assert abs(found.random_loss - expected) < 4 * error


def test_single_decisions_of_bots_cost_what_enumeration_says(tmp_path: Path) -> None:
    task: dict[str, Any] = {
        "game": "positive-negative",
        "options": "top=3",
        "positions": 9,
        "twice": 100,
        "rules": "none",
    }
    found = {}
    for model in ("perfect", "random"):
        log = run(decisions(**task), tmp_path / model, f"piste/{model}")
        assert log.status == "success"
        found[model] = summarise(list(only_run(tmp_path / model).documents.values()))
    perfect, random = found["perfect"], found["random"]
    assert perfect.known is not None
    assert random.known is not None
    assert perfect.known.mean.high <= 1e-9
    assert perfect.random_loss == random.random_loss  # they were asked the same
    assert abs(random.known.mean.value - (random.random_loss or 0.0)) < 4 * random.known.mean.half / 1.96
    assert perfect.noise is not None
    assert perfect.noise.same.value == 1.0
    assert random.noise is not None
    assert random.noise.same.value < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("level", ["random", "novice", "steady", "strong", "perfect"])
def test_every_level_plays_every_game_as_a_model(level: str, tmp_path: Path) -> None:
    """All five games in one run, at sizes that are quick: every game is graded, nothing is a fault."""
    task = games(game="all", opponent="novice", sizes="varied", deals=1, rules="none", twice=0)
    log = run(task, tmp_path, f"piste/{level}")
    assert log.status == "success"
    documents = only_run(tmp_path).documents.values()
    assert {document["game"] for document in documents} == {
        "mccoy-duel", "positive-negative", "prime-duel", "zero-sum-duel", "zero-sum-grid",
    }  # fmt: skip
    assert all(document["faults"] == {} for document in documents)
