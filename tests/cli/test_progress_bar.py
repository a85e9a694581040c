"""The bar: what it says of the time left, by a clock that the test moves."""

from __future__ import annotations

import pytest

from piste.cli import progress_bar
from piste.cli.progress_bar import ProgressBar


class ReplayStep(ProgressBar):
    """A bar that is seen by the test alone."""

    def __init__(self, before: float | None = None) -> None:
        super().__init__("working", before)
        self._visible = True
        self.lines: list[str] = []

    def _put(self, text: str) -> None:
        self.lines.append(text)

    @staticmethod
    def _columns() -> int:
        return 100


@pytest.mark.parametrize(
    ("before", "said"), [(None, ["25 %", "26 %"]), (0.0, ["25 %, about 75 s left", "26 %, about 75 s left"])]
)
def test_a_phase_begins_anew_unless_all_are_told_of_together(
    before: float | None, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(progress_bar, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress_bar, "roughly", lambda seconds: f"about {round(seconds / 5) * 5} s")
    bar = ReplayStep(before)
    bar(0, 100, "one")
    now[0] += 25
    bar(25, 100, "two")
    now[0] += 1
    bar(26, 100, "two")
    assert [line.partition("] ")[2].strip() for line in bar.lines[1:]] == said


def test_where_a_line_cannot_be_redrawn_there_is_one_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [1000.0]
    monkeypatch.setattr(progress_bar, "monotonic", lambda: now[0])
    with ProgressBar("solving") as bar:  # the standard error of a test is no terminal
        bar(0, 0)
        for second in range(1, 91):
            now[0] = 1000.0 + second
            bar(second if second > 30 else 0, 100 if second > 30 else 0, "building the tree" if second > 30 else "")
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["solving ...", "building the tree: 60 %", "building the tree: 90 %"]


def test_quick_work_prints_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar("solving") as bar:
        bar(1, 1)
    assert capsys.readouterr().err == ""


def test_in_a_second_column_the_time_left_is_that_of_the_column() -> None:
    bar = ReplayStep(0.5)
    bar._phase_start = (0.0, 0.5)
    assert bar._time_left(30.0, 0.6) == ", about 2 min left"
