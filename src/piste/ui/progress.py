"""A line on the standard error that says how far long work has come; only where somebody can see it move."""

from __future__ import annotations

import os
import sys
from time import monotonic
from types import TracebackType

WIDTH = 24


class Bar:
    """Use it with `with`; call it with how much of how much is done, and of what."""

    def __init__(self, what: str = "") -> None:
        self._what = what
        self._shown = ""
        self._last = 0.0
        self._moves = sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "")

    def __enter__(self) -> Bar:
        self._put(f"{self._what} ...")  # something may have to be loaded or compiled before it can be counted
        return self

    def __call__(self, done: int, whole: int, what: str = "") -> None:
        now = monotonic()
        if not self._moves or (done < whole and now - self._last < 0.1):
            return
        self._last = now
        part = done / whole if whole else 1.0
        bar = "#" * round(WIDTH * part)
        self._put(f"{what or self._what} [{bar:.<{WIDTH}}] {100 * part:3.0f} %")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._put("")

    def _put(self, text: str) -> None:
        """Show this in place of what was there."""
        if self._moves and text != self._shown:
            columns = max(20, os.get_terminal_size(sys.stderr.fileno()).columns - 1)
            print(f"\r\x1b[K{text[:columns]}", end="", file=sys.stderr, flush=True)
            self._shown = text
