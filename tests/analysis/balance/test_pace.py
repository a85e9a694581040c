"""How far a weighing is as a whole, by a clock that the test moves."""

from __future__ import annotations

import pytest

from piste.analysis.balance.pace import UNKNOWN, WHOLE, Pace, Stage

LEVELS = ("novice", "steady", "strong")


class Weighing:
    """Stages of games that each take as long as is said, and what is told of them."""

    def __init__(self, *stages: Stage) -> None:
        self.now = 100.0
        self.told: list[float] = []
        self.pace = Pace(stages, LEVELS, self.tell, lambda: self.now)

    def tell(self, done: int, whole: int, what: str) -> None:
        assert whole == WHOLE
        assert what
        self.told.append(done / whole)

    def prepare(self, seconds: float) -> None:
        for done in range(11):
            self.pace(done, 10, "preparing")
            self.now += seconds / 10

    def play(self, stage: Stage, seconds: float, beside: float = 0.0) -> None:
        self.pace.begin(stage)
        self.pace(0, stage.games, "playing")
        for game in range(1, stage.games + 1):
            self.now += seconds
            self.now += beside
            self.pace.beside(beside)
            self.pace(game, stage.games, "playing")


STAGES = (
    Stage(("strong",), 20),
    Stage(("steady",), 100),
    Stage(("novice", "steady"), 100),
    Stage(("steady", "strong"), 20),
)


def test_it_moves_through_all_stages_and_never_back() -> None:
    weighing = Weighing(*STAGES)
    weighing.prepare(5.0)
    assert 0 < weighing.told[-1] <= UNKNOWN  # nothing is known of the pace yet
    for stage, seconds in zip(STAGES, (2.0, 0.1, 0.05, 1.0), strict=True):
        before = len(weighing.told)
        weighing.play(stage, seconds)
        assert weighing.told[before] < weighing.told[-1]
    assert weighing.told == sorted(weighing.told)
    assert weighing.told[-1] == 1.0


def test_once_the_levels_have_played_the_rest_is_known() -> None:
    weighing = Weighing(*STAGES)
    weighing.play(STAGES[0], 1.0, beside=3.0)
    weighing.play(STAGES[1], 0.1)
    spent = 20 * 4.0 + 100 * 0.1
    left = 100 * 0.1 + 20 * 0.55  # the time spent beside the games of the strong one is not expected again
    assert weighing.told[-1] == pytest.approx(spent / (spent + left), abs=1 / WHOLE)


def test_matches_that_are_played_faster_than_expected_are_expected_to_go_on_so() -> None:
    weighing = Weighing(*STAGES)
    weighing.play(STAGES[0], 1.0)
    weighing.play(STAGES[1], 0.1)
    weighing.play(STAGES[2], 0.05)  # half as long as one after the other
    spent = 20.0 + 10.0 + 5.0
    assert weighing.told[-1] == pytest.approx(spent / (spent + 20 * 0.55 / 2), abs=1 / WHOLE)


def test_matches_alone_tell_their_pace_too() -> None:
    weighing = Weighing(*STAGES[2:])
    weighing.play(STAGES[2], 0.5)
    assert weighing.told[-1] == pytest.approx(50 / 60, abs=1 / WHOLE)
    weighing.play(STAGES[3], 0.5)
    assert weighing.told[-1] == 1.0
