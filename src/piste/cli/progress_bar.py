"""A line on the standard error that says how far long work has come; only where somebody can see it move."""

from __future__ import annotations

import os
import sys
from time import monotonic
from types import TracebackType

WIDTH = 24
LEAST = 4
SOON = 3.0
"""Seconds of work, and the part of it that is done, from which on it is said how long the rest will take."""

FEW = 0.04


class ProgressBar:
    """Use it with `with`; call it with how much of how much is done, and of what.

    Each phase counts for itself, unless all of them are told of together: then `before` is the part that was done
    before the first.
    """

    def __init__(self, what: str = "", before: float | None = None) -> None:
        self._before = before
        self._what = what
        self._shown = ""
        self._last = 0.0
        self._phase: str | None = None
        self._from = (0.0, 0.0)  # when the phase began, and how much was done then
        self._moves = sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "")

    def __enter__(self) -> ProgressBar:
        self._put(f"{self._what} ...")  # something may have to be loaded before it can be counted
        return self

    def __call__(self, done: int, whole: int, what: str = "") -> None:
        now = monotonic()
        if not self._moves or not whole or (done < whole and now - self._last < 0.1):
            return
        self._last = now
        part = done / whole
        if self._phase is None or (what != self._phase and self._before is None):
            self._phase, self._from = what, (now, part if self._before is None else self._before)
        said, numbers = what or self._what, f"{100 * part:3.0f} %{self._left(now, part)}"
        width = min(WIDTH, self._columns() - len(said) - len(numbers) - len(" [] "))
        bar = f" [{'#' * round(width * part):.<{width}}]" if width >= LEAST else ""
        room = max(0, self._columns() - len(numbers) - 1)
        self._put(f"{said}{bar} {numbers}" if bar else f"{said[:room]} {numbers}")

    def _left(self, now: float, part: float) -> str:
        """Return how long the rest will take at the pace so far, once that can be said."""
        began, first = self._from
        if now - began < SOON or part - first < FEW or part >= 1:
            return ""
        return f", {roughly((now - began) * (1 - part) / (part - first))} left"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._put("")

    def _put(self, text: str) -> None:
        """Show this in place of what was there."""
        if self._moves and text != self._shown:
            print(f"\r\x1b[K{text[: self._columns()]}", end="", file=sys.stderr, flush=True)
            self._shown = text

    @staticmethod
    def _columns() -> int:
        return max(20, os.get_terminal_size(sys.stderr.fileno()).columns - 1)


def roughly(seconds: float) -> str:
    """Return a time as a person would say it."""
    if seconds < 60:
        return f"about {max(5, round(seconds / 5) * 5)} s"
    return f"about {round(seconds / 60)} min"
