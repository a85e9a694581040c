"""The progress of a whole balance report: by the time that its stages took, and the pace of games so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import NamedTuple

from piste.core.evaluation import Progress

UNKNOWN = 0.03
"""The most that is reported as done before the pace of any game is known."""

WHOLE = 1000


class Stage(NamedTuple):
    """Games of one kind: a level against itself, or two levels against each other."""

    levels: tuple[str, ...]
    games: int

    @property
    def is_match(self) -> bool:
        return len(self.levels) > 1


class Pace:
    """Takes the progress of each stage, and reports that of all stages together. It never goes back.

    Progress before the first stage, or not counted in games of the stage, is preparation: its length is unknown.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        order: Sequence[str],
        progress: Progress,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._left_over = list(stages)  # not begun yet
        self._order = order  # of the levels, weakest first
        self._progress = progress
        self._clock = clock
        self._start: float | None = None  # when progress was first reported
        self._stage: Stage | None = None
        self._began = clock()  # when the first game of the stage did
        self._done = 0  # games of the stage
        self._beside = 0.0  # seconds of the stage that were spent beside playing
        self._seconds: dict[str, float] = {}  # of a game of a level against itself
        self._matches = [0.0, 0.0]  # seconds of games of matches: as they took, as the levels by themselves would
        self._part = 0.0

    def begin(self, stage: Stage) -> None:
        """Note which stage comes now; those before it are over."""
        while self._left_over and self._left_over.pop(0) != stage:
            pass
        self._close()
        self._stage, self._done, self._beside, self._began = stage, 0, 0.0, self._clock()

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Spend time in a stage that is no part of playing its games."""
        began = self._clock()
        try:
            yield
        finally:
            self._beside += self._clock() - began

    def __call__(self, done: int, whole: int, what: str) -> None:
        now, stage = self._clock(), self._stage
        if self._start is None:
            self._start = now
        if stage is not None and whole == stage.games:
            self._done = done
            if not done:
                self._began, self._beside = now, 0.0
            elif not stage.is_match:
                self._seconds[stage.levels[0]] = max(0.0, now - self._began - self._beside) / done
        left = self._left(now)
        if left is None:
            part = UNKNOWN * done / whole if whole else 0.0
        else:
            spent = now - self._start
            part = spent / (spent + left) if spent + left > 0 else 1.0
        self._part = max(self._part, min(part, 1.0))
        self._progress(round(WHOLE * self._part), WHOLE, what)

    def _close(self) -> None:
        """Count a match that is over among those that tell how long matches take."""
        stage = self._stage
        if stage is not None and stage.is_match and self._done:
            taken, expected = self._match(stage, self._clock())
            self._matches[0] += taken
            self._matches[1] += expected

    def _match(self, stage: Stage, now: float) -> tuple[float, float]:
        """Return how long the games of the match so far took, and how long they were expected to."""
        return now - self._began, self._done * self._of_levels(stage.levels)

    def _left(self, now: float) -> float | None:
        """Return how many seconds are left, or None if there is nothing yet to tell it by."""
        stage = self._stage
        playing = stage is not None and self._done > 0
        if not playing and not self._seconds and not self._matches[0]:
            return None
        taken, expected = self._matches
        left = 0.0
        if stage is not None and self._done:
            left += (now - self._began) * (stage.games - self._done) / self._done
            if stage.is_match:
                more = self._match(stage, now)
                taken, expected = taken + more[0], expected + more[1]
        elif stage is not None:
            left += self._expected(stage, 1.0)
        # Several processes play a match at once: by how much faster that is, the matches so far show.
        ratio = taken / expected if expected > 0 else 1.0
        return left + sum(self._expected(one, ratio) for one in self._left_over)

    def _expected(self, stage: Stage, ratio: float) -> float:
        return stage.games * self._of_levels(stage.levels) * (ratio if stage.is_match else 1.0)

    def _of_levels(self, levels: tuple[str, ...]) -> float:
        return sum(map(self._of_level, levels)) / len(levels)

    def _of_level(self, level: str) -> float:
        """Return the seconds of a game of a level; of one not seen, those of the next stronger one that was.

        Without any, games count alike: matches then show how long one takes.
        """
        if not self._seconds:
            return 1.0
        at = self._order.index(level)
        seen = [one for one in (*self._order[at:], *reversed(self._order[:at])) if one in self._seconds]
        return self._seconds[seen[0]]
