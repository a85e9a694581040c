"""No test depends on the clock: whether one passes must not depend on how busy the machine is."""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.limits import PATIENCE_S

HERE = Path(__file__).parent
MAY_WAIT = (HERE / "limits.py", HERE / "full_checks.py", HERE / "web" / "attacks.py")
"""The only files that may look at a clock and sleep: one waits for all tests, the others are programs."""

CLOCKS = {"perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "time", "time_ns"}
SLEEPS = {"sleep", "wait_for_timeout"}
REQUESTS = {"get", "post", "Client"}
WAITS = {"wait": 0, "join": 0, "communicate": 1, "timeout": 0, "wait_for": 1, "create_connection": 1, "settimeout": 0}
"""Functions that wait, and which of their arguments says how long at most."""


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def number_in(node: ast.expr | None, constants: dict[str, float]) -> float | None:
    """Return the number that stands there, itself or by the name of a constant of the file."""
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    return None


def observation_spec(tree: ast.Module) -> dict[str, float]:
    """Return the constants of a file that are numbers."""
    found: dict[str, float] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = number_in(node.value, found)
            if value is not None:
                found[node.targets[0].id] = value
    return found


def wrong_in(text: str) -> Iterator[str]:
    """Yield what in a file depends on the clock, with its line."""
    tree = ast.parse(text)
    constants = observation_spec(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = name_of(node.func)
        given = {word.arg: word.value for word in node.keywords}
        if called in CLOCKS and not node.args and not given:
            yield f"{node.lineno}: {called}() looks at a clock"
        if called in SLEEPS and node.args and number_in(node.args[0], constants) != 0:
            yield f"{node.lineno}: {called}() waits for a time to pass; limits.wait_until waits for a condition"
        if called == "settings" and "deadline" in given:
            yield f"{node.lineno}: a deadline; the profile in conftest.py has none"
        client = called == "connect" and "proxy" in given and not {"open_timeout", None} & set(given)
        library = name_of(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        if client or (library == "httpx" and called in REQUESTS and "timeout" not in given):
            yield f"{node.lineno}: {called}() gives up after a few seconds if it is not told otherwise"
        limits = [given.get("timeout"), given.get("open_timeout")]
        if called in WAITS and len(node.args) > WAITS[called]:
            limits.append(node.args[WAITS[called]])
        if any(number_in(limit, constants) for limit in limits):  # 0 does not wait
            yield f"{node.lineno}: {called}() gives up after a number of seconds; the limit is limits.PATIENCE_S"


def test_no_test_depends_on_the_clock() -> None:
    wrong = {
        str(path.relative_to(HERE)): list(wrong_in(path.read_text(encoding="utf-8")))
        for path in sorted(HERE.rglob("*.py"))
        if path not in MAY_WAIT
    }
    assert len(wrong) > 100
    assert {path: found for path, found in wrong.items() if found} == {}


@pytest.mark.parametrize(
    "text",
    [
        "time.sleep(1)",
        "sleep(0.01)",
        "page.wait_for_timeout(500)",
        "asyncio.sleep(seconds)",
        "began = perf_counter()",
        "assert time.monotonic() - began < 3",
        "stamp = time.time()",
        "subprocess.run(words, timeout=30)",
        "LONGEST = 60.0\nsubprocess.run(words, timeout=LONGEST)",
        "process.wait(5)",
        "process.communicate(None, 5)",
        "thread.join(1)",
        "asyncio.timeout(60)",
        "asyncio.wait_for(it, 10)",
        "connect(place, open_timeout=10)",
        "connect(place, proxy=None)",
        "httpx.get(place)",
        "@settings(max_examples=5, deadline=400)\ndef test(): ...",
    ],
)
def test_what_depends_on_the_clock_is_found(text: str) -> None:
    assert len(list(wrong_in(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "await asyncio.sleep(0)",
        "subprocess.run(words, timeout=PATIENCE_S)",
        "process.wait(PATIENCE_S)",
        "process.wait()",
        "', '.join(words)",
        "room.time(3)",
        "page.wait_for(state='attached')",
        "connect(place, proxy=None, **PATIENT)",
        "httpx.get(place, timeout=PATIENCE_S)",
        "settings(max_examples=20)",
    ],
)
def test_what_waits_for_a_condition_is_left_alone(text: str) -> None:
    assert list(wrong_in(text)) == []


def test_properties_are_checked_without_a_deadline_and_the_same_way_each_time() -> None:
    now = settings()
    assert now.deadline is None
    assert now.derandomize


@pytest.mark.skipif(sys.platform == "win32", reason="the command line is written for a POSIX shell")
def test_programs_that_tests_start_can_be_interrupted() -> None:
    """Even if the tests run in the background of a shell, which lets nothing that it starts hear Ctrl-C."""
    command = f"trap '' INT; exec {sys.executable} -m pytest -q -p no:cacheprovider {__file__}::test_ctrl_c_is_heard"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout


def test_ctrl_c_is_heard() -> None:
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
