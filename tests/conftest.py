"""Which tests run, in which order, and what is said at the end about those that did not.

`pytest` runs everything. `pytest --quick`, which is `make test`, leaves out what needs a browser, a proxy or a
database and what is slow, and plays fewer games in some of the rest.
"""

from __future__ import annotations

import pickle
import re
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from piste.core import worker_process
from piste.core.game import counted
from tests import sizes
from tests.installed_games import Install, forget, install
from tests.system_packages import on_build_machine

pytest_plugins = ["piste.check.pytest_plugin"]  # of the game packages that tests write

LATE = ("solver", "test_bots.py", "coach", "balance", "rl", "cli", "web", "browser")
"""What is quick and tells most comes first, real browsers last.

Two workers begin at the start and in the middle. What compiles the same stands together, so that it is compiled once.
"""

LEFT_OUT = {
    "browser": ("needs a browser", "need a browser"),
    "proxy": ("needs nginx, Caddy or systemd", "need nginx, Caddy or systemd"),
    "database": ("needs PostgreSQL", "need PostgreSQL"),
    "slow": ("is slow", "are slow"),
}
"""The marks of tests that a quick run leaves out, and why; pyproject.toml lists them too."""

counted_out = pytest.StashKey[Counter[str]]()

# The speed of a machine decides nothing, a first call that compiles may take its time, and every run draws the same.
settings.register_profile(
    "piste", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("piste")


@pytest.fixture
def worker_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands of the terminal work in this process, where a test can change what they call."""

    class Here:
        def submit(self, work: Any, *given: Any, progress: Any = None) -> Future[Any]:
            found: Future[Any] = Future()
            kind, packed = worker_process._outcome(pickle.dumps((work, given)), {"progress": progress})
            worker_process._pass_on(found, None, kind, packed)
            return found

    monkeypatch.setattr("piste.cli.background._worker", Here())


@pytest.fixture
def install_game(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Give a function that offers the games of a project outside the tree, for one test."""
    yield partial(install, site=tmp_path_factory.mktemp("site"), patch=monkeypatch)
    monkeypatch.undo()
    forget()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out what is slow or needs another program")


def pytest_configure(config: pytest.Config) -> None:
    sizes.quick = config.getoption("--quick")
    # A shell starts what it runs in the background without Ctrl-C, `nohup` without SIGHUP: programs inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    config.stash[counted_out] = Counter()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        names = (item.path.parent.name, item.path.name)
        return max((LATE.index(name) + 1 for name in names if name in LATE), default=0)

    items.sort(key=place)
    for item in items:
        if item.path.parent.name == "browser":
            item.add_marker("browser")
        if "postgres" in getattr(item, "fixturenames", ()):
            item.add_marker("database")
    if config.getoption("--quick"):
        left = [item for item in items if why_left_out(item)]
        config.stash[counted_out].update(why_left_out(item) for item in left)
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not why_left_out(item)]


def why_left_out(item: pytest.Item) -> str:
    return next((mark for mark in LEFT_OUT if item.get_closest_marker(mark)), "")


# With xdist each worker collects all tests, and what it counted has to be sent to the process that reports.


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    sent: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if sent is not None:
        counts: Counter[str] = session.config.stash[counted_out]
        sent["counted_out"] = dict(counts)
    elif on_build_machine() and skipped(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    config: pytest.Config = node.config
    sent: dict[str, int] = getattr(node, "workeroutput", {}).get("counted_out", {})
    config.stash[counted_out] = Counter(sent)


def skipped(config: pytest.Config) -> Counter[str]:
    """Return the reasons why tests were skipped, with how many each."""
    reporter: Any = config.pluginmanager.getplugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter is not None else []
    texts = (report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr) for report in reports)
    return Counter(re.sub(r"^Skipped: ", "", text) for text in texts)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    line = terminalreporter.write_line
    for reason, count in skipped(config).items():
        line(f"Skipped: {counted(count, 'test')}: {reason}")
    if on_build_machine() and skipped(config):
        line("With CI=true nothing may be skipped, so this run has failed.")
    left = config.stash[counted_out]
    if left:
        parts = ", ".join(f"{left[mark]} that {why[left[mark] > 1]}" for mark, why in LEFT_OUT.items() if left[mark])
        line(f"Left out of this run: {counted(left.total(), 'test')} ({parts}), and larger sizes of others.")
    if config.getoption("--quick"):
        line("`make test-all` runs everything.")
