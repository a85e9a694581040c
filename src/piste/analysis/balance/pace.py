"""The progress of a whole balance report: by the time that its stages took, and the pace of games so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        self._stages = list(stages)  # those that are not over
        self._order = order  # of the levels, weakest first
        self._progress = progress
        self._clock = clock
        self._start: float | None = None  # when progress was first reported
        self._stage: Stage | None = None
        self._began = self._beside = 0.0  # when its first game began; seconds since then that were no part of playing
        self._played: dict[Stage, tuple[int, float, float]] = {}  # games, seconds, and seconds of playing alone
        self._part = 0.0

    def begin(self, stage: Stage) -> None:
        """Note which stage comes now; those before it are over."""
        self._stages = self._stages[self._stages.index(stage) :]
        self._stage = stage

    def beside(self, seconds: float) -> None:
        """Note seconds of a stage that were no part of playing its games."""
        self._beside += seconds

    def __call__(self, done: int, whole: int, what: str) -> None:
        now, stage = self._clock(), self._stage
        if self._start is None:
            self._start = now
        if stage is not None and whole == stage.games:
            if done:
                seconds = now - self._began
                self._played[stage] = done, seconds, max(0.0, seconds - self._beside)
            else:
                self._began, self._beside = now, 0.0
        if self._played:
            spent, left = now - self._start, self._left()
            part = spent / (spent + left) if spent + left > 0 else 1.0
        else:
            part = UNKNOWN * done / whole if whole else 0.0
        self._part = max(self._part, min(part, 1.0))
        self._progress(round(WHOLE * self._part), WHOLE, what)

    def _left(self) -> float:
        """Return how many seconds are left, by the games so far."""
        alone = {stage.levels[0]: own / n for stage, (n, _, own) in self._played.items() if not stage.is_match}
        matches = [(stage, n, seconds) for stage, (n, seconds, _) in self._played.items() if stage.is_match]
        # Several processes play a match at once: by how much faster that is, the matches so far show.
        expected = sum(n * self._game_seconds(stage, alone) for stage, n, _ in matches)
        ratio = sum(seconds for _, _, seconds in matches) / expected if expected > 0 else 1.0
        left = 0.0
        for stage in self._stages:
            if stage in self._played:
                n, seconds, _ = self._played[stage]
                left += (stage.games - n) * seconds / n
            else:
                left += stage.games * self._game_seconds(stage, alone) * (ratio if stage.is_match else 1.0)
        return left

    def _game_seconds(self, stage: Stage, alone: dict[str, float]) -> float:
        """Return the seconds of a game by those of each level against itself.

        Of a level not seen, those of the next stronger one that was. Without any, games count alike: matches then
        show how long one takes.
        """
        if not alone:
            return 1.0
        total = 0.0
        for level in stage.levels:
            at = self._order.index(level)
            total += next(alone[one] for one in (*self._order[at:], *reversed(self._order[:at])) if one in alone)
        return total / len(stage.levels)
