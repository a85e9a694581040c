"""Own losses, others' losses, luck and what was revealed, each worked out on its own, add up to the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from piste.analysis.coach.attribution import attribute
from piste.analysis.coach.evaluator import Evaluator
from piste.core.evaluation import EXACT as COMPUTED
from piste.core.evaluation import PROVEN, Chances, Choice, Evaluation
from piste.core.information_set import InformationSet
from tests.analysis.coach.review_cases import EXACT, KINDS, judge, many, walked
from tests.game_setups import Kind, played

TINY = 1e-9
BY_KIND = pytest.mark.parametrize("kind", KINDS, ids=str)


@pytest.mark.parametrize(("kind", "usual"), EXACT, ids=str)
def test_the_columns_add_up_to_the_result(kind: Kind, usual: int) -> None:
    for seed in range(many(usual)):
        found = walked(kind, f"columns {seed}", resigning=0.03 if seed % 4 == 3 else 0.0)
        assert set(found.known) <= {COMPUTED, PROVEN}
        for columns in found.columns:
            assert columns.result in (0.0, 0.5, 1.0)
            assert abs(columns.left) < TINY, (seed, columns)
        one, two = found.columns
        assert one.own == pytest.approx(-two.others, abs=TINY)
        assert one.first + two.first == pytest.approx(1, abs=TINY)


@BY_KIND
def test_nothing_is_revealed_where_nothing_is_secret(kind: Kind) -> None:
    for seed in range(2):
        revealed = [abs(columns.revealed) for columns in walked(kind, f"open {seed}").columns]
        if kind.game in ("zero-sum-grid", "prime-duel", "positive-negative"):  # P2's card is out before it matters
            assert max(revealed) < TINY


def test_something_is_revealed_in_zero_sum_duel() -> None:
    kind = KINDS[1]
    assert any(abs(walked(kind, f"open {seed}").columns[0].revealed) > 0.01 for seed in range(4))


@BY_KIND
def test_the_best_decision_never_has_a_loss(kind: Kind) -> None:
    for seed in range(2):
        for decision in walked(kind, f"best {seed}").decisions:
            assert decision.before >= decision.after >= decision.worst
            if decision.action == decision.best:
                assert decision.loss == 0.0


class Wrong:
    """A judge that is a little wrong, to see that the sum notices."""

    evaluates_outcomes = True

    def __init__(self, right: Evaluator, wrong: str) -> None:
        self._right, self._wrong = right, wrong

    def evaluate(self, known: InformationSet) -> Evaluation:
        found = self._right.evaluate(known)
        if self._wrong == "choices" and found.choices:
            worse = tuple(
                Choice(c.action, Chances(c.chances.win, c.chances.draw, c.chances.loss + 0.001 * (i + 1)), c.mix)
                for i, c in enumerate(found.choices)
            )
            return found._replace(choices=worse)
        return found

    def weights(self, known: InformationSet) -> Mapping[Any, float]:
        found = self._right.weights(known)
        if self._wrong == "weights":
            return {state: likely * (1 + (at == 0)) for at, (state, likely) in enumerate(found.items())}
        return known.belief.states if self._wrong == "trust" else found


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [*((kind, "choices") for kind in KINDS[1:8:3]), (KINDS[1], "weights"), (KINDS[1], "trust")],
    ids=str,
)
def test_a_judge_that_is_wrong_is_found_out(kind: Kind, wrong: str) -> None:
    """A choice that is not worth what stands after it, or cards that are not as likely as the verdict takes them."""
    off = 0.0
    for seed in range(6):
        found = attribute(played(kind, f"wrong {seed}"), Wrong(judge(kind), wrong))
        off = max(off, *(abs(columns.left) for columns in found.columns))
    assert off > 1e-4


@pytest.mark.slow
def test_a_model_of_prime_duel_adds_up_within_its_bound() -> None:
    kind = Kind("prime-duel", {})
    for seed in range(many(2)):
        found = walked(kind, f"model {seed}")
        for columns in found.columns:
            assert abs(columns.left) <= found.within * len(found.chances)
