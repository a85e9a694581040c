"""Several processes that serve together: started, replaced when one of them ends, and stopped together."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

from piste.core.errors import PisteError
from piste.web import logging as logs

FIRST_PAUSE_S, MAX_PAUSE_S = 0.5, 30.0  # before a process that failed is started again; twice as long each time
STEADY_AFTER_S = 60.0  # a process that has run for this long did not fail at its start
STOP_TIMEOUT_S = 20.0  # a process that has not ended by then is killed
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # where processes that serve together leave their metrics for each other
STOP_SIGNALS = tuple(
    number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None
)


class Program(NamedTuple):
    """What a process runs: `run(reports, *args)`, which sends "" once it has begun, or raises a PisteError."""

    name: str
    run: Callable[..., object]
    args: tuple[Any, ...] = ()


@dataclass(eq=False)
class Child:
    """A program and the process that runs it now."""

    program: Program
    process: SpawnProcess | None = None
    reports: connection.Connection | None = None
    began: float = 0.0  # monotonic, as all times here
    due: float = 0.0  # when it is to be started, if it is not running
    pause: float = 0.0
    was_ready: bool = False

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.reports, theirs = context.Pipe(duplex=False)
        self.process = context.Process(target=run_program, args=(self.program, theirs), name=self.program.name)
        self.process.start()
        theirs.close()
        self.began = time.monotonic()
        logs.info("process started", process=self.program.name, pid=self.process.pid)

    def ended(self) -> None:
        """Note that its process has ended, and when the next one is to start."""
        assert self.process is not None
        lived, code = time.monotonic() - self.began, self.process.exitcode
        if code == 0 or lived >= STEADY_AFTER_S:
            self.pause = 0.0  # it was told to end, or something rare has happened
        else:
            self.pause = min(MAX_PAUSE_S, max(FIRST_PAUSE_S, 2 * self.pause))
        self.due = time.monotonic() + self.pause
        logs.warning("process ended", process=self.program.name, exit_code=code, again_in_s=self.pause)
        self.forget()

    def forget(self) -> None:
        if self.process is not None:
            forget_metrics(self.process.pid or 0)
            self.process.close()
        if self.reports is not None:
            self.reports.close()
        self.process = self.reports = None


@dataclass(eq=False)
class Supervisor:
    """Runs programs until a signal. `ready` is called when all of them have begun for the first time.

    A program that cannot begin at all ends the others with an error; one that began before is started again.
    """

    _children: Sequence[Child]
    _ready: Callable[[], None]
    _complain: Callable[[str], None]  # is told why a process could not begin again
    _stopping: bool = False
    _wake: tuple[socket.socket, socket.socket] = field(default_factory=socket.socketpair)

    def run(self) -> None:
        """Run until a signal; raise a PisteError if a program cannot begin."""
        with tempfile.TemporaryDirectory(prefix="piste-metrics-") as folder, self._signals():
            os.environ[METRICS_FOLDER] = folder
            try:
                while not self._stopping:
                    self._start_those_due()
                    self._wait()
            finally:
                self._stop()
                del os.environ[METRICS_FOLDER]

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Stop on a signal, unless it is ignored, as SIGHUP is with `nohup`."""

        def stop(_number: int, _frame: object) -> None:
            self._stopping = True

        for end in self._wake:
            end.setblocking(False)
        woken = signal.set_wakeup_fd(self._wake[1].fileno())  # or waiting would go on after a signal
        before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
        for number in (number for number, handler in before.items() if handler is not signal.SIG_IGN):
            signal.signal(number, stop)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(woken)
            for end in self._wake:
                end.close()

    def _start_those_due(self) -> None:
        for child in self._children:
            if child.process is None and child.due <= time.monotonic():
                child.start()

    def _wait(self) -> None:
        """Wait until a process has something to say, one ends, one is to be started, or a signal comes."""
        waiting = [child.due - time.monotonic() for child in self._children if child.process is None]
        watched: list[Any] = [self._wake[0]]
        watched += [child.reports for child in self._children if child.reports is not None]
        watched += [child.process.sentinel for child in self._children if child.process is not None]
        happened = connection.wait(watched, max(0.0, min(waiting)) if waiting else None)
        for child in self._children:
            if child.reports is not None and child.reports in happened:
                self._hear(child)
        for child in self._children:
            if child.process is not None and child.process.exitcode is not None and not self._stopping:
                child.ended()

    def _hear(self, child: Child) -> None:
        """Take what a process says of its start."""
        assert child.reports is not None
        try:
            problem = child.reports.recv()
        except (EOFError, OSError):  # it has ended
            child.reports.close()
            child.reports = None
            return
        if not problem:
            first = not all(one.was_ready for one in self._children)
            child.was_ready = True
            if first and all(one.was_ready for one in self._children):
                self._ready()
        elif not child.was_ready and not self._stopping:
            raise PisteError(problem)
        else:
            self._complain(problem)

    def _stop(self) -> None:
        """Tell every process to end, and wait for that."""
        running = [child.process for child in self._children if child.process is not None]
        for process in running:
            process.terminate()  # SIGTERM, also after Ctrl-C: a second SIGINT would make them end in haste
        end = time.monotonic() + STOP_TIMEOUT_S
        for process in running:
            process.join(max(0.0, end - time.monotonic()))
            if process.exitcode is None:
                logs.warning("process killed", process=process.name)
                process.kill()
                process.join()
        for child in self._children:
            child.forget()


def run_program(program: Program, reports: connection.Connection) -> None:
    """Run a program in its process, and say if it cannot begin."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # until it is ready; the supervisor sends SIGTERM after Ctrl-C
    end_with_parent()
    try:
        code = program.run(reports, *program.args)
    except PisteError as e:
        reports.send(str(e))
        code = 1
    sys.exit(code if isinstance(code, int) else 0)


def end_with_parent() -> None:
    """Stop this process properly if the one that started it is killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="piste-parent", daemon=True).start()


def forget_metrics(pid: int) -> None:
    """Let the gauges of a process that has ended count no more; its counters stay."""
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]
