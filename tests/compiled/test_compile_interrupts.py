"""Ctrl-C while a function is compiled in this process: it is compiled whole, then the interrupt is raised."""

from __future__ import annotations

import signal
from types import ModuleType
from typing import Any

import pytest
from numba.core import event

from piste.compiled.codegen import module
from piste.compiled.compiler import link_modules
from piste.core.interrupts import Interrupts

TEXT = """
def twice(n):
    return n + n


def four_times(n):
    return twice(twice(n))
"""


class Interrupter(event.Listener):
    """Sends Ctrl-C once, in the middle of compiling."""

    def __init__(self) -> None:
        self.sent = False

    def on_start(self, event: Any) -> None:
        del event
        if not self.sent:
            self.sent = True
            signal.raise_signal(signal.SIGINT)

    def on_end(self, event: Any) -> None:
        pass


def test_a_function_is_compiled_whole_before_ctrl_c_ends_anything() -> None:
    text: ModuleType = module("tests_interrupted", TEXT)
    code = link_modules(text, compiled=True, cached=False)
    with event.install_listener("numba:run_pass", Interrupter()), pytest.raises(KeyboardInterrupt):
        code.four_times(3)
    assert code.four_times.signatures, "what was begun is there"
    assert code.four_times(3) == 12


def test_ctrl_c_is_raised_once_by_the_outermost() -> None:
    reached = []

    def nested() -> None:
        with Interrupts():
            with Interrupts():
                signal.raise_signal(signal.SIGINT)
                reached.append("inside")
            reached.append("outside")

    with pytest.raises(KeyboardInterrupt):
        nested()
    assert reached == ["inside", "outside"]


def test_who_asks_whether_it_came_can_go_on() -> None:
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        assert interrupts.came
        interrupts.came = False
