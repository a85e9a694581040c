"""Ctrl-C at a moment that suits: what must not be torn apart is finished first."""

from __future__ import annotations

import signal
import threading
from typing import Any


class Interrupts:
    """While it is open Ctrl-C is only noted, and raised at the end if nobody asked: nothing is left half done.

    Inside another one it is handed on to that one.
    """

    def __init__(self) -> None:
        self.came = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        here = threading.current_thread() is threading.main_thread()
        if here and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, *_: object) -> None:
        self.came = True

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        outer = getattr(self._before, "__self__", None)
        if self.came and isinstance(outer, Interrupts):
            outer.came = True
        elif self.came and kind is None:
            raise KeyboardInterrupt
