"""A progress bar on the standard error; where that is no terminal that can redraw a line, a new line now and then."""

from __future__ import annotations

import os
import sys
from time import monotonic
from types import TracebackType

MAX_BAR_WIDTH = 24
MIN_BAR_WIDTH = 4
REDRAW_INTERVAL_S = 0.1
LINE_INTERVAL_S = 30.0  # where a line cannot be redrawn
MIN_ESTIMATE_S = 3.0  # after less time, or with a smaller part done, nothing is said of the time left
MIN_ESTIMATE_PART = 0.04


class ProgressBar:
    """Use it with `with`; call it with what is done, the total, and the phase.

    Each phase is timed by itself, unless the total is that of all phases: then `done_before` is the part done before
    the first.
    """

    def __init__(self, label: str = "", done_before: float | None = None) -> None:
        self._done_before = done_before
        self._label = label
        self._shown = ""
        self._phase: str | None = None
        self._phase_start = (0.0, 0.0)  # when the phase began, and the part that was done then
        self._visible = sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "")
        self._last_redraw, self._last_line = 0.0, monotonic()

    def __enter__(self) -> ProgressBar:
        self._put(f"{self._label} ...")  # something may have to be loaded before it can be counted
        return self

    def __call__(self, done: int, total: int, phase: str = "") -> None:
        now = monotonic()
        if not self._visible:
            if now - self._last_line >= LINE_INTERVAL_S:
                self._last_line = now
                self._print_line(done, total, phase)
            return
        if not total or (done < total and now - self._last_redraw < REDRAW_INTERVAL_S):
            return
        self._last_redraw = now
        part = done / total
        if self._phase is None or (phase != self._phase and self._done_before is None):
            self._phase, self._phase_start = phase, (now, part if self._done_before is None else self._done_before)
        label, numbers = phase or self._label, f"{100 * part:3.0f} %{self._time_left(now, part)}"
        width = min(MAX_BAR_WIDTH, self._columns() - len(label) - len(numbers) - len(" [] "))
        bar = f" [{'#' * round(width * part):.<{width}}]" if width >= MIN_BAR_WIDTH else ""
        room = max(0, self._columns() - len(numbers) - 1)
        self._put(f"{label}{bar} {numbers}" if bar else f"{label[:room]} {numbers}")

    def _time_left(self, now: float, part: float) -> str:
        """Return how long the rest will take at the pace so far, once that can be estimated."""
        start, first = self._phase_start
        if now - start < MIN_ESTIMATE_S or part - first < MIN_ESTIMATE_PART or part >= 1:
            return ""
        return f", {roughly((now - start) * (1 - part) / (part - first))} left"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._put("")

    def redraw(self) -> None:
        """Draw the bar again, after something else was written where it was."""
        shown, self._shown = self._shown, ""
        self._put(shown)

    def _put(self, text: str) -> None:
        """Show this instead of what was there."""
        if self._visible and text != self._shown:
            print(f"\r\x1b[K{text[: self._columns()]}", end="", file=sys.stderr, flush=True)
            self._shown = text

    def _print_line(self, done: int, total: int, phase: str) -> None:
        part = f": {100 * done / total:.0f} %" if total else " ..."
        print(f"{phase or self._label}{part}", file=sys.stderr, flush=True)

    @staticmethod
    def _columns() -> int:
        return max(20, os.get_terminal_size(sys.stderr.fileno()).columns - 1)


def roughly(seconds: float) -> str:
    """Return a time as a person would say it."""
    if seconds < 60:
        return f"about {max(5, round(seconds / 5) * 5)} s"
    return f"about {round(seconds / 60)} min"
