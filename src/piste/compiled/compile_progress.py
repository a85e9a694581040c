"""Progress of JIT compilation: reported after each function, by its measured share of the work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from piste.core.evaluation import Progress

WHOLE = 1000
SLOWEST_PASS = "native_lowering"
"""The pass of numba that takes most of the time."""


class Shares(NamedTuple):
    """The shares of the work of preparing, in percent, as `tools/compile_shares.py` measures them."""

    large: dict[str, float]  # compiling these functions, each time
    other: float  # and each of all others
    compiled: float  # compiling altogether
    rest: float = 0.0  # what is no compiling


@contextmanager
def compiling(progress: Progress, shares: Shares) -> Iterator[Progress]:
    """Report functions as they are compiled; yield a progress callback for the rest of the work.

    Where nothing has to be compiled or computed, nothing is reported.
    """
    done = {"compiled": 0.0, "rest": 0.0}

    def tell() -> None:
        part = min(done["compiled"], shares.compiled) + done["rest"]
        progress(min(WHOLE - 1, round(WHOLE * part / (shares.compiled + shares.rest))), WHOLE, "")

    def rest(now: int, whole: int, _what: str = "") -> None:
        done["rest"] = shares.rest * now / max(1, whole)
        tell()

    try:
        from numba.core import event
    except ImportError:
        yield progress  # nothing will be compiled
        return

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            pass

        def on_end(self, event: Any) -> None:
            step, _, function = event.data["name"].partition(" ")
            if step == SLOWEST_PASS:
                name = function.strip("[]").rpartition(".")[2]
                done["compiled"] += shares.large.get(name, shares.other)
                tell()

    with event.install_listener("numba:run_pass", Listener()):
        yield rest
    if any(done.values()):
        progress(WHOLE, WHOLE, "")
